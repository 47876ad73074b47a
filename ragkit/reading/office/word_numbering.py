"""Numbers of headings and lists of Word documents, written before their paragraphs.

The converter counts all items of a list alike, whatever their level, and numbers no headings.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape

from ragkit.reading.numerals import DEEPEST, Level, NumberedList
from ragkit.reading.reading_parts import whole_number
from ragkit.reading.xml_names import W
from ragkit.reading.zip_container import part_of

if TYPE_CHECKING:
    import zipfile
    from collections.abc import Iterator, Mapping
    from xml.etree.ElementTree import Element

_PARAGRAPH = re.compile(
    rb"(<w:p(?:\s[^<>]*[^<>/])?>\s*)(<w:pPr(?:\s[^<>]*)?>(?:(?!</w:pPr>|</?w:p[ >]).)*</w:pPr>)"
    rb"((?:(?!</?w:p[ >]).)*?</w:pPrChange>\s*</w:pPr>)?",
    re.S,
)
_STYLE = re.compile(rb"<w:pStyle\s[^<>]*?w:val=\"([^\"]{1,200})\"[^<>]*/>")
_BULLET = b'<w:numPr><w:ilvl w:val="%d"/><w:numId w:val="%b"/></w:numPr>'
_NUMBERING = re.compile(rb"<w:numPr(?:\s[^<>]*)?>(?:(?!<w:numPr[\s>]).)*?</w:numPr>", re.S)
_LEVEL = re.compile(rb"<w:ilvl\s[^<>]*?w:val=\"(\d{1,2})\"")
_LIST = re.compile(rb"<w:numId\s[^<>]*?w:val=\"(\d{1,9})\"")
_MARK, _END = "\ufdd8", "\ufdd9"
"""Characters that no text has, around the level and the number of a paragraph."""

_SIGNS = re.compile(rf"{_MARK}\d|{_END}")
_NUMBER = re.compile(rf"{_MARK}[^{_END}\n]{{0,100}}{_END} ?")
_ITEM = re.compile(rf"{_MARK}(\d)(?:(\d{{1,9}})\\?([.)]){_END} )?")
_LONGEST_STYLES = 20


class Numbering:
    """The lists of a document, which count the paragraphs in their order."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        numbering = part_of(archive, "word/numbering.xml")
        self._lists, by_style = _lists(numbering) if numbering is not None else ({}, {})
        styles = part_of(archive, "word/styles.xml")
        elements = () if styles is None else styles.iter(f"{W}style")
        named = {style.get(f"{W}styleId", ""): style for style in elements}
        self._styles = _styles(named, by_style)
        self._headings = {
            name for name, style in named.items() if style.find(f"{W}pPr/{W}outlineLvl") is not None
        }

    def numbered(self, document: bytes) -> bytes:
        """Return the XML of a text in which numbers are words of their paragraphs.

        Paragraphs with a bullet that their style has get one of their own.
        """
        return _PARAGRAPH.sub(self._paragraph, document) if self._lists else document

    def _paragraph(self, paragraph: re.Match[bytes]) -> bytes:
        properties = paragraph[2].partition(b"<w:pPrChange")[0]
        named = _STYLE.search(properties)
        style = named[1].decode("utf-8", "replace") if named else ""
        identity, level = self._styles.get(style, ("", 0))
        if own := _NUMBERING.search(properties):
            found, depth = _LIST.search(own[0]), _LEVEL.search(own[0])
            identity = found[1].decode() if found else identity
            level = min(int(depth[1]), DEEPEST - 1) if depth else level
        counted = self._lists.get(identity)
        label = counted.next(level) if counted else ""
        begin, bare, rest = paragraph[1], _NUMBERING.sub(b"", paragraph[2], count=1), paragraph[3]
        if label:
            marked = escape(f"{_MARK}{level}{label}{_END} ")
            run = f'<w:r><w:t xml:space="preserve">{marked}</w:t></w:r>'
            return begin + bare + (rest or b"") + run.encode()
        if label is None and not own and named and style not in self._headings:
            bullet = _BULLET % (level, identity.encode())
            return begin + bare.replace(named[0], named[0] + bullet, 1) + (rest or b"")
        return paragraph[0]


