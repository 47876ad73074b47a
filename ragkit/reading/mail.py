"""E-mail: single messages, and mailboxes, in which each thread is a session."""

from __future__ import annotations

import email
import math
import plistlib
import re
from dataclasses import dataclass, replace
from email.message import EmailMessage
from email.policy import default as default_policy
from email.utils import parseaddr, parsedate_to_datetime
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING

from ragkit.reading.attachments import MOST_OF_MANY, Attachments
from ragkit.reading.conversations.messages import Conversation, Message, moment, to_reading
from ragkit.reading.dates import iso_date
from ragkit.reading.decode import clean, decode
from ragkit.reading.formats import Format
from ragkit.reading.limits import MEGABYTE, check_text, damaged
from ragkit.reading.reading_parts import (
    joined,
    nonempty,
    one_line,
    stem,
    tidy,
    whole_line,
)
from ragkit.types import Markup, OutlineEntry, Reading

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from email.message import Message as Part

    from ragkit.reading.limits import Limits

_SHOWN = ("From", "To", "Cc", "Bcc", "Date")
_MOST_PARTS = 500
_MOST_READ, _DEEPEST = 50, 3
"""Attachments of a mail that are read, and mails within each other."""

_LENGTH = re.compile(rb"(\d{1,12})\s*?\r?\n")
_BROKEN_WORD = re.compile(r"=\?[\w.-]{1,40}\?[bqBQ]\?[^?\s]{0,200}\?=")
_HEADER_FAILURES = (ValueError, LookupError, TypeError, AttributeError, OverflowError)


def read_mail(data: bytes, name: str, limits: Limits) -> Reading:
    """Read one message with its attachments; of broken MIME as much as can be parsed.

    Raises:
        ReadingError: too much text.
    """
    # Apple Mail (.emlx) puts the length before a message, and properties of its own behind it.
    if (length := _LENGTH.match(data)) and name.lower().endswith(".emlx"):
        data = data[length.end() : length.end() + int(length[1])]
    return _read_mail(data, name, limits, depth=0)


def _read_mail(data: bytes, name: str, limits: Limits, depth: int) -> Reading:
    """Read a message that is nested so deep in others."""
    mail = _Mail(data)
    headers = {key: value for key in _SHOWN if (value := mail.header(key))}
    check_text((mail.body, *headers.values()), limits)
    pieces = [
        "\n".join(f"{key}: {value}" for key, value in headers.items()),
        mail.body,
        f"Attachments: {', '.join(mail.attached)}" if mail.attached else "",
    ]
    metadata = nonempty(
        author=headers.get("From", ""),
        to=headers.get("To", ""),
        cc=headers.get("Cc", ""),
        bcc=headers.get("Bcc", ""),
        date=mail.date(),
        attachments=mail.attached,
    )
    reading = Reading(
        text=joined(pieces, "\n\n"),
        title=one_line(mail.header("Subject")) or stem(name),
        format=Format.EML,
        markup=mail.markup,
        metadata=metadata,
    )
    return _with_attachments(reading, mail, limits, depth)


def _with_attachments(reading: Reading, mail: _Mail, limits: Limits, depth: int) -> Reading:
    """Return a mail whose attachments follow it, each a section that is called as its file is."""
    text, entries = reading.text, [*reading.outline]
    reader = Attachments(math.inf, limits.max_text_mb * MEGABYTE - len(text))
    for name, content in _attached(mail, reader, limits, depth):
        entries.append(OutlineEntry(len(text) + 2, 1, name))
        text = f"{text}\n\n{name}\n\n{content}"
    return replace(reading, text=text, outline=tuple(entries), warnings=reader.warnings)


def _attached(
    mail: _Mail, reader: Attachments, limits: Limits, depth: int = 0
) -> Iterator[tuple[str, str]]:
    """Yield the name and the text of each attachment that is a document."""
    from ragkit.reading.readers import read_data

    for name, part in mail.attachments[: _MOST_READ if limits.attachments else 0]:
        held = _held_mail(part)
        if held is not None and depth < _DEEPEST:
            content = held.as_bytes()
            read = partial(_read_mail, content, name, limits, depth + 1)
        else:
            payload = part.get_payload(decode=True)
            content = payload if isinstance(payload, bytes) else b""
            read = partial(read_data, content, name, limits)
        if text := reader.text_of(name, content, read):
            yield name, text


