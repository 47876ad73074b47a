"""Mailboxes in mbox form: each mail a message, each thread a session."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from email.utils import parseaddr
from typing import TYPE_CHECKING

from ragkit.reading.conversations.messages import Conversation, Message, moment, to_reading
from ragkit.reading.limits import check_text
from ragkit.reading.mail import open_mail
from ragkit.reading.reading_parts import stem

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ragkit.reading.limits import Limits
    from ragkit.types import Reading

_MOST_MAILS = 100_000
_START = re.compile(rb"^From [^\r\n]{0,500}\d{2}:\d{2}[^\r\n]{0,100}\r?\n", re.MULTILINE)
_QUOTED_START = re.compile(r"^>(>*From )", re.MULTILINE)
_ID = re.compile(r"<[^<>\s]{1,500}>")
_REPLY = re.compile(r"(?:(?:re|fwd?|aw|wg|sv|antw|tr|rv)(?:\[\d+\])?\s*:\s*)+", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Mail:
    """A mail with what ties it to others."""

    key: str
    parents: tuple[str, ...]
    subject: str
    message: Message


def read_mbox(data: bytes, name: str, limits: Limits) -> Reading:
    """Read a mailbox. Threads come in the order of their first mail, mails in that of the file.

    Raises:
        ReadingError: too much text.
    """
    mails = [_read(raw, number) for number, raw in enumerate(_divide(data))]
    check_text((mail.message.text for mail in mails), limits)
    by_key = {mail.key: mail for mail in mails}
    threads: dict[str, list[_Mail]] = {}
    for mail in mails:
        threads.setdefault(_root(mail, by_key), []).append(mail)
    messages = [message for thread in threads.values() for message in _thread(thread, by_key)]
    return to_reading(Conversation(stem(name), "mbox", messages))


def _divide(data: bytes) -> Iterator[bytes]:
    """Split a mailbox at the lines that begin a mail: those after a blank line, or the first."""
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


def _read(raw: bytes, number: int) -> _Mail:
    """Read one mail."""
    mail = open_mail(raw)
    shown, address = parseaddr(mail.headers.get("From", ""))
    body = _QUOTED_START.sub(r"\1", mail.body)
    attached = f"(attached: {', '.join(mail.attached)})" if mail.attached else ""
    ids = _ID.findall(mail.header("References")) + _ID.findall(mail.header("In-Reply-To"))
    own = _ID.search(mail.header("Message-ID"))
    message = Message(
        author=shown or address,
        at=moment(mail.date) if mail.date else None,
        text="\n\n".join(filter(None, [body, attached])) or "(no text)",
    )
    return _Mail(own[0] if own else f"#{number}", tuple(ids), mail.subject, message)


def _root(mail: _Mail, by_key: Mapping[str, _Mail]) -> str:
    """Return the key of the first mail of a thread; that of a lost mail serves as well."""
    seen = {mail.key}
    while mail.parents:
        above = mail.parents[0]
        if above in seen:
            break
        if above not in by_key:
            return above
        seen.add(above)
        mail = by_key[above]
    return mail.key


def _thread(thread: Sequence[_Mail], by_key: Mapping[str, _Mail]) -> Iterator[Message]:
    """Yield the mails of a thread, under its subject."""
    subject = next((mail.subject for mail in thread if mail.subject), "")
    session = _REPLY.sub("", subject, count=1).strip() if subject else "(no subject)"
    for mail in thread:
        parent = by_key.get(mail.parents[-1]) if mail.parents else None
        yield replace(
            mail.message,
            reply_to=parent.message.author if parent and parent is not mail else "",
            session=session or "(no subject)",
        )
