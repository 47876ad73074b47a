"""What the builder of rendered HTML may draw: known tags and attributes, and safe addresses."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

_COMMON = frozenset({"class_", "id", "dir", "title"})
_PLAIN = (
    "p h2 h3 h4 h5 h6 ul blockquote pre code em strong s b sup sub dl dt dd "
    "table thead tbody tr td br hr"
)
_TAGS: Mapping[str, frozenset[str]] = {
    **dict.fromkeys(_PLAIN.split(), _COMMON),
    "a": _COMMON | {"href", "rel", "target", "data_rk", "data_id", "data_place"},
    "img": _COMMON | {"src", "alt"},
    "ol": _COMMON | {"start"},
    "li": _COMMON | {"value"},
    "th": _COMMON | {"scope"},
    "span": _COMMON | {"data_line", "aria_hidden"},
    "div": _COMMON | {"tabindex", "role", "aria_label"},
}
OUTWARD: Mapping[str, Any] = {"rel": "noopener noreferrer", "target": "_blank"}
"""What a link out of the library has."""

_DOCUMENT = re.compile(r"document\?id=\d{1,19}(?:&at=\d{1,19})?")
_LINK = re.compile(r"(?:https?://|mailto:)[^\s\x00-\x20\x7f-\x9f]+", re.IGNORECASE)
_IMAGE = re.compile(r"data:image/(?:png|jpeg|gif|webp);base64,[A-Za-z0-9+/]+={0,2}")


def safe_link(url: str) -> str | None:
    """Return an address that may become a link: one of http, https or mailto."""
    return url if len(url) <= 2000 and _LINK.fullmatch(url) else None


def check(tag: str, values: Mapping[str, object]) -> None:
    """Raise ValueError for what is not on the list."""
    allowed = _TAGS[tag]
    for key, value in values.items():
        if key not in allowed:
            raise ValueError(f"{tag} takes no {key}")
        if key == "href" and not (safe_link(str(value)) or _DOCUMENT.fullmatch(str(value))):
            raise ValueError("not an address for a link")
        if key == "src" and not _IMAGE.fullmatch(str(value)):
            raise ValueError("not a picture")
