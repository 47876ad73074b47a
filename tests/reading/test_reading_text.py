from __future__ import annotations

import unicodedata

import pytest

from ragkit.errors import ReadingError, SkippedError
from ragkit.reading import READER_VERSION, read_file, readable_suffixes, sniff
from ragkit.reading.decode import clean, decode
from ragkit.settings import ReadingSettings
from ragkit.types import Markup

SETTINGS = ReadingSettings()


def read(folder, name, data, settings=SETTINGS):
    path = folder / name
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return read_file(path, name, settings)


def test_the_public_names_are_usable():
    assert READER_VERSION
    assert {".md", ".pdf", ".docx", ".py", ".eml", ".ipynb"} <= readable_suffixes()
    assert all(suffix == suffix.lower() and suffix[0] == "." for suffix in readable_suffixes())


def test_front_matter_becomes_metadata_and_leaves_the_text(tmp_path):
    reading = read(
        tmp_path,
        "guide.md",
        "---\ntitle: The Guide\nauthors: [Ann, Bo]\ndate: 2024-05-01\ntags: a, b\n"
        "lang: de\nframework: django\ndraft: false\nweight: 3\nnested: {x: 1}\n---\n\n"
        "# Start\n\nHello\n",
    )
    assert reading.title == "The Guide"
    assert reading.text == "# Start\n\nHello\n"
    assert reading.language == "de"
    assert reading.markup is Markup.MARKDOWN
    assert reading.metadata == {
        "author": "Ann, Bo",
        "date": "2024-05-01",
        "tags": ["a", "b"],
        "lang": "de",
        "framework": "django",
        "draft": False,
        "weight": 3,
    }
    assert reading.warnings == ()


def test_a_programming_language_in_front_matter_is_no_natural_language(tmp_path):
    reading = read(tmp_path, "a.md", "---\nlanguage: Python\n---\nx\n")
    assert (reading.language, reading.metadata["language"]) == ("", "Python")


def test_toml_front_matter_is_read(tmp_path):
    reading = read(tmp_path, "a.md", '+++\ntitle = "T"\ndate = 2020-01-02\n+++\nbody')
    assert (reading.title, reading.text, reading.metadata) == ("T", "body", {"date": "2020-01-02"})


@pytest.mark.parametrize(
    "front", ['title: "open\nx: [1', "a: *nowhere", "? [a, b]\n: {c: [", "\t- x: 1\n y"]
)
def test_bad_front_matter_stays_text_with_a_warning(tmp_path, front):
    source = f"---\n{front}\n---\n# Body\nhello\n"
    reading = read(tmp_path, "a.md", source)
    assert reading.text == source
    assert len(reading.warnings) == 1
    assert "YAML" in reading.warnings[0]


def test_yaml_aliases_do_not_explode(tmp_path):
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 25)]
    reading = read(tmp_path, "a.md", "---\n" + "\n".join(lines) + "\n---\ntext")
    assert reading.text == "text"
    assert len(str(reading.metadata)) < 10_000


def test_a_rule_at_the_top_is_no_front_matter(tmp_path):
    source = "---\n\nSome prose.\n\n---\n\nMore.\n"
    reading = read(tmp_path, "a.md", source)
    assert reading.text == source
    assert reading.warnings == ()


@pytest.mark.parametrize(
    ("source", "title"),
    [
        ("```\n# not me\n```\n# A **bold** [link](x) `code`\n", "A bold link code"),
        ("Setext title\n============\n", "Setext title"),
        ("## Only level two\n", "file"),
        ("# One #\n", "One"),
        ('<h1 align="center">Logo <b>Name</b></h1>\n', "Logo Name"),
        ("~~~\n# no\n~~~~\n# yes\n", "yes"),
        ("````\n```\n# no\n````\n# yes\n", "yes"),
        ("# 日本語の題\n", "日本語の題"),
    ],
)
def test_the_title_is_the_first_heading_of_level_one(tmp_path, source, title):
    assert read(tmp_path, "file.md", source).title == title


