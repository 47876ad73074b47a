"""What notes have beyond CommonMark: links to other notes, highlights, callouts, block names.

Obsidian writes them, Logseq and Roam the links, and GitHub the callouts.
"""

from __future__ import annotations

import re
from itertools import pairwise

from markdown_it.rules_inline import StateInline

from pages.parts.rendering.canvas import Canvas
from pages.parts.rendering.flow import Flow

# No link of Markdown whose text is a number in brackets, and no index of an index.
_LINK = re.compile(
    r"!?(?<!\w)\[\[(?=[^\s|])(?P<target>[^\[\]|\n]{1,300})(?:\|(?P<label>[^\[\]|\n]{1,300}))?\]\](?![(\[])"
)
_HIGHLIGHT = re.compile(r"(?<![\w=])==(?=[^\s=])([^=\n]{1,500})(?<=\S)==(?![\w=])")
_SIZE = re.compile(r"\d{1,4}(?:x\d{1,4})?")
_BLOCK_NAME = re.compile(r"\s\^[a-z0-9]{6}$")
_CALLOUT = re.compile(
    r"\[!(?P<kind>[A-Za-z][\w -]{0,30})(?:\|[^\]\n]{0,60})?\][+-]?[ \t]*(?P<title>[^\n]*)(?:\n|\Z)"
)


def link(state: StateInline, silent: bool) -> bool:
    """Take a link to another note, or a note or picture that is shown there, as one token.

    Its ``info`` is the note's name, and ``meta["shown"]`` the spans in it that are drawn.
    """
    match = _LINK.match(state.src, state.pos, state.posMax)
    if match is None:
        return False
    if not silent:
        token = state.push("note_link", "", 0)
        token.content, token.info = match[0], match["target"]
        token.meta["shown"] = _shown(match)
    state.pos = match.end()
    return True


def highlight(state: StateInline, silent: bool) -> bool:
    """Take what is between two double equals signs as highlighted."""
    match = _HIGHLIGHT.match(state.src, state.pos, state.posMax)
    if match is None:
        return False
    if not silent:
        last = state.posMax
        state.push("highlight_open", "", 1).markup = "=="
        state.pos, state.posMax = match.span(1)
        state.md.inline.tokenize(state)
        state.pos, state.posMax = match.end(1), last
        state.push("highlight_close", "", -1).markup = "=="
    state.pos = match.end()
    return True


def without_block_name(canvas: Canvas, flow: Flow) -> Flow:
    """Return the text of a block without its name for links, which is not drawn."""
    name = _BLOCK_NAME.search(flow.content)
    if name is None:
        return flow
    for start, end in flow.spans(*name.span()):
        canvas.skip(start, end)
    return flow.part(0, name.start())


def callout(canvas: Canvas, flow: Flow) -> tuple[Flow | None, Flow]:
    """Draw the mark that begins a callout; return its title, if it has its own, and its text.

    Without one, the kind of the callout is drawn as its title.
    """
    mark = _CALLOUT.match(flow.content)
    if mark is None:
        return None, flow
    (start, _), *_ = flow.spans(0, 1)
    begin, after = mark.span("title")
    rest = flow.part(mark.end(), len(flow.content))
    if mark["title"].strip():
        canvas.skip(start, start + begin)
        return flow.part(begin, after), rest
    with canvas.element("strong"):
        canvas.put(mark["kind"].capitalize(), start, start + begin)
    return None, rest


def _shown(link: re.Match[str]) -> list[tuple[int, int]]:
    """Return what of a link to another note is drawn: its label, or else its note and heading."""
    written, start = link[0], link.start()
    # The label of a picture may be its size.
    if link["label"] and not (written[0] == "!" and _SIZE.fullmatch(link["label"])):
        first, last = link.span("label")
        return [(first - start, last - start)]
    first, last = (at - start for at in link.span("target"))
    bounds = [first - 1, *(at for at in range(first, last) if written[at] == "#"), last]
    parts = [(before + 1, after) for before, after in pairwise(bounds)]
    return [(a, b) for a, b in parts if written[a:b].strip() and written[a] != "^"]
