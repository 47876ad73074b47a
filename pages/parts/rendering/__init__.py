"""Documents as what they mean: spans of the stored text as safe HTML, with exact marks.

All offsets are those of the given text. Nothing is lost: a block that is not understood, or of
which a word would be left out, is shown as it is written.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from pages.parts.rendering import prose
from pages.parts.rendering.canvas import FAILURES, Anchor, Canvas, Picture, Span, lines_of
from pages.parts.rendering.chat import draw_chat
from pages.parts.rendering.code import draw_code
from pages.parts.rendering.flow import Flow
from pages.parts.rendering.inline import draw_inline
from pages.parts.rendering.markdown import continued, draw_markdown
from pages.parts.rendering.rst import draw_rst
from pages.parts.rendering.sheet import draw_sheet
from pages.parts.rendering.tables import draw_table, is_rule
from ragkit.library.document_links import DocumentLinks
from ragkit.reading.formats import Format, code_language
from ragkit.types import Markup

__all__ = ["Kind", "blocks", "kind_of", "row_snippet", "snippet", "source_view"]

_LONGEST = 400_000
_LONGEST_REGION = 20_000
_DATA = (Format.JSON, Format.JSONL, Format.YAML, Format.TOML, Format.INI)
_FORMS: dict[str, str] = {
    Format.CSV: "sheet", Format.XLSX: "sheet", Format.XLSB: "sheet", Format.XLS: "sheet",
    Format.ODS: "sheet", Format.CONVERSATION: "chat",
    Format.EML: "mail", Format.RST: "rst", Format.IPYNB: "notebook",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Kind:
    """How a document is drawn.

    ``form``: markdown, plain, code, sheet, chat, notebook, mail or rst. ``language`` is that of
    code; ``body`` the form of a mail's text.
    """

    form: str
    language: str = ""
    body: str = "plain"


def kind_of(file_format: str, path: str, markup: str = "") -> Kind:
    """Return how to draw a document, by its format and, where it is known, its markup."""
    if file_format == Format.CODE:
        return Kind("code", code_language(path) or PurePosixPath(path).suffix.lstrip("."))
    if file_format in _DATA:
        return Kind("code", file_format)
    if file_format == Format.EML:
        return Kind("mail", body="markdown" if markup == Markup.MARKDOWN else "plain")
    form = _FORMS.get(file_format)
    if form and not (form in ("sheet", "notebook") and markup == Markup.PLAIN):
        return Kind(form)
    plain = (Format.TEXT, Format.PDF, Format.CSV, Format.RECORDS)
    if markup:
        return Kind("markdown" if markup == Markup.MARKDOWN else "plain")
    return Kind("plain" if file_format in plain else "markdown")


def blocks(
    text: str,
    span: Span,
    marks: Sequence[Span],
    kind: Kind,
    *,
    passage: Span | None = None,
    anchors: Mapping[int, Anchor] | None = None,
    since: int | None = None,
    picture: Picture | None = None,
    links: DocumentLinks | None = None,
    named: bool = True,
) -> str:
    """Return ``text[span]`` as HTML, with ``marks`` as ``<mark>`` and the ``passage`` framed.

    ``anchors`` maps offsets to the sections that begin there. ``since`` is the start of a block at
    or before the span, from where to look for the fence or table that the span begins in.
    ``picture`` returns a picture of the document as a ``data:`` address, by its address in the
    text; ``links`` finds the documents that its links lead to. A passage that is not ``named`` has
    no id: a page may have several.
    """
    start, end = max(0, span[0]), min(len(text), span[1])
    if start >= end:
        return ""
    since = max(0, start - _LONGEST_REGION) if since is None else since
    canvas = Canvas(text, (start, end), marks, passage, anchors, picture, links, named=named)
    try:
        if end - start > _LONGEST:
            raise ValueError("too long")
        _draw(canvas, start, end, kind, since)
    except FAILURES:
        return source_view(text, (start, end), marks, passage=passage, anchors=anchors, named=named)
    return f'<div class="rk-text rk-rendered">{canvas.html()}</div>'


def source_view(
    text: str,
    span: Span,
    marks: Sequence[Span],
    *,
    passage: Span | None,
    anchors: Mapping[int, Anchor] | None,
    named: bool = True,
) -> str:
    """Return ``text[span]`` as it is written, with marks, passage and anchors."""
    canvas = Canvas(text, span, marks, passage, anchors, named=named)
    for line in lines_of(text, *span):
        canvas.block(*line, lambda line=line: _line(canvas, line))  # type: ignore[misc]
    return f'<div class="rk-text rk-code" dir="auto">{canvas.html()}</div>'


def row_snippet(
    text: str, span: Span, marks: Sequence[Span], kind: Kind, header: str, named: Sequence[Span]
) -> str:
    """Return a snippet of a text that begins below the ``header`` line of a table, if it does.

    ``named`` are the marks of the header.
    """
    if not header:
        return snippet(text, span, marks, kind)
    rule = "|" + " --- |" * max(1, header.count("|") - 1)
    above = f"{header}\n{rule}\n"
    moved = [(start + len(above), end + len(above)) for start, end in (span, *marks)]
    return snippet(f"{above}{text}", moved[0], [*named, *moved[1:]], kind)


def snippet(text: str, span: Span, marks: Sequence[Span], kind: Kind) -> str:
    """Return ``text[span]`` as inline HTML: one clean passage, without its markup.

    Code is ``<code>``; of a table there is the row with most marks, each cell after the name of
    its column. Empty where the span holds nothing but markup.
    """
    start, end = max(0, span[0]), min(len(text), span[1])
    if start >= end:
        return ""
    first, last = _region(text, start, end, kind)
    canvas = Canvas(text, (start, end), marks, flat=True)
    # A row's header may lie as far above it as the table is long.
    since = 0 if text.startswith("|", first) else max(0, first - _LONGEST_REGION)
    _draw(canvas, first, last, kind, since)
    return canvas.html().strip()


def _line(canvas: Canvas, line: Span) -> None:
    canvas.draw(line[0], min(line[1] + 1, len(canvas.source)))


def _region(text: str, start: int, end: int, kind: Kind) -> Span:
    """Return the blocks around a span: from a blank line before it to one after it.

    Of code, of a text without blocks and of a table that is the lines of the span alone.
    """
    by_lines = kind.form in ("code", "plain")
    first_line, last_line = text.rfind("\n", 0, start) + 1, text.rfind("\n", 0, end) + 1
    line_end = text.find("\n", end)
    last = len(text) if line_end < 0 else line_end
    if not by_lines and not text.startswith("|", last_line):
        blank = text.find("\n\n", end, end + _LONGEST_REGION)
        last = len(text) if blank < 0 else blank
    row = kind.form != "code" and text.startswith("|", first_line)
    rule = row and is_rule(text, (first_line, text.find("\n", first_line)))
    if (by_lines or row) and not rule:
        return first_line, last
    return _block_start(text, start), last


def _block_start(text: str, start: int) -> int:
    """Return where the text begins that follows the last blank line before an offset."""
    bound = max(0, start - _LONGEST_REGION)
    first = start
    while True:
        blank = text.rfind("\n\n", bound, first)
        first = 0 if blank < 0 and not bound else max(bound, blank + 2 if blank >= 0 else bound)
        if first <= bound or not text[first : first + 1].isspace():
            break
        first -= 2
    return first


def _draw(canvas: Canvas, start: int, end: int, kind: Kind, since: int) -> None:
    """Draw ``source[start:end]``, after what it begins in the middle of."""
    source = canvas.source
    if kind.form == "code":
        lines = lines_of(source, start, end)
        number = None if canvas.flat else source.count("\n", 0, start) + 1
        canvas.block(start, end, lambda: draw_code(canvas, lines, kind.language, number))
    elif kind.form == "plain":
        _, head = continued(source, start, min(since, start))
        prose.draw_plain(canvas, start, end, head)
    elif kind.form == "rst":
        draw_rst(canvas, start, end)
    elif kind.form == "mail" and kind.body == "plain":
        prose.draw_mail(canvas, start, end, lambda a, b: prose.draw_plain(canvas, a, b))
    elif kind.form == "mail":
        prose.draw_mail(canvas, start, end, lambda a, b: draw_markdown(canvas, a, b))
    else:
        language, head = continued(source, start, min(since, start))
        if kind.form == "sheet":
            draw_sheet(canvas, start, end, head)
            return
        start = _continue(canvas, start, end, language, head)
        if kind.form == "chat":
            draw_chat(canvas, start, end)
        else:
            draw_markdown(canvas, start, end, is_notebook=kind.form == "notebook")


def _begins_with_rows(source: str, start: int, lines: Sequence[Span]) -> bool:
    """Return whether a passage was cut out of a table below its header."""
    first = source[slice(*lines[0])].rstrip()
    rules = [is_rule(source, line) for line in lines[:2]]
    return not start and len(first) > 2 and first[0] == first[-1] == "|" and not any(rules)


def _continue(canvas: Canvas, start: int, end: int, language: str, head: Span | None) -> int:
    """Draw the rest of a code block or table in whose middle the span begins; return its end."""
    source = canvas.source
    lines = lines_of(source, start, end)
    in_table = not language and (head is not None or _begins_with_rows(source, start, lines))
    if not language and not in_table:
        return start
    rest = 0
    if in_table:
        while rest < len(lines) and source.startswith("|", lines[rest][0]):
            rest += 1
    else:
        while rest < len(lines) and not source.startswith(("```", "~~~"), lines[rest][0]):
            rest += 1
    shown = lines[:rest]
    if not shown:
        return start
    last = shown[-1][1]

    def cell(canvas: Canvas, flow: Flow) -> None:
        draw_inline(canvas, flow, {})

    def draw() -> None:
        if in_table:
            draw_table(canvas, head, shown, cell)
        else:
            draw_code(canvas, shown, language)

    canvas.block(start, last, draw)
    closing = not in_table and rest < len(lines)
    return min(end, (lines[rest][1] if closing else last) + 1)
