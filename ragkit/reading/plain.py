"""Text files: plain, reStructuredText, AsciiDoc, Info, tables, and data (JSON, YAML, TOML, INI)."""

from __future__ import annotations

import csv
import io
import json
import re
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING

from ragkit.reading.decode import clean
from ragkit.reading.formats import Format
from ragkit.reading.markdown import metadata_from
from ragkit.reading.note_exports import read_note_export
from ragkit.reading.reading_parts import file_name, lines_at, one_line, stem, tidy
from ragkit.reading.records import read_records
from ragkit.reading.sheet_tables import titled_table
from ragkit.reading.text_headings import text_headings, title_at_top, underlined_headings
from ragkit.types import Markup, OutlineEntry, Reading

if TYPE_CHECKING:
    from collections.abc import Iterator

_RST_MARK = re.compile(r"^\.\. (?:_[^:\n]{1,100}:|[a-z][\w:+.-]{0,60}::)", re.M)
_FEWEST_RST_MARKS = 2
_FIELD = re.compile(r":(author|date):[ \t]+(\S.{0,300})", re.I)


def read_text(text: str, name: str, file_format: Format = Format.TEXT) -> Reading:
    """Read plain text, which is kept as it is; lines that are surely headings are its outline.

    An underlined one at the top is the title, if it is the only one of its level or stands between
    two lines, and so is one in the middle of its line. Some reStructuredText is called ".txt".
    """
    if file_format is Format.TEXT and (name.lower().endswith(".rst.txt") or _is_rst(text)):
        return read_rst(text, name)
    outline = text_headings(text)
    highest = [entry for entry in outline if entry.level == 1]
    is_title = len(highest) == 1 and not text[: highest[0].offset].strip()
    return Reading(
        text=text,
        title=highest[0].title if is_title else title_at_top(text) or stem(name),
        format=file_format,
        markup=Markup.PLAIN,
        outline=outline,
    )


def _is_rst(text: str) -> bool:
    """Return whether a text has directives and targets of reStructuredText, and titles."""
    marks = islice(_RST_MARK.finditer(text), _FEWEST_RST_MARKS)
    return sum(1 for _ in marks) == _FEWEST_RST_MARKS and bool(underlined_headings(text))


def read_rst(text: str, name: str, file_format: Format = Format.RST) -> Reading:
    """Read reStructuredText; its titles become the outline."""
    outline = underlined_headings(text)
    title = outline[0].title if outline and outline[0].level == 1 else stem(name)
    fields = filter(None, map(_FIELD.match, text[:3000].split("\n")))
    return Reading(
        text=text,
        title=title,
        format=file_format,
        markup=Markup.PLAIN,
        outline=outline,
        metadata={field[1].lower(): one_line(field[2]) for field in fields},
    )


_NODE = re.compile(r"^File: [^\n]{1,300}, +Node: [^\n]*\n", re.M)
_MENU_ENTRY = re.compile(r"^\* [^\n]*:[^\n]*\n(?: {8,}\S[^\n]*\n)*", re.M)


def read_info(text: str, name: str, file_format: Format = Format.INFO) -> Reading:
    """Read a manual of GNU's Info, without what leads from one of its nodes to another."""
    start = _NODE.search(text)
    nodes = _NODE.sub("", text[start.start() :] if start else text).partition("\nTag Table:\n")[0]
    return replace(read_rst(tidy(_MENU_ENTRY.sub("", nodes)), name, file_format), metadata={})


_EQUALS = re.compile(r"(={1,6})[ \t]+(\S.*?)(?:[ \t]+\1)?[ \t]*$")
_LISTING = re.compile(r"(-{4,}|\.{4,}|/{4,}|\+{4,}|```).*")
_ATTRIBUTES = {
    "author": "author", "revdate": "date", "keywords": "keywords", "description": "description",
}  # fmt: skip
_ATTRIBUTE = re.compile(rf":({'|'.join(_ATTRIBUTES)}):[ \t]+(\S.*)")


def read_asciidoc(text: str, name: str, file_format: Format = Format.ASCIIDOC) -> Reading:
    """Read AsciiDoc; its titles become the outline."""
    outline = tuple(_titles(text)) or underlined_headings(text)
    found = filter(None, map(_ATTRIBUTE.match, text[:3000].split("\n")))
    attributes = {_ATTRIBUTES[attribute[1]]: one_line(attribute[2]) for attribute in found}
    return Reading(
        text=text,
        title=outline[0].title if outline and outline[0].level == 1 else stem(name),
        format=file_format,
        markup=Markup.PLAIN,
        outline=outline,
        metadata=metadata_from(dict(attributes)),
    )


def _titles(text: str) -> Iterator[OutlineEntry]:
    """Yield the titles that begin with equals signs, outside of listings and comments."""
    closing = ""
    for offset, line in lines_at(text):
        block = _LISTING.fullmatch(line.rstrip())
        if block and closing in ("", block[1]):
            closing = "" if closing else block[1]
        elif not closing and (title := _EQUALS.match(line)):
            yield OutlineEntry(offset, len(title[1]), one_line(title[2]))