def test_embedded_images_are_cut_down(tmp_path):
    blob = "QUJD" * 200_000
    reading = read(tmp_path, "a.md", f"# P\n\n![chart](data:image/png;base64,{blob}) end\n")
    assert reading.text == "# P\n\n![chart](embedded-data) end\n"


def test_mdx_loses_its_modules_and_keeps_its_fences(tmp_path):
    reading = read(
        tmp_path,
        "a.mdx",
        "import X from './x'\nexport const meta = {\n  a: 1,\n}\n\n# Title\n\n"
        "import duty is a tax.\n\n```js\nimport y from 'y'\n```\n",
    )
    assert reading.format == "mdx"
    assert reading.text == "# Title\n\nimport duty is a tax.\n\n```js\nimport y from 'y'\n```\n"


def test_rst_titles_become_the_outline(tmp_path):
    source = (
        "====\nMain\n====\n\nIntro\n\nPart ``one``\n-------\n\n"
        "text\n\nDeeper\n~~~~~~\n\nx\n\nTwo\n---\n"
    )
    reading = read(tmp_path, "a.rst", source)
    assert [(entry.level, entry.title) for entry in reading.outline] == [
        (1, "Main"),
        (2, "Part one"),
        (3, "Deeper"),
        (2, "Two"),
    ]
    assert reading.title == "Main"
    assert reading.text[reading.outline[1].offset :].startswith("Part ``one``")


ENCODED = [
    ("Résumé of the naïve café: “quoted” – 5€ and more words. " * 5, "cp1252"),
    ("日本語の文書です。検索できますか。\n" * 10, "shift_jis"),
    ("日本語の文書です。検索できますか。\n" * 10, "euc_jp"),
    ("日本語の文書です。検索できますか。\n" * 10, "iso2022_jp"),
    ("日本語の文書です。検索できますか。\n" * 10, "utf-16-le"),
    ("日本語の文書です。検索できますか。\n" * 10, "utf-16-be"),
    ("这是一个中文文档，用于检索测试。\n" * 10, "gb18030"),
    ("這是一個中文文檔，用於檢索測試。\n" * 10, "big5"),
    ("한국어 문서입니다. 검색 시험.\n" * 10, "euc_kr"),
    ("Это русский документ для проверки поиска.\n" * 10, "koi8_r"),
    ("Это русский документ для проверки поиска.\n" * 10, "cp1251"),
    ("Αυτό είναι ένα ελληνικό έγγραφο.\n" * 10, "iso8859_7"),
    ("זה מסמך בעברית לבדיקת החיפוש.\n" * 10, "cp1255"),
    ("هذه وثيقة عربية للاختبار.\n" * 10, "cp1256"),
    ("Plain words, nothing else at all.\n" * 10, "utf-16-le"),
    ("Plain words, nothing else at all.\n" * 10, "utf-32-be"),
    ("Plain words with a mark.\n" * 10, "utf-16"),
    ("Grüße 日本 👩‍👧\n" * 10, "utf-8-sig"),
]


@pytest.mark.parametrize(("text", "encoding"), ENCODED, ids=[one[1] for one in ENCODED])
def test_encodings_are_found_out(tmp_path, text, encoding):
    assert read(tmp_path, "a.txt", text.encode(encoding)).text == text


def test_broken_bytes_in_utf8_are_replaced_with_a_warning():
    text, warnings = decode("Grüße aus Köln, schöne Grüße".encode() + b"\xff\xfe end")
    assert text.startswith("Grüße aus Köln")
    assert text.endswith(" end")
    assert "replaced" in warnings[0]


def test_clean_text_is_composed_and_without_controls():
    assert clean("a\r\nb\rc\x00\x07d\x1b[31me\x85f\u2028g") == "a\nb\ncde\nf\ng"
    assert clean(unicodedata.normalize("NFD", "é ü")) == "é ü"
    assert clean("\ufeffx\u200by") == "x\u200by"
    assert clean("a\ud800b").encode()


