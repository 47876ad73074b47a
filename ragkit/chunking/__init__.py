"""Divides texts into sections, blocks and chunks: pure functions over spans."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragkit.chunking.blocks import find_blocks, inner_blocks, whole_messages
from ragkit.chunking.chunks import TINY, find_chunks
from ragkit.chunking.parents import with_parents
from ragkit.chunking.sections import find_sections
from ragkit.chunking.sizes import ChunkSizes, word_count
from ragkit.chunking.structural_context import contextualised, structural_context
from ragkit.chunking.structure import find_structure
from ragkit.formatting import DIVISIONS
from ragkit.types import Divided, InnerBlock, Markup

if TYPE_CHECKING:
    from ragkit.types import Reading

__all__ = [
    "contextualised",
    "divide",
    "structural_context",
    "word_count",
]


def divide(reading: Reading, settings: ChunkSizes) -> Divided:
    """Divide a document's text into sections, blocks and chunks; this is deterministic."""
    structure = find_structure(reading.text, reading.markup)
    sections = find_sections(reading, structure.headings)
    blocks = find_blocks(reading.text, structure, sections, reading.markup)
    if reading.messages:
        blocks = whole_messages(blocks, sections, reading.messages)
    if reading.markup is Markup.CODE or reading.messages or reading.format in DIVISIONS:
        # Symbols, sessions, slides and sheets are units: only tiny ones share a chunk.
        settings = ChunkSizes(settings.words, settings.overlap, min(settings.min_words, TINY))
    chunks = find_chunks(reading.text, sections, blocks, reading.pages, settings)
    # Source code has no inner blocks: all of it is code.
    inner: tuple[InnerBlock, ...] = ()
    if reading.markup is not Markup.CODE:
        inner = inner_blocks(reading.text, sections, blocks, chunks)
    return Divided(sections, blocks, with_parents(reading.text, sections, chunks), inner)
