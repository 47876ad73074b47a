"""From bytes on disk to a ``Reading``: a reader for each format, and the sandbox they run in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragkit.reading.formats import readable_suffixes
from ragkit.reading.pool import ReaderPool, ReadOutcome, ReadTask
from ragkit.reading.process import PostProcessor
from ragkit.reading.readers import read_file
from ragkit.reading.sniffing import sniff

if TYPE_CHECKING:
    from ragkit.reading.ray_pool import RayReaderPool
    from ragkit.settings import ReadingSettings

__all__ = [
    "PostProcessor",
    "ReadOutcome",
    "ReadTask",
    "ReaderPool",
    "open_readers",
    "read_file",
    "readable_suffixes",
    "sniff",
]

WORTH_JOINING = 20
"""Fewer files are read on this machine even if there is a cluster: joining it takes seconds."""


def open_readers(
    settings: ReadingSettings, post_processor: PostProcessor, files: int
) -> ReaderPool | RayReaderPool:
    """Return a pool of local processes, or of the Ray cluster if many ``files`` are to be read.

    Raises:
        SettingsError: the cluster of the settings cannot be reached.
    """
    if not settings.ray or files < WORTH_JOINING:
        return ReaderPool(settings, post_processor)
    from ragkit.reading.ray_pool import RayReaderPool

    return RayReaderPool(settings, post_processor)
