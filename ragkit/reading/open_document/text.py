"""OpenDocument texts as Markdown: headings, lists, tables, boxes, notes and comments."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ragkit.reading.blocks import (
    Block,
    inline,
    inline_of_xml,
    note,
    paragraph,
    tabled,
    title_of,
    written,
)
from ragkit.reading.formats import Format
from ragkit.reading.limits import damaged
from ragkit.reading.margins import sections_beside
from ragkit.reading.open_document.numbering import Numbering
from ragkit.reading.open_document.objects import cells_of, embedded, formula
from ragkit.reading.open_document.parts import (
    CONTENT,
    DRAW,
    HREF,
    OFFICE,
    SHAPES,
    STYLE,
    TABLE,
    TEXT,
    URN,
    comments_of,
    lines_of,
    opened,
    properties,
    words_of,
)
from ragkit.reading.titles import choose
from ragkit.reading.zip_container import part_of
from ragkit.types import Markup, Reading

if TYPE_CHECKING:
    import zipfile
    from collections.abc import Iterable, Iterator
    from xml.etree.ElementTree import Element

    from ragkit.reading.limits import Limits

_UNSEEN = (
    f"{TEXT}tracked-changes", f"{OFFICE}forms", f"{OFFICE}annotation", f"{TEXT}note-citation",
    *(f"{TEXT}{kind}" for kind in ("table-of-content", "alphabetical-index", "illustration-index",
                                   "table-index", "object-index", "user-index", "ruby-text")),
)  # fmt: skip
"""What no reader reads on: changes, forms, comments, and directories of what follows."""

_ABOUT_PICTURES = tuple(f"{URN}svg-compatible:1.0}}{kind}" for kind in ("title", "desc"))
_SPACES = {f"{TEXT}s": " ", f"{TEXT}tab": " ", f"{TEXT}line-break": "\n"}
_GROUPS_OF_ROWS = tuple(f"{TABLE}table-{kind}" for kind in ("rows", "header-rows", "row-group"))
_LINK = re.compile(r"(?:https?://|mailto:)[^\s<>()]{1,1000}")
_SHOWN = (*SHAPES, f"{DRAW}g")
_TITLE = "Title"


def read_text(data: bytes, name: str, limits: Limits) -> Reading:
    """Read an ODT file as Markdown, with its notes, headers, footers and comments at the end.

    Raises:
        ReadingError: damaged, locked, or a decompression bomb.
    """
    archive = opened(data, limits, Format.ODT)
    root = part_of(archive, CONTENT)
    if root is None:
        raise damaged(Format.ODT.label)
    blocks = _Body(archive, root).blocks()
    body = written(blocks)
    metadata, title = properties(archive)
    comments = [*comments_of(root.iter(f"{OFFICE}annotation"))]
    whole = body + sections_beside(body, _margins(archive), comments)
    return Reading(
        text=whole.lstrip(),
        title=choose([title_of(blocks), title], name),
        format=Format.ODT,
        markup=Markup.MARKDOWN,
        metadata=metadata,
    )


def _margins(archive: zipfile.ZipFile) -> Iterator[str]:
    """Yield the lines of headers and footers."""
    styles = part_of(archive, "styles.xml")
    for kind in ("header", "footer"):
        for element in () if styles is None else styles.iter(f"{STYLE}{kind}"):
            yield from lines_of(element)


class _Body:
    """Writes the body of a text; what a paragraph holds beside its words follows it."""

    def __init__(self, archive: zipfile.ZipFile, root: Element) -> None:
        self._archive = archive
        self._root = root
        self._notes: list[str] = []
        self._numbering = Numbering(root, part_of(archive, "styles.xml"))
        titles = (
            style.get(f"{STYLE}name", "")
            for style in root.iter(f"{STYLE}style")
            if style.get(f"{STYLE}parent-style-name") == _TITLE
        )
        self._titles = {_TITLE, *titles}

    def blocks(self) -> list[Block]:
        """Return the blocks of the body, then the notes."""
        bodies = self._root.iter(f"{OFFICE}text")
        blocks = [block for body in bodies for block in self._blocks(body)]
        return [*blocks, *(note(at, inline(text)) for at, text in enumerate(self._notes, 1))]

    def _blocks(
        self, elements: Iterable[Element], depth: int = 0, number: str = ""
    ) -> Iterator[Block]:
        """Yield the blocks of elements; paragraphs are items if ``depth`` lists are around them."""
        for child in elements:
            if child.tag in (f"{TEXT}p", f"{TEXT}h"):
                yield from self._paragraph(child, depth, number)
            elif child.tag == f"{TEXT}list":
                style = child.get(f"{TEXT}style-name", "")
                goes_on = child.get(f"{TEXT}continue-numbering") == "true"
                self._numbering.begin(
                    style, goes_on=goes_on or f"{TEXT}continue-list" in child.attrib
                )
                yield from self._items(child, 1, style)
            elif child.tag == f"{TABLE}table":
                yield from tabled([*self._rows(child)])
            elif child.tag in SHAPES:
                yield from self._shape(child)
            elif child.tag in _ABOUT_PICTURES:
                yield paragraph(inline_of_xml(child.text))
            elif child.tag not in _UNSEEN:
                yield from self._blocks(child, depth, number)

    def _items(self, listed: Element, depth: int, style: str) -> Iterator[Block]:
        """Yield the blocks of a list, of which the first of each item has its number or a mark."""
        for item in listed:
            counts = item.tag == f"{TEXT}list-item"
            number = (
                self._numbering.item(style, depth, _start(item)) if counts and _says(item) else ""
            )
            marked = depth
            for child in item:
                if child.tag == f"{TEXT}list":
                    inner = child.get(f"{TEXT}style-name") or style
                    yield from self._items(child, depth + 1, inner)
                    continue
                for block in self._blocks((child,), marked, number):
                    yield block
                    marked, number = (0, "") if block.text else (marked, number)

    def _rows(self, grid: Element) -> Iterator[list[list[Block]]]:
        """Yield the rows of a table, but not those of tables in its cells."""
        for child in grid:
            if child.tag == f"{TABLE}table-row":
                yield [[*self._blocks(cell)] for cell in cells_of(child)]
            elif child.tag in _GROUPS_OF_ROWS:
                yield from self._rows(child)

    def _paragraph(self, element: Element, depth: int, number: str) -> Iterator[Block]:
        beside: list[Element] = []
        text = "".join(self._words(element, beside))
        level = 0
        if element.tag == f"{TEXT}h":
            outline = element.get(f"{TEXT}outline-level", "")
            level = int(outline) if outline.isdecimal() and int(outline) else 1
            if element.get(f"{TEXT}is-list-header") != "true":
                number = number or self._numbering.heading(level, _start(element))
        elif element.get(f"{TEXT}style-name") in self._titles:
            level = 1
        yield paragraph(text, level=level, depth=depth, number=number)
        for shape in beside:
            yield from self._shape(shape)

    def _shape(self, shape: Element) -> Iterator[Block]:
        """Yield what a shape says: a chart, a sheet, or paragraphs."""
        if shown := embedded(self._archive, shape):
            yield Block(shown)
        else:
            yield from self._blocks(shape)

    def _words(self, element: Element, beside: list[Element]) -> Iterator[str]:
        """Yield the pieces of a paragraph as Markdown; shapes are put ``beside`` it."""
        yield inline_of_xml(element.text)
        for child in element:
            if child.tag in _SHOWN:
                if source := formula(self._archive, child):
                    yield f"`{source}`"
                else:
                    beside.append(child)
            elif child.tag == f"{TEXT}note":
                self._notes.append(" ".join(line for body in child for line in lines_of(body)))
                yield f"[^{len(self._notes)}]"
            elif child.tag in _SPACES:
                yield _SPACES[child.tag]
            elif child.tag not in _UNSEEN:
                yield self._inside(child, beside)
            yield inline_of_xml(child.tail)

    def _inside(self, element: Element, beside: list[Element]) -> str:
        """Return the words of a part of a paragraph: of a link to the web with its target."""
        words = "".join(self._words(element, beside))
        target = element.get(HREF, "")
        if element.tag == f"{TEXT}ruby" and len(element) == 2:
            return f"{words}({words_of(element[1])})"
        if _LINK.fullmatch(target) and words.strip() and words not in target:
            return f"[{words}]({target})"
        return words


def _start(item: Element) -> int | None:
    """Return the number with which an item starts anew, if it does."""
    value = item.get(f"{TEXT}start-value", "")
    return int(value) if value.isdecimal() and len(value) < 9 else None


def _says(item: Element) -> bool:
    """Return whether an item has paragraphs of its own, and not only lists."""
    return any(child.tag != f"{TEXT}list" for child in item)
