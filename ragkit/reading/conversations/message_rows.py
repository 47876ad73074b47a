"""Messages as rows with author, time and text: from JSON, JSON lines and tables.

Of partly broken JSON, the sound parts are read, and the broken lines are named.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from ragkit.reading.conversations.assistants import NAMES, block_texts
from ragkit.reading.conversations.messages import Message, in_order, moment, write
from ragkit.reading.reading_parts import attached, joined, objects

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


_TIME_KEYS = (
    "timestamp", "time", "datetime", "date", "created_at", "createdat", "sent_at", "sentat",
    "create_time", "created", "created_date", "at", "ts", "when",
)  # fmt: skip
_AUTHOR_KEYS = (
    "author", "sender", "speaker", "from", "from_name", "user", "username", "user_name",
    "sender_name", "display_name", "nickname", "participant", "creator", "role", "who", "name",
)  # fmt: skip
_TEXT_KEYS = ("message", "text", "content", "body", "msg", "utterance", "value")
_REPLY_KEYS = ("reply_to", "in_reply_to", "replyto")
_SESSION_KEYS = (
    "session", "session_id", "sessionid", "conversation", "conversation_id", "thread", "channel",
    "room", "chat",
)  # fmt: skip
_SURE_AUTHORS = frozenset(_AUTHOR_KEYS) - {"name", "role", "who", "value"}
_SURE_TEXTS = frozenset({"message", "text", "content", "body", "msg", "utterance"})
_ROWS_SHARE = 0.6
_MOST_BROKEN = 1000
_MOST_NAMED = 5
_BROKEN = object()
_LIST = re.compile(r'\A\s*\[|(?P<key>"(?:messages|conversations)")\s*:\s*\[')
_GAP = re.compile(r"[\s,]*")
_BETWEEN = re.compile(r"\}\s*,\s*(?=\{)")


def consolidate_messages_to_markdown(rows: Any) -> str:
    """Write rows of messages as Markdown by day and message, with author and time.

    ``rows`` is a table of pyarrow, polars or pandas, or an iterable of mappings or objects with
    ``timestamp``, ``author`` and ``message`` or common synonyms. Messages are sorted by time; rows
    without a text are left out. The result can be searched with as a long question, or be stored in
    a file, which is read as the same conversation.

    >>> print(consolidate_messages_to_markdown([
    ...     {"timestamp": "2026-02-03 08:05", "author": "Bo", "message": "At nine."},
    ...     {"timestamp": "2026-02-03 08:00", "author": "Ann", "message": "When is the ferry?"},
    ... ]))
    ## Tuesday, 3 February 2026
    <BLANKLINE>
    **Ann** · 2026-02-03 08:00
    When is the ferry?
    <BLANKLINE>
    **Bo** · 2026-02-03 08:05
    At nine.
    <BLANKLINE>

    Raises:
        TypeError: a row is no mapping and has none of the attributes of a message.
    """
    text, _spans, _outline = write(in_order(list(row_messages(map(_mapping, _listed(rows))))))
    return text


def _listed(rows: Any) -> Iterator[Any]:
    """Yield the rows of a table or an iterable."""
    if hasattr(rows, "to_pylist"):
        yield from rows.to_pylist()
    elif hasattr(rows, "to_dicts"):
        yield from rows.to_dicts()
    elif hasattr(rows, "itertuples"):
        # Missing values become None, also missing times.
        yield from rows.astype(object).where(rows.notna(), None).to_dict("records")
    else:
        yield from rows


def _mapping(row: Any) -> Mapping[str, Any]:
    """Return a row as a mapping; of an object, the attributes of messages."""
    if isinstance(row, Mapping):
        return row
    keys = (*_TIME_KEYS, *_AUTHOR_KEYS, *_TEXT_KEYS, *_REPLY_KEYS, *_SESSION_KEYS)
    values = {key: getattr(row, key) for key in keys if hasattr(row, key)}
    if not values.keys() & {*_TEXT_KEYS}:
        raise TypeError(f"A row must be a mapping or a message, not {type(row).__name__}.")
    return values


def are_rows(listed: Sequence[Mapping[str, Any]]) -> bool:
    """Return whether most objects have an author, a time and a text under unambiguous keys."""
    sample = listed[:50]
    fitting = 0
    for row in sample:
        keys = {str(key).lower() for key in row}
        text = next((row[key] for key in row if str(key).lower() in _SURE_TEXTS), None)
        timed = any(moment(row[key]) for key in row if str(key).lower() in _TIME_KEYS)
        fitting += bool(keys & _SURE_AUTHORS) and timed and isinstance(text, str)
    return bool(sample) and fitting >= _ROWS_SHARE * len(sample)


def row_messages(rows: Iterable[Mapping[str, Any]]) -> Iterator[Message]:
    """Yield the messages of the rows that have a text or, as in Google Chat, files."""
    for row in rows:
        lowered = {str(key).lower(): value for key, value in row.items()}
        files = attached(lowered.get("attached_files"), "original_name", "export_name")
        text = joined([*block_texts(_first(lowered, _TEXT_KEYS)), *files])
        if not text.strip():
            continue
        yield Message(
            author=_name(_first(lowered, _AUTHOR_KEYS)),
            at=next((at for key in _TIME_KEYS if (at := moment(lowered.get(key)))), None),
            text=text,
            reply_to=_name(_first(lowered, _REPLY_KEYS)),
            session=_name(_first(lowered, _SESSION_KEYS)),
        )


def _first(row: Mapping[str, Any], keys: Sequence[str]) -> Any:
    """Return the first value that is present, or ``""``."""
    return next((row[key] for key in keys if row.get(key) not in (None, "")), "")


def _name(value: Any) -> str:
    """Return the name in a text or an object; a role becomes the name of that side."""
    if isinstance(value, Mapping):
        lowered = {str(key).lower(): inner for key, inner in value.items()}
        value = _first(lowered, ("display_name", "real_name", "name", "username", "id"))
    text = str(value)
    return NAMES.get(text, text)


# -- JSON that may be broken ---------------------------------------------------------------


def load_lines(text: str) -> tuple[list[dict[str, Any]], tuple[str, ...]]:
    """Return the objects of JSON lines, and a warning that names the broken lines."""
    values = [
        (number, _loaded(line)) for number, line in enumerate(text.split("\n"), 1) if line.strip()
    ]
    broken = [number for number, value in values if value is _BROKEN]
    return objects([value for _, value in values]), named(broken)


def load_json(text: str) -> tuple[Any, tuple[str, ...]]:
    """Return the value of a JSON text, and warnings.

    Of broken JSON, only the sound elements of its list of messages are returned, or ``None``.
    """
    value = _loaded(text)
    if value is not _BROKEN:
        return value, ()
    start = _LIST.search(text)
    elements, broken = _elements(text, start.end()) if start else ([], [])
    if start is None or not elements:
        return None, ()
    if not start["key"]:
        return elements, named(broken)
    head = _loaded(text[: start.start()].rstrip().rstrip(",") + "}")
    return {**(head if isinstance(head, dict) else {}), "messages": elements}, named(broken)


def _loaded(text: str) -> Any:
    """Return the value of a JSON text, or ``_BROKEN``."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return _BROKEN


