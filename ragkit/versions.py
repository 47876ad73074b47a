"""Versions of what is made of a file's bytes. A document's recipe names them all."""

from __future__ import annotations

READER_VERSION = "2"
"""Bump when a reader makes different text of the same bytes: documents are then read again."""

CHUNKER_VERSION = "2"
"""Bump when the same reading and settings are divided differently."""

TOKENIZER_VERSION = "2"
"""Bump when the same text gives other tokens; indexes are then rebuilt."""

ENTRIES_VERSION = "4"
"""Bump when other entries are made of a document than before."""
