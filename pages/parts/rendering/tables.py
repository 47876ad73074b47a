"""Tables: rows of cells between pipes, as grids; in a snippet the one row that matters."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from pages.parts.rendering.canvas import Canvas, Span
from pages.parts.rendering.flow import Flow

Cell = Callable[[Canvas, Flow], None]
Row = tuple[Span, Sequence[Flow]]
"""The lines of a row, and its cells."""

_DASHES = re.compile(r"[ \t>]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*")
_CURRENCY = r"(?:[$€£¥₽₹]|[A-Z]{3})"
_NUMBER = re.compile(
    rf"[-+−(]?\s?{_CURRENCY}?\s?\(?(?:\d[\d,.  ' ]*|-)\s?(?:%|{_CURRENCY}|[a-zµ°]{{1,2}}[²³]?)?\)?"
)
_PIPE = re.compile(r"\\.|\|", re.S)
_MOST_FLAT, _ALWAYS_FLAT = 8, 2


def plain_cell(canvas: Canvas, flow: Flow) -> None:
    """Draw a cell whose text is no markup: one of a workbook or of a file of rows."""
    for start, end in flow.spans(0, len(flow.content)):
        canvas.draw(start, end)


def is_rule(source: str, line: Span) -> bool:
    """Return whether a line is the one of dashes below a table's header."""
    return "-" in source[line[0] : line[1]] and bool(_DASHES.fullmatch(source, *line))


def split(source: str, start: int, end: int) -> list[Flow]:
    """Divide a row of a table into its cells."""
    while start < end and source[start] in " \t>":
        start += 1
    while end > start and source[end - 1] in " \t":
        end -= 1
    bars = [match.start() for match in _PIPE.finditer(source, start, end) if match[0] == "|"]
    edges = [start - 1, *bars, end]
    cells = list(zip([edge + 1 for edge in edges[:-1]], edges[1:], strict=True))
    if cells and cells[0][0] == cells[0][1]:
        cells.pop(0)
    if cells and cells[-1][0] >= cells[-1][1]:
        cells.pop()
    return [_cell(source, *cell) for cell in cells]


def _cell(source: str, start: int, end: int) -> Flow:
    """Return the text of a cell: trimmed, with its escaped pipes as pipes."""
    while start < end and source[start].isspace():
        start += 1
    while end > start and source[end - 1].isspace():
        end -= 1
    pieces, runs, at = [], [(0, start)], start
    length = 0
    escaped = source.find("\\|", start, end)
    while escaped >= 0:
        pieces.append(source[at:escaped])
        length += escaped - at
        at = escaped + 1
        runs.append((length, at))
        escaped = source.find("\\|", at + 1, end)
    pieces.append(source[at:end])
    return Flow("".join(pieces), runs)


def draw_table(
    canvas: Canvas, head: Span | None, rows: Sequence[Span], cell: Cell, style: str = ""
) -> None:
    """Draw a grid that scrolls inside its own frame; ``head`` and ``rows`` are lines.

    A head that lies before the rows' part of the text is repeated, so that columns have names.
    """
    names = split(canvas.source, *head) if head else []
    body = [(row, split(canvas.source, *row)) for row in rows]
    draw_grid(canvas, head, names, body, cell, style)


def draw_grid(
    canvas: Canvas,
    head: Span | None,
    names: Sequence[Flow],
    body: Sequence[Row],
    cell: Cell,
    style: str = "",
) -> None:
    """Draw a table whose cells are known; ``names`` are those of the ``head``."""
    if canvas.flat:
        _draw_flat(canvas, head, names, body, cell)
        return
    numeric = _numeric(body, len(names))
    style = f"rk-grid {style}".strip()
    with (
        canvas.element("div", class_=style, tabindex="0", role="group", aria_label="Table"),
        canvas.element("table"),
    ):
        if head and any(flow.content for flow in names):
            with canvas.element("thead"), canvas.element("tr", head):
                _cells(canvas, names, numeric, cell, "th", scope="col")
        with canvas.element("tbody"):
            for row, flows in body:
                with canvas.element("tr", row):
                    _cells(canvas, flows, numeric, cell, "td")


def _cells(
    canvas: Canvas, flows: Sequence[Flow], numeric: set[int], cell: Cell, tag: str, **values: Any
) -> None:
    for column, flow in enumerate(flows):
        with canvas.element(tag, **values, class_="rk-right" if column in numeric else None):
            cell(canvas, flow)


def draw_rows(canvas: Canvas, rows: Sequence[Span], head: Span | None) -> None:
    """Draw rows whose cells are no markup; ``head`` is their header if it lies before them."""
    if len(rows) > 1 and is_rule(canvas.source, rows[1]):
        head, body = rows[0], rows[2:]
    else:
        body = [row for row in rows if not is_rule(canvas.source, row)]
    canvas.block(
        rows[0][0], rows[-1][1],
        lambda: draw_table(canvas, head, body, plain_cell, "rk-cells"),
    )  # fmt: skip


def _numeric(body: Sequence[Row], width: int) -> set[int]:
    """Return the columns that hold numbers only, which are set flush right."""
    numeric = set()
    for column in range(max(width, 1)):
        values = [flows[column].content for _, flows in body[:60] if column < len(flows)]
        filled = [value for value in values if value]
        has_digits = any(map(str.isdecimal, "".join(filled)))
        if has_digits and all(_NUMBER.fullmatch(value) for value in filled):
            numeric.add(column)
    return numeric


def _draw_flat(
    canvas: Canvas,
    head: Span | None,
    names: Sequence[Flow],
    body: Sequence[Row],
    cell: Cell,
) -> None:
    """Draw the row with most marks within the clip, each cell after the name of its column."""
    near = [(row, flows) for row, flows in body if canvas.touches(*row)]
    if not near:
        if head and canvas.touches(*head):
            canvas.sentence(lambda: _flat_cells(canvas, (), names, cell), *head)
        return
    row, flows = max(near, key=lambda item: canvas.marked(*item[0]))
    canvas.sentence(lambda: _flat_cells(canvas, names, flows, cell), *row)


def _flat_cells(canvas: Canvas, names: Sequence[Flow], flows: Sequence[Flow], cell: Cell) -> None:
    """Draw the first cells, and of the others those that are marked most, or else come first."""

    def marks(column: int) -> int:
        pair = (*flows[column : column + 1], *names[column : column + 1])
        places = [(flow.runs[0][1], len(flow.content)) for flow in pair if flow.content]
        return sum(canvas.marked(start, start + length) for start, length in places)

    filled = [column for column, flow in enumerate(flows) if flow.content]
    best = sorted(filled[_ALWAYS_FLAT:], key=marks, reverse=True)[: _MOST_FLAT - _ALWAYS_FLAT]
    kept = [*filled[:_ALWAYS_FLAT], *sorted(best)]
    for place, column in enumerate(kept):
        if place:
            canvas.say(" · ")
        if column < len(names) and names[column].content:
            canvas.say(f"{names[column].content[:60]}: ")
        cell(canvas, flows[column])
