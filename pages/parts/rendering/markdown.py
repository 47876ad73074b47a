"""Markdown by the tokens of markdown-it, each block with its place in the stored text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from markdown_it.token import Token

from pages.parts.rendering import note_syntax, tables
from pages.parts.rendering.canvas import FAILURES, Canvas, Span, lines_of
from pages.parts.rendering.code import draw_code
from pages.parts.rendering.flow import Flow
from pages.parts.rendering.inline import draw_inline
from pages.parts.rendering.inline_rules import parser
from ragkit.headings import without_attributes

_FENCES = re.compile(r"^[ \t>]*(`{3,}|~{3,})([^\n]*)$", re.M)
_FARTHEST = 2_000_000
_TASK = re.compile(r"\[([ xX])\](?=\s)")
_BOXES = {" ": "☐", "x": "☑", "X": "☑"}
_OUTPUTS = frozenset({"text", "output"})
_SIMPLE = {
    "blockquote": "blockquote",
    "bullet_list": "ul",
    "paragraph": "p",
}


def draw_markdown(canvas: Canvas, start: int, end: int, *, is_notebook: bool = False) -> None:
    """Draw ``source[start:end]``, which begins with a block."""
    value = canvas.source[start:end]
    env: dict[str, Any] = {}
    tokens: list[Token] = []
    made = parser()
    try:
        made.block.parse(value, made, env, tokens)
    except FAILURES:
        tokens = []
    page = _Page(canvas, lines_of(canvas.source, start, end), env, is_notebook)
    page.run(tokens)


def continued(source: str, start: int, since: int) -> tuple[str, Span | None]:
    """Return what ``start`` lies inside of: a fence's language or a table's header line.

    ``since`` is the start of a block before it. The language is "text" where the fence names none,
    and empty outside of fences.
    """
    head = _header(source, start, since) if source.startswith("|", start) else None
    if head:
        return "", head
    fence, info = "", ""
    for match in _FENCES.finditer(source[max(since, start - _FARTHEST) : start]):
        if not fence:
            if not (match[1][0] == "`" and "`" in match[2]):
                fence, info = match[1], match[2].strip()
        elif match[1].startswith(fence) and not match[2].strip():
            fence = ""
    return (info.split() or ["text"])[0] if fence else "", None


def _header(source: str, start: int, since: int) -> Span | None:
    """Return the header line of the table in which a row at ``start`` is, unless it is its own."""
    blank = source.rfind("\n\n", max(since, start - _FARTHEST), start)
    # The rows of a large sheet go back to its beginning without a blank line.
    if blank < 0:
        table = source.find("\n\n|", since, min(start, since + 500)) + 2
        first = table if table > 1 else since
    else:
        first = blank + 2
    lines = lines_of(source, first, min(start, first + 20_000))
    return next((above for above, below in pairwise(lines) if tables.is_rule(source, below)), None)


class _Page:
    """Draws the tokens of one parse."""

    def __init__(
        self, canvas: Canvas, lines: Sequence[Span], env: dict[str, Any], is_notebook: bool
    ) -> None:
        self._canvas, self._lines, self._env = canvas, lines, env
        self._source = canvas.source
        self._is_notebook = is_notebook
        self._after_code = False

    def run(self, tokens: Sequence[Token]) -> None:
        line = 0
        first = 0
        while first < len(tokens):
            last = first
            if tokens[first].nesting > 0:
                while tokens[last].nesting >= 0 or tokens[last].level > tokens[first].level:
                    last += 1
            above, below = tokens[first].map or (line, line)
            self._between(line, above)
            self._draw_block(tokens[first : last + 1], above, below)
            line = max(line, below)
            first = last + 1
        self._between(line, len(self._lines))

    def _draw_block(self, tokens: Sequence[Token], above: int, below: int) -> None:
        start, end = self._lines[above][0], self._lines[below - 1][1]
        self._canvas.block(start, end, lambda: self._walk(tokens))
        self._after_code = tokens[0].type == "fence" and not self._is_output(tokens[0])

    def _between(self, above: int, below: int) -> None:
        """Draw lines that are no block: definitions of links, and what the parser left out."""
        while above < below and not self._source[slice(*self._lines[above])].strip():
            above += 1
        while above < below and not self._source[slice(*self._lines[below - 1])].strip():
            below -= 1
        if above >= below:
            return
        start, end = self._lines[above][0], self._lines[below - 1][1]

        def draw() -> None:
            with self._canvas.element("p", class_="rk-aside rk-broken", dir="auto"):
                self._canvas.draw(start, end)

        self._canvas.block(start, end, draw)

    def _walk(self, tokens: Sequence[Token]) -> None:
        at = 0
        while at < len(tokens):
            token = tokens[at]
            kind, _, edge = token.type.rpartition("_")
            if token.type == "table_open":
                close = next(i for i in range(at, len(tokens)) if tokens[i].type == "table_close")
                self._table(tokens[at : close + 1])
                at = close
            elif edge == "open":
                is_task = kind == "list_item" and _is_task(tokens, at + 2)
                self._open(kind, token, class_="rk-task" if is_task else None)
            elif edge == "close":
                if kind != "paragraph" or not token.hidden:
                    self._canvas.close()
            elif token.type == "inline":
                flow = self._flow(token)
                if _is_task(tokens, at):
                    flow = self._box(flow)
                elif tokens[at - 1].type == "heading_open":
                    flow = self._without_attributes(flow)
                elif at > 1 and tokens[at - 2].type == "blockquote_open":
                    flow = self._without_title(flow)
                flow = note_syntax.without_block_name(self._canvas, flow)
                draw_inline(self._canvas, flow, self._env)
            elif token.type in ("fence", "code_block"):
                self._code(token)
            elif token.type == "hr":
                self._canvas.void("hr")
            else:
                raise ValueError(token.type)
            at += 1

    def _without_attributes(self, flow: Flow) -> Flow:
        """Return the text of a heading without its attributes, which are not drawn."""
        title = without_attributes(flow.content)
        here, there = flow.runs[-1]
        if not flow.content.startswith(title) or len(title) < here:
            return flow
        self._canvas.skip(there + len(title) - here, there + len(flow.content) - here)
        return Flow(title, flow.runs)

    def _without_title(self, flow: Flow) -> Flow:
        """Draw the title of a callout, which is a quotation; return the text below it."""
        title, rest = note_syntax.callout(self._canvas, flow)
        if title is not None:
            with self._canvas.element("strong"):
                draw_inline(self._canvas, title, self._env)
        if rest is not flow and rest.content:
            self._canvas.void("br")
        return rest

    def _span(self, token: Token) -> Span | None:
        if token.map is None or token.map[1] <= token.map[0]:
            return None
        return self._lines[token.map[0]][0], self._lines[token.map[1] - 1][1]

    def _box(self, flow: Flow) -> Flow:
        """Draw the box of a task, which begins the text of its item; return what follows it."""
        (_, at), *rest = flow.runs
        self._canvas.put(_BOXES[flow.content[1]], at, at + 3)
        return Flow(flow.content[3:], [(0, at + 3), *((here - 3, there) for here, there in rest)])

    def _open(self, kind: str, token: Token, class_: str | None = None) -> None:
        span = self._span(token)
        if kind == "paragraph" and token.hidden:
            return
        if kind == "heading":
            self._canvas.heading(int(token.tag[1:]), span)
        elif kind == "ordered_list":
            self._canvas.open("ol", span, start=token.attrs.get("start"), dir="auto")
        elif kind == "list_item":
            self._item(token, span, class_)
        else:
            self._canvas.open(_SIMPLE[kind], span, dir="auto")

    def _item(self, token: Token, span: Span | None, class_: str | None) -> None:
        """Open a list item; the number that the source gives it stays its number."""
        number = token.info if token.info.isdigit() else None
        self._canvas.open("li", span, value=number, class_=None if number else class_)
        if number and token.map:
            start, end = self._lines[token.map[0]]
            at = self._source.find(number + token.markup, start, end)
            if at >= 0:
                if self._canvas.flat:
                    self._canvas.draw(at, at + len(number) + 2)
                else:
                    self._canvas.skip(at, at + len(number) + 1)

    def _flow(self, token: Token) -> Flow:
        """Find the lines of a token's content in the stored text.

        Raises:
            ValueError: when one is not there.
        """
        above = (token.map or [0])[0]
        pieces: list[str] = []
        runs: list[tuple[int, int]] = []
        length = 0
        rows = token.content.split("\n")
        for row, line in enumerate(rows):
            start, end = self._lines[above + row]
            content = line.lstrip(" \t")
            is_last = row == len(rows) - 1
            at = self._last(content, start, end) if is_last else end - len(content)
            if at < start or not self._source.startswith(content, at):
                raise ValueError("a line is not where it should be")
            runs.append((length, at))
            pieces.append(content)
            length += len(content) + 1
        return Flow("\n".join(pieces), runs)

    def _last(self, content: str, start: int, end: int) -> int:
        """Return where the last line of a content begins: it may have lost what follows it."""
        line = self._source[start:end]
        at = len(line.rstrip()) - len(content)
        if at >= 0 and line.startswith(content, at):
            return start + at
        closing = line.rstrip().rstrip("#").rstrip()
        at = len(closing) - len(content)
        return start + at if at >= 0 and line.startswith(content, at) else -1

    def _is_output(self, token: Token) -> bool:
        return self._is_notebook and self._after_code and token.info.strip() in _OUTPUTS

    def _code(self, token: Token) -> None:
        above, below = token.map or (0, 0)
        info = token.info.strip()
        is_fence = token.type == "fence"
        if is_fence:
            self._fence_line(self._lines[above], info, shown=not self._is_notebook)
            above += 1
        contents = token.content.split("\n")[: below - above]
        if contents and not contents[-1] and len(contents) > token.content.count("\n"):
            contents.pop()
        lines = []
        for row, content in enumerate(contents):
            start, end = self._lines[above + row]
            bare = content if self._source.endswith(content, start, end) else content.lstrip(" \t")
            if not self._source.endswith(bare, start, end):
                raise ValueError("a line of code is not where it should be")
            lines.append((end - len(bare), end))
        output = is_fence and self._is_output(token)
        if output:
            self._canvas.open("div", class_="rk-output", role="group", aria_label="Output")
        draw_code(self._canvas, lines, (info.split() or [""])[0])
        if output:
            self._canvas.close()

    def _fence_line(self, line: Span, info: str, *, shown: bool) -> None:
        """Draw what a fence says of its code: the name of its language."""
        if not info:
            return
        at = self._source.rfind(info, *line)
        if at < 0:
            raise ValueError("the language is not where it should be")
        if not shown or self._canvas.flat:
            self._canvas.skip(at, at + len(info))
            return
        with self._canvas.element("div", class_="rk-language"):
            self._canvas.draw(at, at + len(info))

    def _table(self, tokens: Sequence[Token]) -> None:
        rows = [
            self._lines[token.map[0]] for token in tokens if token.type == "tr_open" and token.map
        ]

        def cell(canvas: Canvas, flow: Flow) -> None:
            draw_inline(canvas, flow, self._env)

        tables.draw_table(self._canvas, rows[0], rows[1:], cell)


def _is_task(tokens: Sequence[Token], at: int) -> bool:
    """Return whether a token is the text that begins a list item, and begins with a box."""
    return (
        2 <= at < len(tokens)
        and tokens[at].type == "inline"
        and tokens[at - 2].type == "list_item_open"
        and _TASK.match(tokens[at].content) is not None
    )
