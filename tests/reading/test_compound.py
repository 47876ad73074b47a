"""Files of Office from before 2007, and mails that Outlook saved."""

from __future__ import annotations

import struct

import pytest
from compound_files import (
    compound_file,
    mail_streams,
    old_word_file,
    slides_file,
    summary,
    word_file,
    workbook_file,
)

from ragkit.errors import ReadingError, SkippedError
from ragkit.reading import read_file
from ragkit.reading.limits import Limits
from ragkit.reading.outlook_rtf import unpacked
from ragkit.settings import ReadingSettings

SENT = 134_170_072_000_000_000
"""2026-03-03 10:26:40 UTC, in tenths of microseconds since 1601."""

HEADERS = (
    "Received: from a\r\nFrom: =?utf-8?B?WsO2ZQ==?= <zoe@example.org>\r\nTo: rui@example.org,\r\n"
    " mia@example.org\r\nDate: Tue, 03 Mar 2026 10:00:00 +0100\r\nSubject: Ferry\r\n\r\n"
)


def read(folder, name, data):
    path = folder / name
    path.write_bytes(data)
    return read_file(path, name, Limits.of(ReadingSettings()))


def test_a_word_document_is_its_paragraphs(tmp_path):
    text = "Lease\rBegins in März.\x0bOr later.\r\rEnd.\r"
    reading = read(tmp_path, "lease.doc", word_file(text))
    assert reading.text == "Lease\n\nBegins in März.\nOr later.\n\nEnd."
    assert (reading.title, reading.format) == ("lease", "doc")


@pytest.mark.parametrize("page", [1252, 65001], ids=["Windows", "UTF-8"])
def test_what_a_file_says_of_itself_is_in_its_code_page(tmp_path, page):
    noted = summary(page, p2="Miete für März", p4="Zoë", p12=0, p13=SENT)
    data = word_file("The rent is due.\r", **{"\x05SummaryInformation": noted})
    reading = read(tmp_path, "a.doc", data)
    assert reading.title == "Miete für März"
    assert reading.metadata["author"] == "Zoë"
    assert reading.metadata["modified"] == "2026-03-03T10:26:40"


def test_damaged_properties_cost_no_text(tmp_path):
    data = word_file("The rent is due.\r", **{"\x05SummaryInformation": summary(p2="a")[:60]})
    assert read(tmp_path, "a.doc", data).text == "The rent is due."


def test_a_mail_has_its_headers_as_they_were_sent(tmp_path):
    streams = mail_streams(p007D=HEADERS, p0037="Ferry", p1000="It leaves at nine.\r\nZoë")
    reading = read(tmp_path, "ferry.msg", compound_file(streams))
    assert reading.text == (
        "From: Zöe <zoe@example.org>\nTo: rui@example.org, mia@example.org\n"
        "Date: Tue, 03 Mar 2026 10:00:00 +0100\n\nIt leaves at nine.\nZoë"
    )
    assert (reading.title, reading.format) == ("Ferry", "eml")


def test_a_mail_without_headers_has_what_outlook_noted(tmp_path):
    streams = mail_streams(
        sent=SENT, p0037="Réunion", p0C1A="Ann Lee", p5D01="ann@example.org",
        p0E04="Costa, Rui; Mia", p0E03="Zoë", p1013="<p>At <b>nine</b></p>",
    )  # fmt: skip
    reading = read(tmp_path, "a.msg", compound_file(streams))
    assert reading.text == (
        'From: Ann Lee <ann@example.org>\nTo: "Costa, Rui", Mia\nCc: Zoë\n'
        "Date: Tue, 03 Mar 2026 10:26:40 +0000\n\nAt **nine**"
    )
    assert (reading.title, reading.metadata["date"]) == ("Réunion", "2026-03-03T10:26:40+00:00")


PACKED_RTF = bytes.fromhex(
    "2d0000002b0000004c5a4675f1c5c7a703000a007263706731323542320af320"
    "68656c090020627705b06c647d0a800fa0"
)
"""What the specification of the format packs as its example: "hello world"."""

STORED_RTF = struct.pack("<3I4x", 0, 1000, 0x414C454D)


