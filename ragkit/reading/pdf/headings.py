"""Infers the headings of a PDF without bookmarks from how its lines are drawn."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count, pairwise
from typing import NamedTuple

from ragkit.reading.pdf.contents import Line
from ragkit.reading.reading_parts import LEADER

_LARGER = 1.12
"""A heading that is not bold is at least this many times as large as most text."""
_SMALLEST = 0.85
"""A bold one is at least so large."""
_STEP = math.log(1.07)
"""Sizes of one style differ less."""
_ALIKE = 0.94
"""Lines of one heading are this much alike in size."""
_CLOSE = 2.0
"""And follow within this many times their size."""
_MOST_LINES, _LONGEST = 3, 150
_ACCEPTED = 0.6
"""At least this share of the letters of a style are in headings."""
_NUMBERED = 0.3
"""From this share on, only those of a style's lines that have a number are headings."""
_MOST_STOPS = 2
"""More stops in a numbered line make it a sentence."""
_FEWEST = 2
"""So many headings have each style, and a document."""
_MOST_LEVELS = 6
_TITLE_PAGES = 3
"""So many pages may be title pages, of a document that has more."""
_NUMBER = re.compile(
    r"(?:(?:[A-Z]|\d{1,3})(?:\.\d{1,3}){0,4}[.)]?|[IVX]{1,5}\.|\u00a7 ?\d{1,3}\w?)\s+"
    r"(?=\S*[^\W\d_])"
)
_EAST_ASIAN = "[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]"
_WIDE = re.compile(_EAST_ASIAN)
_WORD = re.compile(rf"[^\W\d_]{{3}}|{_EAST_ASIAN}{{2}}")
_NO_HEADING = re.compile(r"\| |[\u2022\u25aa\u25cf\u25e6\u2023\u2013\u2014*\u00a9-]")
_CAPTION = re.compile(
    r"(?:fig(?:ure|ura|uur)?|abb(?:ildung)?|tab(?:le|elle|leau|ella|ela|la|el)?|graph|chart|listing|"
    r"ex(?:ample|emple)|beispiel|ejemplo|esempio|exemplo|voorbeeld|algorithm(?:us|e)?|рис\w*|табл\w*|"
    r"[\u56fe\u5716\u56f3\u8868\u4f8b])\.? ?[A-Z]?\d",
    re.I,
)
_DOTS = re.compile(r"(?:\. ){2}\.")
_PAGE_AT_END = re.compile(r"[\s.]+\d{1,4}$")
_SENTENCE_ENDS = (",", ";", ".", "\u3002", "\uff0c", "\uff1b")

_Style = tuple[int, bool]
"""How much larger than most text, in steps, and whether it is bold."""
_TEXT: _Style = 0, False


class Heading(NamedTuple):
    """A heading: the index of its page, its level from 1, and its title."""

    page: int
    level: int
    title: str


@dataclass(frozen=True, slots=True)
class _Block:
    """Lines of one style: ``number`` counts them in the document, ``page`` is the page's index.

    ``text`` is empty in the style of most text. ``ends_in_number``: perhaps that of a page.
    """

    number: int
    page: int
    style: _Style
    text: str
    lines: int
    letters: int
    ends_in_number: bool

    @property
    def depth(self) -> int:
        """How many parts its number has: 2 of "1.4"; 1 without a number."""
        number = _NUMBER.match(self.text)
        return len(re.findall(r"\w+", number[0])) if number else 1


def inferred(
    pages: Sequence[Sequence[Line]], join: Callable[[Iterable[str]], str]
) -> list[Heading]:
    """Return the headings of a document in order; none where none are sure.

    A heading is larger than most text, or bold where most text is not; it is short, no sentence,
    and followed by text or a heading below it. Most lines drawn like it are headings, too. ``join``
    makes lines one.
    """
    blocks = _without_contents(list(_blocks(pages, join)))
    likely = [block for block in blocks if _may_be_heading(block)]
    likely = _without_title_pages(likely, blocks)
    likely = _of_heading_styles(likely, blocks)
    likely = _followed_by_text(likely)
    levels = _levels(likely)
    likely = _without_repeated(likely, levels)
    if len(likely) < _FEWEST:
        return []
    return [Heading(block.page, levels[block.number], block.text) for block in likely]


# -- blocks and their styles ---------------------------------------------------------------------


def _blocks(
    pages: Sequence[Sequence[Line]], join: Callable[[Iterable[str]], str]
) -> Iterator[_Block]:
    size, bold = _usual(pages)
    numbers = count()
    for page, lines in enumerate(pages):
        for group in _groups(lines):
            style = _style(group[0], size, bold)
            text = join(line.text for line in group) if style != _TEXT else ""
            letters = sum(len(line.text) for line in group)
            listed = len(group) <= _MOST_LINES and _PAGE_AT_END.search(group[-1].text)
            yield _Block(next(numbers), page, style, text, len(group), letters, bool(listed))


def _usual(pages: Sequence[Sequence[Line]]) -> tuple[float, bool]:
    """Return the median size of letters in points, and whether most are bold."""
    letters: Counter[tuple[float, bool]] = Counter()
    for lines in pages:
        for line in lines:
            if line.size:
                letters[line.size, line.bold] += len(line.text)
    half = letters.total() / 2
    bold = sum(many for (_, is_bold), many in letters.items() if is_bold)
    for (size, _), many in sorted(letters.items()):
        half -= many
        if half <= 0:
            return size, bold * 2 > letters.total()
    return 0.0, False


