"""Org files, rewritten line by line as Markdown."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ragkit.reading.conversations.messages import safe_text
from ragkit.reading.formats import Format
from ragkit.reading.heads import with_head
from ragkit.reading.markdown import first_heading, metadata_from
from ragkit.reading.reading_parts import one_line, stem, tidy, whole_line
from ragkit.types import Markup, Reading

if TYPE_CHECKING:
    from collections.abc import Iterator

_KEYWORD = re.compile(r"\s*#\+(\w{1,40}):[ \t]*(.*?)[ \t]*$")
_BEGIN = re.compile(r"\s*#\+begin_(\w{1,40})[ \t]*(\S*)", re.I)
_END = re.compile(r"\s*#\+end_(\w{1,40})", re.I)
_HEADING = re.compile(r"(\*{1,60})[ \t]+(\S.*?)[ \t]*$")
_DRAWER = re.compile(r"\s*:(\w[\w-]{0,60}):[ \t]*$")
_FIELD = re.compile(r"\s*:([\w+-]{1,60}):[ \t]+(\S.*)$")
_ITEM = re.compile(r"(?:[-+]|[ \t]+\*|[ \t]*\d{1,9}[.)])(?:[ \t]|$)|[ \t]+[-+](?:[ \t]|$)")
_ROW = re.compile(r"[ \t]*\|")
_RULE = re.compile(r"[ \t]*\|[-+|]+[ \t]*$")
_LINE = re.compile(r"[ \t]*-{5,}[ \t]*$")
_VERBATIM = re.compile(r"(?<![\w=~])([=~])(?=\S)([^\n]{1,300}?)(?<=\S)\1(?![\w=~])")
_LINK = re.compile(r"\[\[(?:file:)?([^\[\]\n]{1,2000})\](?:\[([^\n]{1,500}?)\])?\]")
_FOOTNOTE = re.compile(r"(^)?\[fn:([\w-]{1,60})\]")
_EMPHASIS = re.compile(
    r"(?<![^\s(\[{'\"—-])([*/+])(?=\S)([^\n*/+]{1,300}?)(?<=\S)\1(?![^\s)\]}.,;:!?'\"—-])"
)
_STAR = re.compile(r"^(\s+)\*(?=\s)")
_MARKS = {"*": "**", "/": "*", "+": "~~"}
_QUOTES = ("quote", "verse")
_VERBATIM_BLOCKS = ("src", "example", "export", "comment")
_ABOUT = ("title", "author", "date", "email", "description", "keywords", "language")
_SETTING = re.compile(
    r"options|startup|setupfile|property|(?:\w+_)?todo|archive|link|priorities|columns|name"
    r"|results|include|(?:latex|html|beamer|odt|texinfo|attr|export|reveal|hugo|header).*"
)
_IDENTIFIERS = ("id", "custom_id")


def read_org(text: str, name: str, file_format: Format = Format.ORG) -> Reading:
    """Read an Org file; its keywords become metadata, and those that say how to export it go."""
    rewriter = _Rewriter(depth=0)
    lines = list(rewriter.lines(text))
    title = one_line(str(rewriter.values.pop("title", "")))
    body = tidy("\n".join(_Rewriter(depth=1).lines(text) if title else lines))
    metadata = metadata_from(dict(rewriter.values))
    return Reading(
        text=with_head(title, metadata, f"# {title}\n\n{body}".rstrip() if title else body),
        title=title or first_heading(body) or stem(name),
        format=file_format,
        markup=Markup.MARKDOWN,
        metadata=metadata,
    )


def _remember(key: str, value: str, values: dict[str, str | list[str]]) -> None:
    """Add a keyword to the values; the lines of a title or of tags belong together."""
    if key == "filetags":
        tags = values.setdefault("tags", [])
        if isinstance(tags, list):
            tags.extend(filter(None, re.split(r"[:\s]+", value)))
    elif value:
        values[key] = f"{values[key]} {value}" if key in values else value


class _Rewriter:
    """Rewrites the lines of one file; what they mean depends on those before.

    Its ``kind`` is that of the line before: "text", "list", "table" or "quote", or ``""``. Markdown
    wants an empty line where it changes. What the file says of itself is in ``values``.
    """

    def __init__(self, depth: int) -> None:
        self.values: dict[str, str | list[str]] = {}
        self._depth = depth
        self._block = self._kind = ""
        self._in_drawer = False
        self._indent: int | None = None

    def lines(self, text: str) -> Iterator[str]:
        """Yield the lines as Markdown."""
        for line in text.split("\n"):
            if self._block in _VERBATIM_BLOCKS:
                yield from self._of_code(line)
            else:
                yield from self._of_text(line)
        if self._block in _VERBATIM_BLOCKS:
            yield "```"

    def _of_code(self, line: str) -> Iterator[str]:
        end = _END.match(line)
        if end and end[1].lower() == self._block:
            self._block = ""
            yield from ("```", "")
        else:
            # Org puts a comma before lines that would begin a heading or end the block.
            yield re.sub(r"^(\s*),(?=\*|#\+)", r"\1", line)

    def _of_text(self, line: str) -> Iterator[str]:
        if begin := _BEGIN.match(line):
            self._block = begin[1].lower()
            yield from self._apart("")
            if self._block in _VERBATIM_BLOCKS:
                yield f"```{begin[2] if self._block == 'src' else ''}"
        elif _END.match(line):
            self._block = ""
            yield from self._apart("")
        elif heading := _HEADING.match(line):
            self._indent, self._block, self._in_drawer = None, "", False
            yield from self._apart("")
            level = min(len(heading[1]) + self._depth, 6)
            yield from (f"{'#' * level} {_inline(whole_line(heading[2]))}", "")
        elif keyword := _KEYWORD.match(line):
            yield from self._of_keyword(keyword[1].lower(), keyword[2])
        elif drawer := _DRAWER.match(line):
            self._in_drawer = drawer[1].lower() != "end"
        elif self._in_drawer and (field := _FIELD.match(line)):
            if field[1].lower() not in _IDENTIFIERS:
                yield from (*self._apart("list"), f"- {field[1]}: {_inline(field[2])}")
        elif _ROW.match(line):
            yield from self._of_table(line.strip())
        elif _LINE.match(line):
            yield from (*self._apart(""), "---", "")
        else:
            yield from self._of_prose(line)

    def _apart(self, kind: str) -> Iterator[str]:
        """Yield an empty line if lines of another kind begin."""
        if kind != self._kind:
            self._kind = kind
            yield ""

    def _of_keyword(self, key: str, value: str) -> Iterator[str]:
        if key in _ABOUT or key == "filetags":
            _remember(key, value, self.values)
        elif not _SETTING.fullmatch(key):
            yield from (*self._apart("text"), _inline(value))

    def _of_table(self, row: str) -> Iterator[str]:
        """Yield a row; the only rule is put below the first one, where Markdown wants it."""
        if _RULE.fullmatch(row):
            return
        is_first = self._kind != "table"
        yield from (*self._apart("table"), _inline(row))
        if is_first:
            yield "|" + " --- |" * max(row.count("|") - 1, 1)

    def _of_prose(self, line: str) -> Iterator[str]:
        """Yield a line without the indentation that only shows the level of its heading."""
        if not line.strip():
            yield ">" if self._kind == "quote" and self._block in _QUOTES else ""
            return
        indent = len(line) - len(line.lstrip())
        if self._indent is None:
            self._indent = indent
        line = line[min(indent, self._indent) :]
        if self._block in _QUOTES:
            yield from (*self._apart("quote"), f"> {_inline(safe_text(line.strip()))}")
        elif _ITEM.match(line):
            yield from (*self._apart("list"), _inline(_STAR.sub(r"\1-", line)))
        elif self._kind == "list" and line[0].isspace():
            yield _inline(safe_text(line))
        else:
            yield from (*self._apart("text"), _inline(safe_text(line.strip())))


def _inline(line: str) -> str:
    """Return a line with Markdown's marks for emphasis, code, links and notes."""
    pieces = []
    at = 0
    for verbatim in _VERBATIM.finditer(line):
        pieces += [_marked(line[at : verbatim.start()]), f"`{verbatim[2]}`"]
        at = verbatim.end()
    return "".join([*pieces, _marked(line[at:])])


def _marked(text: str) -> str:
    text = _FOOTNOTE.sub(lambda note: f"[^{note[2]}]" + (":" if note[1] is not None else ""), text)
    text = _EMPHASIS.sub(lambda found: _MARKS[found[1]] + found[2] + _MARKS[found[1]], text)
    return _LINK.sub(lambda link: f"[{link[2]}]({link[1]})" if link[2] else link[1], text)
