"""Paragraphs, lists and tables of documents, written as Markdown."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from ragkit.reading.decode import clean
from ragkit.reading.reading_parts import table, tidy, whole_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

_SIGN = re.compile(r"\\(?=[!-/:-@\[-`{-~])|\*|<(?=[A-Za-z/!?])")
_FIRST_SIGN = re.compile(r"^[#>]", re.M)
_SPACES = re.compile(r"[ \t\xa0]+")
_ORDERED = re.compile(r"\d{1,9}[.)]")
_AROUND_BREAK = re.compile(r" ?\n ?")
_DEEPEST_HEADING, _DEEPEST_LIST = 6, 8


class Block(NamedTuple):
    """A paragraph or a table; ``prefix`` makes a paragraph a heading or an item of a list."""

    prefix: str
    text: str

    @property
    def is_item(self) -> bool:
        """Return whether this is an item of a list."""
        return bool(self.prefix) and not self.prefix.startswith("#")


def paragraph(text: str, *, level: int = 0, depth: int = 0, number: str = "") -> Block:
    """Return a paragraph of ``inline`` text, with the ``number`` that is printed before it.

    With a ``level`` from 1, it is a heading, with a ``depth`` an item of a list in others.
    """
    number = number.strip() if any(map(str.isalnum, number)) else ""
    if level:
        whole = whole_line(f"{number} {text}") if text.strip() else ""
        return Block("#" * min(level, _DEEPEST_HEADING) + " ", whole)
    text = _AROUND_BREAK.sub("\n", _SPACES.sub(" ", text)).strip()
    text = _FIRST_SIGN.sub(r"\\\g<0>", text)
    if depth:
        indent = "  " * (min(depth, _DEEPEST_LIST) - 1)
        text = text.replace("\n", f"\n{indent}  ")
        if _ORDERED.fullmatch(number):
            return Block(f"{indent}{number} ", text)
        return Block(f"{indent}- ", f"{number} {text}" if number and text else text)
    return Block("", f"{number} {text}" if number and text else text)


def tabled(rows: Sequence[Sequence[Sequence[Block]]]) -> Iterator[Block]:
    """Yield a table of rows of cells; one that has a single column is only a layout, and none."""
    filled = max((sum(map(_says, row)) for row in rows), default=0)
    if filled > 1:
        yield Block("", table([[_joined(cell) for cell in row] for row in rows]))
    else:
        yield from (block for row in rows for cell in row for block in cell)


def written(blocks: Iterable[Block]) -> str:
    """Return blocks as Markdown; items of a list stand together."""
    pieces: list[str] = []
    was_item = False
    for block in blocks:
        if block.text:
            pieces += ["\n" if was_item and block.is_item else "\n\n", *block]
            was_item = block.is_item
    return tidy("".join(pieces))


def inline(text: str) -> str:
    """Return a piece of a paragraph in which nothing is Markdown."""
    return _SIGN.sub(r"\\\g<0>", clean(text))


def note(number: int, text: str) -> Block:
    """Return what a note says in ``inline`` text, to which ``[^number]`` refers."""
    return Block("", f"[^{number}]: {text}")


def _says(cell: Sequence[Block]) -> bool:
    return any(block.text for block in cell)


def _joined(cell: Sequence[Block]) -> str:
    return " ".join(whole_line(block.text) for block in cell)
