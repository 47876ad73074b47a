"""Mails that Outlook saved (MSG), put into the form of other mails and read as these are."""

from __future__ import annotations

import email
from datetime import UTC, datetime, timedelta
from email.header import Header
from email.mime.message import MIMEMessage
from email.mime.multipart import MIMEMultipart
from email.mime.text import MIMEText
from email.utils import format_datetime, formataddr
from typing import TYPE_CHECKING

from ragkit.reading.decode import clean
from ragkit.reading.formats import Format
from ragkit.reading.mail import read_mail
from ragkit.reading.office_97.compound import opened
from ragkit.reading.outlook_rtf import unpacked
from ragkit.reading.reading_parts import whole_line
from ragkit.reading.rtf.reader import read_rtf
from ragkit.reading.sealed import attached_file
from ragkit.reading.tnef import stored_text

if TYPE_CHECKING:
    from email.message import Message

    from olefile import OleFileIO

    from ragkit.reading.limits import Limits
    from ragkit.types import Reading

_ATTACHMENT, _HELD = "__attach_version1.0_#", "__substg1.0_3701000D"
_SUBJECT, _BODY, _HTML, _RICH_TEXT, _HEADERS = "0037", "1000", "1013", "1009", "007D"
_SENDER, _ADDRESSES, _DATA = "0C1A", ("5D01", "0C1F"), "3701"
_FILE_NAMES = ("3707", "3704", "3001")
_KINDS_OF_TEXT = (0x1F, 0x1E, 0x102)
_LISTS = {"To": "0E04", "Cc": "0E03", "Bcc": "0E02"}
_TIMES = (b"\x40\x00\x39\x00", b"\x40\x00\x06\x0e")
"""Sent, and delivered: their type and number in the list of properties."""

_FIRST, _ENTRY = (32, 24), 16
"""Bytes before the properties of a mail, and of one in another; bytes of each."""

_EPOCH = datetime(1601, 1, 1, tzinfo=UTC)
_DEEPEST, _MOST_ATTACHMENTS = 4, 500


def read_message(data: bytes, name: str, limits: Limits) -> Reading:
    """Read a mail with its attachments.

    Raises:
        ReadingError: damaged, or too much text.
    """
    with opened(data, Format.MSG.label) as file:
        message = _message(file, (), limits, 0)
    return read_mail(message.as_bytes(), name, limits)


def _message(file: OleFileIO, folder: tuple[str, ...], limits: Limits, depth: int) -> Message:
    """Return the mail in a folder of a file, its attachments included."""
    message = MIMEMultipart()
    for key, value in _headers(file, folder).items():
        message.add_header(key, value if value.isascii() else Header(value, "utf-8").encode())
    if (body := _text(file, folder, _BODY)).strip():
        message.attach(MIMEText(body, "plain", "utf-8"))
    elif html := _text(file, folder, _HTML):
        message.attach(MIMEText(html, "html", "utf-8"))
    elif packed := _stream(file, (*folder, f"__substg1.0_{_RICH_TEXT}0102")):
        text = read_rtf(unpacked(packed), "", limits).text
        message.attach(MIMEText(text, "markdown", "utf-8"))
    for attachment in _attachments(file, folder)[:_MOST_ATTACHMENTS]:
        held = (*attachment, _HELD)
        if file.exists([*held]):
            if depth < _DEEPEST:
                message.attach(MIMEMessage(_message(file, held, limits, depth + 1)))
            continue
        names = (_text(file, attachment, number) for number in _FILE_NAMES)
        data = _stream(file, (*attachment, f"__substg1.0_{_DATA}0102"))
        message.attach(attached_file(next(filter(None, names), ""), data))
    return message


def _headers(file: OleFileIO, folder: tuple[str, ...]) -> dict[str, str]:
    """Return the headers as they were sent, or what Outlook noted of them."""
    sent = email.message_from_string(_text(file, folder, _HEADERS).lstrip())
    address = next(filter(None, (_text(file, folder, number) for number in _ADDRESSES)), "")
    noted = {
        "From": formataddr((_text(file, folder, _SENDER), address if "@" in address else "")),
        **{key: _people(_text(file, folder, number)) for key, number in _LISTS.items()},
        "Date": _date(file, folder),
        "Subject": _text(file, folder, _SUBJECT),
    }
    headers = {key: str(sent.get(key) or value) for key, value in noted.items()}
    return {key: line for key, value in headers.items() if (line := whole_line(clean(value)))}


def _people(listed: str) -> str:
    """Return a list of people as mails have it: Outlook puts semicolons between them."""
    names = [name.strip().strip("'\0") for name in listed.split(";")]
    return ", ".join(f'"{name}"' if "," in name else name for name in names if name)


def _date(file: OleFileIO, folder: tuple[str, ...]) -> str:
    """Return when a mail was sent, or else delivered."""
    properties = _stream(file, (*folder, "__properties_version1.0"))
    times = {}
    for at in range(_FIRST[bool(folder)], len(properties) - _ENTRY + 1, _ENTRY):
        times[properties[at : at + 4]] = int.from_bytes(properties[at + 8 : at + 16], "little")
    for tag in _TIMES:
        if ticks := times.get(tag, 0):
            try:
                return format_datetime(_EPOCH + timedelta(microseconds=ticks // 10))
            except OverflowError:
                continue
    return ""


def _attachments(file: OleFileIO, folder: tuple[str, ...]) -> list[tuple[str, ...]]:
    """Return the folders of the attachments of a mail."""
    depth = len(folder) + 1
    folders = {tuple(path[:depth]) for path in file.listdir() if len(path) > depth}
    inside = [path for path in folders if path[:-1] == folder]
    return sorted(path for path in inside if path[-1].startswith(_ATTACHMENT))


def _text(file: OleFileIO, folder: tuple[str, ...], number: str) -> str:
    """Return a text by the number of its property: in Unicode, or in the code page of the mail."""
    for kind in _KINDS_OF_TEXT:
        if stored := _stream(file, (*folder, f"__substg1.0_{number}{kind:04X}")):
            return stored_text(stored, kind)
    return ""


def _stream(file: OleFileIO, path: tuple[str, ...]) -> bytes:
    """Return the bytes of a stream; none if it is not there."""
    if not file.exists([*path]) or file.get_type([*path]) != 2:
        return b""
    data: bytes = file.openstream([*path]).read()
    return data