def _style(line: Line, size: float, bold: bool) -> _Style:
    """Return the style of a line; that of most text is (0, False)."""
    ratio = line.size / size if size and line.size else 1.0
    is_bold = line.bold and not bold and ratio >= _SMALLEST
    steps = max(round(math.log(ratio) / _STEP), 1) if ratio >= _LARGER else 0
    return steps, is_bold


def _groups(lines: Sequence[Line]) -> Iterator[list[Line]]:
    """Yield consecutive lines of one style, closely below each other."""
    group: list[Line] = []
    for line in lines:
        if group and not _continues(group[-1], line):
            yield group
            group = []
        group.append(line)
    if group:
        yield group


def _continues(before: Line, line: Line) -> bool:
    first, second = before.size, line.size
    if before.bold != line.bold or min(first, second) < max(first, second) * _ALIKE:
        return False
    begins = _NUMBER.match(line.text) or _PAGE_AT_END.search(before.text)
    return 0 < before.bottom - line.bottom <= second * _CLOSE and not begins


# -- which are headings --------------------------------------------------------------------------


def _may_be_heading(block: _Block) -> bool:
    return block.style != _TEXT and not _is_text(block) and not _is_other(block)


def _is_text(block: _Block) -> bool:
    """Return whether a block is long, or a sentence or a part of one."""
    text = block.text
    if block.lines > _MOST_LINES or len(text) + len(_WIDE.findall(text)) > _LONGEST:
        return True
    number = _NUMBER.match(text)
    if number is None and text[:1].islower() and not block.style[0]:
        return True
    return text.endswith(_SENTENCE_ENDS) and (number is None or text.count(".") > _MOST_STOPS)


def _is_other(block: _Block) -> bool:
    """Return whether a short block is a row, an item of a list or of contents, or a caption."""
    text = block.text
    if _NO_HEADING.match(text) or not _WORD.search(text) or LEADER in text or _DOTS.search(text):
        return True
    return not block.style[0] and _CAPTION.match(text) is not None


def _without_contents(blocks: Sequence[_Block]) -> list[_Block]:
    """Leave out the lines of contents: a title and its page."""
    texts = {block.text for block in blocks}
    listed = Counter(block.page for block in blocks if block.ends_in_number)
    all_of = Counter(block.page for block in blocks)
    kept = []
    for block in blocks:
        is_list = listed[block.page] > max(_FEWEST, all_of[block.page] // 2)
        titled = is_list or (block.text and _PAGE_AT_END.sub("", block.text) in texts)
        if not (block.ends_in_number and titled):
            kept.append(block)
    return kept


def _without_title_pages(likely: Sequence[_Block], blocks: Sequence[_Block]) -> list[_Block]:
    """Leave out what is on the first pages if they hold little else: titles and names."""
    letters: Counter[int] = Counter()
    for block in blocks:
        letters[block.page] += block.letters
    for block in likely:
        letters[block.page] -= 2 * block.letters
    first = _TITLE_PAGES if blocks and blocks[-1].page >= _TITLE_PAGES else 0
    return [block for block in likely if block.page >= first or letters[block.page] > 0]


def _of_heading_styles(likely: Sequence[_Block], blocks: Sequence[_Block]) -> list[_Block]:
    """Keep what has the style of headings: most letters drawn like it are in such lines."""
    drawn: Counter[_Style] = Counter()
    for block in blocks:
        if block.style != _TEXT and not _is_other(block):
            drawn[block.style] += block.letters
    kept: list[_Block] = []
    fewest_pages = min(_FEWEST, blocks[-1].page if blocks else 0)
    for style in {block.style for block in likely}:
        alike = [block for block in likely if block.style == style]
        if len({block.page for block in alike}) < fewest_pages:
            continue
        numbered = [block for block in alike if _NUMBER.match(block.text)]
        if len(numbered) > _FEWEST and len(numbered) >= _NUMBERED * len(alike):
            kept += numbered
        elif len(alike) >= _FEWEST and (
            sum(block.letters for block in alike) >= _ACCEPTED * drawn[style]
        ):
            kept += alike
    return sorted(kept, key=lambda block: block.number)


def _followed_by_text(likely: Sequence[_Block]) -> list[_Block]:
    """Leave out headings that another one of their level or above follows at once."""
    kept = [
        block
        for block, after in pairwise(likely)
        if after.number > block.number + 1 or _rank(after) > _rank(block)
    ]
    return [*kept, *likely[-1:]]


def _rank(block: _Block) -> tuple[int, bool, int]:
    """Return what sorts headings from the highest level to the lowest."""
    steps, bold = block.style
    return -steps, not bold, block.depth


def _levels(likely: Sequence[_Block]) -> dict[int, int]:
    """Return the levels of headings by the count of blocks before them."""
    ranks = sorted(set(map(_rank, likely)))
    level = {rank: min(at, _MOST_LEVELS) for at, rank in enumerate(ranks, 1)}
    return {block.number: level[_rank(block)] for block in likely}


def _without_repeated(likely: Sequence[_Block], levels: dict[int, int]) -> list[_Block]:
    """Leave out what says the same twice under one heading, such as "Note"."""
    above: list[_Block] = []
    seen: Counter[tuple[int, str]] = Counter()
    repeated = set()
    for block in likely:
        while above and levels[above[-1].number] >= levels[block.number]:
            above.pop()
        key = (above[-1].number if above else -1, block.text)
        seen[key] += 1
        if seen[key] > 1:
            repeated.add((levels[block.number], block.text))
        above.append(block)
    return [block for block in likely if (levels[block.number], block.text) not in repeated]
