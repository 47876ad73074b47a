"""Sections, blocks, chunks and their structural context: pure functions over spans."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragkit.chunking.blocks import find_blocks, whole_messages
from ragkit.chunking.chunks import find_chunks
from ragkit.chunking.sections import find_sections
from ragkit.chunking.sizes import word_count
from ragkit.chunking.structural_context import contextualised, structural_context
from ragkit.chunking.structure import find_structure
from ragkit.types import Divided
from ragkit.versions import CHUNKER_VERSION

if TYPE_CHECKING:
    from ragkit.chunking.sizes import ChunkSizes
    from ragkit.types import Reading

__all__ = [
    "CHUNKER_VERSION",
    "contextualised",
    "divide",
    "structural_context",
    "word_count",
]


def divide(reading: Reading, settings: ChunkSizes) -> Divided:
    """Cut a document's text into sections, blocks and chunks; always in the same way."""
    structure = find_structure(reading.text, reading.markup)
    sections = find_sections(reading, structure.headings)
    blocks = find_blocks(reading.text, structure, sections, reading.markup)
    if reading.messages:
        blocks = whole_messages(blocks, sections, reading.messages)
    chunks = find_chunks(reading.text, sections, blocks, reading.pages, settings)
    return Divided(sections, blocks, chunks)
