"""From bytes on disk to a ``Reading``: a reader for each format, and the sandbox they run in."""

from __future__ import annotations

from ragkit.reading.formats import readable_suffixes, sniff
from ragkit.reading.pool import ReaderPool, ReadOutcome, ReadTask, open_readers
from ragkit.reading.process import PostProcessor
from ragkit.reading.readers import read_file

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
