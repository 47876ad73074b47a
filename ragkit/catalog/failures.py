"""Errors of SQLite as errors that tell a person what to do (on a server: ``postgres/failures``)."""

from __future__ import annotations

from pathlib import Path

from ragkit.catalog.marker import CURE
from ragkit.errors import CatalogError, LibraryError

_NO_SHARED_MEMORY = ("SQLITE_IOERR_SHMOPEN", "SQLITE_IOERR_SHMSIZE")
"""Errors of making the file "-shm", for which even a reader needs 32 KB."""


def disk_is_full(error: Exception) -> bool:
    """Return whether SQLite reports that there is no room on the disk."""
    name = getattr(error, "sqlite_errorname", "")
    return name in _NO_SHARED_MEMORY or "disk is full" in str(error).lower()


def disk_full() -> CatalogError:
    """Return the error for a write for which there is no room."""
    return CatalogError(
        "The disk is full.", "Free some space; nothing saved is lost, and searching still works."
    )


def as_library_error(error: Exception, file: Path) -> LibraryError:
    """Return the error to raise in place of one that SQLite reported about a catalog's file."""
    text = str(error).lower()
    if disk_is_full(error):
        return disk_full()
    if "readonly" in text or "read-only" in text:
        return CatalogError(
            f"{file.parent} cannot be written.",
            "Check the folder's permissions; searching still works.",
        )
    if "locked" in text or "busy" in text:
        return CatalogError("The library is busy.", "Try again in a moment.")
    if "unable to open" in text:
        return CatalogError(f"{file} cannot be opened.", "Check the folder's permissions.")
    if "i/o error" in text:
        return CatalogError(
            f"{file} cannot be read or written.",
            "Check the disk: its health, its free space and any quota.",
        )
    if "closed database" in text:
        return CatalogError("The library is closed.", "Open it again.")
    damages = ("malformed", "not a database", "could not decode")
    if isinstance(error, UnicodeDecodeError) or any(phrase in text for phrase in damages):
        return CatalogError(f"{file} is damaged.", CURE)
    return CatalogError(f"The catalog reported an error: {error}.", "Run ragkit doctor.")