@pytest.mark.parametrize(
    ("name", "data", "kind"),
    [
        ("a.png", b"\x89PNG\r\n\x1a\n" + bytes(50), SkippedError),
        ("a.md", b"\x89PNG\r\n\x1a\n" + bytes(50), SkippedError),
        ("a.zip", b"PK\x03\x04" + bytes(50), SkippedError),
        ("a.docx", b"PK\x03\x04" + bytes(50), ReadingError),
        ("a.docx", b"just words", ReadingError),
        ("a.exe", b"MZ\x90\x00" + bytes(50), SkippedError),
        ("a.txt", bytes(range(256)) * 20, SkippedError),
        ("a.svg", b"<svg/>", SkippedError),
        ("a.doc", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), ReadingError),
        ("a.rtf", b"{\\rtf1 hello}", ReadingError),
    ],
)
def test_what_is_not_read_is_refused_with_a_cure(name, data, kind):
    with pytest.raises(ReadingError) as caught:
        sniff(name, data)
    assert type(caught.value) is kind
    assert caught.value.message.endswith(".")
    assert caught.value.cure.endswith(".")


@pytest.mark.parametrize(
    ("name", "data", "found"),
    [
        ("README", b"hello", "text"),
        ("page.pdf", b"<!DOCTYPE html><html></html>", "html"),
        ("paper.txt", b"%PDF-1.4\n", "pdf"),
        ("paper.pdf", b"junk before\n%PDF-1.4\n", "pdf"),
        ("page", b"<html><body>x</body></html>", "html"),
        ("run", b"#!/usr/bin/env python3\nprint()\n", "code"),
        ("Makefile", b"all:\n", "code"),
        ("A.MD", b"# x", "markdown"),
        ("about-pdf.md", b"The header is %PDF-1.4", "markdown"),
        ("BMW.txt", b"BMW is a maker of cars", "text"),
        ("strange.xyz", b"words", "text"),
    ],
)
def test_formats_are_told_by_content_and_name(name, data, found):
    assert sniff(name, data) == found


@pytest.mark.parametrize(
    "data", [b"", b"\xef\xbb\xbf", b"  \n\t\n", b"\x00\x00\x00", b"---\na: 1\n---\n"]
)
def test_files_without_text_are_skipped(tmp_path, data):
    with pytest.raises(SkippedError) as caught:
        read(tmp_path, "a.md", data)
    assert caught.value.cure


def test_size_caps_are_said_in_numbers(tmp_path):
    with pytest.raises(SkippedError, match=r"larger than 0\.5 MB \(it has 0\.6 MB\)"):
        read(tmp_path, "a.txt", b"x" * 600_000, ReadingSettings(max_file_mb=0.5))
    with pytest.raises(ReadingError, match=r"more than 0\.5 MB of text") as caught:
        read(tmp_path, "a.txt", b"x" * 600_000, ReadingSettings(max_text_mb=0.5))
    assert not isinstance(caught.value, SkippedError)


def test_missing_files_and_folders_are_explained(tmp_path):
    with pytest.raises(ReadingError, match="no longer there"):
        read_file(tmp_path / "gone.md", "gone.md", SETTINGS)
    with pytest.raises(SkippedError, match="not an ordinary file"):
        read_file(tmp_path, "folder", SETTINGS)


def test_huge_lines_and_words_are_read(tmp_path):
    assert len(read(tmp_path, "a.txt", b"word " * 400_000).text) == 2_000_000
    assert len(read(tmp_path, "b.txt", b"x" * 1_000_000).text) == 1_000_000
    assert len(read(tmp_path, "c.md", b"#" * 1_000_000).text) == 1_000_000
    assert len(read(tmp_path, "d.md", b"[" * 300_000 + b"\n").text) == 300_001
