"""Helpers of several readers: joining text, titles, Markdown tables, untyped JSON."""

from __future__ import annotations

import re
from html import unescape
from itertools import pairwise
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from ragkit.reading.decode import clean
from ragkit.types import Page

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from ragkit.types import Metadata

LEADER = "\u2026"
"""Stands for the dots that lead from a heading to its page, or from a label to its figure."""

_NO_LETTERS = re.compile(r"[\W_]")
_SPACE = re.compile(r"\s+")
_DIRECTIONS = re.compile("[\u202a-\u202e\u2066-\u2069]")
_LONGEST_TITLE = 300
_TAG = re.compile(r"<[^<>]*>")
_TICKS = re.compile(r"`{3,}")
_OF_NOTION = re.compile(r"(?<=\S) [0-9a-f]{32}(?:_all)?$")
_BLANK_LINES = re.compile(r"\n[ \t]*\n(?:[ \t]*\n)+")


def stem(name: str) -> str:
    """Return the file name without folders, suffix and Notion's number, for use as a title."""
    path = PurePosixPath(name.replace("\\", "/"))
    return one_line(_OF_NOTION.sub("", clean(path.stem or path.name or name)))


def is_of_notion(name: str) -> bool:
    """Return whether a file has the name of a page that Notion has exported."""
    return _OF_NOTION.search(PurePosixPath(name.replace("\\", "/")).stem) is not None


def stem_or_folder(name: str, generic: re.Pattern[str]) -> str:
    """Return the stem, or the name of the folder if a program gives all its files such a stem."""
    title = stem(name)
    folder = PurePosixPath(name.replace("\\", "/")).parent.name
    return folder if folder and generic.fullmatch(title) else title


def file_name(name: str) -> str:
    """Return the file name without folders, for use as a title."""
    return one_line(clean(PurePosixPath(name.replace("\\", "/")).name or name))


def one_line(text: str) -> str:
    """Return a title or name on one line of bounded length, without direction overrides."""
    return whole_line(text)[:_LONGEST_TITLE]


def whole_line(text: str) -> str:
    """Return a text on one line, however long, without direction overrides."""
    return _SPACE.sub(" ", _DIRECTIONS.sub("", text)).strip()


def tidy(text: str) -> str:
    """Return a text without surrounding white space and repeated blank lines."""
    return _BLANK_LINES.sub("\n\n", text).strip()


def whole_number(text: str, usual: int = 0) -> int:
    """Return a number of digits only, or the usual one of a text that is none or far too long."""
    return int(text) if text.isdecimal() and len(text) < 9 else usual


def joined(pieces: Iterable[str], separator: str = "\n") -> str:
    """Join the pieces that are not empty."""
    return separator.join(filter(None, pieces))


def lines_at(text: str) -> Iterator[tuple[int, str]]:
    """Yield each line and its offset."""
    offset = 0
    for line in text.split("\n"):
        yield offset, line
        offset += len(line) + 1


def tile(
    pieces: Iterable[tuple[str, str]], run_on: Callable[[str, str], bool] | None = None
) -> tuple[str, tuple[Page, ...]]:
    """Join (label, text) pieces with blank lines; return the text and the pages that tile it.

    Where one text runs on in the next, as ``run_on`` says, there is no blank line between them.
    What is between two pages belongs to the first.
    """
    pages: list[Page] = []
    texts: list[str] = []
    start = 0
    listed = list(pieces)
    for number, ((label, text), (_, after)) in enumerate(pairwise([*listed, ("", "")]), 1):
        gap = "" if number == len(listed) else "\n" if run_on and run_on(text, after) else "\n\n"
        texts.append(text + gap)
        pages.append(Page(number, label, start, start + len(texts[-1])))
        start = pages[-1].end
    return "".join(texts), tuple(pages)


def plain_key(key: str) -> str:
    """Return the letters and digits of a key in lower case: "dateupdated" of "Date-Updated"."""
    return _NO_LETTERS.sub("", key.casefold())


def cell(value: str) -> str:
    """Return a text that fits into one cell of a Markdown table."""
    return _SPACE.sub(" ", value).strip().replace("\\|", "|").replace("|", "\\|")


def table(rows: Sequence[Sequence[str]]) -> str:
    """Return rows, the header first, as a Markdown table without its empty rows and columns."""
    width = max((len(row) for row in rows), default=0)
    cells = [[cell(value) for value in row] + [""] * (width - len(row)) for row in rows]
    kept = [column for column in range(width) if any(row[column] for row in cells)]
    lines = ["| " + " | ".join(row[column] for column in kept) + " |" for row in cells if any(row)]
    if not kept or not lines:
        return ""
    lines.insert(1, "|" + " --- |" * len(kept))
    return "\n".join(lines)


def without_tags(source: str) -> str:
    """Return the text of simple HTML: nothing in it is left out or divided but by its tags."""
    return unescape(_TAG.sub("", source))


def box(*, done: bool) -> str:
    """Return the box of a task, as Markdown has it."""
    return "[x]" if done else "[ ]"


def fenced(text: str, language: str) -> str:
    """Return text in a code fence longer than any fence inside it."""
    fence = "`" * (max(map(len, _TICKS.findall(text)), default=2) + 1)
    return f"{fence}{language}\n{text}\n{fence}"


def nonempty(**values: Any) -> Metadata:
    """Return the values that are not empty as metadata."""
    return {key: value for key, value in values.items() if value not in ("", None, [])}


# -- JSON whose shape is not certain ---------------------------------------------------------


def objects(value: Any) -> list[dict[str, Any]]:
    """Return the objects in a list; an empty list if it is not a list."""
    return [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []


def inner(entry: Mapping[str, Any], key: str) -> dict[str, Any]:
    """Return the object under a key, or an empty one."""
    value = entry.get(key)
    return value if isinstance(value, dict) else {}


def words(entry: Mapping[str, Any], *keys: str) -> str:
    """Return the first value that is not empty as text, or ``""``."""
    return next((str(entry[key]) for key in keys if entry.get(key)), "")


def quoted(text: str) -> str:
    """Return a text as a Markdown quotation without blank lines."""
    return "\n".join(f"> {line}" for line in text.split("\n") if line)


def attached(files: Any, *keys: str, kind: str = "attached") -> Iterator[str]:
    """Yield a mark with the name of each attached file, found under the first of ``keys``."""
    for file in objects(files):
        yield f"({kind}: {words(file, *keys) or 'file'})"
