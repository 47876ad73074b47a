"""What styles of paragraphs and lists mean: headings, bullets and numbers."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ragkit.reading.numerals import written

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ragkit.reading.iwork.archive import Objects
    from ragkit.reading.iwork.protobuf import Message

_MOST_PARENTS = 20
_DEEPEST_OUTLINE = 9
_IDENTIFIER = re.compile(r".*paragraphstyle-", re.I)
_LARGE = re.compile(
    r"(?:title|titel|titre|título|titolo|otsikko|název|tytuł|標題|标题|タイトル|제목)"
    r"(?: (?:alt|small|large|\d))?|cover title",
    re.I,
)
_SMALLER = re.compile(
    r"(?:sub[- ]?title|untertitel|sous-titre|subtítulo|sottotitolo|ondertitel|podtitul|podtytuł"
    r"|副標題|副标题|サブタイトル|부제)(?: (?:alt|\d))?",
    re.I,
)
_HEADING = re.compile(
    r"(?:(?:sub)?heading|überschrift|en-tête|intertitre|encabezado|cabecera|intestazione|kop|koptekst"
    r"|nadpis|nagłówek|rubrik|overskrift|cabeçalho|заголовок|見出し|머리말)(?: (\d)|(?: \w+){0,2})",
    re.I,
)
BULLET, NUMBER = 2, 3
_PICTURE = 1
_KINDS = ("decimal", "upperRoman", "lowerRoman", "upperLetter", "lowerLetter")
_FORMS = ("{}.", "({})", "{})")


def level_of_name(name: str) -> int:
    """Return the level of the headings that a style is for by its name, 0 for other text."""
    name = _IDENTIFIER.sub("", name).strip()
    if found := _HEADING.fullmatch(name):
        return int(found[1] or 0) or 1
    return 1 if _LARGE.fullmatch(name) else 2 if _SMALLER.fullmatch(name) else 0


class Styles:
    """The styles of a document by the identifiers of their objects."""

    def __init__(self, objects: Objects) -> None:
        self._objects = objects
        self._levels: dict[int, int] = {}
        self._lists: dict[int, ListStyle] = {}

    def level(self, style: int) -> int:
        """Return the level of a heading of a style, 0 for other text."""
        if style not in self._levels:
            self._levels[style] = self._level(style)
        return self._levels[style]

    def list_style(self, style: int) -> ListStyle:
        """Return a style of lists; one that is missing has no marks."""
        if style not in self._lists:
            chain = [*self._chain(style)]
            labels, kinds, tiered = (
                next(filter(None, (each.numbers(field) for each in chain)), [])
                for field in (11, 15, 25)
            )
            self._lists[style] = ListStyle(labels, kinds, tiered)
        return self._lists[style]

    def _level(self, style: int) -> int:
        for message in self._chain(style):
            outline = message.message(12)
            if 27 in outline and outline.number(27) < _DEEPEST_OUTLINE:
                return outline.number(27) + 1
            about = message.message(1)
            if found := level_of_name(about.text(2)) or level_of_name(about.text(1)):
                return found
        return 0

    def _chain(self, style: int) -> Iterator[Message]:
        """Yield a style and those from which it takes what it does not say itself."""
        for _ in range(_MOST_PARENTS):
            message = self._objects.message(style)
            yield message
            style = message.message(1).reference(3)
            if not style:
                return


class ListStyle:
    """The marks of a list by the levels of its items, from 0."""

    def __init__(self, labels: Sequence[int], kinds: Sequence[int], tiered: Sequence[int]) -> None:
        self._labels, self._kinds, self._tiered = labels, kinds, tiered

    def is_list(self, level: int) -> bool:
        """Return whether paragraphs have a mark before them."""
        return self._at(self._labels, level) in (_PICTURE, BULLET, NUMBER)

    def number(self, level: int, counted: Sequence[int]) -> str:
        """Return what is printed before an item, or nothing for a bullet.

        ``counted`` has the numbers of the items around it, and its own.
        """
        if self._at(self._labels, level) != NUMBER:
            return ""
        first = 0 if self._at(self._tiered, level) else level
        numbers = (
            written(counted[at], self._kind(at))
            for at in range(first, min(level + 1, len(counted)))
        )
        return _FORMS[self._at(self._kinds, level) % 3].format(".".join(numbers))

    def _kind(self, level: int) -> str:
        kind = self._at(self._kinds, level) // 3
        return _KINDS[kind] if kind < len(_KINDS) else _KINDS[0]

    @staticmethod
    def _at(values: Sequence[int], level: int) -> int:
        return values[level] if level < len(values) else 0