def read_saved_page(data: bytes, name: str, limits: Limits) -> Reading:
    """Read a web page that a browser saved with its pictures, as a message of several parts.

    Raises:
        ReadingError: too much text, or no page in it.
    """
    from ragkit.reading.html import read_html

    if data.startswith(b"bplist00"):
        page = _page_of_safari(data)
    else:
        message: Part = email.message_from_bytes(data, policy=default_policy)
        leaves = list(islice(_leaves(message), _MOST_PARTS))
        # What follows the page itself are the frames in it, mostly advertisements.
        page = next(iter(_texts(leaves, "text/html")), "")
    check_text((page,), limits)
    if not page:
        raise damaged(Format.MHTML.label)
    return read_html(page, name, Format.MHTML)


def _page_of_safari(data: bytes) -> str:
    """Return the page that Safari saved as a property list."""
    main = plistlib.loads(data)["WebMainResource"]
    text, _ = decode(main["WebResourceData"], main.get("WebResourceTextEncodingName", ""))
    return tidy(clean(text))


class _Mail:
    """A parsed message: its body with its markup, and its attachments with their names."""

    def __init__(self, data: bytes) -> None:
        self._message: Part = email.message_from_bytes(data, policy=default_policy)
        leaves = zip(_leaves(self._message), range(_MOST_PARTS), strict=False)
        names = [(_attachment_name(part), part) for part, _ in leaves]
        self.attachments = [(name, part) for name, part in names if name]
        self.attached = [name for name, _ in self.attachments]
        self.body, self.markup = self._body([part for name, part in names if not name])

    def _body(self, inline: Sequence[Part]) -> tuple[str, Markup]:
        """Return the plain parts, or else the HTML parts as Markdown, or else any payload."""
        if plain := _texts(inline, "text/plain"):
            return "\n\n".join(plain), Markup.PLAIN
        if html := _texts(inline, "text/html"):
            from ragkit.reading.html import to_markdown

            converted = (to_markdown(text, Format.EML.label) for text in html)
            return "\n\n".join(converted), Markup.MARKDOWN
        payload = self._message.get_payload()
        return (tidy(clean(payload)) if isinstance(payload, str) else ""), Markup.PLAIN

    def header(self, key: str) -> str:
        """Return a header on one line."""
        return _header(self._message, key)

    def date(self) -> str:
        """Return the time at which it was sent in ISO form, or ``""``."""
        written = self.header("Date")
        try:
            return parsedate_to_datetime(written).isoformat() if written else ""
        except (ValueError, TypeError, IndexError, OverflowError):
            return iso_date(written)


def _header(message: Part, key: str) -> str:
    """Return a header on one line, also one that the standard library cannot parse."""
    try:
        return whole_line(clean(str(message.get(key) or "")))
    except _HEADER_FAILURES:
        headers = message.raw_items()
        raw = next((str(value) for name, value in headers if name.lower() == key.lower()), "")
        return whole_line(clean(_BROKEN_WORD.sub("", raw)))


def _held_mail(part: Part) -> Part | None:
    """Return the mail that a part of another is, if it is one."""
    held = part.get_payload() if part.get_content_type() == "message/rfc822" else None
    return held[0] if isinstance(held, list) and isinstance(held[0], EmailMessage) else None


def _leaves(message: Part) -> Iterator[Part]:
    """Yield the parts that contain no others; attached messages stay whole."""
    if message.is_multipart() and message.get_content_maintype() == "multipart":
        payload = message.get_payload()
        for part in payload if isinstance(payload, list) else []:
            if isinstance(part, EmailMessage):
                yield from _leaves(part)
    else:
        yield message


def _texts(parts: Sequence[Part], kind: str) -> list[str]:
    """Return the texts of one content type, decoded by their charset or else by their bytes."""
    texts = []
    for part in parts:
        payload = part.get_payload(decode=True) if part.get_content_type() == kind else None
        if isinstance(payload, bytes):
            text, _ = decode(payload, part.get_content_charset() or "")
            texts.append(tidy(clean(text)))
    return list(filter(None, texts))


def _attachment_name(part: Part) -> str:
    """Return the name of an attachment, or a description if it has none; empty for the body."""
    try:
        name = part.get_filename()
        attached = part.get_content_disposition() == "attachment"
    except _HEADER_FAILURES:
        return "attachment"
    if name:
        return one_line(clean(str(name)))
    if (mail := _held_mail(part)) is not None:
        return one_line(_header(mail, "Subject")) or "mail without a subject"
    if attached or part.get_content_maintype() not in ("text", "multipart"):
        return f"unnamed ({part.get_content_type()})"
    return ""


