"""E-mail: single messages, and mailboxes, in which each thread is a session."""

from __future__ import annotations

import csv
import math
import plistlib
import re
from dataclasses import dataclass, field, replace
from email.utils import parseaddr
from functools import partial
from typing import TYPE_CHECKING

from ragkit.reading.attachments import MOST_OF_MANY, Attachments
from ragkit.reading.conversations.messages import Conversation, Message, moment, to_reading
from ragkit.reading.decode import clean, decode
from ragkit.reading.formats import Format
from ragkit.reading.limits import MEGABYTE, check_text, damaged
from ragkit.reading.mail_message import (
    BEFORE_HEADERS,
    Mail,
    content_of,
    held_mail,
    leaves,
    parsed,
    text_of,
)
from ragkit.reading.reading_parts import joined, nonempty, one_line, stem, tidy
from ragkit.reading.signed import signed_content
from ragkit.types import Markup, OutlineEntry, Reading

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ragkit.reading.limits import Limits
    from ragkit.types import Metadata

_SHOWN = ("From", "To", "Cc", "Bcc", "Date")
_PEOPLE = {"author": "From", "to": "To", "cc": "Cc", "bcc": "Bcc"}
"""The headers that name people, by the fields of metadata that filters ask for."""

_LABELS = ("X-Gmail-Labels", "X-Label", "Keywords")
_KEYS = ("X-Mozilla-Keys", "X-Keywords")
"""The headers in which programs keep the labels of a mail, divided by commas or spaces."""

_STATE = re.compile(
    r"[$\\]|(?:category|kategorie|cat[ée]gor[ií][ea])\b[ :]|(?:inbox|sent|archived|opened|unread"
    r"|starred|important|drafts?|spam|trash|chats?|muted|scheduled|snoozed|junk|no[nt]junk|forwarded"
    r"|posteingang|gesendet|archiviert|geöffnet|ungelesen|markiert|wichtig|entwürfe|papierkorb"
    r"|boîte de réception|messages (?:archivés|envoyés)|ouvert|non lus?|suivis?|brouillons"
    r"|corbeille|recibidos|enviados|archivados?|abiertos?|no leídos?|destacados?|importantes?"
    r"|borradores|papelera)$", re.I,
)  # fmt: skip
"""Where a mail lies and what became of it, in the languages of most exports of Gmail."""

_LONGEST_LABELS = 10_000
_MOST_READ, _DEEPEST = 50, 3
"""Attachments of a mail that are read, and mails within each other."""

_ARMOURED = re.compile(rb"\s*-----BEGIN PGP (?:MESSAGE|SIGNATURE|PUBLIC KEY BLOCK)\b")
_SIGNED_SUFFIX = ".p7m"
_PAGES = ("text/html", "application/xhtml+xml")
_LENGTH = re.compile(rb"(\d{1,12})\s*?\r?\n")


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
    mail = Mail(data)
    headers = {key: value for key in _SHOWN if (value := mail.header(key))}
    check_text((mail.body, *headers.values()), limits)
    pieces = [
        "\n".join(f"{key}: {value}" for key, value in headers.items()),
        mail.body,
        f"Attachments: {', '.join(mail.attached)}" if mail.attached else "",
    ]
    people = {name: headers.get(key, "") for name, key in _PEOPLE.items()}
    metadata = nonempty(**people, date=mail.date(), tags=_labels(mail), attachments=mail.attached)
    reading = Reading(
        text=joined(pieces, "\n\n"),
        title=one_line(mail.header("Subject")) or stem(name),
        format=Format.EML,
        markup=mail.markup,
        metadata=metadata,
    )
    return _with_attachments(reading, mail, limits, depth)


def _labels(mail: Mail) -> list[str]:
    """Return the labels that a person gave a mail, without those that say where it lies."""
    labels = [key for name in _KEYS for key in mail.header(name).split()]
    for name in _LABELS:
        header = mail.header(name)[:_LONGEST_LABELS]
        labels += next(csv.reader([header], skipinitialspace=True), [])
    found = (label.strip() for label in labels)
    return list(dict.fromkeys(label for label in found if label and not _STATE.match(label)))


