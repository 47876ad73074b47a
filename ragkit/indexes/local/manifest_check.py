"""Whether the newest generation on disk is up to date, without opening it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from ragkit.indexes.local.files import MANIFEST, generations

if TYPE_CHECKING:
    from pathlib import Path


def is_current(
    folder: Path, *, fingerprint: str, tokenizer_version: str, collection_version: int
) -> bool:
    """True when the newest generation below ``folder`` is of that version and all there.

    Only its manifest is read and the sizes of its files are compared; opening checks the bytes.
    """
    try:
        newest = generations(folder)[-1]
        manifest: dict[str, Any] = json.loads((newest / MANIFEST).read_text("utf-8"))
        return (
            manifest["fingerprint"] == fingerprint
            and manifest["tokenizer_version"] == tokenizer_version
            and manifest["collection_version"] == collection_version
            and all(
                (newest / name).stat().st_size == file["size"]
                for name, file in manifest["files"].items()
            )
        )
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return False
