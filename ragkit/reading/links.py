"""Links in the fields of Word documents and rich text files."""

from __future__ import annotations

import re

_LINK = re.compile(r'\s*HYPERLINK\s+"((?:https?://|mailto:)[^"\s<>()]{1,1000})"')


def target_of_field(code: str) -> str:
    """Return where the link goes that a field's code makes, or ``""`` if it makes none."""
    link = _LINK.match(code)
    return link[1] if link else ""
