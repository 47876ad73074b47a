"""Rich text files: one that LibreOffice wrote, and the ways in which others write."""

from __future__ import annotations

from pathlib import Path

import pytest
from reading_files import LEASE, read

from ragkit.errors import ReadingError
from ragkit.reading import read_file
from ragkit.reading.limits import Limits
from ragkit.settings import ReadingSettings


def text_of(folder, source):
    return read(folder, "a.rtf", source if isinstance(source, bytes) else source.encode()).text


def test_a_file_has_its_headings_tables_lists_notes_and_comments():
    # In the file, "forty" before "fifty" is deleted, and the deletion tracked.
    path = Path(__file__).with_name("lease.rtf")
    reading = read_file(path, path.name, Limits.of(ReadingSettings()))
    assert reading.title == "Lease of the pier"
    assert reading.text == LEASE


def test_signs_spaces_and_hyphens_are_what_they_stand_for(tmp_path):
    source = (
        rb"{\rtf1\ansi\b Lease\b0\par R&D pays in M\'e4rz! \u8364? 12\par"
        rb" 5\~km e\_mail hy\-phen a\\~b \{x\}\emdash\line\ldblquote y\rdblquote\par}"
    )
    assert text_of(tmp_path, source) == (
        "Lease\n\nR&D pays in März! € 12\n\n5 km e-mail hyphen a\\\\~b {x}—\n“y”"
    )


FONTS = (
    r"{\rtf1\ansi\ansicpg1252\deff3{\fonttbl{\f0\fcharset204 Arial;}{\f1\fcharset128 Mincho;}"
    r"{\f2\fcharset0 Arial CE;}{\f3\fcharset186 Arial;}{\f4\cpg1253 Arial;}}"
)


@pytest.mark.parametrize(
    ("command", "words", "encoding"),
    [
        (r"\f0", "Договор", "cp1251"),
        (r"\f1", "桟橋の表", "cp932"),
        (r"\f2", "přístaviště", "cp1250"),
        ("", "Akademinė", "cp1257"),
        (r"\f4", "Μίσθωση", "cp1253"),
    ],
)
def test_letters_are_in_the_encoding_of_their_font(tmp_path, command, words, encoding):
    stored = "".join(f"\\'{byte:02x}" for byte in words.encode(encoding))
    assert text_of(tmp_path, f"{FONTS}{{{command} {stored}}}\\par}}") == words


@pytest.mark.parametrize(
    ("head", "words", "encoding"),
    [(r"\ansi\ansicpg1251", "Договор", "cp1251"), (r"\mac", "été", "mac_roman")],
)
def test_letters_are_in_the_encoding_of_the_file(tmp_path, head, words, encoding):
    source = f"{{\\rtf1{head} ".encode() + words.encode(encoding) + rb"\par}"
    assert text_of(tmp_path, source) == words


def test_the_replacement_of_a_letter_is_not_read(tmp_path):
    source = r"{\rtf1\uc2 a\u945 xyb\uc0\u946 z{\uc1\u-10179?\u-8452\'3f}\u947{}c\par}"
    assert text_of(tmp_path, source) == "aαbβz🏼γc".replace("🏼", "\U0001f6fc")


def test_titles_outlines_and_numbered_items_are_told(tmp_path):
    source = (
        r"{\rtf1{\stylesheet{\s1 heading 2;}{\s2 Title;}{\s3\outlinelevel2 Clause;}"
        r"{\s4 Title page;}}"
        r"\pard\s2 Lease\par\pard\s1{\listtext 4.2\tab}Rent\par\pard\s3 Due\par\pard\s4 Page\par"
        r"\pard{\listtext\'b7\tab}One\par{\listtext 2.}Two\par"
        r"\pard\ilvl1{\pntext (a)}{\*\pn{\pntxtb -}}Deep\par"
        r"\pard\outlinelevel0 End\par\pard After\par}"
    )
    assert text_of(tmp_path, source) == (
        "# Lease\n\n## 4.2 Rent\n\n### Due\n\nPage\n\n- One\n2. Two\n  - (a) Deep\n\n# End\n\nAfter"
    )


