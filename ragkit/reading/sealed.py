"""Parts of mails in which others are packed: signed messages, "winmail.dat" of Outlook, PGP."""

from __future__ import annotations

import re
from email.mime.application import MIMEApplication
from email.mime.message import MIMEMessage
from email.mime.multipart import MIMEMultipart
from email.mime.text import MIMEText
from itertools import islice
from typing import TYPE_CHECKING

from ragkit.reading.decode import clean
from ragkit.reading.reading_parts import tidy, whole_line
from ragkit.reading.signed import is_encrypted, signed_content
from ragkit.reading.tnef import Packed, is_packed, unpack

if TYPE_CHECKING:
    from collections.abc import Callable
    from email.message import Message

_SIGNED = ("application/pkcs7-mime", "application/x-pkcs7-mime")
_PACKED = ("application/ms-tnef", "application/vnd.ms-tnef")
_DEEPEST, _MOST_PARTS = 4, 50
ENCRYPTED = "(The text of this mail is encrypted.)"

_SIGNED_HEAD = re.compile(
    r"^[> ]*-----BEGIN PGP SIGNED MESSAGE-----\n(?:[> ]*[A-Z][\w-]{1,40}: [^\n]*\n)*(?:[> ]*\n)?",
    re.MULTILINE,
)
_ARMOUR = re.compile(
    r"^[> ]*-----BEGIN PGP (SIGNATURE|PUBLIC KEY BLOCK|MESSAGE)-----$"
    r"(?:\n(?![> ]*-----BEGIN)[^\n]*)*?\n[> ]*-----END PGP \1-----$", re.MULTILINE,
)  # fmt: skip
_DASHED = re.compile("^- (?=-)", re.MULTILINE)
"""A line that begins with a dash is written so in a signed text."""


def unsealed(message: Message, parse: Callable[[bytes], Message], depth: int = 0) -> bool:
    """Put what is packed in a message in the place of its packing; ``parse`` reads a message.

    Returns whether a part of it is encrypted.
    """
    parts = [*message.walk()]
    encrypted = any(part.get_content_type() == "multipart/encrypted" for part in parts)
    packings = (part for part in parts if part.get_content_maintype() == "application")
    has_text: bool | None = None
    for part in islice(packings, _MOST_PARTS if depth < _DEEPEST else 0):
        kind, name = part.get_content_type(), _name(part)
        inner = b""
        if kind in _SIGNED or name == "smime.p7m":
            data = payload_of(part)
            encrypted = encrypted or is_encrypted(data)
            # Outlook keeps a mail under this name that is signed beside its text.
            inner = data if data[:13].lower() == b"content-type:" else signed_content(data)
            # Of "fees.pdf.p7m", what is signed is a file.
            inner = inner if name.count(".") < 2 else b""
        elif kind in _PACKED or name == "winmail.dat":
            data = payload_of(part)
            has_text = any(map(_is_text, parts)) if has_text is None else has_text
            inner = _as_mail(unpack(data), has_text, 0).as_bytes() if is_packed(data) else b""
        if inner:
            held = parse(inner)
            encrypted = unsealed(held, parse, depth + 1) or encrypted
            for header in ("Content-Type", "Content-Transfer-Encoding", "Content-Disposition"):
                del part[header]
            part["Content-Type"] = "multipart/mixed"
            part.set_payload([held])
    return encrypted


def _name(part: Message) -> str:
    try:
        return str(part.get_filename() or "").lower()
    except (ValueError, LookupError, TypeError, AttributeError):
        return ""


def _is_text(part: Message) -> bool:
    is_body = part.get_content_maintype() == "text" and not _name(part)
    return is_body and bool(payload_of(part).strip())


def _as_mail(packed: Packed, has_text: bool, depth: int) -> Message:
    """Return what Outlook packed as a mail; without its text if the mail around it has one."""
    mail = MIMEMultipart()
    if packed.subject:
        mail["Subject"] = whole_line(clean(packed.subject))
    if not has_text and packed.text.strip():
        mail.attach(MIMEText(clean(packed.text), "plain", "utf-8"))
    elif not has_text and packed.html:
        mail.attach(MIMEText(clean(packed.html), "html", "utf-8"))
    elif not has_text and packed.rich_text:
        mail.attach(attached_file("message.rtf", packed.rich_text))
    for file in packed.files:
        if file.is_mail:
            if depth < _DEEPEST:
                mail.attach(MIMEMessage(_as_mail(unpack(file.data), False, depth + 1)))
        elif file.data:
            mail.attach(attached_file(file.name, file.data))
    return mail


def attached_file(name: str, data: bytes) -> Message:
    """Return a file as a part of a mail."""
    part = MIMEApplication(data)
    title = whole_line(clean(name)) or "attachment"
    part.add_header("Content-Disposition", "attachment", filename=("utf-8", "", title))
    return part


def payload_of(part: Message) -> bytes:
    """Return the bytes of a part; none of one that contains others."""
    payload = part.get_payload(decode=True)
    return payload if isinstance(payload, bytes) else b""


def unarmoured(text: str) -> str:
    """Return a plain text without the signs in which PGP writes signatures, keys and secrets."""
    signed, heads = _SIGNED_HEAD.subn("", text)
    bare = _ARMOUR.sub(lambda block: ENCRYPTED if block[1] == "MESSAGE" else "", signed)
    return tidy(_DASHED.sub("", bare) if heads else bare)
