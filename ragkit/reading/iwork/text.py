"""Texts of iWork documents as blocks: paragraphs, headings, lists, links and notes."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING

from ragkit.reading.blocks import Block, inline, paragraph
from ragkit.reading.iwork.styles import Styles
from ragkit.reading.reading_parts import joined, whole_line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from ragkit.reading.iwork.archive import Objects
    from ragkit.reading.iwork.protobuf import Message

TEXTS = (2001, 2005)
_FLOWS = (2410, 6218)
_DRAWABLE_ATTACHMENT, _PLACEHOLDER, _LINK, _DIRECTORY = 2003, 2031, 2032, 2041
_CONTENTS = 7
LONG_SAMPLE = 60
"""Paragraphs of templates that are shorter may be labels that stay."""
_DEEPEST_LIST = 9
_END = re.compile("[\n\r\u2029\x04\x05\x06]")
_BREAK = re.compile("[\u2028\x0b\x0c]")
_SIGNS = re.compile("[\ufffc\x0e\x0f]")
ADDRESS = re.compile(r"(?:https?://|mailto:)[^\s<>()]{1,1000}")


@dataclass(slots=True)
class Beside:
    """What stands beside the texts of a document: notes, and comments on their words."""

    notes: list[str] = field(default_factory=list)
    remarks: list[tuple[int, str]] = field(default_factory=list)
    """Identifiers of comments, with the words that they are about."""


class Texts:
    """Writes the texts of a document, each once."""

    def __init__(
        self, objects: Objects, drawn: Callable[[int], Iterable[Block]], beside: Beside
    ) -> None:
        self._objects = objects
        self._styles = Styles(objects)
        self._drawn = drawn
        self._beside = beside
        self._written: set[int] = set()

    def blocks(self, identity: int) -> Iterator[Block]:
        """Yield the paragraphs of a text, each followed by what is attached to it."""
        if self._objects.kind(identity) in _FLOWS:
            identity = self._objects.message(identity).reference(1)
        message = self._objects.message(identity)
        if self._objects.kind(identity) not in TEXTS or identity in self._written:
            return
        self._written.add(identity)
        if message.number(1) != _CONTENTS:
            yield from _Storage(message, self._objects, self._styles).blocks(
                self._drawn, self._note, self._beside.remarks
            )

    def line(self, identity: int) -> str:
        """Return a text on one line."""
        return joined((whole_line(block.whole) for block in self.blocks(identity)), " ")

    def _note(self, identity: int) -> str:
        """Keep a note, and return the sign that refers to it."""
        place = len(self._beside.notes)
        self._beside.notes.append("")
        self._beside.notes[place] = self.line(identity)
        return f"[^{place + 1}]"


class _Runs:
    """A table of a text: which object is for it from which place on."""

    def __init__(self, table: Message) -> None:
        found = {entry.number(1): entry.reference(2) for entry in table.messages(1)}
        self.places = sorted(found)
        self._objects = [found[place] for place in self.places]

    def at(self, place: int) -> int:
        """Return the object for a place, 0 if there is none."""
        number = bisect_right(self.places, place) - 1
        return self._objects[number] if number >= 0 else 0

    def filled(self) -> _Runs:
        """Return a table in which places without an object have that before them."""
        runs = _Runs.__new__(_Runs)
        runs.places, runs._objects = self.places, []
        for each in self._objects:
            runs._objects.append(each or (runs._objects[-1] if runs._objects else 0))
        return runs

    def items(self) -> Iterator[tuple[int, int]]:
        """Yield the places that have an object, and this."""
        return (
            (place, each) for place, each in zip(self.places, self._objects, strict=True) if each
        )

    def spans(self, end: int) -> Iterator[tuple[int, int, int]]:
        """Yield where each object begins and ends, and the object."""
        for number, (place, each) in enumerate(zip(self.places, self._objects, strict=True)):
            if each:
                yield place, (*self.places, end)[number + 1], each


class _Storage:
    """One text. Its places count the units of UTF-16."""

    def __init__(self, message: Message, objects: Objects, styles: Styles) -> None:
        self._objects, self._styles = objects, styles
        self._text = "".join(message.texts(3))
        self._units = (
            b"" if self._text.isascii() or max(self._text) < "\U00010000" else _utf16(self._text)
        )
        self._end = len(self._units) // 2 or len(self._text)
        self._paragraph_styles = _Runs(message.message(5)).filled()
        self._list_styles = _Runs(message.message(7)).filled()
        self._fields, self._deleted = _Runs(message.message(11)), _Runs(message.message(22))
        self._highlights = _Runs(message.message(23))
        self._attached = dict(_Runs(message.message(9)).items())
        self._notes = dict(_Runs(message.message(16)).items())
        depths = {entry.number(1): entry.number(2) for entry in message.message(6).messages(1)}
        self._places_of_depths = sorted(depths)
        self._depths = [depths[place] for place in self._places_of_depths]
        starts = ((entry.number(1), entry.number(2)) for entry in message.message(14).messages(1))
        self._starts = {place: number for place, number in starts if number}
        self._counted: list[int] = []
        signs = (*self._attached, *self._notes)
        places = {*self._fields.places, *self._deleted.places, *signs, *(at + 1 for at in signs)}
        self._places = sorted(places)

    def blocks(
        self,
        drawn: Callable[[int], Iterable[Block]],
        note: Callable[[int], str],
        remarks: list[tuple[int, str]],
    ) -> Iterator[Block]:
        """Yield the paragraphs, each followed by what is ``drawn`` in it."""
        for start, end, highlight in self._highlights.spans(self._end):
            comment = self._objects.message(highlight).reference(1)
            remarks.append((comment, _SIGNS.sub("", self._slice(start, end))))
        for start, end in self._paragraphs():
            level = self._styles.level(self._paragraph_styles.at(start))
            text = "".join(self._words(start, end, note))
            if level or end - start < LONG_SAMPLE or not self._is_sample(start, end):
                yield self._paragraph(text, start, level)
            for place in range(start, end) if self._attached else ():
                attached = self._attached.get(place, 0)
                if self._objects.kind(attached) == _DRAWABLE_ATTACHMENT:
                    yield from drawn(self._objects.message(attached).reference(1))

    def _paragraph(self, text: str, start: int, level: int) -> Block:
        style = self._styles.list_style(self._list_styles.at(start))
        at = bisect_right(self._places_of_depths, start) - 1
        depth = min(self._depths[at] if at >= 0 else 0, _DEEPEST_LIST - 1)
        if not style.is_list(depth):
            if text.strip() and not level and not self._starts:
                self._counted = []
            return paragraph(text, level=level)
        number = style.number(depth, self._count(depth, start)) if text.strip() else ""
        return paragraph(text, level=level, depth=depth + 1, number=number)

    def _count(self, depth: int, start: int) -> Sequence[int]:
        """Count an item; return the numbers of those around it, and its own."""
        self._counted = self._counted[: depth + 1]
        missing = depth + 1 - len(self._counted)
        if missing:
            self._counted += [*[1] * (missing - 1), 0]
        self._counted[depth] += 1
        if begins := self._starts.get(start, 0):
            self._counted[depth] = begins
        return self._counted

    def _paragraphs(self) -> Iterator[tuple[int, int]]:
        """Yield where each paragraph begins and ends."""
        start = shift = before = 0
        for found in _END.finditer(self._text):
            # Letters outside of the first plane are two units.
            if self._units:
                shift += sum(char > "\uffff" for char in self._text[before : found.start()])
                before = found.start()
            end = found.start() + shift
            yield start, end
            start = end + 1
        yield start, self._end

    def _words(self, start: int, end: int, note: Callable[[int], str]) -> Iterator[str]:
        """Yield the pieces of a paragraph as Markdown."""
        for first, last in self._pieces(start, end):
            over = self._objects.kind(self._fields.at(first))
            if self._deleted.at(first) or over == _DIRECTORY:
                continue
            if first in self._notes:
                reference = self._objects.message(self._notes[first])
                yield note(reference.reference(2))
                continue
            words = inline(_BREAK.sub("\n", _SIGNS.sub("", self._slice(first, last))))
            target = ""
            if over == _LINK:
                target = self._objects.message(self._fields.at(first)).text(2)
            if ADDRESS.fullmatch(target) and words.strip() and words not in target:
                yield f"[{words}]({target})"
            else:
                yield words

    def _pieces(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        """Yield the parts of a paragraph in which nothing changes."""
        inner = self._places[
            bisect_right(self._places, start) : bisect_right(self._places, end - 1)
        ]
        edges = [start, *inner, end]
        return ((first, last) for first, last in pairwise(edges) if first < last)

    def _is_sample(self, start: int, end: int) -> bool:
        """Return whether a paragraph is what a template has where a person is to write."""
        pieces = [(*piece,) for piece in self._pieces(start, end)]
        return bool(pieces) and all(
            self._objects.kind(self._fields.at(first)) == _PLACEHOLDER for first, _ in pieces
        )

    def _slice(self, start: int, end: int) -> str:
        if not self._units:
            return self._text[start:end]
        return self._units[2 * start : 2 * end].decode("utf-16-le", "replace")


def _utf16(text: str) -> bytes:
    return text.encode("utf-16-le", "replace")
