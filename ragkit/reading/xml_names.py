"""Namespaces of XML in documents, as the parser writes them before names."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
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
