"""The version of ragkit, and those of the steps from a file's bytes to index entries.

The latter are part of pipeline fingerprints.
"""

from __future__ import annotations

__version__ = "0.1.0"

READER_VERSION = "34"
"""Bump when a reader returns a different result for the same bytes; documents are read again."""

CHUNKER_VERSION = "9"
"""Bump when the same text and settings are divided differently."""

TOKENIZER_VERSION = "8"
"""Bump when the same text gives different tokens; indexes are rebuilt."""

ENTRIES_VERSION = "6"
"""Bump when the same document gives different index entries."""