def _with_attachments(reading: Reading, mail: Mail, limits: Limits, depth: int) -> Reading:
    """Return a mail whose attachments follow it, each a section that is called as its file is."""
    text, entries = reading.text, [*reading.outline]
    reader = Attachments(math.inf, limits.max_text_mb * MEGABYTE - len(text))
    for name, content in _attached(mail, reader, limits, depth):
        entries.append(OutlineEntry(len(text) + 2, 1, name))
        text = f"{text}\n\n{name}\n\n{content}"
    return replace(reading, text=text, outline=tuple(entries), warnings=reader.warnings)


def _attached(
    mail: Mail, reader: Attachments, limits: Limits, depth: int = 0
) -> Iterator[tuple[str, str]]:
    """Yield the name and the text of each attachment that is a document."""
    from ragkit.reading.readers import read_data

    for name, part in mail.attachments[: _MOST_READ if limits.attachments else 0]:
        is_mail = held_mail(part) is not None
        content = content_of(part)
        if name.lower().endswith(_SIGNED_SUFFIX) and (inner := signed_content(content)):
            name, content = name[: -len(_SIGNED_SUFFIX)], inner
        if _ARMOURED.match(content) or (is_mail and depth >= _DEEPEST):
            continue
        if is_mail:
            read = partial(_read_mail, content, name, limits, depth + 1)
        else:
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
        # What follows the page itself are the frames in it, mostly advertisements.
        parts = (leaf.part for leaf in leaves(parsed(data)))
        texts = (text_of(part) for part in parts if part.get_content_type() in _PAGES)
        page = next(filter(None, texts), "")
    check_text((page,), limits)
    if not page:
        raise damaged(Format.MHTML.label)
    return read_html(page, name, Format.MHTML)


def _page_of_safari(data: bytes) -> str:
    """Return the page that Safari saved as a property list."""
    main = plistlib.loads(data)["WebMainResource"]
    text, _ = decode(main["WebResourceData"], main.get("WebResourceTextEncodingName", ""))
    return tidy(clean(text))


# -- mailboxes in mbox form ------------------------------------------------------------------

_MOST_MAILS = 100_000
_MOST_VALUES = 1000
"""People in a field of a mailbox, its labels, and names of its attachments."""

_START = re.compile(
    rb"^From (?=[^\r\n]{0,600}\b(?:19|20)\d\d\b)[^\r\n]{0,500}\d\d:\d\d[^\r\n]{0,100}\r?\n"
    rb"(?=[A-Za-z][\w-]{1,60}:|>From )",
    re.MULTILINE,
)
"""The line before a mail: who sent it, and when; the mail begins with its headers."""

