from __future__ import annotations

import gzip
import io
import tarfile
from importlib import import_module
from inspect import signature

import pytest
from reading_files import SETTINGS, read

from ragkit.errors import ReadingError, SkippedError
from ragkit.reading import read_file, readable_suffixes
from ragkit.reading.formats import BYTE_FORMATS, DOCUMENT_SUFFIXES, Format
from ragkit.reading.limits import Limits
from ragkit.settings import ReadingSettings


@pytest.mark.parametrize("member", [one for one in Format if one.reader])
def test_each_format_names_a_reader_of_this_package(member):
    module, _, function = f"ragkit.reading.{member.reader}".rpartition(".")
    parameters = list(signature(getattr(import_module(module), function)).parameters)
    if member in BYTE_FORMATS:
        more = ["known"] if member is Format.PDF else []
        assert parameters == ["data", "name", "limits", *more]
    else:
        assert parameters == ["text", "name", "file_format"]


def test_no_two_formats_share_a_suffix():
    suffixes = [suffix for member in Format for suffix in member.suffixes]
    assert len(suffixes) == len(set(suffixes)) == len(DOCUMENT_SUFFIXES)
    assert set(suffixes) <= readable_suffixes()


def test_a_format_is_its_documents_word():
    assert Format.PDF == "pdf"
    assert f"{Format.XLSX}" == "xlsx"
    assert [member.part for member in Format if member.part] == [
        "word/document.xml",
        "ppt/presentation.xml",
        "xl/workbook.xml",
        "xl/workbook.bin",
        "application/vnd.oasis.opendocument.text",
        "application/vnd.oasis.opendocument.spreadsheet",
        "application/vnd.oasis.opendocument.presentation",
        "application/vnd.oasis.opendocument.graphics",
        "visio/document.xml",
        "application/hwp+zip",
        "META-INF/container.xml",
    ]


def test_the_public_names_are_usable():
    assert {".md", ".pdf", ".docx", ".py", ".eml", ".ipynb"} <= readable_suffixes()
    assert all(suffix == suffix.lower() and suffix[0] == "." for suffix in readable_suffixes())


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
    with pytest.raises(SkippedError, match="not a regular file"):
        read_file(tmp_path, "folder", SETTINGS)


def test_huge_lines_and_words_are_read(tmp_path):
    assert len(read(tmp_path, "a.txt", b"word " * 400_000).text) == 2_000_000
    assert len(read(tmp_path, "b.txt", b"x" * 1_000_000).text) == 1_000_000
    assert len(read(tmp_path, "c.md", b"#" * 1_000_000).text) == 1_000_000
    assert len(read(tmp_path, "d.md", b"[" * 300_000 + b"\n").text) == 300_001


def test_a_gzip_file_is_read_as_what_it_holds(tmp_path):
    notes = read(tmp_path, "notes.md.gz", gzip.compress(b"# Herons\n\nThey nest in the reeds.\n"))
    assert (notes.text, notes.format, notes.title) == (
        "# Herons\n\nThey nest in the reeds.\n", "markdown", "Herons",
    )  # fmt: skip
    log = gzip.compress(b"07:00 opened\n") + gzip.compress(b"19:00 closed\n")
    assert read(tmp_path, "log.gz", log).text == "07:00 opened\n19:00 closed\n"


def test_what_is_no_document_in_a_gzip_file_is_left_out(tmp_path):
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w:gz") as tar:
        tar.addfile(tarfile.TarInfo("a.txt"))
    for name, data in (
        ("a.tar.gz", archive.getvalue()),
        ("a.gz", archive.getvalue()),
        ("a.tgz", archive.getvalue()),
        ("a.txt.gz.gz", gzip.compress(gzip.compress(b"Herons"))),
        ("a.png.gz", gzip.compress(b"\x89PNG\r\n\x1a\n" + bytes(50))),
        ("a.bin.gz", gzip.compress(bytes(range(256)) * 9)),
    ):
        with pytest.raises(SkippedError):
            read(tmp_path, name, data)


def test_a_gzip_file_unpacks_to_no_more_than_a_file_may_have(tmp_path):
    with pytest.raises(ReadingError, match="decompression bombs"):
        read(tmp_path, "bomb.txt.gz", gzip.compress(b"a" * 30_000_000))
    file = tmp_path / "long.txt.gz"
    file.write_bytes(gzip.compress(b"a" * 3_000_000))
    with pytest.raises(SkippedError, match="larger than 2 MB"):
        read_file(file, file.name, Limits(9, memory_mb=900, max_file_mb=2, max_text_mb=2))
    whole = gzip.compress(bytes(range(97, 123)) * 99)
    with pytest.raises(ReadingError, match="This gzip file is damaged"):
        read(tmp_path, "torn.txt.gz", whole[:-12])
    with pytest.raises(ReadingError, match="This gzip file is damaged"):
        read(tmp_path, "torn.txt.gz", whole[:12] + b"zzzz" + whole[16:])
