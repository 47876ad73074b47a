"""JSON, YAML, TOML and INI files: as written, with their top-level keys as the outline."""

from __future__ import annotations

import json
import re

from ragkit.reading.decode import clean
from ragkit.reading.reading_parts import file_name, one_line
from ragkit.types import Markup, OutlineEntry, Reading

_MOST_ENTRIES = 1000
_LONG_LINES = 300
_MOST_GROWTH = 4
_INVALID = "This is not valid JSON; it was kept as text."
_FIRST_KEY = re.compile(r"\s{0,100}\{[ \t]*\n([ \t]{1,16})(?=\")")
_TOP_KEY = {
    "yaml": re.compile(r"^([A-Za-z_][\w .-]{0,100}|\"[^\"\n]{1,100}\"):(?=\s|$)", re.M),
    "toml": re.compile(r"^\[{1,2}([^\[\]\n]{1,200})\]{1,2}", re.M),
    "ini": re.compile(r"^\[([^\[\]\n]{1,200})\]", re.M),
}


def read_data(text: str, name: str, file_format: str) -> Reading:
    """Read a cleaned configuration or data file."""
    warnings: tuple[str, ...] = ()
    if file_format == "json":
        text, warnings = _readable_json(text)
    keys = _json_keys(text) if file_format == "json" else _TOP_KEY.get(file_format)
    outline = tuple(
        OutlineEntry(found.start(), 1, one_line(found[1].strip('"')))
        for found, _ in zip(keys.finditer(text) if keys else (), range(_MOST_ENTRIES), strict=False)
    )
    return Reading(
        text=text,
        title=file_name(name),
        format=file_format,
        markup=Markup.PLAIN if file_format == "jsonl" else Markup.CODE,
        outline=outline,
        metadata={"language": file_format},
        warnings=warnings,
    )


def _json_keys(text: str) -> re.Pattern[str] | None:
    """What the keys of the outermost object look like: those with the indent of the first."""
    first = _FIRST_KEY.match(text)
    if not first:
        return None
    return re.compile(rf"^{first[1]}\"((?:[^\"\\\n]|\\.){{1,200}})\"\s*:", re.M)


def _readable_json(text: str) -> tuple[str, tuple[str, ...]]:
    """Break JSON without line ends into lines; leave what a person has laid out."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text, (_INVALID,)
    if len(text) < _LONG_LINES * (text.count("\n") + 1):
        return text, ()
    try:
        pretty = clean(json.dumps(value, ensure_ascii=False, indent=2))
    except RecursionError:
        return text, ()
    # Long rows of numbers, one a line, help no one.
    return (pretty, ()) if len(pretty) < _MOST_GROWTH * len(text) else (text, ())
