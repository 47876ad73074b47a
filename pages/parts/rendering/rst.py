"""reStructuredText as it is readable: prose, lists, code, and notes that stand out."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Sequence
from contextlib import nullcontext
from functools import lru_cache
from typing import Any

from pages.parts.rendering.allowed import OUTWARD, safe_link
from pages.parts.rendering.canvas import Canvas, Span, lines_of
from pages.parts.rendering.code import draw_code
from pages.parts.rendering.flow import Flow
from pages.parts.rendering.prose import paragraphs
from pages.parts.rendering.rst_tables import is_open_table, read_table
from pages.parts.rendering.tables import draw_grid

_ADORNMENT = re.compile(r"([!-/:-@\[-`{-~])\1{2,}[ \t]*")
_DIRECTIVE = re.compile(r"\.\. ([\w:+.-]{1,60})::[ \t]*(.*)")
_ITEM = re.compile(r"(?:[-*+•]|#\.|\d{1,3}[.)])[ \t]+")
_FIELD = re.compile(r":[^:`\n]{1,80}:(?!`)")
_TARGET = re.compile(
    r"\.\. (?:_[^\n]{1,200}:(?:[ \t]+\S+)?"
    r"|(?:index|module|currentmodule|program|highlight)::[^\n]*)[ \t]*"
)
_DEFINED = re.compile(
    r"^[ \t]*\.\. _(?:`([^`\n]{1,200})`|([^`\n]{1,200}?))"
    r":[ \t]+(\S+)[ \t]*$", re.M,
)  # fmt: skip
_OPTION = re.compile(r"[ \t]*:[\w-]{1,40}:(?:[ \t]|$)")
_INLINE = re.compile(
    r"``(?P<code>[^`\n][^\n]*?)``"
    r"|(?P<role>:[\w:+.-]{1,40}:)`(?P<named>[^`]{1,300})`"
    r"|\*\*(?P<strong>\S|\S[^\n]*?\S)\*\*"
    r"|(?<![\w*])\*(?P<em>[^\s*]|[^\s*][^\n*]*?[^\s*])\*(?![\w*])"
    r"|`(?P<link>[^`<\n]{1,300}?)(?P<target>\s*<[^`>\n]{1,500}>)?`_{1,2}"
    r"|(?<!`)`(?P<title>[^`\n]{1,300})`(?![`_])"
    r"|(?<![\w`])(?P<word>\w(?:[\w.+-]{0,60}\w)?)_{1,2}(?![\w`])"
)

_GROUPS = ("code", "named", "strong", "em", "link", "title", "word")
_PROSE_ROLES = frozenset((":ref:", ":doc:", ":term:", ":numref:", ":guilabel:", ":abbr:"))
_CODE = frozenset((
    "code", "code-block", "sourcecode", "console", "parsed-literal", "prompt", "doctest",
    "testcode",
))  # fmt: skip
_LONGEST_TABLE = 500
_PICTURES = frozenset(("image", "figure"))
_NAMED_KINDS = frozenset(("class", "exception", "setting", "option", "envvar", "confval"))
"""Objects whose kind is said before their name."""

_OF_THE_PROGRAM = frozenset((
    "toctree", "contents", "include", "literalinclude", "automodule", "glossary", "only", "math",
    "ifconfig", "raw", "table", "list-table", "csv-table", "rst-class", "container",
    "meta", "role", "default-role", "tags", "plantuml", "graphviz", "digraph", "autosummary",
))  # fmt: skip
"""Directives that say how a page is made; all others name objects."""

_NOTES = {
    **{name: name.capitalize() for name in ("note", "warning", "tip", "hint", "important")},
    **{name: name.capitalize() for name in ("caution", "danger", "error", "attention", "todo")},
    "seealso": "See also", "deprecated": "Deprecated since", "versionadded": "New in",
    "versionchanged": "Changed in", "versionremoved": "Removed in",
    "admonition": "", "topic": "", "sidebar": "", "rubric": "",
}  # fmt: skip
"""Directives that stand out from the text, and what is shown for their names."""


def draw_rst(canvas: Canvas, start: int, end: int) -> None:
    """Draw headings, paragraphs, lists, code, notes and inline markup; the rest as written."""
    source = canvas.source
    # Where code is expected, its language, and the columns that it and what a note says lie beyond.
    language, opener, note = "", -1, -1
    runs = deque(paragraphs(source, start, end))
    while runs:
        lines = runs.popleft()
        while runs and is_open_table(source, lines) and len(lines) < _LONGEST_TABLE:
            lines += runs.popleft()
        column = _column(source, lines[0])
        if 0 <= opener < column:
            last = lines
            while runs and _column(source, runs[0][0]) > opener:
                last = runs.popleft()
            lines = _flush(source, lines_of(source, lines[0][0], last[-1][1]))
            canvas.block(
                lines[0][0], lines[-1][1],
                lambda lines=lines, code=language: draw_code(canvas, lines, code),  # type: ignore[misc]
            )  # fmt: skip
            continue
        note = note if column > note else -1
        directive = _DIRECTIVE.match(source, lines[0][0] + column, lines[0][1])
        if directive and directive[1] in _NOTES:
            note = column
        opener, language = -1, ""
        if directive and directive[1] in _CODE:
            opener, language = column, directive[2].strip()
        elif not directive and source[slice(*lines[-1])].rstrip().endswith("::"):
            opener = column
        canvas.block(
            lines[0][0], lines[-1][1],
            lambda lines=lines, inside=note >= 0: _block(canvas, lines, inside),  # type: ignore[misc]
        )  # fmt: skip


def _column(source: str, line: Span) -> int:
    text = source[line[0] : line[1]]
    return len(text) - len(text.lstrip())


def _flush(source: str, lines: Sequence[Span]) -> list[Span]:
    """Return lines without the white space that all of them begin with."""
    common = min(_column(source, line) for line in lines if source[slice(*line)].strip())
    return [(min(start + common, end), end) for start, end in lines]


def _block(canvas: Canvas, lines: Sequence[Span], inside: bool) -> None:
    """Draw one run of lines; ``inside`` of a note they are prose although they are indented."""
    source = canvas.source
    if not inside:
        _outside(canvas, lines)
        return
    bare = [(start + _column(source, (start, end)), end) for start, end in lines]
    with canvas.element("div", (lines[0][0], lines[-1][1]), class_="rk-note"):
        directive = _DIRECTIVE.match(source, *bare[0])
        if directive and directive[1] in _NOTES:
            _note(canvas, bare, directive)
        elif _ITEM.match(source, *bare[0]):
            _list(canvas, bare)
        else:
            _prose(canvas, bare)


def _note(canvas: Canvas, lines: Sequence[Span], directive: re.Match[str]) -> None:
    """Draw what kind of note it is, then what is beside and right below that."""
    if label := _NOTES[directive[1]]:
        with canvas.element("b"):
            canvas.put(label, lines[0][0], directive.start(2))
    else:
        canvas.skip(lines[0][0], directive.start(2))
    rest = [(directive.start(2), lines[0][1]), *lines[1:]]
    if rest := [line for line in rest if line[0] < line[1]]:
        _prose(canvas, rest)


def _outside(canvas: Canvas, lines: Sequence[Span]) -> None:
    column = _column(canvas.source, lines[0])
    if not column:
        _unindented(canvas, lines)
        return
    source = canvas.source
    bare = [(start + min(column, _column(source, (start, end))), end) for start, end in lines]
    with canvas.element("div", (lines[0][0], lines[-1][1]), class_="rk-indent"):
        _unindented(canvas, bare)


def _unindented(canvas: Canvas, lines: Sequence[Span]) -> None:
    source = canvas.source
    texts = [source[start:end] for start, end in lines]
    title = 1 if len(lines) >= 3 and _ADORNMENT.fullmatch(texts[0]) else 0
    under = title + 1
    if under < len(lines) and _ADORNMENT.fullmatch(texts[under]) and texts[title].strip():
        canvas.title((lines[0][0], lines[under][1]), texts[under][0] * (title + 1))
        _inline(canvas, *lines[title])
        canvas.close()
        lines, texts = lines[under + 1 :], texts[under + 1 :]
    if not lines:
        return
    directive = _DIRECTIVE.match(source, *lines[0])
    if all(map(_TARGET.fullmatch, texts)):
        canvas.skip(lines[0][0], lines[-1][1])
    elif directive is not None:
        _directive(canvas, lines, directive)
    elif table := read_table(source, lines):
        draw_grid(canvas, *table, _cell)
    elif texts[0].startswith(">>> "):
        draw_code(canvas, lines, "python")
    elif _FIELD.match(texts[0]):
        _fields(canvas, lines)
    elif texts[0].startswith((".. ", "+", "=")):
        _verbatim(canvas, lines)
    elif _ITEM.match(texts[0]):
        _list(canvas, lines)
    elif len(lines) > 1 and all(text[:1].isspace() for text in texts[1:]):
        _definition(canvas, lines)
    else:
        _prose(canvas, lines)


def _directive(canvas: Canvas, lines: Sequence[Span], directive: re.Match[str]) -> None:
    """Draw a directive that is no note, with what stands right below it."""
    if directive[1] in _CODE:
        _code_line(canvas, lines, directive)
    elif directive[1] in _PICTURES:
        _picture(canvas, lines, directive)
    elif directive[2].strip() and directive[1] not in _OF_THE_PROGRAM:
        _signatures(canvas, lines, directive)
    elif canvas.flat:
        canvas.skip(lines[0][0], lines[-1][1])
    else:
        _verbatim(canvas, lines)


def _verbatim(canvas: Canvas, lines: Sequence[Span]) -> None:
    span = (lines[0][0], lines[-1][1])
    with canvas.element("pre", span, class_="rk-verbatim rk-aside", dir="auto"):
        canvas.draw(*span)


def _definition(canvas: Canvas, lines: Sequence[Span]) -> None:
    """Draw a term and what is said of it in the indented lines below."""
    source = canvas.source
    with canvas.element("dl", (lines[0][0], lines[-1][1])):
        with canvas.element("dt", lines[0], dir="auto"):
            _inline(canvas, *lines[0])
        with canvas.element("dd"):
            _unindented(canvas, [(start + _column(source, (start, end)), end)
                                 for start, end in lines[1:]])  # fmt: skip


def _fields(canvas: Canvas, lines: Sequence[Span]) -> None:
    """Draw fields such as ``:param depth: How deep.``; other lines continue the one above."""
    source = canvas.source
    with canvas.element("dl", (lines[0][0], lines[-1][1])):
        for row, (start, end) in enumerate(lines):
            name = _FIELD.match(source, start, end)
            if name:
                if row:
                    canvas.close()
                with canvas.element("dt", dir="auto"):
                    canvas.skip(start, start + 1)
                    canvas.draw(start + 1, name.end() - 1)
                    canvas.skip(name.end() - 1, name.end())
                canvas.open("dd", dir="auto")
                start = name.end()
            elif row:
                canvas.put(" ", start - 1, start)
            _inline(canvas, start + _column(source, (start, end)), end)
        canvas.close()


def _signatures(canvas: Canvas, lines: Sequence[Span], directive: re.Match[str]) -> None:
    """Draw what an object is called, each way in a line of code; then what is said below it."""
    kind = directive[1].rpartition(":")[2]
    options = (at for at, line in enumerate(lines) if _OPTION.match(canvas.source, *line))
    last = next(options, len(lines))
    rows = [(directive.start(2), lines[0][1]), *lines[1:last]]
    with canvas.element("p", (lines[0][0], rows[-1][1]), class_="rk-signature", dir="auto"):
        if kind in _NAMED_KINDS:
            canvas.put(f"{kind} ", lines[0][0], rows[0][0])
        else:
            canvas.skip(lines[0][0], rows[0][0])
        for number, (start, end) in enumerate(rows):
            if number:
                canvas.void("br")
            with canvas.element("code"):
                canvas.draw(start + _column(canvas.source, (start, end)), end)
    _below(canvas, lines[last:])


def _picture(canvas: Canvas, lines: Sequence[Span], directive: re.Match[str]) -> None:
    """Draw a picture of the document; its caption is below it."""
    url = directive[2].strip()
    source = canvas.picture(url) if canvas.picture else None
    canvas.skip(lines[0][0], lines[0][1])
    with canvas.element("span", class_="rk-picture" if source else "rk-nopicture"):
        if source:
            canvas.void("img", src=source, alt="")
        elif not canvas.flat:
            canvas.say("Picture not shown")
    _below(canvas, lines[1:])


def _below(canvas: Canvas, lines: Sequence[Span]) -> None:
    """Draw what stands right below a directive, without its options."""
    rest = [*lines]
    while rest and _OPTION.match(canvas.source, *rest[0]):
        canvas.skip(*rest.pop(0))
    if rest:
        _outside(canvas, rest)


def _cell(canvas: Canvas, flow: Flow) -> None:
    for start, end in flow.spans(0, len(flow.content)):
        _inline(canvas, start, end)


def _code_line(canvas: Canvas, lines: Sequence[Span], directive: re.Match[str]) -> None:
    """Draw the language of the code that follows; what else is said of it is left out."""
    first, last = directive.span(2)
    canvas.skip(lines[0][0], first)
    if first < last:
        with canvas.element("div", class_="rk-language"):
            canvas.draw(first, last)
    canvas.skip(last, lines[-1][1])


def _prose(canvas: Canvas, lines: Sequence[Span]) -> None:
    """Draw a paragraph; its lines are joined, but for those whose breaks are marked."""
    span = (lines[0][0], lines[-1][1])
    text = canvas.source[slice(*span)]
    # Two colons announce code: after a word one is read, and by themselves none.
    silent = 0
    if text.endswith("::"):
        silent = 2 if text == "::" or text[-3].isspace() else 1
    if silent == len(text):
        canvas.skip(*span)
        return
    style = "rk-broken" if canvas.source.startswith("| ", span[0]) else None
    with canvas.element("p", span, class_=style, dir="auto"):
        _inline(canvas, span[0], span[1] - silent)
        canvas.skip(span[1] - silent, span[1])


def _list(canvas: Canvas, lines: Sequence[Span]) -> None:
    """Draw a list of one level; a line that begins no item continues the one before."""
    source = canvas.source
    starts = [row for row, line in enumerate(lines) if _ITEM.match(source, *line)]
    with canvas.element("ul", (lines[0][0], lines[-1][1]), class_="rk-list"):
        for row, following in zip(starts, [*starts[1:], len(lines)], strict=True):
            start, end = lines[row][0], lines[following - 1][1]
            marker = _ITEM.match(source, start, end)
            after = marker.end() if marker else start
            own = source[start].isalnum()
            with canvas.element("li", (start, end), class_="rk-own" if own else None, dir="auto"):
                if own:
                    canvas.draw(start, after)
                else:
                    canvas.skip(start, after)
                _inline(canvas, after, end)


def _inline(canvas: Canvas, start: int, end: int) -> None:
    """Draw text with literals, emphasis, roles and links, whose marks are left out."""
    tags = {"code": "code", "named": "code", "strong": "strong", "em": "em"}
    values: dict[str, Any] = {}
    at = start
    for match in _INLINE.finditer(canvas.source, start, end):
        group = next(key for key in _GROUPS if match[key])
        url = _address(canvas.source, match)
        if group == "word" and url is None:
            continue
        canvas.draw(at, match.start())
        inner = match.span(group)
        if group == "named" and "<" in match["named"] and match["named"].endswith(">"):
            label = canvas.source[inner[0] : canvas.source.index("<", inner[0])]
            inner = (inner[0], inner[0] + len(label.rstrip()))
        elif group == "named" and match["named"].startswith("~"):
            inner = (max(inner[0] + 1, canvas.source.rfind(".", *inner) + 1), inner[1])
        canvas.skip(match.start(), inner[0])
        tag = None if match["role"] in _PROSE_ROLES else tags.get(group)
        if url:
            tag, values = "a", {**OUTWARD, "href": url, "title": url}
        with canvas.element(tag, **values) if tag else nullcontext():
            canvas.draw(*inner)
        canvas.skip(inner[1], match.end())
        at = match.end()
        values = {}
    canvas.draw(at, end)


def _address(source: str, match: re.Match[str]) -> str | None:
    """Return where a link leads, ``""`` if that is no address of the web; ``None`` for no link."""
    words = match["link"] or match["word"]
    if not words:
        return None
    url = (match["target"] or "").strip(" <>") or _targets(source).get(_folded(words))
    return None if url is None else safe_link(url) or ""


@lru_cache(maxsize=2)
def _targets(source: str) -> dict[str, str]:
    """Return the addresses that a text defines, by their names."""
    return {_folded(name or bare): url for name, bare, url in _DEFINED.findall(source)}


def _folded(name: str) -> str:
    return " ".join(name.split()).casefold()
