"""Workbooks and files of rows: each sheet a grid, whose cells are no Markdown."""

from __future__ import annotations

import re

from pages.parts.rendering.canvas import Canvas, Span, lines_of
from pages.parts.rendering.prose import draw_plain
from pages.parts.rendering.tables import draw_rows

_ESCAPE = re.compile(r"\\(?=[!-/:-@\[-`{-~])")


def draw_sheet(canvas: Canvas, start: int, end: int, head: Span | None) -> None:
    """Draw sheets; ``head`` is the header of the rows at ``start`` if it lies before them."""
    source = canvas.source
    rows: list[Span] = []

    def finish() -> None:
        nonlocal head, rows
        if rows:
            draw_rows(canvas, rows, head)
        head, rows = None, []

    for line in lines_of(source, start, end):
        if source.startswith("|", line[0]):
            rows.append(line)
            continue
        if source[line[0] : line[1]].strip():
            finish()
            if source.startswith("## ", line[0]):
                canvas.block(*line, lambda line=line: _title(canvas, line))  # type: ignore[misc]
            elif _ESCAPE.search(source, *line):
                canvas.block(*line, lambda line=line: _line(canvas, line))  # type: ignore[misc]
            else:
                draw_plain(canvas, *line)
    finish()


def _title(canvas: Canvas, line: Span) -> None:
    canvas.heading(2, line)
    canvas.draw(line[0] + 3, line[1])
    canvas.close()


def _line(canvas: Canvas, line: Span) -> None:
    """Draw a line above a table without the backslashes before its signs."""
    at = line[0]
    with canvas.element("p", line, dir="auto"):
        for escape in _ESCAPE.finditer(canvas.source, *line):
            canvas.draw(at, escape.start())
            canvas.skip(*escape.span())
            at = escape.end()
        canvas.draw(at, line[1])
