"""E-mail as saved by mail programs: who, when, what, and the names of what was attached."""

from __future__ import annotations

import email
import re
from dataclasses import dataclass
from email.message import EmailMessage
from email.policy import default as default_policy
from typing import TYPE_CHECKING

from ragkit.reading.decode import clean, decode
from ragkit.reading.formats import Format
from ragkit.reading.limits import check_text
from ragkit.reading.reading_parts import iso_date, one_line, put, stem, tidy
from ragkit.types import Markup, Reading

if TYPE_CHECKING:
    from collections.abc import Iterator
    from email.message import Message

    from ragkit.reading.limits import Limits

_SHOWN = ("From", "To", "Cc", "Date")
_MOST_PARTS = 500
_BROKEN_WORD = re.compile(r"=\?[\w.-]{1,40}\?[bqBQ]\?[^?\s]{0,200}\?=")


@dataclass(frozen=True, slots=True)
class OpenedMail:
    """One message taken apart. ``headers`` holds those that are shown and not empty."""

    message: Message
    headers: dict[str, str]
    body: str
    markup: Markup
    attached: list[str]

    @property
    def subject(self) -> str:
        """What it is about."""
        return self.header("Subject")

    @property
    def date(self) -> str:
        """When it was sent, in ISO form."""
        return _date(self.message)

    def header(self, key: str) -> str:
        """Return any header, on one line."""
        return _header(self.message, key)


def open_mail(data: bytes) -> OpenedMail:
    """Parse one message; broken MIME is read as far as it can be understood."""
    message = email.message_from_bytes(data, policy=default_policy)
    parts = [part for part, _ in zip(_leaves(message), range(_MOST_PARTS), strict=False)]
    body, markup = _body(message, parts)
    attached = [name for part in parts if (name := _attachment_name(part))]
    headers = {key: value for key in _SHOWN if (value := _header(message, key))}
    return OpenedMail(message, headers, body, markup, attached)


def read_mail(data: bytes, name: str, limits: Limits) -> Reading:
    """Read one message; broken MIME is read as far as it can be understood.

    Raises:
        ReadingError: too much text.
    """
    mail = open_mail(data)
    check_text((mail.body,), limits)
    pieces = [
        "\n".join(f"{key}: {value}" for key, value in mail.headers.items()),
        mail.body,
        f"Attachments: {', '.join(mail.attached)}" if mail.attached else "",
    ]
    metadata = put(
        {},
        author=mail.headers.get("From", ""),
        to=mail.headers.get("To", ""),
        date=mail.date,
        attachments=mail.attached,
    )
    return Reading(
        text="\n\n".join(filter(None, pieces)),
        title=mail.subject or stem(name),
        format=Format.EML,
        markup=mail.markup,
        metadata=metadata,
    )


def _leaves(message: Message) -> Iterator[Message]:
    """Yield every part that holds no other part; attached messages are not opened."""
    if message.is_multipart() and message.get_content_maintype() == "multipart":
        payload = message.get_payload()
        for part in payload if isinstance(payload, list) else []:
            if isinstance(part, EmailMessage):
                yield from _leaves(part)
    else:
        yield message


def _body(message: Message, parts: list[Message]) -> tuple[str, Markup]:
    """Return the text: the plain parts, or else the HTML ones, or else any payload."""
    inline = [part for part in parts if not _attachment_name(part)]
    plain = [
        text for part in inline if part.get_content_type() == "text/plain" and (text := _text(part))
    ]
    if plain:
        return "\n\n".join(plain), Markup.PLAIN
    html = [
        text for part in inline if part.get_content_type() == "text/html" and (text := _text(part))
    ]
    if html:
        from ragkit.reading.html import to_markdown

        return "\n\n".join(to_markdown(text, Format.EML.label) for text in html), Markup.MARKDOWN
    payload = message.get_payload()
    return (tidy(clean(payload)) if isinstance(payload, str) else ""), Markup.PLAIN


def _text(part: Message) -> str:
    """Return a text part, decoded by its own charset when that works, else by its bytes."""
    payload = part.get_payload(decode=True)
    if not isinstance(payload, bytes):
        return ""
    text, _ = decode(payload, part.get_content_charset() or "")
    return tidy(clean(text))


def _attachment_name(part: Message) -> str:
    """Return the file name of an attachment, or a word for it; empty for the body."""
    try:
        name = part.get_filename()
        attached = part.get_content_disposition() == "attachment"
    except (ValueError, LookupError, TypeError, AttributeError):
        return "attachment"
    if name:
        return one_line(clean(str(name)))
    if attached or part.get_content_maintype() not in ("text", "multipart"):
        return f"unnamed ({part.get_content_type()})"
    return ""


def _header(message: Message, key: str) -> str:
    """Return a header as text; the standard library fails on some broken ones."""
    try:
        return one_line(clean(str(message.get(key) or "")))
    except (ValueError, LookupError, TypeError, AttributeError):
        raw = next(
            (str(value) for name, value in message.raw_items() if name.lower() == key.lower()), ""
        )
        return one_line(clean(_BROKEN_WORD.sub("", raw)))


def _date(message: Message) -> str:
    """Return when it was sent, in ISO form."""
    from email.utils import parsedate_to_datetime

    written = _header(message, "Date")
    try:
        return parsedate_to_datetime(written).isoformat() if written else ""
    except (ValueError, TypeError, IndexError, OverflowError):
        return iso_date(written)
