"""Telegram's ``result.json``: one chat, or all of them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

from ragkit.reading.conversations.messages import Conversation, Message, moment

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_QUARTER = 900
_FARTHEST = 14 * 3600


def is_telegram(value: Any) -> bool:
    """Return whether JSON is such an export."""
    if not isinstance(value, dict):
        return False
    chats = value.get("chats")
    if isinstance(chats, dict) and isinstance(chats.get("list"), list):
        return True
    messages = value.get("messages")
    return (
        isinstance(messages, list)
        and "type" in value
        and any(
            isinstance(entry, dict) and "date" in entry and ("from" in entry or "actor" in entry)
            for entry in messages[:50]
        )
    )


def read_telegram(value: dict[str, Any]) -> Conversation:
    """Read one chat, or each chat of a whole export as a session."""
    chats = value.get("chats")
    if isinstance(chats, dict):
        messages = [
            message
            for chat in chats["list"]
            if isinstance(chat, dict)
            for message in _messages(chat, str(chat.get("name") or "Chat"))
        ]
        return Conversation("Telegram", "Telegram", messages)
    title = str(value.get("name") or "Telegram")
    return Conversation(title, "Telegram", list(_messages(value, "")))


def _messages(chat: Mapping[str, Any], session: str) -> Iterator[Message]:
    listed = [entry for entry in chat.get("messages") or [] if isinstance(entry, dict)]
    authors = {entry.get("id"): str(entry.get("from") or "") for entry in listed}
    for entry in listed:
        if entry.get("type") == "service":
            continue
        parts = [_forwarded(entry), _text(entry.get("text")), _attached(entry)]
        yield Message(
            author=str(entry.get("from") or entry.get("from_id") or ""),
            at=_moment(entry),
            text="\n".join(filter(None, parts)),
            reply_to=authors.get(entry.get("reply_to_message_id"), ""),
            session=session,
        )


def _text(value: Any) -> str:
    """Join a text that may be a list of plain and of marked-up pieces."""
    if isinstance(value, str):
        return value
    pieces = []
    for piece in value if isinstance(value, list) else []:
        if isinstance(piece, str):
            pieces.append(piece)
        elif isinstance(piece, dict):
            pieces.append(_entity(piece))
    return "".join(pieces)


def _entity(piece: Mapping[str, Any]) -> str:
    """Return a piece as Markdown if its markup matters, or else its plain words."""
    text = str(piece.get("text") or "")
    if piece.get("type") == "text_link" and piece.get("href"):
        return f"[{text}]({piece['href']})"
    if piece.get("type") == "pre":
        return f"\n```{piece.get('language') or ''}\n{text}\n```\n"
    if piece.get("type") == "code" and "`" not in text:
        return f"`{text}`"
    return text


def _attached(entry: Mapping[str, Any]) -> str:
    """Return a mark for what was sent besides text."""
    kind = str(entry.get("media_type") or "").replace("_", " ")
    if entry.get("sticker_emoji"):
        return f"(sticker {entry['sticker_emoji']})"
    if "photo" in entry:
        return "(photo)"
    name = entry.get("file_name") or (str(entry.get("file") or "").rpartition("/")[2])
    if kind or name:
        # An export without files has a sentence in brackets in their place.
        shown = "" if str(entry.get("file") or "").startswith("(") else str(name or "")
        return f"({' '.join(filter(None, [kind or 'file', shown]))})"
    poll = entry.get("poll")
    return f"(poll: {poll.get('question')})" if isinstance(poll, dict) else ""


def _forwarded(entry: Mapping[str, Any]) -> str:
    origin = entry.get("forwarded_from")
    return f"(forwarded from {origin})" if origin else ""


def _moment(entry: Mapping[str, Any]) -> datetime | None:
    """Return the local time with the offset that follows from the seconds since 1970."""
    local = moment(entry.get("date"))
    unix = entry.get("date_unixtime")
    seconds = (
        int(unix) if isinstance(unix, int) or (isinstance(unix, str) and unix.isdigit()) else 0
    )
    if local is None or local.tzinfo is not None or not seconds:
        return local
    try:
        offset = (local.replace(tzinfo=UTC) - datetime.fromtimestamp(seconds, UTC)).total_seconds()
    except (ValueError, OverflowError, OSError):
        return local
    offset = round(offset / _QUARTER) * _QUARTER
    if abs(offset) > _FARTHEST:
        return local
    return local.replace(tzinfo=timezone(timedelta(seconds=offset)))