_HEADING = re.compile(r"^```.*?^```|^#{1,6} ([^\n]+)$", re.MULTILINE | re.DOTALL)
_QUOTED_START = re.compile(r"^>(>*From )", re.MULTILINE)
_ID = re.compile(r"<[^<>\s]{1,500}>")
_REPLY = re.compile(r"(?:(?:re|fwd?|aw|wg|sv|antw|tr|rv)(?:\[\d+\])?\s*:\s*)+", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Letter:
    """A mail of a mailbox, with its message id and those of the mails that it answers.

    ``fields`` are values of metadata: people with their addresses, labels, names of attachments.
    """

    key: str
    parents: tuple[str, ...]
    subject: str
    message: Message
    fields: Mapping[str, Sequence[str]] = field(default_factory=dict)


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
    roots = _roots(by_key)
    threads: dict[str, list[_Letter]] = {}
    for letter in letters:
        threads.setdefault(roots[letter.key], []).append(letter)
    messages = [message for thread in threads.values() for message in _thread(thread, by_key)]
    reading = to_reading(Conversation(stem(name), "mbox", messages, reader.warnings))
    return replace(reading, metadata={**reading.metadata, **_fields_of(letters)})


def _fields_of(letters: Sequence[_Letter]) -> Metadata:
    """Return the people and attachments of all mails, as one mail has those of its own."""
    values = {
        name: dict.fromkeys(value for letter in letters for value in letter.fields.get(name, ()))
        for name in (*_PEOPLE, "tags", "attachments")
    }
    return nonempty(**{name: list(found)[:_MOST_VALUES] for name, found in values.items()})


def _divide(data: bytes) -> Iterator[bytes]:
    """Split a mailbox at each "From " line that is the first or follows a blank line."""
    data = data.lstrip(BEFORE_HEADERS)
    begin = 0
    mails = 0
    for line in _START.finditer(data):
        before = data[max(0, line.start() - 4) : line.start()]
        if line.start() and not before.endswith((b"\n\n", b"\n\r\n")):
            continue
        if line.start():
            yield data[begin : line.start()]
            mails += 1
        begin = line.end()
        if mails == _MOST_MAILS:
            return
    yield data[begin:]


def _letter_or_text(raw: bytes, number: int, reader: Attachments, limits: Limits) -> _Letter:
    """Return a mail; one that cannot be parsed as its text, since others must not go with it."""
    try:
        return _letter(Mail(raw), number, reader, limits)
    except MemoryError:
        raise
    except Exception:  # noqa: BLE001 - the parser may raise anything on a hostile mail
        text = tidy(clean(decode(raw, "")[0]))
        return _Letter(f"#{number}", (), "", Message("", None, text))


def _letter(mail: Mail, number: int, reader: Attachments, limits: Limits) -> _Letter:
    shown, address = parseaddr(mail.header("From"))
    date = mail.date()
    attached = f"(attached: {', '.join(mail.attached)})" if mail.attached else ""
    read = (f"{name}\n\n{text}" for name, text in _attached(mail, reader, limits))
    body = _HEADING.sub(_bold, mail.body) if mail.markup is Markup.MARKDOWN else mail.body
    message = Message(
        author=shown or address,
        at=moment(date) if date else None,
        text=joined([_QUOTED_START.sub(r"\1", body), attached, *read], "\n\n") or "(no text)",
    )
    ids = _ID.findall(mail.header("References")) + _ID.findall(mail.header("In-Reply-To"))
    own = _ID.search(mail.header("Message-ID"))
    key = own[0] if own else f"#{number}"
    fields = {name: mail.people(header) for name, header in _PEOPLE.items()}
    fields["tags"] = _labels(mail)
    fields["attachments"] = mail.attached
    return _Letter(key, tuple(ids), mail.header("Subject"), message, fields)


def _bold(heading: re.Match[str]) -> str:
    """Return a heading of a mail as a bold line, since those of a mailbox are its threads."""
    return f"**{heading[1].replace('**', '')}**" if heading[1] else heading[0]


def _roots(by_key: Mapping[str, _Letter]) -> dict[str, str]:
    """Return the key of the first mail of each mail's thread, which the mailbox may lack."""
    roots: dict[str, str] = {}
    for key in by_key:
        above, path = key, []
        while above not in roots:
            path.append(above)
            roots[above] = above  # for mails that answer each other in a circle
            letter = by_key.get(above)
            if letter is None or not letter.parents:
                break
            above = letter.parents[0]
        roots.update(dict.fromkeys(path, roots[above]))
    return roots


def _thread(thread: Sequence[_Letter], by_key: Mapping[str, _Letter]) -> Iterator[Message]:
    """Yield the mails of a thread, under its subject."""
    subject = next((letter.subject for letter in thread if letter.subject), "")
    session = _REPLY.sub("", subject, count=1).strip() or "(no subject)"
    for letter in thread:
        parent = by_key.get(letter.parents[-1]) if letter.parents else None
        reply_to = parent.message.author if parent and parent is not letter else ""
        yield replace(letter.message, reply_to=reply_to, session=session)
