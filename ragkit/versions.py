"""Versions of each step from a file's bytes to entries; a pipeline fingerprint has them all."""

from __future__ import annotations

READER_VERSION = "8"
"""Bump when a reader returns something else for the same bytes: documents are then read again."""

CHUNKER_VERSION = "4"
"""Bump when the same reading and settings are divided differently."""

TOKENIZER_VERSION = "4"
"""Bump when the same text has other tokens; indexes are then rebuilt."""

ENTRIES_VERSION = "6"
"""Bump when a document has other entries than before."""
