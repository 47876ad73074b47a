from __future__ import annotations

import io
import struct
import zipfile

import pytest

from ragkit.errors import ReadingError, SkippedError
from ragkit.reading import sniff

TRANSLATIONS = struct.pack("<7I", 0x950412DE, 0, 200, 28, 28 + 1600, 0, 0) + b"".join(
    struct.pack("<2I", number % 60, 5000 + 10 * number) for number in range(400)
)
"""The beginning of a file of gettext, which has zeros where UTF-32 has them."""

MAIL = b"From: Ann <a@b>\nTo: c@d\nSubject: Lease\nDate: Mon, 1 Jan 2024 10:00:00 +0000\n\nHello.\n"


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
        ("a.mo", TRANSLATIONS, SkippedError),
        ("a.txt", TRANSLATIONS, SkippedError),
        ("a.emf", b"words of a picture\0" * 9, SkippedError),
        ("a", b"words of a cache\0", SkippedError),
        ("a.plist", b"bplist00" + bytes(50), SkippedError),
        ("a.mp3", b"ID3\x03\x00\x00\x00\x00\x0f\x76TIT2" + bytes(50), SkippedError),
        ("a.md", b"OTTO\x00\x0b\x00\x80\x00\x03CFF words", SkippedError),
        ("a.md", b"PAR1\x15\x04\x15\x10 words", SkippedError),
        ("a.md", b"RIFF\x24\x08\x00\x00WAVEfmt words", SkippedError),
        ("a.md", b"RIFF\x24\x08\x00\x00WEBPVP8 words", SkippedError),
        ("a.md", b"BM\x46\x00\x00\x00\x00\x00\x00\x00 words", SkippedError),
        ("a.md", b"\x00\x00\x00\x18ftypmp42 words", SkippedError),
        ("a.md", b"a.txt" + bytes(252) + b"ustar\x0000 words", SkippedError),
        ("a.doc", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), ReadingError),
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
        ("a.rtf", b"{\\rtf1 hello}", "rtf"),
        ("paper.pdf", b"junk before\n%PDF-1.4\n", "pdf"),
        ("page", b"<html><body>x</body></html>", "html"),
        ("run", b"#!/usr/bin/env python3\nprint()\n", "code"),
        ("Makefile", b"all:\n", "code"),
        ("A.MD", b"# x", "markdown"),
        ("about-pdf.md", b"The header is %PDF-1.4", "markdown"),
        ("BMW.txt", b"BMW is a maker of cars", "text"),
        ("notes.md", b"ID3 is an algorithm for decision trees.\n", "markdown"),
        ("notes.txt", b"OTTO VON BISMARCK\n\nwas a chancellor.\n", "text"),
        ("notes.txt", b"8BPS is how files of Photoshop begin.", "text"),
        ("notes.txt", b"BZh and PAR1 are magic numbers.", "text"),
        ("notes.txt", b"OggS begins each page, fLaC a stream, GIF89a a picture.", "text"),
        ("notes.txt", b"The ftype of a file is not its name.", "text"),
        ("pose.msg", b"# Where a robot is\nfloat64 x\nfloat64 y\n", "text"),
        ("plan.txt", b"From Monday 10:30 to 12:00\nRoom: 5\nSpeaker: Ann\n", "text"),
        ("plan.txt", b"From 09:00 to 17:00 the office is open\nPhone: 123\n\nWe close.", "text"),
        ("plan.txt", b"From 10:30 in the year 2027\nRoom: 5\n", "text"),
        ("a", b"From a@b Mon Jan  1 00:00:00 2024\nFrom: x\n", "mbox"),
        ("a", b"From a@b Mon Jan  1 00:00 2024\nFrom: x\n", "mbox"),
        ("a", b"From 1234@xxx Mon Jan 01 00:00:00 +0000 2024\r\nX-GM: 1\r\n", "mbox"),
        ("a", b"From - Mon Jan 01 00:00:00 2024\nX-Mozilla-Status: 1\n", "mbox"),
        ("a", b"From ???@??? Thu Jan 01 00:00:01 1970\nA-b: 1\n", "mbox"),
        ("a", b"From a@b Mon Jan  1 00:00:00 EST 2024\nFrom: x\n", "mbox"),
        ("a", b"From a@b Mon Jan  1 00:00:00 2024 +0100\nFrom: x\n", "mbox"),
        ("a", b"From a@b Mon, 1 Jan 2024 10:00:00 +0000\nFrom: x\n", "mbox"),
        ("a", b"From a@b 2024-01-01 10:00:00\nFrom: x\n", "mbox"),
        ("a", b"From a@b Mon Jan  1 00:00:00 2024 remote from host\nFrom: x\n", "mbox"),
        (
            "1382298793.M1P2.host:2,S",
            b"Return-Path: <a@b>\nReceived: from c\n\tby d\n" + MAIL,
            "eml",
        ),
        ("17", MAIL.replace(b"\n", b"\r\n"), "eml"),
        ("17.txt", MAIL, "text"),
        ("letter", b"From: Ann\nTo: Bob\nRe: the lease\n\nDear Bob", "text"),
        ("minutes", b"Date: 1 May\nSubject: x\nTo: all\nFrom whom: y\n\nWe met.", "text"),
        ("strange.xyz", b"words", "text"),
        ("strange.xyz", "words without a mark".encode("utf-16-le"), "text"),
        ("strange.xyz", "Слова без метки".encode("utf-32-be"), "text"),
        ("broken-off.log", b"words\n" * 9 + bytes(9), "text"),
        ("broken-off.py", b"print()\n" * 9 + bytes(9), "code"),
        ("old.doc", b"plain words", "text"),
        ("old.rtf", b"plain words", "text"),
        ("sheet.xls", b"a\tb\n1\t2\n", "csv"),
        (
            "wiki.doc",
            b"Date: Tue, 1 Sep 2026\nMIME-Version: 1.0\nContent-Type: multipart/related;\n",
            "mhtml",
        ),
        ("wiki.xls", b"MIME-Version: 1.0\r\nContent-Type: multipart/related; x", "mhtml"),
        ("page.webarchive", b"bplist00\xd1\x01\x02", "mhtml"),
        ("film.srt", b"1\n00:00:01,000 --> 00:00:02,000\nHi\n", "captions"),
    ],
)
def test_formats_are_told_by_content_and_name(name, data, found):
    assert sniff(name, data) == found


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("html/searchindex.js", b'Search.setIndex({"docnames": ["cmds/abbr"], "titles": []})'),
        ("html/searchindex.js", b"Search.setIndex({docnames:['abbr'],titles:['abbr']})"),
        (
            "search/search_index.json",
            b'{"config":{"lang":["en"],"fields":{"title":{"boost":9}}},"docs":[{"location":"a.html",'
            b'"text":"A page","title":"A"}]}',
        ),
    ],
)
def test_a_search_index_of_documentation_is_left_out(name, data):
    with pytest.raises(SkippedError, match="index of a web site repeats its pages") as caught:
        sniff(name, data)
    assert caught.value.cure == "Add the pages themselves."


def test_other_scripts_and_data_about_searching_are_read():
    assert sniff("a.js", b"// Search.setIndex(\nlet x = 1\n") == "code"
    assert sniff("search_index.json", b'{"config":{},"docs":[{"path":"a"}]}') == "json"


@pytest.mark.parametrize(
    ("name", "members", "found"),
    [
        ("a.pages", ["Index/Document.iwa"], "pages"),
        ("a.key", ["Index.zip"], "keynote"),
        ("a.numbers", ["index.xml"], "numbers"),
    ],
)
def test_damaged_files_of_iwork_are_what_their_names_say(name, members, found):
    assert sniff(name, zip_of(*members)) == found


@pytest.mark.parametrize("name", ["a.zip", "a.key"])
def test_other_archives_are_no_files_of_iwork(name):
    with pytest.raises(SkippedError, match="rchives"):
        sniff(name, zip_of("notes.txt"))


def zip_of(*members):
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        for member in members:
            archive.writestr(member, "x")
    return target.getvalue()
