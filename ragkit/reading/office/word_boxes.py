"""Text boxes, charts and diagrams of Word documents, put where the converter reads them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape

from ragkit.reading.office.drawings import chart_of, lines_of
from ragkit.reading.zip_container import part_of, relations

if TYPE_CHECKING:
    import zipfile
    from collections.abc import Sequence
    from xml.etree.ElementTree import Element

_TAG = re.compile(
    rb"<w:txbxContent(?:\s[^<>]*)?>|</w:txbxContent>|<mc:Fallback(?:\s[^<>]*)?>|</mc:Fallback>|</w:p>"
)
_REFERENCE = re.compile(
    rb"<(?:c:chart|dgm:relIds)\b(?:[^<>]*?\s)?r:(?:id|dm)=\"([^\"<>]{1,100})\"[^<>]*/>"
)
_BOX = b"<w:txbxContent>%b</w:txbxContent>"


@dataclass(slots=True)
class _Part:
    """What was read of the text, of a box, or of the copy of a box for older programs."""

    opened: bytes = b""
    kept: bytearray = field(default_factory=bytearray)
    boxes: list[bytes] = field(default_factory=list)


def with_boxes_apart(part: bytes) -> bytes:
    """Return XML in which the paragraphs of text boxes follow the paragraph that holds the box.

    Each box is there once: Word writes a copy for older programs. XML that is not sound is
    returned as it is.
    """
    if b"<w:txbxContent" not in part:
        return part
    parts, last = [_Part()], 0
    for tag in _TAG.finditer(part):
        inner = parts[-1]
        name = tag[0].split(b">")[0].split()[0]
        if name.startswith(b"</") and name != b"</w:p" and inner.opened != b"<" + name[2:]:
            return part
        inner.kept += part[last : tag.end()] if name == b"</w:p" else part[last : tag.start()]
        last = tag.end()
        if name == b"</w:p":
            inner.kept += b"".join(inner.boxes)
            inner.boxes.clear()
        elif not name.startswith(b"</"):
            parts.append(_Part(opened=name))
        else:
            parts.pop()
            whole = bytes(inner.kept) + b"".join(inner.boxes)
            if name == b"</w:txbxContent":
                parts[-1].boxes.append(whole)
            elif not inner.boxes:
                parts[-1].kept += whole
    if len(parts) > 1 or parts[0].boxes:
        return part
    return bytes(parts[0].kept) + part[last:]


def with_drawings_as_boxes(document: bytes, archive: zipfile.ZipFile) -> bytes:
    """Return the XML of a document in which charts and diagrams have text boxes beside them."""
    if not _REFERENCE.search(document):
        return document
    linked = relations(archive, "word/document.xml")

    def with_box(reference: re.Match[bytes]) -> bytes:
        target, kind = linked.get(reference[1].decode("utf-8", "replace"), ("", ""))
        root = part_of(archive, target)
        if root is None:
            return reference[0]
        inside = (
            _chart(root)
            if kind == "chart"
            else b"".join(_paragraph(line.text) for line in lines_of(root))
        )
        return reference[0] + _BOX % inside

    return _REFERENCE.sub(with_box, document)


def _chart(root: Element) -> bytes:
    chart = chart_of(root)
    title = _paragraph(chart.title) if chart.title else b""
    # Without a paragraph after it, the converter would take the next table for a part of this one.
    return title + _table(chart.rows) + b"<w:p/>" if chart.rows else title


def _table(rows: Sequence[Sequence[str]]) -> bytes:
    width = max(map(len, rows))
    whole = ([*row, *[""] * (width - len(row))] for row in rows)
    cells = (b"".join(b"<w:tc>%b</w:tc>" % _paragraph(cell) for cell in row) for row in whole)
    return b"<w:tbl>%b</w:tbl>" % b"".join(b"<w:tr>%b</w:tr>" % row for row in cells)


def _paragraph(text: str) -> bytes:
    return b'<w:p><w:r><w:t xml:space="preserve">%b</w:t></w:r></w:p>' % escape(text).encode()