_OF_RECORDS = (Format.JSON, Format.JSONL, Format.YAML)
_SAMPLE = 50_000
_LONGEST_FIELD = 50_000_000
_DELIMITERS = ",;\t|"
_DECLARED = re.compile(r"\"?sep=([^\w\n\"])\"?[ ;,\t]*(?:\n|\Z)", re.I)
_MOST_ENTRIES = 1000
_LONG_LINES = 300
_MOST_GROWTH = 4
_INVALID = "This is not valid JSON; it was kept as text."
_FIRST_KEY = re.compile(r"\s{0,100}\{[ \t]*\n([ \t]{1,16})(?=\")")
_ESCAPED = re.compile(r"(?<!\\)((?:\\\\)*)((?:\\u[0-9a-fA-F]{4})+)")
"""Letters as programs write them into JSON, with the backslashes before that are signs."""

_SIGNS = re.compile(
    r"(?:\\u(?!00(?:[0-389]|40|5[b-f]|60|7[b-f])|d[89a-f]|202[89])....|\\ud[89ab]..\\ud[c-f]..)+",
    re.I,
)
"""Escapes but for signs of ASCII, controls, ends of lines and halves of letters."""

_TOP_KEY = {
    Format.YAML: re.compile(r"^([A-Za-z_][\w .-]{0,100}|\"[^\"\n]{1,100}\"):(?=\s|$)", re.M),
    Format.TOML: re.compile(r"^\[{1,2}([^\[\]\n]{1,200})\]{1,2}", re.M),
    Format.INI: re.compile(r"^\[([^\[\]\n]{1,200})\]", re.M),
}


def read_csv(text: str, name: str, file_format: Format = Format.CSV) -> Reading:
    """Read a table; the first row is the header.

    The delimiter is detected, unless a line before it says which it is, as Excel has it: "sep=;".
    """
    warnings: tuple[str, ...] = ()
    csv.field_size_limit(_LONGEST_FIELD)
    declared = _DECLARED.match(text)
    rows = text[declared.end() :] if declared else text
    delimiter = declared[1] if declared else _delimiter(text, name)
    try:
        body = titled_table(list(_rows(rows, delimiter)))
        markup = Markup.MARKDOWN
    except csv.Error:
        body, markup = text, Markup.PLAIN
        warnings = ("The rows could not be recognised, so the file was read as plain text.",)
    return Reading(
        text=body, title=stem(name), format=file_format, markup=markup, warnings=warnings
    )


def _rows(text: str, delimiter: str) -> Iterator[list[str]]:
    """Yield the cells of each row; a space may stand before the quotes around one."""
    spaced = delimiter != " "
    return csv.reader(io.StringIO(text), delimiter=delimiter, skipinitialspace=spaced)


def _delimiter(text: str, name: str) -> str:
    """Return the delimiter that splits the first rows into the most columns, evenly."""
    if name.lower().endswith(".tsv"):
        return "\t"
    best, best_columns = ",", 1.0
    for delimiter in _DELIMITERS:
        rows = islice(_rows(text[:_SAMPLE], delimiter), 50)
        widths = sorted(len(row) for row in rows if row)[:-1] or [1]
        common = widths[len(widths) // 2]
        even = sum(1 for width in widths if width == common) / len(widths)
        if common > 1 and common * even > best_columns:
            best, best_columns = delimiter, common * even
    return best


def read_data(text: str, name: str, file_format: Format) -> Reading:
    """Read JSON, YAML, TOML or INI: as records, or else with top-level keys as the outline.

    JSON may be an export of notes.

    Raises:
        SkippedError: it is a note that was thrown away.
    """
    if file_format is Format.JSON and (notes := read_note_export(text, name)):
        return notes
    if file_format in _OF_RECORDS and (records := read_records(text, name, file_format)):
        return records
    warnings: tuple[str, ...] = ()
    if file_format is Format.JSON:
        text, warnings = _readable_json(text)
    if file_format in (Format.JSON, Format.JSONL):
        text = clean(_ESCAPED.sub(_unescaped, text))
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


def _unescaped(escapes: re.Match[str]) -> str:
    """Return the letters and signs that escapes stand for; others stay as they are written."""
    return escapes[1] + _SIGNS.sub(lambda signs: str(json.loads(f'"{signs[0]}"')), escapes[2])


def _json_keys(text: str) -> re.Pattern[str] | None:
    """Return a pattern for the outermost keys: those indented like the first one."""
    first = _FIRST_KEY.match(text)
    if not first:
        return None
    return re.compile(rf"^{first[1]}\"((?:[^\"\\\n]|\\.){{1,200}})\"\s*:", re.M)


def _readable_json(text: str) -> tuple[str, tuple[str, ...]]:
    """Break minified JSON into lines; return it with warnings. Other JSON is left as it is."""
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
    # Long lists of numbers would only become longer with one number a line.
    return (pretty, ()) if len(pretty) < _MOST_GROWTH * len(text) else (text, ())
