"""Numbers of headings and items of OpenDocument texts, as they are printed before them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ragkit.reading.numerals import written
from ragkit.reading.open_document.parts import STYLE, TEXT
from ragkit.reading.reading_parts import whole_number

if TYPE_CHECKING:
    from collections.abc import Mapping
    from xml.etree.ElementTree import Element

_KINDS = {"1": "decimal", "a": "lowerLetter", "A": "upperLetter", "i": "lowerRoman",
          "I": "upperRoman"}  # fmt: skip
_NUMBERED = (f"{TEXT}list-level-style-number", f"{TEXT}outline-level-style")
_HEADINGS = "outline"


@dataclass(frozen=True, slots=True)
class _Level:
    """A level of a list: its first number, its kind of numbers, and what is around them."""

    start: int
    kind: str
    before: str
    after: str
    shown: int


class Numbering:
    """The styles of lists, and how far each list has counted."""

    def __init__(self, *parts: Element | None) -> None:
        self._styles: dict[str, Mapping[int, _Level]] = {}
        for part in parts:
            for style in () if part is None else part.iter(f"{TEXT}list-style"):
                self._styles[style.get(f"{STYLE}name", "")] = _levels(style)
            for style in () if part is None else part.iter(f"{TEXT}outline-style"):
                self._styles[_HEADINGS] = _levels(style)
        self._counted: dict[str, dict[int, int]] = {}

    def begin(self, style: str, *, goes_on: bool) -> None:
        """Begin a list of a style anew, or let it go on with the numbers of the last one."""
        if not goes_on:
            self._counted.pop(style, None)

    def heading(self, level: int, start: int | None = None) -> str:
        """Count a heading; return its number, or nothing if headings have none."""
        return self.item(_HEADINGS, level, start)

    def item(self, style: str, level: int, start: int | None = None) -> str:
        """Count an item at a level from 1, which may start anew; return its number."""
        levels = self._styles.get(style, {})
        own = levels.get(level)
        if own is None:
            return ""
        counted = self._counted.setdefault(style, {})
        counted[level] = counted.get(level, own.start - 1) + 1 if start is None else start
        for deeper in [other for other in counted if other > level]:
            del counted[deeper]
        if not own.kind:
            return ""
        numbers = [
            written(counted.setdefault(at, levels[at].start), levels[at].kind)
            for at in range(max(1, level - own.shown + 1), level + 1)
            if at in levels and levels[at].kind
        ]
        return f"{own.before}{'.'.join(numbers)}{own.after}"


def _levels(style: Element) -> dict[int, _Level]:
    """Return the levels of a style that have numbers."""
    return {
        _whole(level, f"{TEXT}level", 1): _Level(
            _whole(level, f"{TEXT}start-value", 1),
            _KINDS.get(level.get(f"{STYLE}num-format", ""), ""),
            level.get(f"{STYLE}num-prefix", ""),
            level.get(f"{STYLE}num-suffix", ""),
            _whole(level, f"{TEXT}display-levels", 1),
        )
        for level in style
        if level.tag in _NUMBERED
    }


def _whole(element: Element, name: str, usual: int) -> int:
    return whole_number(element.get(name, ""), usual)