def named(broken: Sequence[int]) -> tuple[str, ...]:
    """Return a warning that names the broken lines, if there are any."""
    if not broken:
        return ()
    if len(broken) == 1:
        return (f"Line {broken[0]:,} is not valid JSON and was left out; all else was read.",)
    first = ", ".join(f"{line:,}" for line in broken[:_MOST_NAMED])
    more = len(broken) - _MOST_NAMED
    rest = f" and {more:,} more" if more > 0 else ""
    return (f"Lines {first}{rest} are not valid JSON and were left out; all else was read.",)


def _elements(text: str, at: int) -> tuple[list[Any], list[int]]:
    """Return the sound elements of the list that starts at ``at``, and the broken lines."""
    decoder = json.JSONDecoder()
    elements: list[Any] = []
    broken: list[int] = []
    at = _after_gap(text, at)
    line_start = text.rfind("\n", 0, at) + 1
    indent = text[line_start:at]
    own_lines = line_start > 0 and not indent.strip()
    following = re.compile(rf"^{re.escape(indent)}(?=\{{)", re.MULTILINE) if own_lines else _BETWEEN
    line, counted = 1, 0
    while at < len(text) and text[at] != "]" and len(broken) < _MOST_BROKEN:
        try:
            value, at = decoder.raw_decode(text, at)
            elements.append(value)
        except json.JSONDecodeError as error:
            wrong = max(error.pos, at + 1)
            line, counted = line + text.count("\n", counted, error.pos), error.pos
            broken.append(line)
            next_element = following.search(text, wrong)
            if next_element is None:
                break
            at = next_element.end()
        at = _after_gap(text, at)
    return elements, broken


def _after_gap(text: str, at: int) -> int:
    """Return the offset after white space and commas."""
    gap = _GAP.match(text, at)
    return gap.end() if gap else at
