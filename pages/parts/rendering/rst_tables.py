"""Tables of reStructuredText: columns below lines of equals signs, and grids."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from pages.parts.rendering.canvas import Span
from pages.parts.rendering.flow import Flow
from pages.parts.rendering.tables import Row

_SIMPLE_RULE = re.compile(r"=+(?: +=+)+ *")
_SPANNING_RULE = re.compile(r"-+(?: +-+)* *")
_GRID_RULE = re.compile(r"\+(?:[-=]+\+)+ *")
_LONGEST = 20_000
_COLUMN = re.compile(r"[=-]+")


class Table(NamedTuple):
    """The header's lines and cells, if there is one, and the other rows."""

    head: Span | None
    names: Sequence[Flow]
    body: Sequence[Row]


def is_open_table(source: str, lines: Sequence[Span]) -> bool:
    """Return whether lines begin a table that ends after a blank line."""
    rule = source[slice(*lines[0])]
    if not _SIMPLE_RULE.fullmatch(rule.strip()):
        return False
    rules = [at for at, line in enumerate(lines) if source[slice(*line)] == rule]
    if len(rules) > 1 and rules[-1] == len(lines) - 1:
        return False
    end = lines[-1][1]
    return source.find(f"\n{rule}", end, end + _LONGEST) >= 0


def read_table(source: str, lines: Sequence[Span]) -> Table | None:
    """Return the table that the lines are, or ``None``; spans are those of ``source``."""
    texts = [source[start:end] for start, end in lines]
    if len(lines) < 3:
        return None
    if _SIMPLE_RULE.fullmatch(texts[0]) and _SIMPLE_RULE.fullmatch(texts[-1]):
        return _simple(source, lines, texts)
    if _GRID_RULE.fullmatch(texts[0]) and _GRID_RULE.fullmatch(texts[-1]):
        return _grid(source, lines, texts)
    return None


def _simple(source: str, lines: Sequence[Span], texts: Sequence[str]) -> Table:
    """Read a table in which a line without a first cell continues the row above it."""
    edges = [match.start() for match in _COLUMN.finditer(texts[0])]
    columns = list(zip(edges, [*edges[1:], None], strict=True))
    rows: list[list[int]] = []
    heads = 0
    for at, text in enumerate(texts[1:-1], 1):
        if _SIMPLE_RULE.fullmatch(text):
            heads = len(rows)
        elif not _SPANNING_RULE.fullmatch(text):
            if rows and not text[: columns[0][1]].strip():
                rows[-1].append(at)
            else:
                rows.append([at])
    return _table(source, [[lines[at] for at in row] for row in rows], columns, heads)


def _grid(source: str, lines: Sequence[Span], texts: Sequence[str]) -> Table | None:
    """Read a table in a grid; ``None`` where a cell spans several columns or rows."""
    edges = [at for at, sign in enumerate(texts[0]) if sign == "+"]
    columns = [(first + 1, last) for first, last in pairwise(edges)]
    rows: list[list[int]] = [[]]
    heads = 0
    for at, text in enumerate(texts[1:], 1):
        signs = {text[edge : edge + 1] for edge in edges}
        if _GRID_RULE.fullmatch(text) and signs == {"+"}:
            heads = len(rows) if "=" in text else heads
            rows.append([])
        elif signs == {"|"}:
            rows[-1].append(at)
        else:
            return None
    filled = [[lines[at] for at in row] for row in rows if row]
    return _table(source, filled, columns, heads)


def _table(
    source: str,
    rows: Sequence[Sequence[Span]],
    columns: Sequence[tuple[int, int | None]],
    heads: int,
) -> Table:
    """Divide rows of lines at their columns; the first ``heads`` rows are one header."""
    head = [line for row in rows[:heads] for line in row]
    names = [_cell(source, head, *column) for column in columns] if head else []
    body = [
        ((row[0][0], row[-1][1]), [_cell(source, row, *column) for column in columns])
        for row in rows[heads:]
    ]
    return Table((head[0][0], head[-1][1]) if head else None, names, body)


def _cell(source: str, lines: Sequence[Span], first: int, last: int | None) -> Flow:
    """Return the text of a cell, which may have several lines."""
    pieces: list[str] = []
    runs: list[tuple[int, int]] = []
    length = 0
    for start, end in lines:
        stop = end if last is None else min(start + last, end)
        written = source[start + first : stop]
        piece = written.strip()
        if piece:
            runs.append((length, start + first + len(written) - len(written.lstrip())))
            pieces.append(piece)
            length += len(piece) + 1
    return Flow("\n".join(pieces), runs or [(0, lines[0][0])])
