"""List marks that a Word document takes from its styles, made plain for the converter.

The converter sees only numbering that a paragraph has itself; "List Bullet" and its like, which
have it through their style, would come out as bare paragraphs.
"""

from __future__ import annotations

import io
import re
import zipfile
from xml.etree import ElementTree

_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_PARAGRAPH_STYLE = re.compile(
    rb"(<w:pPr(?:\s[^>]*)?>\s*<w:pStyle\s[^>]{0,80}?w:val=\"([^\"]{1,200})\"[^>]{0,80}/>)((?:(?!</w:pPr>|<w:numPr).){0,3000})(</w:pPr>|<w:numPr)",
    re.S,
)


def mark_lists(archive: zipfile.ZipFile, data: bytes) -> bytes:
    """The document with the numbering of its styles written into its paragraphs."""
    numbering = _numbering_of_styles(archive)
    if not numbering:
        return data
    document = archive.read("word/document.xml")

    def write(found: re.Match[bytes]) -> bytes:
        number = numbering.get(found[2].decode("utf-8", "replace"))
        if not number or found[4] != b"</w:pPr>":
            return found[0]
        return found[1] + number + found[3] + found[4]

    changed = _PARAGRAPH_STYLE.sub(write, document)
    if changed == document:
        return data
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as copy:
        for member in archive.infolist():
            if not member.filename.lower().startswith("word/media/"):
                is_document = member.filename == "word/document.xml"
                copy.writestr(member.filename, changed if is_document else archive.read(member))
    return buffer.getvalue()


def _numbering_of_styles(archive: zipfile.ZipFile) -> dict[str, bytes]:
    """For each list style, the numbering to write into its paragraphs."""
    try:
        styles = ElementTree.fromstring(archive.read("word/styles.xml"))  # noqa: S314
    except (KeyError, ElementTree.ParseError, ValueError, LookupError):
        return {}
    found: dict[str, bytes] = {}
    for style in styles.iter(f"{_W}style"):
        properties = style.find(f"{_W}pPr")
        number = properties.find(f"{_W}numPr/{_W}numId") if properties is not None else None
        value = number.get(f"{_W}val", "") if number is not None else ""
        heading = properties is not None and properties.find(f"{_W}outlineLvl") is not None
        if not value.isdigit() or value == "0" or heading:
            continue
        level = style.find(f"{_W}pPr/{_W}numPr/{_W}ilvl")
        depth = level.get(f"{_W}val", "0") if level is not None else "0"
        found[style.get(f"{_W}styleId", "")] = (
            f'<w:numPr><w:ilvl w:val="{depth if depth.isdigit() else 0}"/>'
            f'<w:numId w:val="{value}"/></w:numPr>'
        ).encode()
    return found
