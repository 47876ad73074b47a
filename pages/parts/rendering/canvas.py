"""The one builder of rendered HTML: known tags and attributes only, and text only as text.

What is drawn is named by its place in the stored text, so that marks, the passage and the anchors
fall where they belong, and so that a block of which a word would be lost is noticed.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from pages.parts.common.markup import attributes, merged, name, text
from pages.parts.rendering.allowed import check
from ragkit.library.document_links import DocumentLinks

Span = tuple[int, int]
Picture = Callable[[str], str | None]

_INLINE = frozenset({"em", "strong", "s", "code", "b", "sup", "sub", "span"})
_AFTER = {
    **dict.fromkeys(("p", "h2", "h3", "h4", "h5", "h6", "li", "tr", "pre", "dd", "div"), "\n"),
    **dict.fromkeys(("td", "th", "dt"), " "),
}
"""White space after elements, so that copied text keeps its words apart."""

_VOID = frozenset({"br", "hr", "img"})
_WORD = re.compile(r"[^\W_]")
_DEEPEST, _DEEPEST_TITLE = 60, 5
FAILURES = (LookupError, ValueError, AssertionError, RecursionError, TypeError)


class Anchor(NamedTuple):
    """A section to jump to: the id of its element, and the level of its heading, from 1."""

    id: str
    level: int = 1


class Canvas:
    """HTML of a span of a stored text. All offsets are those of the stored text.

    ``marks`` are drawn as ``<mark>``; the ``passage`` is framed, its first part ``#rk-here`` unless
    it is not ``named``; ``anchors`` maps offsets to the sections that begin there. A ``flat``
    canvas leaves out all that is not inline and puts a space between blocks. Nothing outside of
    ``span`` is drawn on it.
    """

    def __init__(
        self,
        source: str,
        span: Span,
        marks: Sequence[Span] = (),
        passage: Span | None = None,
        anchors: Mapping[int, Anchor] | None = None,
        picture: Picture | None = None,
        links: DocumentLinks | None = None,
        *,
        flat: bool = False,
        named: bool = True,
    ) -> None:
        self.source = source
        self.flat = flat
        self.picture = picture
        self.links = links
        self._clip = span
        self._marks = merged(marks, 0, len(source))
        self._mark_starts = [start for start, _ in self._marks]
        self._mark_ends = [end for _, end in self._marks]
        self._passage = self._trimmed(*passage) if passage else None
        self._sections = anchors or {}
        self._anchors = sorted(self._sections.items())
        self._next_anchor = 0
        self._styles: list[str] = []
        self._parts: list[str] = []
        self._stack: list[tuple[str, bool]] = []
        self._pending: list[str] = []
        self._gap = self._new_block = self._ends_open = False
        self._framed = 0
        self._nested = 0
        self._heading = 1
        self._group = False
        self._is_first = named
        self._covered: list[Span] = []

    # -- elements ------------------------------------------------------------------------------

    def open(self, tag: str, span: Span | None = None, **values: object) -> None:
        """Begin an element; one whose ``span`` is in the passage is framed as a whole.

        Raises:
            ValueError: for tags, attributes and addresses that are not on the list.
        """
        check(tag, values)
        if len(self._stack) >= _DEEPEST:
            raise ValueError("too deep")
        if self.flat:
            self._open_flat(tag, values)
            return
        framed = span is not None and not self._framed and self._within_passage(*span)
        if framed:
            values["class_"] = f"{values.get('class_') or ''} rk-here".strip()
            values = self._first_id(values)
            self._framed += 1
        self._stack.append((tag, framed))
        self._parts.append(f"<{tag}{attributes(**values)}>" if values else f"<{tag}>")

    def close(self) -> None:
        """End the innermost element."""
        tag, framed = self._stack.pop()
        if self.flat:
            self._close_flat(tag)
            return
        if framed:
            self._framed -= 1
        self._parts.append(f"</{tag}>{_AFTER.get(tag, '')}")

    @contextmanager
    def element(self, tag: str, span: Span | None = None, **values: object) -> Iterator[None]:
        """Draw what follows inside an element."""
        self.open(tag, span, **values)
        yield
        self.close()

    def heading(self, level: int, span: Span | None = None) -> None:
        """Begin a heading of the document, at most one level below the heading before it."""
        self._heading = min(level + 1, self._heading + 1, 6)
        self.open(f"h{self._heading}", span, class_=f"rk-h{level}", dir="auto")

    def void(self, tag: str, **values: object) -> None:
        """Draw an element without content."""
        check(tag, values)
        if self.flat:
            self._gap = True
        elif tag in _VOID:
            self._parts.append(f"<{tag}{attributes(**values)}>")

    def section_at(self, offset: int) -> str | None:
        """Return the id of the section that begins at an offset, if there is one."""
        section = self._sections.get(offset)
        return section.id if section else None

    def begins_section(self, offset: int) -> bool:
        """Return whether a section that is jumped to begins at an offset."""
        return offset in self._sections

    def title(self, span: Span, style: str = "") -> None:
        """Begin a title of plain text or reStructuredText, ``style`` being its line of punctuation.

        Its level is that of its section, or else of its style by the order in which styles are met.
        """
        if style and style not in self._styles:
            self._styles.append(style)
        section = self._sections.get(span[0])
        level = section.level if section else self._styles.index(style) + 1
        self.heading(min(level, _DEEPEST_TITLE), span)

    # -- text ----------------------------------------------------------------------------------

    def draw(self, start: int, end: int) -> None:
        """Draw ``source[start:end]`` with its marks."""
        if start >= end:
            return
        self._covered.append((start, end))
        if self.flat:
            start, end = max(start, self._clip[0]), min(end, self._clip[1])
            if start >= end:
                return
            self._flush(self.source[start:end])
        for first, last in self._cut(start, end):
            self._piece(text(self.source[first:last]), first, last)

    def put(self, shown: str, start: int, end: int) -> None:
        """Draw ``shown`` in the place of ``source[start:end]``, marked if any of it is marked."""
        self._covered.append((start, end))
        if self.flat:
            if start < self._clip[0] or end > self._clip[1]:
                return
            self._flush(shown)
        self._piece(text(shown), start, end)

    def skip(self, start: int, end: int) -> None:
        """Leave out markup that was understood; what is marked in it is shown anyway."""
        if start >= end:
            return
        if not self.flat and self.marked(start, end):
            self.open("span", class_="rk-aside")
            self.draw(start, end)
            self.close()
        else:
            self._covered.append((start, end))

    def say(self, words: str) -> None:
        """Draw words that are not in the document."""
        if self.flat:
            self._flush(words)
        self._parts.append(f'<span class="rk-said">{name(words)}</span>')

    def marked(self, start: int, end: int) -> int:
        """Return how many marks touch ``source[start:end]``."""
        first = bisect_right(self._mark_ends, start)
        return max(0, bisect_left(self._mark_starts, end) - first)

    def touches(self, start: int, end: int) -> bool:
        """Return whether any of ``source[start:end]`` is to be drawn."""
        return start < self._clip[1] and end > self._clip[0]

    def shows(self, start: int, end: int) -> bool:
        """Return whether all of ``source[start:end]`` is to be drawn."""
        return not self.flat or (start >= self._clip[0] and end <= self._clip[1])

    def sentence(self, draw: Callable[[], None], start: int, end: int) -> None:
        """Draw ``source[start:end]`` even where the clip would cut it."""
        clip, self._clip = self._clip, (start, end)
        self._gap = True
        draw()
        self._gap, self._clip = True, clip

    # -- blocks --------------------------------------------------------------------------------

    def block(self, start: int, end: int, draw: Callable[[], None]) -> None:
        """Draw a block, or its source should a word of it be lost; blocks may hold others."""
        if not self._nested:
            self.group(start, end)
        self.anchor(start)
        before, outer = self._state(), self._covered
        self._covered = []
        self._nested += 1
        try:
            draw()
            lost = not self.flat and self._loses(start, end)
        except FAILURES:
            lost = True
        if lost:
            self._restore(before)
            with self.element("pre", (start, end), class_="rk-verbatim", dir="auto"):
                self.draw(start, end)
        self._nested -= 1
        self._covered = outer
        outer.append((start, end))

    def group(self, start: int, end: int) -> None:
        """Begin or end the frame around the blocks that lie in the passage as a whole."""
        inside = self._within_passage(start, end)
        if inside and not self._group and not self.flat:
            self.open("div", None, **self._first_id({"class_": "rk-here rk-block"}))
            self._group = True
            self._framed += 1
        elif not inside:
            self._end_group()

    def anchor(self, offset: int) -> None:
        """Draw the anchors up to an offset, where an empty element may be."""
        while (
            self._next_anchor < len(self._anchors) and self._anchors[self._next_anchor][0] <= offset
        ):
            identity = self._anchors[self._next_anchor][1].id
            self._next_anchor += 1
            if not self.flat:
                self._parts.append(f"<span{attributes(class_='rk-anchor', id=identity)}></span>")

    def html(self) -> str:
        """Return the HTML drawn so far."""
        self._end_group()
        self.anchor(self._clip[1])
        return "".join(self._parts)

    # -- inside --------------------------------------------------------------------------------

    def _end_group(self) -> None:
        if self._group:
            self._group = False
            self._framed -= 1
            self.close()

    def _first_id(self, values: dict[str, object]) -> dict[str, object]:
        """Add the id to jump to, for the first part of the passage."""
        added = {"id": "rk-here"} if self._is_first else {}
        self._is_first = False
        return {**values, **added}

    def _trimmed(self, start: int, end: int) -> Span:
        """Return a span without the white space around it."""
        piece = self.source[start:end]
        return start + len(piece) - len(piece.lstrip()), start + len(piece.rstrip())

    def _within_passage(self, start: int, end: int) -> bool:
        if self._passage is None:
            return False
        start, end = self._trimmed(start, end)
        return self._passage[0] <= start < self._passage[1] and end <= self._passage[1]

    def _cut(self, start: int, end: int) -> Iterator[Span]:
        """Divide a span where a mark or the passage begins or ends."""
        cuts = []
        first = bisect_right(self._mark_ends, start)
        for mark in self._marks[first:]:
            if mark[0] >= end:
                break
            cuts += [offset for offset in mark if start < offset < end]
        if self._passage and not self._framed:
            cuts += [offset for offset in self._passage if start < offset < end]
            cuts.sort()
        for cut in cuts:
            if cut > start:
                yield start, cut
                start = cut
        yield start, end

    def _piece(self, html: str, start: int, end: int) -> None:
        first = bisect_right(self._mark_ends, start)
        if first < len(self._marks) and self._marks[first][0] < end:
            html = f"<mark>{html}</mark>"
        here = self._passage
        if here and not self._framed and not self.flat and start < here[1] and end > here[0]:
            values = attributes(**self._first_id({"class_": "rk-here"}))
            html = f"<span{values}>{html}</span>"
        self._parts.append(html)

    def _state(self) -> tuple[int, int, int, int, bool]:
        return len(self._parts), len(self._stack), self._framed, self._nested, self._is_first

    def _restore(self, state: tuple[int, int, int, int, bool]) -> None:
        parts, depth, self._framed, nested, self._is_first = state
        self._nested = nested + 1
        del self._parts[parts:]
        del self._stack[depth:]
        self._pending.clear()
        self._covered.clear()

    def _loses(self, start: int, end: int) -> bool:
        """Return whether a word of ``source[start:end]`` was neither drawn nor understood."""
        at = start
        for first, last in sorted(self._covered):
            if first > at and _WORD.search(self.source, at, min(first, end)):
                return True
            at = max(at, last)
        return at < end and _WORD.search(self.source, at, end) is not None

    # -- flat ----------------------------------------------------------------------------------

    def _open_flat(self, tag: str, values: Mapping[str, object]) -> None:
        self._stack.append((tag, False))
        if tag in _INLINE:
            self._pending.append(f"<{tag}{attributes(class_=values.get('class_'))}>")
        elif tag != "a":
            self._gap = self._new_block = True

    def _close_flat(self, tag: str) -> None:
        if tag in _INLINE:
            if self._pending:
                self._pending.pop()
            else:
                self._parts.append(f"</{tag}>")
        elif tag != "a":
            self._gap = self._new_block = True

    def _flush(self, words: str) -> None:
        """Draw what is due before words: the space between blocks, and elements that begin."""
        if not words.strip():
            return
        if self._gap and self._parts:
            # A block that ends as no sentence does would run on into the next one.
            self._parts.append(" · " if self._new_block and self._ends_open else " ")
        self._gap = self._new_block = False
        self._ends_open = words.rstrip()[-1].isalnum()
        self._parts += self._pending
        self._pending.clear()


def lines_of(source: str, start: int, end: int) -> list[Span]:
    """Return the lines of ``source[start:end]``, without their line ends."""
    lines = []
    while start < end:
        line_end = source.find("\n", start, end)
        if line_end < 0:
            line_end = end
        lines.append((start, line_end))
        start = line_end + 1
    return lines
