"""Names in XML: namespaces as the parser writes them, and elements found by names without them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from xml.etree.ElementTree import Element

_OFFICE = "http://schemas.openxmlformats.org"
W = f"{{{_OFFICE}/wordprocessingml/2006/main}}"
S = f"{{{_OFFICE}/spreadsheetml/2006/main}}"
P = f"{{{_OFFICE}/presentationml/2006/main}}"
A = f"{{{_OFFICE}/drawingml/2006/main}}"
C = f"{{{_OFFICE}/drawingml/2006/chart}}"
CX = "{http://schemas.microsoft.com/office/drawing/2014/chartex}"
R = f"{{{_OFFICE}/officeDocument/2006/relationships}}"
MC = f"{{{_OFFICE}/markup-compatibility/2006}}"
DC = "{http://purl.org/dc/elements/1.1/}"


def local_name(element: Element) -> str:
    """Return the name of an element without its namespace; empty for a comment."""
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""


def child(element: Element | None, *path: str) -> Element | None:
    """Return the first element at a path of local names."""
    for name in path:
        if element is None:
            return None
        element = next(children(element, name), None)
    return element


def children(element: Element | None, *names: str) -> Iterator[Element]:
    """Yield the children of an element that have one of these local names."""
    for each in () if element is None else element:
        if local_name(each) in names:
            yield each


def below(element: Element | None, *names: str) -> Iterator[Element]:
    """Yield all elements in another that have one of these local names."""
    for each in () if element is None else element.iter():
        if local_name(each) in names:
            yield each
