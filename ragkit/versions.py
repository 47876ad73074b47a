"""Versions of the steps from a file's bytes to index entries, all part of pipeline fingerprints."""

from __future__ import annotations

READER_VERSION = "14"
"""Bump when a reader returns a different result for the same bytes; documents are read again."""

CHUNKER_VERSION = "4"
"""Bump when the same text and settings are divided differently."""

TOKENIZER_VERSION = "6"
"""Bump when the same text gives different tokens; indexes are rebuilt."""

ENTRIES_VERSION = "6"
"""Bump when the same document gives different index entries."""
