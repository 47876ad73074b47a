"""Bytes on disk to ``Reading``: one reader a family of formats, and the sandbox they run in."""

from __future__ import annotations

from ragkit.reading.formats import readable_suffixes, sniff
from ragkit.reading.pool import ReaderPool, ReadOutcome, ReadTask
from ragkit.reading.reader import READER_VERSION, read_file

__all__ = [
    "READER_VERSION",
    "ReadOutcome",
    "ReadTask",
    "ReaderPool",
    "read_file",
    "readable_suffixes",
    "sniff",
]
