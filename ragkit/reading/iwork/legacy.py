"""Documents of iWork '05 to '09: one XML file in a zip, or in a folder that was packed."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING

from ragkit.errors import ReadingError

if TYPE_CHECKING:
    import zipfile
    from collections.abc import Iterable

INDEXES = ("index.xml", "index.xml.gz", "index.apxl", "index.apxl.gz", "presentation.apxl",
           "presentation.apxl.gz")  # fmt: skip


def index_of(names: Iterable[str]) -> str:
    """Return the member that holds the document, or an empty string."""
    return next((name for name in names if posixpath.basename(name) in INDEXES), "")


def too_old(label: str) -> ReadingError:
    """Return the error for a document of a program before 2013."""
    return ReadingError(
        f"This {label} was written before 2013.", "Save it again with a newer program."
    )


def is_legacy(archive: zipfile.ZipFile) -> bool:
    """Return whether a document is one XML file."""
    return bool(index_of(archive.namelist()))
