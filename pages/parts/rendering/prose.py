"""Text without a markup of its own: plain prose, mail, and reStructuredText as it is readable."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from pages.parts.rendering.canvas import Canvas, Span, lines_of
from pages.parts.rendering.code import draw_code
from pages.parts.rendering.tables import draw_rows, is_rule
from ragkit.chunking.units import STAMP

_BULLET = re.compile(r"[ \t]*(?:[-*+•‣–◦▪]|\d{1,3}[.)]|[a-z][.)])[ \t]+(?=\S)")
_LAID_OUT = re.compile(r"\s{2,}|\t|[|+=#>]")
_QUOTE = re.compile(r"(?:> ?)+")
_HEADER = re.compile(r"(From|To|Cc|Date): ")
_FULL_LINE = 45
_ADORNMENT = re.compile(r"([!-/:-@\[-`{-~])\1{2,}[ \t]*")
_DIRECTIVE = re.compile(r"\.\. ([\w:+.-]{1,60})::[ \t]*(.*)")
_ITEM = re.compile(r"(?:[-*+•]|#\.|\d{1,3}[.)])[ \t]+")
_INLINE = re.compile(
    r"``(?P<code>[^`\n][^\n]*?)``"
    r"|(?P<role>:[\w:+.-]{1,40}:)`(?P<named>[^`]{1,300})`"
    r"|\*\*(?P<strong>\S|\S[^\n]*?\S)\*\*"
    r"|(?<![\w*])\*(?P<em>[^\s*]|[^\s*][^\n*]*?[^\s*])\*(?![\w*])"
    r"|`(?P<link>[^`<\n]{1,300}?)(?P<target>\s*<[^`>\n]{1,500}>)?`_{1,2}"
    r"|(?<!`)`(?P<title>[^`\n]{1,300})`(?![`_])"
)

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
        if head or (len(lines) > 1 and is_rule(canvas.source, lines[1])):
            draw_rows(canvas, lines, head)
            head = None
            continue
        canvas.block(lines[0][0], lines[-1][1], lambda lines=lines: _paragraph(canvas, lines))  # type: ignore[misc]


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
    canvas.open("blockquote", (lines[0][0], lines[-1][1]), class_="rk-quoted", dir="auto")
    for start, end in lines:
        mark = _QUOTE.match(canvas.source, start, end)
        inner = mark.end() if mark else start
        depth = canvas.source.count(">", start, inner)
        if depth > 1:
            canvas.draw(start, inner)
        else:
            canvas.skip(start, inner)
        canvas.draw(inner, min(end + 1, len(canvas.source)))
    canvas.close()


def _lines(
    canvas: Canvas, lines: Sequence[Span], draw: Draw | None = None, *, item: bool = False
) -> None:
    """Draw lines as one paragraph, joined if a program broke them."""
    texts = [canvas.source[start:end] for start, end in lines]
    if item:
        texts = [text.strip() for text in texts]
    wrapped = all(len(text) >= _FULL_LINE for text in texts[:-1]) and not any(
        _LAID_OUT.match(text) or STAMP.match(text) for text in texts
    )
    style = f"{'rk-bulleted' if item else ''} {'' if wrapped else 'rk-broken'}".strip()
    canvas.open("p", (lines[0][0], lines[-1][1]), class_=style or None, dir="auto")
    (draw or canvas.draw)(lines[0][0], lines[-1][1])
    canvas.close()


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
    canvas.open("dl", (lines[0][0], lines[-1][1]), class_="rk-headers")
    for start, end in lines:
        if canvas.flat:
            with canvas.element("dd"):
                canvas.draw(start, end)
            continue
        colon = canvas.source.index(":", start, end)
        canvas.open("dt")
        canvas.draw(start, colon)
        canvas.close()
        canvas.open("dd", dir="auto")
        canvas.draw(colon + 1, end)
        canvas.close()
    canvas.close()


# -- reStructuredText ----------------------------------------------------------------------------


def draw_rst(canvas: Canvas, start: int, end: int) -> None:
    """Draw headings, paragraphs, lists, literal blocks and inline markup; the rest as written."""
    styles: list[str] = []
    language: str | None = None
    for lines in paragraphs(canvas.source, start, end):
        first = canvas.source[lines[0][0] : lines[0][1]]
        if language is not None and first[:1] in (" ", "\t"):
            code = language
            canvas.block(
                lines[0][0], lines[-1][1],
                lambda lines=lines, code=code: draw_code(canvas, lines, code),  # type: ignore[misc]
            )  # fmt: skip
            continue
        language = _opens_literal(canvas.source, lines)
        canvas.block(
            lines[0][0], lines[-1][1],
            lambda lines=lines: _rst_block(canvas, lines, styles),  # type: ignore[misc]
        )  # fmt: skip


def _opens_literal(source: str, lines: Sequence[Span]) -> str | None:
    """Return the language of the literal block that follows a paragraph, or ``None``."""
    last = source[lines[-1][0] : lines[-1][1]].rstrip()
    first = source[lines[0][0] : lines[0][1]]
    directive = _DIRECTIVE.match(first.lstrip())
    if directive:
        named = directive[1] in ("code", "code-block", "sourcecode", "highlight")
        return directive[2].strip() if named else None
    return "" if last.endswith("::") else None


def _rst_block(canvas: Canvas, lines: Sequence[Span], styles: list[str]) -> None:
    source = canvas.source
    texts = [source[start:end] for start, end in lines]
    title = 1 if len(lines) >= 3 and _ADORNMENT.fullmatch(texts[0]) else 0
    under = title + 1
    if under < len(lines) and _ADORNMENT.fullmatch(texts[under]) and texts[title].strip():
        style = texts[under][0] * (title + 1)
        if style not in styles:
            styles.append(style)
        level = min(styles.index(style) + 1, 5)
        span = (lines[0][0], lines[under][1])
        canvas.heading(level, span)
        _rst_inline(canvas, *lines[title])
        canvas.close()
        lines, texts = lines[under + 1 :], texts[under + 1 :]
    if not lines:
        return
    if texts[0].startswith((".. ", ":", "+", "=")) or texts[0][:1].isspace():
        canvas.open("pre", (lines[0][0], lines[-1][1]), class_="rk-verbatim rk-aside", dir="auto")
        canvas.draw(lines[0][0], lines[-1][1])
        canvas.close()
    elif _ITEM.match(texts[0]):
        _rst_list(canvas, lines)
    else:
        _lines(canvas, lines, lambda start, end: _rst_inline(canvas, start, end))


def _rst_list(canvas: Canvas, lines: Sequence[Span]) -> None:
    """Draw a list of one level; a line that begins no item continues the one before."""
    source = canvas.source
    starts = [row for row, line in enumerate(lines) if _ITEM.match(source, *line)]
    canvas.open("ul", (lines[0][0], lines[-1][1]), class_="rk-list")
    for row, following in zip(starts, [*starts[1:], len(lines)], strict=True):
        start, end = lines[row][0], lines[following - 1][1]
        marker = _ITEM.match(source, start, end)
        after = marker.end() if marker else start
        is_bullet = not source[start].isalnum()
        canvas.open("li", (start, end), class_=None if is_bullet else "rk-own", dir="auto")
        if is_bullet:
            canvas.skip(start, after)
        else:
            canvas.draw(start, after)
        _rst_inline(canvas, after, end)
        canvas.close()
    canvas.close()


def _rst_inline(canvas: Canvas, start: int, end: int) -> None:
    """Draw text with literals, emphasis, roles and links, whose marks are left out."""
    tags = {"code": "code", "named": "code", "strong": "strong", "em": "em"}
    at = start
    for match in _INLINE.finditer(canvas.source, start, end):
        group = next(
            key for key in ("code", "named", "strong", "em", "link", "title") if match[key]
        )
        canvas.draw(at, match.start())
        inner = match.span(group)
        if group == "named" and "<" in match["named"] and match["named"].endswith(">"):
            inner = (inner[0], canvas.source.index("<", inner[0]))
        canvas.skip(match.start(), inner[0])
        tag = tags.get(group)
        if tag:
            canvas.open(tag)
        canvas.draw(*inner)
        if tag:
            canvas.close()
        canvas.skip(inner[1], match.end())
        at = match.end()
    canvas.draw(at, end)
