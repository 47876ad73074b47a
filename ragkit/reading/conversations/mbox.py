"""Mailboxes in mbox form: each mail a message, each thread a session."""

from __future__ import annotations

import re
from dataclasses import dataclass
from email.utils import parseaddr
from typing import TYPE_CHECKING

from ragkit.reading.conversations.message import Conversation, Message
from ragkit.reading.conversations.timestamps import moment
from ragkit.reading.mail import open_mail
from ragkit.reading.reading_parts import stem

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

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


def read_mbox(data: bytes, name: str) -> Conversation:
    """Read a mailbox. Threads come in the order of their first mail, mails as they lie there."""
    mails = [_read(raw, number) for number, raw in enumerate(_divide(data))]
    known = {mail.key: mail for mail in mails}
    threads: dict[str, list[_Mail]] = {}
    for mail in mails:
        threads.setdefault(_root(mail, known), []).append(mail)
    messages = [one for thread in threads.values() for one in _thread(thread, known)]
    return Conversation(stem(name), "mbox", messages)


def _divide(data: bytes) -> Iterator[bytes]:
    """Cut a mailbox at the lines that begin a mail: those behind a blank line, or the first."""
    starts = []
    for found in _START.finditer(data):
        before = data[max(0, found.start() - 4) : found.start()]
        if not before.strip() or before.endswith((b"\n\n", b"\n\r\n")):
            starts.append((found.start(), found.end()))
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


def _root(mail: _Mail, known: Mapping[str, _Mail]) -> str:
    """The key of the first mail of a thread; that of a lost mail serves as well."""
    seen = {mail.key}
    while mail.parents:
        above = mail.parents[0]
        if above in seen:
            break
        if above not in known:
            return above
        seen.add(above)
        mail = known[above]
    return mail.key


def _thread(thread: Sequence[_Mail], known: Mapping[str, _Mail]) -> Iterator[Message]:
    """The mails of a thread, under its subject."""
    subject = next((one.subject for one in thread if one.subject), "")
    session = _REPLY.sub("", subject, count=1).strip() if subject else "(no subject)"
    for one in thread:
        parent = known.get(one.parents[-1]) if one.parents else None
        yield Message(
            author=one.message.author,
            at=one.message.at,
            text=one.message.text,
            reply_to=parent.message.author if parent and parent is not one else "",
            session=session or "(no subject)",
        )