def test_tables_in_cells_boxes_and_pictures_lose_no_text(tmp_path):
    source = (
        r"{\rtf1 Before{\shp{\*\shpinst{\sp{\sn a}{\sv 1}}{\shptxt Box\par}}{\shprslt Copy}}.\par"
        r"\trowd\intbl A\par B\cell C\nestcell D\nestcell{\nonesttables x\par}\cell\row"
        r"\trowd\intbl{\pict 0102}E\cell\cell\row\pard{\*\unknown hidden}After\bin2 }}\par}"
    )
    assert text_of(tmp_path, source) == (
        "Before.\n\nBox\n\n| A B | C D |\n| --- | --- |\n| E |  |\n\nAfter"
    )


def test_a_page_in_rich_text_is_read_as_a_page(tmp_path):
    source = (
        r"{\rtf1\ansi\ansicpg1251\fromhtml1 \deff0{\fonttbl{\f0\fmodern Courier New;}"
        r"{\f1\fcharset238 Arial;}}{\colortbl\red0\green0\blue0;}{\*\htmltag64}\uc1\pard\f0 "
        r"{\*\htmltag <html><head>\par <style>\par p \{ color: red \}\par </style></head>}"
        r"{\*\htmltag <body>}\htmlrtf {\htmlrtf0 {\*\htmltag64 <h2>}\htmlrtf {\htmlrtf0 Fees"
        r"{\*\htmltag72 </h2>}\htmlrtf\par}\htmlrtf0 {\*\htmltag64 <p>}\htmlrtf {\htmlrtf0 See "
        r"{\*\htmltag84 <a href=\"https://a.example/\">}\htmlrtf {\field{\*\fldinst{HYPERLINK a}}"
        r"{\fldrslt\cf1\ul \htmlrtf0 \'cf\'eb\'e0\'f2\'e0{\*\htmltag92 </a>}\htmlrtf }\htmlrtf0 "
        r"\htmlrtf }\htmlrtf0  \endash  1{\*\htmltag84 &nbsp;}\htmlrtf \'a0\htmlrtf0 "
        r"{\f1 \'e8\u-10179?\u-8704?}"
        r"{\*\htmltag84 <br>}\htmlrtf\line\htmlrtf0 {\*\htmltag <table><tr><td>}A"
        r"{\*\htmltag </td><td>}B{\*\htmltag </td></tr></table>}{\*\mhtmltag <no>}"
        r"{\*\htmltag72 </p>}\htmlrtf\par}\htmlrtf0 {\*\htmltag </body>\par </html>}}}"
    )
    text = text_of(tmp_path, source.replace('\\"', '"'))
    assert text.startswith("## Fees\n\nSee [Плата](https://a.example/) – 1")
    assert "č😀" in text
    assert "| A | B |" in text
    assert "color" not in text
    assert "HYPERLINK" not in text


def test_what_a_file_says_of_itself_is_known(tmp_path):
    source = r"{\rtf1{\info{\title The lease}{\author Mia}{\creatim\yr2024\mo5\dy3\hr9}}Text\par}"
    reading = read(tmp_path, "a.rtf", source)
    assert (reading.title, reading.text) == ("The lease", "Text")
    assert (reading.metadata["author"], reading.metadata["date"]) == ("Mia", "2024-05-03")


def test_a_file_that_breaks_off_keeps_what_it_has(tmp_path):
    source = r"{\rtf1 One\par{\footnote Two {\field{\*\fldinst HYPERLINK"
    assert text_of(tmp_path, source) == "One\n\n[^1]\n\n[^1]: Two"


def test_bytes_that_are_no_rich_text_say_so(tmp_path):
    with pytest.raises(ReadingError, match="the content is something else"):
        text_of(tmp_path, bytes(range(256)))