def test_a_mail_may_have_its_text_only_as_packed_rich_text(tmp_path):
    streams = {**mail_streams(p0037="Ferry"), "__substg1.0_10090102": PACKED_RTF}
    assert read(tmp_path, "a.msg", compound_file(streams)).text == "hello world"
    rich = rb"{\rtf1\ansi\ansicpg1252 It costs \'80 900.\par Nine \b a.m.\par}"
    streams = {**mail_streams(p0037="Ferry"), "__substg1.0_10090102": STORED_RTF + rich}
    reading = read(tmp_path, "b.msg", compound_file(streams))
    assert (reading.text, reading.markup) == ("It costs € 900.\n\nNine a.m.", "markdown")


def test_packed_rich_text_refers_to_what_is_before_it():
    # The specification's second example: a text that copies what it is still writing.
    packed = bytes.fromhex("1a0000001c0000004c5a4675e2d44b51410004205758595a0d6e7d010eb0")
    assert unpacked(packed) == rb"{\rtf1 WXYZWXYZWXYZWXYZWXYZ}"
    assert unpacked(packed[:-6]) == rb"{\rtf1 WXYZ"[: len(unpacked(packed[:-6]))]
    assert unpacked(b"") == unpacked(bytes(40)) == b""


def test_attachments_and_mails_in_a_mail_follow_it(tmp_path):
    first, second = "__attach_version1.0_#00000000/", "__attach_version1.0_#00000001/"
    streams = {
        **mail_streams(p0037="Outer", p1000="See below."),
        f"{first}__substg1.0_3707001F": "fährplan.txt".encode("utf-16-le"),
        f"{first}__substg1.0_37010102": b"Nine and ten. " * 400,
        **mail_streams(f"{second}__substg1.0_3701000D/", p0037="Inner", p1000="Deep."),
    }
    text = read(tmp_path, "a.msg", compound_file(streams)).text
    assert text.startswith("See below.\n\nAttachments: fährplan.txt, Inner\n\nfährplan.txt\n\nNine")
    assert text.endswith("Nine and ten.\n\nInner\n\nDeep.")


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("a.doc", word_file("Secret.\r", locked=True), "is locked with a password"),
        ("a.ppt", slides_file([(0, "Secret")], locked=True), "is locked with a password"),
        ("a.docx", compound_file({"EncryptedPackage": b"x" * 9}), "is locked with a password"),
        ("a.doc", word_file("Lease.\r")[:1000], "Word document is damaged"),
        ("a.doc", word_file("Lease.\r", claimed=1 << 30), "Word document is damaged"),
        ("a.doc", word_file("Lease.\r", claimed=-9), "Word document is damaged"),
        ("a.doc", old_word_file(b"Lease.\r", kind=0xA59B), "a version of Word before 6.0"),
        ("a.doc", b"\xdb\xa5\x2d\x00" + bytes(99) + b"Lease.", "a version of Word before 6.0"),
        ("a.doc", b"\x31\xbe\x00\x00" + bytes(99) + b"Lease.", "a version of Word before 6.0"),
        ("a.ppt", compound_file({"PowerPoint Document": b"\0" * 99}), "presentation is damaged"),
        ("a.xls", workbook_file({"A": [["b"]]}, (0x2F, bytes(6))), "is locked with a password"),
        ("a.xls", compound_file({"Workbook": b"\0" * 99}), "workbook is damaged"),
        ("a.msg", compound_file({"other": b"x"}), "e-mail is damaged"),
        ("a.doc", b'<?xml version="1.0"?><w:wordDocument/>', "the content is something else"),
        ("a.xls", b'<?xml version="1.0"?><Workbook/>', "the content is something else"),
    ],
)
def test_what_cannot_be_read_says_why(tmp_path, name, data, said):
    with pytest.raises(ReadingError, match=said):
        read(tmp_path, name, data)


def test_files_of_other_programs_are_left_out(tmp_path):
    with pytest.raises(SkippedError, match="binary files are not read"):
        read(tmp_path, "Thumbs.db", compound_file({"Catalog": b"x"}))
