"""Helpers of several readers: tiled pages, titles, dates, Markdown tables."""

from __future__ import annotations

import re
from datetime import date, datetime
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from ragkit.reading.decode import clean
from ragkit.types import Page

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ragkit.types import Metadata

_SPACE = re.compile(r"\s+")
_DIRECTIONS = re.compile("[\u202a-\u202e\u2066-\u2069]")
_LONGEST_TITLE = 300
_BLANK_LINES = re.compile(r"\n[ \t]*\n(?:[ \t]*\n)+")


def stem(name: str) -> str:
    """Return the file name without folders and suffix: the title of last resort."""
    path = PurePosixPath(name.replace("\\", "/"))
    return one_line(clean(path.stem or path.name or name))


def file_name(name: str) -> str:
    """Return the file name without folders: the title of files that people know by it."""
    return one_line(clean(PurePosixPath(name.replace("\\", "/")).name or name))


def one_line(text: str) -> str:
    """Return a text for a title: white space collapsed, no direction overrides, bounded."""
    return _SPACE.sub(" ", _DIRECTIONS.sub("", text)).strip()[:_LONGEST_TITLE]


def tidy(text: str) -> str:
    """Drop surrounding white space and runs of blank lines."""
    return _BLANK_LINES.sub("\n\n", text).strip()


def tile(pieces: Iterable[tuple[str, str]]) -> tuple[str, tuple[Page, ...]]:
    """Join (label, text) pieces into one text and the pages that tile it.

    The blank line between two pieces belongs to the first of them.
    """
    texts: list[str] = []
    pages: list[Page] = []
    start = 0
    listed = list(pieces)
    for number, (label, text) in enumerate(listed, 1):
        piece = text if number == len(listed) else f"{text}\n\n"
        texts.append(piece)
        pages.append(Page(number, label, start, start + len(piece)))
        start += len(piece)
    return "".join(texts), tuple(pages)


def cell(value: str) -> str:
    """Make text fit one cell of a Markdown table."""
    return _SPACE.sub(" ", value).strip().replace("\\|", "|").replace("|", "\\|")


def table(rows: Sequence[Sequence[str]]) -> str:
    """Write rows of cells, the header first, as a Markdown table; empty columns are dropped."""
    width = max((len(row) for row in rows), default=0)
    cells = [[cell(value) for value in row] + [""] * (width - len(row)) for row in rows]
    kept = [column for column in range(width) if any(row[column] for row in cells)]
    lines = ["| " + " | ".join(row[column] for column in kept) + " |" for row in cells if any(row)]
    if not kept or not lines:
        return ""
    lines.insert(1, "|" + " --- |" * len(kept))
    return "\n".join(lines)


def iso_date(value: Any) -> str:
    """Write a date or a date-like text in ISO form; an empty string when it is none."""
    if isinstance(value, (date, datetime)):
        return value.isoformat()
    text = str(value).strip()
    if not text or len(text) > 60 or not any(letter.isdigit() for letter in text):
        return ""
    try:
        moment = datetime.fromisoformat(text)
        return moment.date().isoformat() if len(text) <= 10 else moment.isoformat()
    except ValueError:
        return _loose_date(text)


def _loose_date(text: str) -> str:
    """Read "3 May 2021" and its like; a bare number is no date."""
    import warnings

    from dateutil import parser

    if text.isdigit():
        return text if len(text) == 4 else ""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return parser.parse(text).date().isoformat()
    except (ValueError, OverflowError, TypeError, AttributeError):
        return ""


def put(metadata: Metadata, **values: Any) -> Metadata:
    """Add the values that are not empty; return the metadata."""
    metadata.update({key: value for key, value in values.items() if value not in ("", None, [])})
    return metadata
