"""Bytes on disk to ``Reading``: one reader a family of formats, and the sandbox they run in."""

from __future__ import annotations

from ragkit.reading.formats import readable_suffixes, sniff
from ragkit.reading.pool import ReaderPool, ReadOutcome, ReadTask
from ragkit.reading.process import Making
from ragkit.reading.readers import read_file
from ragkit.versions import READER_VERSION

__all__ = [
    "READER_VERSION",
    "Making",
    "ReadOutcome",
    "ReadTask",
    "ReaderPool",
    "read_file",
    "readable_suffixes",
    "sniff",
]