def with_items(markdown: str) -> str:
    """Return converted text in which numbered paragraphs, unless they are headings, are items."""
    pieces: list[str] = []
    was_item = False
    for block in markdown.split("\n\n"):
        item = _ITEM.match(block)
        indent = "  " * int(item[1]) if item else ""
        if item and item[2]:
            block = f"{indent}{item[2]}{item[3]} {block[item.end() :]}"
        elif item:
            block = f"{indent}- {block[item.end() :]}"
        pieces += ["\n" if was_item and item else "\n\n", block]
        was_item = item is not None
    return _SIGNS.sub("", "".join(pieces[1:]))


def without_numbers(markdown: str) -> str:
    """Return converted text without the numbers of its paragraphs."""
    return _NUMBER.sub("", markdown)


def _lists(numbering: Element) -> tuple[dict[str, NumberedList], dict[str, tuple[str, int]]]:
    """Return the lists by their numbers, and the list and level that styles are linked to."""
    abstract: dict[str, Element] = {}
    linked: dict[str, Element] = {}
    for element in numbering.iter(f"{W}abstractNum"):
        abstract[element.get(f"{W}abstractNumId", "")] = element
        if style := _value(element, "styleLink"):
            linked[style] = element
    counters: dict[str, dict[int, int]] = {}
    lists: dict[str, NumberedList] = {}
    by_style: dict[str, tuple[str, int]] = {}
    for element in numbering.iter(f"{W}num"):
        identity, kind = element.get(f"{W}numId", ""), _value(element, "abstractNumId")
        source = abstract.get(kind)
        if source is not None:
            source = linked.get(_value(source, "numStyleLink"), source)
        levels = dict(_levels(source)) if source is not None else {}
        counted = NumberedList(levels, counters.setdefault(kind, {}))
        for override in element.iter(f"{W}lvlOverride"):
            level = whole_number(override.get(f"{W}ilvl", ""))
            if start := _value(override, "startOverride"):
                counted.restarts[level] = whole_number(start)
            levels.update(_levels(override))
        lists[identity] = counted
        for one in source.iter(f"{W}lvl") if source is not None else ():
            if style := _value(one, "pStyle"):
                by_style.setdefault(style, (identity, whole_number(one.get(f"{W}ilvl", ""))))
    return lists, by_style


def _levels(parent: Element) -> Iterator[tuple[int, Level]]:
    for level in parent.iterfind(f"{W}lvl"):
        start = _value(level, "start")
        yield (
            whole_number(level.get(f"{W}ilvl", "")),
            Level(
                whole_number(start) if start else 0,
                _value(level, "numFmt") or "decimal",
                _value(level, "lvlText"),
                level.find(f"{W}isLgl") is not None,
            ),
        )


def _styles(
    elements: Mapping[str, Element], by_style: Mapping[str, tuple[str, int]]
) -> dict[str, tuple[str, int]]:
    """Return the list and the level of each style that has one, from itself or from its bases."""
    found: dict[str, tuple[str, int]] = {}
    for name in elements:
        base, level = name, -1
        for _ in range(_LONGEST_STYLES):
            element = elements.get(base)
            if element is None:
                break
            own = element.find(f"{W}pPr/{W}numPr")
            if own is not None:
                given = _value(own, "ilvl")
                level = whole_number(given) if level < 0 and given else level
                if identity := _value(own, "numId"):
                    at = by_style.get(base, ("", 0))[1] if level < 0 else level
                    found[name] = (identity, at)
                    break
            base = _value(element, "basedOn")
    return found


def _value(parent: Element, tag: str) -> str:
    element = parent.find(f"{W}{tag}")
    return "" if element is None else element.get(f"{W}val", "")
