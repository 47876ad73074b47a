"""The description of the package for an index: README.md without what only leads somewhere here."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

_PICTURE = re.compile(r"<picture>.*?</picture>\n*", re.DOTALL)
_LINK = re.compile(r"\[([^]]+)\]\((?!https?://)[^)]+\)")


class DescriptionHook(MetadataHookInterface):
    """Describes the package: an index has none of the files that README.md shows and links."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Set the description."""
        text = Path(self.root, "README.md").read_text("utf-8")
        text = _LINK.sub(r"\1", _PICTURE.sub("", text))
        metadata["readme"] = {"content-type": "text/markdown", "text": text}
