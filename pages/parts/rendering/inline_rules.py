"""The parser of Markdown: CommonMark with tables, strikethrough, footnotes, formulas and notes.

Tags are shown as they are written. Inline tokens say where they begin, so that what is drawn is
known by its place in the text.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock, reference
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

from pages.parts.rendering import note_syntax
from pages.parts.rendering.formula import is_formula

_DISPLAYED = {"$$": "$$", "\\[": "\\]"}
_TAG = re.compile(r"</?[A-Za-z][\w:.-]{0,60}(?:\s[^<>]{0,2000})?/?>|<!--.{0,4000}?-->", re.S)
_NOTE = re.compile(r"\[\^([^\[\]\s]{1,40})\]")
"""The mark of a footnote, in the text and before the note."""

_FORMULA = re.compile(
    r"\$\$(?P<display>(?:[^$\\]|\\.){1,2000})\$\$"
    r"|(?<![\w$])\$(?P<dollar>(?![\s$])(?:[^$\\\n]|\\[^\n]){1,500}(?<!\s))\$(?![\w$])"
    r"|\\\((?P<round>(?:[^\\]|\\[^()]){1,500})\\\)"
    r"|\\\[(?P<square>(?:[^\\]|\\[^\[\]]){1,2000})\\\]",
    re.DOTALL,
)
_MOST_LINES = 60


class _Traced(StateInline):
    """A state that notes in each token where it begins."""

    _begin = 0

    def append_pending(self, text: str) -> None:
        if not self._pending and not self._pending_buffer:
            self._begin = self.pos
        super().append_pending(text)

    def pushPending(self) -> Token:  # noqa: N802
        token = super().pushPending()
        token.meta["at"] = self._begin
        return token

    def push(self, ttype: str, tag: str, nesting: Any) -> Token:
        token = super().push(ttype, tag, nesting)
        token.meta["at"] = self.pos
        return token


def _tag(state: StateInline, silent: bool) -> bool:
    """Take an HTML tag or comment as one token, which is shown as it is written."""
    match = _TAG.match(state.src, state.pos, state.posMax)
    if match is None:
        return False
    if not silent:
        state.push("tag", "", 0).content = match[0]
    state.pos = match.end()
    return True


def _note(state: StateInline, silent: bool) -> bool:
    """Take the mark of a footnote as one token; before the note it has a colon."""
    match = _NOTE.match(state.src, state.pos, state.posMax)
    if match is None:
        return False
    begins = state.pos == 0 or state.src[state.pos - 1] == "\n"
    end = match.end() + (begins and state.src.startswith(":", match.end()))
    if not silent:
        token = state.push("note", "", 0)
        token.content, token.markup = match[1], state.src[match.end() : end]
    state.pos = end
    return True


def _formula(state: StateInline, silent: bool) -> bool:
    """Take a formula in TeX as one token."""
    match = _FORMULA.match(state.src, state.pos, state.posMax)
    if match is None:
        return False
    kind = match.lastgroup or ""
    if not is_formula(match[kind], dollar=match[0].startswith("$")):
        return False
    if not silent:
        token = state.push("formula", "", 0)
        token.content, token.info = match[0], match[kind]
        token.block = kind in ("display", "square")
    state.pos = match.end()
    return True


def _display(state: StateBlock, first: int, last: int, silent: bool) -> bool:
    """Take a formula between two marks that stand alone on their lines as a paragraph."""
    closing = _DISPLAYED.get(_line(state, first))
    if closing is None or state.is_code_block(first):
        return False
    row, last = first + 1, min(last, first + _MOST_LINES)
    while row < last and state.sCount[row] >= state.blkIndent and _line(state, row) != closing:
        if state.isEmpty(row):
            return False
        row += 1
    if row >= last or state.sCount[row] < state.blkIndent:
        return False
    if not silent:
        state.line = row + 1
        state.push("paragraph_open", "p", 1).map = [first, row + 1]
        token = state.push("inline", "", 0)
        token.content = state.getLines(first, row + 1, state.blkIndent, False).strip()
        token.map, token.children = [first, row + 1], []
        state.push("paragraph_close", "p", -1)
    return True


def _line(state: StateBlock, row: int) -> str:
    return state.src[state.bMarks[row] + state.tShift[row] : state.eMarks[row]].strip()


def _reference(state: StateBlock, first: int, last: int, silent: bool) -> bool:
    """Take the definition of a link, but not a footnote of one word, which looks like one."""
    start = state.bMarks[first] + state.tShift[first]
    return not state.src.startswith("[^", start) and reference(state, first, last, silent)


@lru_cache(maxsize=1)
def parser() -> MarkdownIt:
    """Make the parser, once: CommonMark with tables and strikethrough, without HTML."""
    made = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
    made.disable(["fragments_join"])
    made.inline.ruler.at("html_inline", _tag)
    made.inline.ruler.before("link", "note", _note)
    made.inline.ruler.before("note", "note_link", note_syntax.link)
    made.inline.ruler.before("emphasis", "highlight", note_syntax.highlight)
    made.inline.ruler.before("escape", "formula", _formula)
    interrupted = ["paragraph", "reference", "blockquote", "list"]
    made.block.ruler.before("fence", "display", _display, {"alt": interrupted})
    made.block.ruler.at("reference", _reference)
    return made


def inline_tokens(content: str, env: dict[str, Any]) -> list[Token]:
    """Return the inline tokens of a block; ``meta["at"]`` of each is its offset in the content."""
    made = parser()
    tokens: list[Token] = []
    state = _Traced(content, made, env, tokens)
    made.inline.tokenize(state)
    for rule in made.inline.ruler2.getRules(""):
        rule(state)
    return tokens
