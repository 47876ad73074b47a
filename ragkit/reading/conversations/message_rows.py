"""Rows of who said what and when: JSON, JSON lines, tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from ragkit.reading.conversations.assistants import NAMES, block_texts
from ragkit.reading.conversations.messages import Message, in_order, moment, write

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ragkit.types import MessageSpan

TIME_KEYS = (
    "timestamp", "time", "datetime", "date", "created_at", "createdat", "sent_at", "sentat",
    "create_time", "created", "at", "ts", "when",
)  # fmt: skip
AUTHOR_KEYS = (
    "author", "sender", "speaker", "from", "from_name", "user", "username", "user_name",
    "sender_name", "display_name", "nickname", "participant", "role", "who", "name",
)  # fmt: skip
TEXT_KEYS = ("message", "text", "content", "body", "msg", "utterance", "value")
_REPLY_KEYS = ("reply_to", "in_reply_to", "replyto")
_SESSION_KEYS = (
    "session", "session_id", "sessionid", "conversation", "conversation_id", "thread", "channel",
    "room", "chat",
)  # fmt: skip
_SURE_AUTHORS = frozenset(AUTHOR_KEYS) - {"name", "role", "who", "value"}
_SURE_TEXTS = frozenset({"message", "text", "content", "body", "msg", "utterance"})
_ENOUGH = 0.6


def consolidate_messages_to_markdown(rows: Any) -> tuple[str, tuple[MessageSpan, ...]]:
    """Write rows of messages as Markdown by message, with author and time.

    ``rows`` is a pyarrow table, anything else with ``to_pylist``, or an iterable of mappings
    with ``timestamp``, ``author`` and ``message`` (or what is commonly written for these).
    Gives the text and the span of each message in it. Rows without a text are left out.

    Raises:
        TypeError: when there is something else than mappings in ``rows``.
    """
    text, spans, _ = write(in_order(list(row_messages(mappings(rows)))))
    return text, spans


def mappings(rows: Any) -> Iterator[Mapping[str, Any]]:
    """Go through the rows of a table or of an iterable.

    Raises:
        TypeError: when there is something else than mappings.
    """
    listed: Iterable[Any] = rows.to_pylist() if hasattr(rows, "to_pylist") else rows
    for row in listed:
        if not isinstance(row, Mapping):
            raise TypeError(f"A row must be a mapping, not {type(row).__name__}.")
        yield row


def are_rows(objects: Sequence[Mapping[str, Any]]) -> bool:
    """Whether most objects tell who said what and when, in words that leave no doubt."""
    seen = objects[:50]
    fitting = 0
    for one in seen:
        keys = {str(key).lower() for key in one}
        text = next((one[key] for key in one if str(key).lower() in _SURE_TEXTS), None)
        timed = any(moment(one[key]) for key in one if str(key).lower() in TIME_KEYS)
        fitting += bool(keys & _SURE_AUTHORS) and timed and isinstance(text, str)
    return bool(seen) and fitting >= _ENOUGH * len(seen)


def row_messages(rows: Iterable[Mapping[str, Any]]) -> Iterator[Message]:
    """Turn rows into messages; those without a text are left out."""
    for row in rows:
        lowered = {str(key).lower(): value for key, value in row.items()}
        text = "\n".join(filter(None, block_texts(_first(lowered, TEXT_KEYS))))
        if not text.strip():
            continue
        author = _name(_first(lowered, AUTHOR_KEYS))
        yield Message(
            author=author,
            at=next((at for key in TIME_KEYS if (at := moment(lowered.get(key)))), None),
            text=text,
            reply_to=_name(_first(lowered, _REPLY_KEYS)),
            session=_name(_first(lowered, _SESSION_KEYS)),
        )


def _first(row: Mapping[str, Any], keys: Sequence[str]) -> Any:
    """The first value that is there."""
    return next((row[key] for key in keys if row.get(key) not in (None, "")), "")


def _name(value: Any) -> str:
    """A name, also where it stands inside an object; the two sides of a chat by their roles."""
    if isinstance(value, Mapping):
        lowered = {str(key).lower(): inner for key, inner in value.items()}
        value = _first(lowered, ("display_name", "real_name", "name", "username", "id"))
    text = str(value)
    return NAMES.get(text, text)
