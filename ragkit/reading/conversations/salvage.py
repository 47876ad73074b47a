"""JSON that may be broken in places: what can be read is read, and the rest is named by line."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

_MOST_BROKEN = 1000
_MOST_NAMED = 5
_LIST = re.compile(r'"(?:messages|conversations)"\s*:\s*\[')
_GAP = re.compile(r"[\s,]*")
_BETWEEN = re.compile(r"\}\s*,\s*(?=\{)")


def load_lines(text: str) -> tuple[list[dict[str, Any]], tuple[str, ...]]:
    """Read JSON lines; gives the objects, and a warning that names the broken lines."""
    objects: list[dict[str, Any]] = []
    broken: list[int] = []
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            broken.append(number)
            continue
        if isinstance(value, dict):
            objects.append(value)
    return objects, named(broken)


def load_json(text: str) -> tuple[Any, tuple[str, ...]]:
    """Read JSON. Of broken JSON the list of messages is read, without what is broken.

    Gives ``None`` when nothing can be made of it.
    """
    try:
        return json.loads(text), ()
    except (ValueError, RecursionError):
        pass
    start = text.find("[") if text.lstrip().startswith("[") else -1
    head: dict[str, Any] | None = None
    if start < 0:
        found = _LIST.search(text)
        if not found:
            return None, ()
        start = found.end() - 1
        head = _head(text[: found.start()])
    elements, broken = _elements(text, start + 1)
    if not elements:
        return None, ()
    value = elements if head is None else {**head, "messages": elements}
    return value, named(broken)


def named(lines: Sequence[int]) -> tuple[str, ...]:
    """Say which lines were left out; nothing when there are none."""
    if not lines:
        return ()
    if len(lines) == 1:
        return (f"Line {lines[0]:,} is not valid JSON and was left out; all else was read.",)
    first = ", ".join(f"{line:,}" for line in lines[:_MOST_NAMED])
    more = len(lines) - _MOST_NAMED
    rest = f" and {more:,} more" if more > 0 else ""
    return (f"Lines {first}{rest} are not valid JSON and were left out; all else was read.",)


def _head(text: str) -> dict[str, Any]:
    """Read what stands before the list of messages."""
    try:
        value = json.loads(text.rstrip().rstrip(",") + "}")
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _elements(text: str, at: int) -> tuple[list[Any], list[int]]:
    """Read the elements of a list one by one; gives them and the lines that are broken."""
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
            found = following.search(text, wrong)
            if found is None:
                break
            at = found.end()
        at = _after_gap(text, at)
    return elements, broken


def _after_gap(text: str, at: int) -> int:
    """Step over white space and commas."""
    found = _GAP.match(text, at)
    return found.end() if found else at
