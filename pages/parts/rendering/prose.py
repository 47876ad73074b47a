"""Text without a markup of its own: plain prose, and mail."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from pages.parts.rendering.canvas import Canvas, Span, lines_of
from pages.parts.rendering.tables import draw_rows, is_rule
from ragkit.chunking.units import STAMP
from ragkit.reading.text_headings import is_ruled

_BULLET = re.compile(r"[ \t]*(?:[-*+•‣–◦▪]|\d{1,3}[.)]|[a-z][.)])[ \t]+(?=\S)")
_LAID_OUT = re.compile(r"\s{2,}|\t|[|+=#>]")
_QUOTE = re.compile(r"(?:> ?)+")
_HEADER = re.compile(r"(From|To|Cc|Date): ")
_FULL_LINE = 45

Draw = Callable[[int, int], None]


def paragraphs(source: str, start: int, end: int) -> Iterator[list[Span]]:
    """Yield the runs of lines between blank lines."""
    run: list[Span] = []
    for line in lines_of(source, start, end):
        if source[line[0] : line[1]].strip():
            run.append(line)
        elif run:
            yield run
            run = []
    if run:
        yield run


def draw_plain(canvas: Canvas, start: int, end: int, head: Span | None = None) -> None:
    """Draw plain text: lines that a program broke are joined, those of a person are kept.

    ``head`` is the header of the rows at ``start`` if it lies before them.
    """
    for lines in paragraphs(canvas.source, start, end):
        title = _title(canvas, lines)
        if not head and title is not None:
            canvas.block(
                lines[0][0], lines[-1][1],
                lambda lines=lines, title=title: _titled(canvas, lines, title),  # type: ignore[misc]
            )  # fmt: skip
            continue
        if head or (len(lines) > 1 and is_rule(canvas.source, lines[1])):
            draw_rows(canvas, lines, head)
            head = None
            continue
        canvas.block(lines[0][0], lines[-1][1], lambda lines=lines: _paragraph(canvas, lines))  # type: ignore[misc]


def _title(canvas: Canvas, lines: Sequence[Span]) -> int | None:
    """Return which line of a run is a heading: underlined, or alone at the start of a section."""
    texts = [canvas.source[start:end] for start, end in lines[:3]]
    if len(texts) > 2 and is_ruled(texts[0], texts[1], texts[2]):
        return 1
    if len(texts) > 1 and is_ruled("", texts[0], texts[1]):
        return 0
    return 0 if len(texts) == 1 and lines[0][0] and canvas.begins_section(lines[0][0]) else None


def _titled(canvas: Canvas, lines: Sequence[Span], title: int) -> None:
    """Draw a heading without its lines of punctuation, and the text that follows at once."""
    is_ruled_off = len(lines) > 1
    rest = title + 2 if is_ruled_off else 1
    style = canvas.source[lines[title + 1][0]] * (title + 1) if is_ruled_off else ""
    start, end = lines[0][0], lines[rest - 1][1]
    canvas.title((start, end), style)
    canvas.skip(start, lines[title][0])
    canvas.draw(*lines[title])
    canvas.skip(lines[title][1], end)
    canvas.close()
    if rest < len(lines):
        _paragraph(canvas, lines[rest:])


def _paragraph(canvas: Canvas, lines: Sequence[Span]) -> None:
    """Draw one run of lines, with items and runs of quoted lines apart."""
    source = canvas.source
    first = 0
    while first < len(lines):
        quoted = source.startswith(">", lines[first][0])
        item = not quoted and _BULLET.match(source, *lines[first]) is not None
        last = first + 1
        while (
            last < len(lines)
            and source.startswith(">", lines[last][0]) == quoted
            and (quoted or not _BULLET.match(source, *lines[last]))
        ):
            last += 1
        if quoted:
            _quotation(canvas, lines[first:last])
        else:
            _lines(canvas, lines[first:last], item=item)
        first = last


def _quotation(canvas: Canvas, lines: Sequence[Span]) -> None:
    span = (lines[0][0], lines[-1][1])
    with canvas.element("blockquote", span, class_="rk-quoted", dir="auto"):
        for start, end in lines:
            mark = _QUOTE.match(canvas.source, start, end)
            inner = mark.end() if mark else start
            depth = canvas.source.count(">", start, inner)
            if depth > 1:
                canvas.draw(start, inner)
            else:
                canvas.skip(start, inner)
            canvas.draw(inner, min(end + 1, len(canvas.source)))


def _lines(canvas: Canvas, lines: Sequence[Span], *, item: bool) -> None:
    """Draw lines as one paragraph, joined if a program broke them."""
    texts = [canvas.source[start:end] for start, end in lines]
    if item:
        texts = [text.strip() for text in texts]
    wrapped = all(len(text) >= _FULL_LINE for text in texts[:-1]) and not any(
        _LAID_OUT.match(text) or STAMP.match(text) for text in texts
    )
    style = f"{'rk-bulleted' if item else ''} {'' if wrapped else 'rk-broken'}".strip()
    span = (lines[0][0], lines[-1][1])
    with canvas.element("p", span, class_=style or None, dir="auto"):
        canvas.draw(*span)


# -- mail ----------------------------------------------------------------------------------------


def draw_mail(canvas: Canvas, start: int, end: int, body: Draw) -> None:
    """Draw one mail: its headers as a small table, its text by ``body``."""
    source = canvas.source
    if start == 0 and _HEADER.match(source):
        stop = source.find("\n\n", 0, end)
        stop = end if stop < 0 else stop
        headers = lines_of(source, 0, stop)
        canvas.block(0, stop, lambda: _headers(canvas, headers))
        start = stop
    tail = source.rfind("\n\nAttachments: ", start, end)
    if tail < 0 or "\n" in source[tail + 2 : end].strip("\n"):
        body(start, end)
        return
    body(start, tail)
    line = (tail + 2, end)
    canvas.block(*line, lambda: _headers(canvas, [line]))


def _headers(canvas: Canvas, lines: Sequence[Span]) -> None:
    with canvas.element("dl", (lines[0][0], lines[-1][1]), class_="rk-headers"):
        for start, end in lines:
            if canvas.flat:
                with canvas.element("dd"):
                    canvas.draw(start, end)
                continue
            colon = canvas.source.index(":", start, end)
            with canvas.element("dt"):
                canvas.draw(start, colon)
            with canvas.element("dd", dir="auto"):
                canvas.draw(colon + 1, end)