# -- mailboxes in mbox form ------------------------------------------------------------------

_MOST_MAILS = 100_000
_START = re.compile(rb"^From [^\r\n]{0,500}\d{2}:\d{2}[^\r\n]{0,100}\r?\n", re.MULTILINE)
_QUOTED_START = re.compile(r"^>(>*From )", re.MULTILINE)
_ID = re.compile(r"<[^<>\s]{1,500}>")
_REPLY = re.compile(r"(?:(?:re|fwd?|aw|wg|sv|antw|tr|rv)(?:\[\d+\])?\s*:\s*)+", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Letter:
    """A mail of a mailbox, with its message id and those of the mails that it answers."""

    key: str
    parents: tuple[str, ...]
    subject: str
    message: Message


def read_mbox(data: bytes, name: str, limits: Limits) -> Reading:
    """Read a mailbox: threads in the order of their first mails, mails in that of the file.

    Of what is attached to mails, ``MOST_OF_MANY`` bytes are read.

    Raises:
        ReadingError: too much text.
    """
    reader = Attachments(MOST_OF_MANY, limits.max_text_mb * MEGABYTE)
    letters = [
        _letter_or_text(raw, number, reader, limits) for number, raw in enumerate(_divide(data))
    ]
    check_text((letter.message.text for letter in letters), limits)
    by_key = {letter.key: letter for letter in letters}
    threads: dict[str, list[_Letter]] = {}
    for letter in letters:
        threads.setdefault(_root(letter, by_key), []).append(letter)
    messages = [message for thread in threads.values() for message in _thread(thread, by_key)]
    return to_reading(Conversation(stem(name), "mbox", messages, reader.warnings))


def _divide(data: bytes) -> Iterator[bytes]:
    """Split a mailbox at each "From " line that is the first or follows a blank line."""
    starts = []
    for line in _START.finditer(data):
        before = data[max(0, line.start() - 4) : line.start()]
        if not before.strip() or before.endswith((b"\n\n", b"\n\r\n")):
            starts.append((line.start(), line.end()))
        if len(starts) > _MOST_MAILS:
            break
    for number, (_, begin) in enumerate(starts[:_MOST_MAILS]):
        end = starts[number + 1][0] if number + 1 < len(starts) else len(data)
        yield data[begin:end]


def _letter_or_text(raw: bytes, number: int, reader: Attachments, limits: Limits) -> _Letter:
    """Return a mail; one that cannot be parsed as its text, since others must not go with it."""
    try:
        return _letter(_Mail(raw), number, reader, limits)
    except MemoryError:
        raise
    except Exception:  # noqa: BLE001 - the parser may raise anything on a hostile mail
        text = tidy(clean(decode(raw, "")[0]))
        return _Letter(f"#{number}", (), "", Message("", None, text))


def _letter(mail: _Mail, number: int, reader: Attachments, limits: Limits) -> _Letter:
    shown, address = parseaddr(mail.header("From"))
    date = mail.date()
    attached = f"(attached: {', '.join(mail.attached)})" if mail.attached else ""
    read = (f"{name}\n\n{text}" for name, text in _attached(mail, reader, limits))
    message = Message(
        author=shown or address,
        at=moment(date) if date else None,
        text=joined([_QUOTED_START.sub(r"\1", mail.body), attached, *read], "\n\n") or "(no text)",
    )
    ids = _ID.findall(mail.header("References")) + _ID.findall(mail.header("In-Reply-To"))
    own = _ID.search(mail.header("Message-ID"))
    return _Letter(own[0] if own else f"#{number}", tuple(ids), mail.header("Subject"), message)


def _root(letter: _Letter, by_key: Mapping[str, _Letter]) -> str:
    """Return the key of the first mail of a thread, which may be missing from the mailbox."""
    seen = {letter.key}
    while letter.parents:
        above = letter.parents[0]
        if above in seen:
            break
        if above not in by_key:
            return above
        seen.add(above)
        letter = by_key[above]
    return letter.key


def _thread(thread: Sequence[_Letter], by_key: Mapping[str, _Letter]) -> Iterator[Message]:
    """Yield the mails of a thread, under its subject."""
    subject = next((letter.subject for letter in thread if letter.subject), "")
    session = _REPLY.sub("", subject, count=1).strip() or "(no subject)"
    for letter in thread:
        parent = by_key.get(letter.parents[-1]) if letter.parents else None
        reply_to = parent.message.author if parent and parent is not letter else ""
        yield replace(letter.message, reply_to=reply_to, session=session)
