"""The chats of a person as Skype exported them ("messages.json")."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from html import unescape
from typing import Any

from ragkit.reading.conversations.messages import Conversation, Message, in_order, moment
from ragkit.reading.reading_parts import objects, quoted, tidy, without_tags, words

_OWN = "Me"
_NETWORK = re.compile(r"^\d+:(?:live:)?")
"""How the name of an account begins that has no other name."""

_QUOTE = re.compile(r"<quote\b[^<>]*>(.*?)</quote>", re.S)
_REPEATED = re.compile(r"<legacyquote>.*?</legacyquote>", re.S)
"""Who is quoted and when, for programs that show no quotations."""

_FILE = re.compile(r"<OriginalName v=\"([^\"]{1,300})\"")


def read_skype(value: Any) -> Conversation | None:
    """Read all chats, each as a session; ``None`` for other JSON."""
    chats = objects(value.get("conversations")) if isinstance(value, dict) else []
    if not any("MessageList" in chat for chat in chats):
        return None
    own = words(value, "userId")
    names = {words(chat, "id"): words(chat, "displayName") for chat in chats}
    for entry in (entry for chat in chats for entry in objects(chat.get("MessageList"))):
        if name := words(entry, "displayName"):
            names[words(entry, "from")] = name
    messages = [message for chat in chats for message in _messages(chat, own, names)]
    return Conversation("Skype", "Skype", in_order(messages))


def _messages(chat: Mapping[str, Any], own: str, names: Mapping[str, str]) -> Iterator[Message]:
    """Yield what was written in a chat; calls and who came or went are left out."""
    session = words(chat, "displayName") or _short(words(chat, "id"))
    for entry in objects(chat.get("MessageList")):
        sender = words(entry, "from")
        if words(entry, "messagetype").startswith(("RichText", "Text")):
            yield Message(
                _OWN if sender == own else names.get(sender) or _short(sender),
                moment(entry.get("originalarrivaltime")),
                _text(words(entry, "content")),
                session=session,
            )


def _short(account: str) -> str:
    return _NETWORK.sub("", account)


def _text(content: str) -> str:
    """Return a message without the tags of Skype; of a file it is the name."""
    if file := _FILE.search(content):
        return f"({unescape(file[1])})"
    content = _QUOTE.sub(_quotation, _REPEATED.sub("", content))
    return tidy(without_tags(content))


def _quotation(quote: re.Match[str]) -> str:
    return f"{quoted(quote[1].strip())}\n\n"
