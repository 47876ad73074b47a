"""CSV and TSV as one Markdown table."""

from __future__ import annotations

import csv
import io
from itertools import islice

from ragkit.reading.reading_parts import stem, table
from ragkit.types import Markup, Reading

_SAMPLE = 50_000
_LONGEST_FIELD = 50_000_000
_DELIMITERS = ",;\t|"


def read_csv(text: str, name: str) -> Reading:
    """Read cleaned rows; the delimiter is found out, the first row is the header."""
    warnings: tuple[str, ...] = ()
    csv.field_size_limit(_LONGEST_FIELD)
    try:
        body = table(list(csv.reader(io.StringIO(text), delimiter=_delimiter(text, name))))
        markup = Markup.MARKDOWN
    except csv.Error:
        body, markup = text, Markup.PLAIN
        warnings = ("The rows could not be told apart, so the file was read as plain text.",)
    return Reading(text=body, title=stem(name), format="csv", markup=markup, warnings=warnings)


def _delimiter(text: str, name: str) -> str:
    """The delimiter that splits the first rows into most columns, evenly."""
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
