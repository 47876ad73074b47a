"""Text boxes of Word documents, put where the converter reads them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

_TAG = re.compile(
    rb"<w:txbxContent(?:\s[^<>]*)?>|</w:txbxContent>|<mc:Fallback(?:\s[^<>]*)?>|</mc:Fallback>|</w:p>"
)


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
