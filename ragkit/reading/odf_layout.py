"""OpenDocument texts with boxes and cells in the form in which the converter keeps their words."""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.etree import ElementTree

from ragkit.reading.odf import DRAW, SHAPES, TABLE, TEXT, lines_of

if TYPE_CHECKING:
    from collections.abc import Iterable
    from xml.etree.ElementTree import Element

_PARAGRAPHS = (f"{TEXT}p", f"{TEXT}h")


def with_plain_layout(content: bytes) -> bytes:
    """Return the content of a text with one paragraph in each cell, and boxes after their own.

    Each paragraph of a box follows the paragraph that holds the box, or takes the place of a
    box that none holds. The converter leaves such boxes out, as well as lists and tables in cells
    and words with a reading, and joins the paragraphs of a cell without a space. XML that is not
    sound is returned as it is.
    """
    try:
        root = ElementTree.fromstring(content)  # noqa: S314 - entities were refused
    except ElementTree.ParseError:
        return content
    for cell in list(root.iter(f"{TABLE}table-cell")):
        if len(cell) > 1 or (len(cell) and cell[0].tag != f"{TEXT}p"):
            lines = " ".join(lines_of(cell))
            cell[:] = _paragraphs([lines])
    for word in [ruby for ruby in root.iter(f"{TEXT}ruby") if len(ruby) == 2]:
        word_itself, reading = ("".join(part.itertext()) for part in word)
        word.tag, word.text = f"{TEXT}span", f"{word_itself}({reading})"
        word[:] = []
    _move_boxes(root)
    written: bytes = ElementTree.tostring(root, "utf-8", xml_declaration=True)
    return written


def _move_boxes(root: Element) -> None:
    parents = {child: parent for parent in root.iter() for child in parent}
    last: dict[Element, Element] = {}
    for box in list(root.iter()):
        if box.tag not in (*SHAPES, f"{DRAW}g") or _is_within_box(box, parents):
            continue
        lines = [*lines_of(box)]
        if not lines:
            continue
        block = box
        while block.tag not in _PARAGRAPHS and block in parents:
            block = parents[block]
        block = block if block.tag in _PARAGRAPHS else box
        parent = parents[block]
        place = list(parent).index(last.get(block, block)) + 1
        inserted = _paragraphs(lines)
        parent[place:place] = inserted
        last[block] = inserted[-1]
        _take_out(box, parents[box])


def _is_within_box(element: Element, parents: dict[Element, Element]) -> bool:
    while (element := parents.get(element, element)) in parents:
        if element.tag in (*SHAPES, f"{DRAW}g"):
            return True
    return False


def _take_out(element: Element, parent: Element) -> None:
    """Remove an element, but not the text that follows it."""
    place = list(parent).index(element)
    after = element.tail or ""
    if place:
        parent[place - 1].tail = (parent[place - 1].tail or "") + after
    else:
        parent.text = (parent.text or "") + after
    parent.remove(element)


def _paragraphs(lines: Iterable[str]) -> list[Element]:
    made = []
    for line in lines:
        paragraph = ElementTree.Element(f"{TEXT}p")
        paragraph.text = line
        made.append(paragraph)
    return made
