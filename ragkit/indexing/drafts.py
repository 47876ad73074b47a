"""How one document is written: from what the pipeline made to what the catalog holds."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ragkit.catalog.records import DocumentDraft, EntryDraft, NumberedTokens, SpeakerRecord
from ragkit.indexing.preparation import find_words
from ragkit.types import FIELD_CODES, LEVEL_CODES, Field, Level

if TYPE_CHECKING:
    from ragkit.indexing.pipeline import Processed
    from ragkit.indexing.writer import FileToWrite

_MOST_COARSE_WORDS = 50_000


def draft(one: FileToWrite, processed: Processed) -> DocumentDraft:
    """Everything that the catalog is to hold of a document that was read."""
    reading = processed.reading
    return DocumentDraft(
        source_id=one.source_id,
        collection_id=one.collection_id,
        path=one.file.path,
        size=one.file.size,
        mtime_ns=one.file.mtime_ns,
        hash=one.content_hash,
        pipeline_fingerprint=one.recipe,
        title=reading.title,
        format=reading.format,
        markup=reading.markup.value,
        language=reading.language,
        date=str(reading.metadata.get("date", ""))[:32],
        metadata=reading.metadata,
        pages=reading.pages,
        warnings=reading.warnings,
        text=reading.text,
        sections=processed.divided.sections,
        chunks=processed.chunks,
        entries=tuple(_entries(processed)),
        vectors=processed.vectors,
        seconds=one.seconds,
        speakers=tuple(_speakers(processed)),
    )


def _entries(processed: Processed) -> Iterator[EntryDraft]:
    """One entry a level: a section's and a document's words are those of their chunks.

    Title and headings stand before the text and count twice, and a chunk has them in a field of
    their own as well; pages are not searched for.
    """
    import numpy as np

    at_chunks = [one for one in processed.embedded if one.level is Level.CHUNK]
    found = processed.words or find_words(
        processed.reading,
        [one.chunks[0] for one in at_chunks],
        [one.context for one in at_chunks],
    )
    texts = [np.array(one, dtype=np.uint32) for one in found.texts]
    headings = [np.array(one, dtype=np.uint32) for one in found.headings]
    for one in processed.embedded:
        first, last = one.chunks[0], one.chunks[-1]
        above = headings[first.index]
        joined = np.concatenate([texts[chunk.index] for chunk in one.chunks])
        if len(one.chunks) > 1:
            joined = joined[:_MOST_COARSE_WORDS]
        numbers = np.concatenate([above, above, joined])
        tokens: dict[int, list[str] | NumberedTokens] = {
            FIELD_CODES[Field.TEXT]: NumberedTokens(found.words, numbers)
        }
        if one.level is Level.CHUNK:
            tokens[FIELD_CODES[Field.TITLE]] = NumberedTokens(found.words, above)
        yield EntryDraft(
            level=LEVEL_CODES[one.level],
            position=first.index,
            text_hash=one.text_hash,
            content_key=found.keys[first.start, last.end],
            tokens=tokens,
        )


def _speakers(processed: Processed) -> Iterator[SpeakerRecord]:
    """Who speaks in the span of each entry, and on which days."""
    messages = processed.reading.messages
    if not messages:
        return
    starts, ends = [one.start for one in messages], [one.end for one in messages]
    for one in processed.embedded:
        first = bisect_right(ends, one.chunks[0].start)
        last = bisect_left(starts, one.chunks[-1].end)
        said = {(message.author, message.at[:10]) for message in messages[first:last]}
        for author, day in sorted(said):
            yield SpeakerRecord(LEVEL_CODES[one.level], one.chunks[0].index, author, day)
