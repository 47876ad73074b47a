"""Source code in colours, a line an element: numbered, framed and jumped to by line."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from pages.parts.rendering.canvas import Canvas, Span

if TYPE_CHECKING:
    from pygments.lexer import Lexer

_LONGEST, _LONGEST_LINE = 100_000, 4_000
_SECONDS = 0.15
_STYLES = (
    ("Comment", "rk-c"), ("Literal.String", "rk-s"), ("String", "rk-s"), ("Keyword", "rk-k"),
    ("Literal.Number", "rk-m"), ("Name.Function", "rk-f"), ("Name.Class", "rk-f"),
    ("Name.Decorator", "rk-f"), ("Name.Tag", "rk-k"), ("Name.Attribute", "rk-f"),
    ("Name.Builtin", "rk-b"), ("Name.Constant", "rk-b"), ("Name.Exception", "rk-b"),
    ("Operator.Word", "rk-k"), ("Generic.Deleted", "rk-d"), ("Generic.Inserted", "rk-s"),
    ("Generic.Heading", "rk-k"),
)  # fmt: skip
_LANGUAGES = {
    "c#": "csharp", "shell": "bash", "batch": "batch", "docker": "dockerfile", "latex": "tex",
    "lisp": "elisp", "protobuf": "protobuf", "jsonl": "json", "ini": "ini", "mdx": "markdown",
    "jsonc": "json", "ipython": "python", "ipython3": "python", "py": "python",
}  # fmt: skip
_NO_COLOURS = frozenset({"", "text", "txt", "plain", "plaintext", "output", "none"})


def draw_code(
    canvas: Canvas, lines: Sequence[Span], language: str, first_number: int | None = None
) -> None:
    """Draw lines of source code; numbered from ``first_number``, unless it is ``None``."""
    if canvas.flat:
        with canvas.element("code"):
            for start, end in lines:
                canvas.draw(start, min(end + 1, len(canvas.source)))
        return
    values: dict[str, Any] = {"class_": "rk-listing rk-numbered" if first_number else "rk-listing"}
    pieces = _coloured(canvas.source, lines, language)
    with canvas.element("pre", dir="ltr", **values):
        for row, line in enumerate(lines):
            number = None if first_number is None else first_number + row
            canvas.anchor(line[0])
            with canvas.element("span", line, class_="rk-line", data_line=number):
                for start, end, style in pieces[row] if pieces else ((*line, ""),):
                    with canvas.element("span", class_=style) if style else nullcontext():
                        canvas.draw(start, end)
                if line[1] < len(canvas.source) and canvas.source[line[1]] == "\n":
                    canvas.draw(line[1], line[1] + 1)


def _coloured(
    source: str, lines: Sequence[Span], language: str
) -> list[list[tuple[int, int, str]]] | None:
    """Return for each line its pieces (start, end, style); ``None`` when it is left plain."""
    size = sum(end - start for start, end in lines)
    if size > _LONGEST or any(end - start > _LONGEST_LINE for start, end in lines):
        return None
    lexer = _lexer(language.lower())
    if lexer is None:
        return None
    joined = "\n".join(source[start:end] for start, end in lines)
    pieces: list[list[tuple[int, int, str]]] = [[] for _ in lines]
    row, row_start, at = 0, 0, 0
    for value, style in _tokens(lexer, joined):
        if not joined.startswith(value, at):
            return None
        for part in value.splitlines(keepends=True) if "\n" in value else (value,):
            bare = part.rstrip("\n")
            if bare:
                start = lines[row][0] + at - row_start
                pieces[row].append((start, start + len(bare), style))
            at += len(part)
            if part.endswith("\n"):
                row, row_start = row + 1, at
    return pieces if at == len(joined) else None


def _tokens(lexer: Lexer, value: str) -> Iterator[tuple[str, str]]:
    """Yield the parts of a text with their styles; plain from where it takes too long."""
    until = time.monotonic() + _SECONDS
    at = 0
    for start, kind, part in lexer.get_tokens_unprocessed(value):
        if start != at:
            break
        yield part, _style(kind)
        at += len(part)
        if time.monotonic() > until:
            break
    if at < len(value):
        yield value[at:], ""


@lru_cache(maxsize=256)
def _style(kind: Any) -> str:
    """Return the class of a kind of token."""
    named = ".".join(kind)
    return next((style for prefix, style in _STYLES if named.startswith(prefix)), "")


@lru_cache(maxsize=64)
def _lexer(language: str) -> Lexer | None:
    """Return the lexer of a language by its usual name, or ``None``."""
    if language in _NO_COLOURS or len(language) > 40:
        return None
    from pygments.lexers import get_lexer_by_name
    from pygments.util import ClassNotFound

    try:
        lexer: Lexer = get_lexer_by_name(_LANGUAGES.get(language, language))
    except (ClassNotFound, ImportError):
        return None
    return lexer if hasattr(lexer, "get_tokens_unprocessed") else None
