"""Data files: CSV and TSV as one Markdown table; JSON, YAML, TOML and INI as written."""

from __future__ import annotations

import csv
import io
import json
import re
from itertools import islice

from ragkit.reading.decode import clean
from ragkit.reading.formats import Format
from ragkit.reading.reading_parts import file_name, one_line, stem, table
from ragkit.types import Markup, OutlineEntry, Reading

_SAMPLE = 50_000
_LONGEST_FIELD = 50_000_000
_DELIMITERS = ",;\t|"
_MOST_ENTRIES = 1000
_LONG_LINES = 300
_MOST_GROWTH = 4
_INVALID = "This is not valid JSON; it was kept as text."
_FIRST_KEY = re.compile(r"\s{0,100}\{[ \t]*\n([ \t]{1,16})(?=\")")
_TOP_KEY = {
    Format.YAML: re.compile(r"^([A-Za-z_][\w .-]{0,100}|\"[^\"\n]{1,100}\"):(?=\s|$)", re.M),
    Format.TOML: re.compile(r"^\[{1,2}([^\[\]\n]{1,200})\]{1,2}", re.M),
    Format.INI: re.compile(r"^\[([^\[\]\n]{1,200})\]", re.M),
}


def read_csv(text: str, name: str, file_format: Format = Format.CSV) -> Reading:
    """Read cleaned rows; the delimiter is detected, the first row is the header."""
    warnings: tuple[str, ...] = ()
    csv.field_size_limit(_LONGEST_FIELD)
    try:
        body = table(list(csv.reader(io.StringIO(text), delimiter=_delimiter(text, name))))
        markup = Markup.MARKDOWN
    except csv.Error:
        body, markup = text, Markup.PLAIN
        warnings = ("The rows could not be told apart, so the file was read as plain text.",)
    return Reading(
        text=body, title=stem(name), format=file_format, markup=markup, warnings=warnings
    )


def _delimiter(text: str, name: str) -> str:
    """Return the delimiter that splits the first rows into most columns, evenly."""
    if name.lower().endswith(".tsv"):
        return "\t"
    best, best_columns = ",", 1.0
    for delimiter in _DELIMITERS:
        rows = islice(csv.reader(io.StringIO(text[:_SAMPLE]), delimiter=delimiter), 50)
        widths = sorted(len(row) for row in rows if row)[:-1] or [1]
        common = widths[len(widths) // 2]
        even = sum(1 for width in widths if width == common) / len(widths)
        if common > 1 and common * even > best_columns:
            best, best_columns = delimiter, common * even
    return best


def read_data(text: str, name: str, file_format: Format) -> Reading:
    """Read cleaned JSON, YAML, TOML or INI, with its top-level keys as the outline."""
    warnings: tuple[str, ...] = ()
    if file_format is Format.JSON:
        text, warnings = _readable_json(text)
    keys = _json_keys(text) if file_format is Format.JSON else _TOP_KEY.get(file_format)
    outline = tuple(
        OutlineEntry(match.start(), 1, one_line(match[1].strip('"')))
        for match, _ in zip(keys.finditer(text) if keys else (), range(_MOST_ENTRIES), strict=False)
    )
    return Reading(
        text=text,
        title=file_name(name),
        format=file_format,
        markup=Markup.PLAIN if file_format is Format.JSONL else Markup.CODE,
        outline=outline,
        metadata={"language": file_format},
        warnings=warnings,
    )


def _json_keys(text: str) -> re.Pattern[str] | None:
    """Return the pattern of the outermost keys: those with the indent of the first."""
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
