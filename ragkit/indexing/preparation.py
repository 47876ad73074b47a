"""What indexing needs of a reading besides its vectors: where it is cut, and its words.

Reading processes do this, under the same limits as reading, so that this module imports neither
numpy nor pydantic.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

from ragkit.chunking import divide, structural_context
from ragkit.chunking.sizes import ChunkSizes
from ragkit.chunking.structural_context import content_key, document_name
from ragkit.indexes.tokenizer import index_tokens
from ragkit.types import Chunk, Divided, Reading, Section

_KEY_BYTES = 16
_LARGEST = 2**53


@dataclass(frozen=True, slots=True)
class DocumentWords:
    """The words of a document's chunks as places in ``words``, which names each word once.

    ``texts`` and ``headings`` have one array a chunk. ``keys`` name the own text of a chunk, a
    section or the document (see ``content_key``) by its span.
    """

    words: tuple[str, ...]
    texts: tuple[array[int], ...]
    headings: tuple[array[int], ...]
    keys: Mapping[tuple[int, int], bytes]


@dataclass(frozen=True, slots=True)
class Prepared:
    """A reading, cut, with its words. Blocks are left out: nothing needs them any more."""

    divided: Divided
    words: DocumentWords


def prepare(reading: Reading, path: str, sizes: ChunkSizes) -> Prepared:
    """Cut a reading and take its chunks' words; ``path`` is that of its file."""
    divided = divide(reading, sizes)
    name = document_name(reading.title, reading.markup, path)
    contexts = [structural_context(name, chunk, reading.pages) for chunk in divided.chunks]
    return Prepared(replace(divided, blocks=()), find_words(reading, divided.chunks, contexts))


def find_words(reading: Reading, chunks: Sequence[Chunk], contexts: Sequence[str]) -> DocumentWords:
    """Take the words of chunks and of what stands above them; pages are not searched for."""
    places: dict[str, int] = {}

    def numbered(tokens: Iterable[str]) -> array[int]:
        return array("I", [places.setdefault(token, len(places)) for token in tokens])

    text = reading.text
    texts = tuple(numbered(index_tokens(text[one.start : one.end])) for one in chunks)
    headings = tuple(
        numbered(index_tokens(_heading(reading, chunk, context)))
        for chunk, context in zip(chunks, contexts, strict=True)
    )
    keys = {span: content_key(text[span[0] : span[1]]) for span in _spans(chunks)}
    return DocumentWords(tuple(places), texts, headings, keys)


def _heading(reading: Reading, chunk: Chunk, context: str) -> str:
    if chunk.pages is None:
        return context
    return structural_context(reading.title, replace(chunk, pages=None), ())


def _spans(chunks: Sequence[Chunk]) -> list[tuple[int, int]]:
    """The spans of chunks, of sections, and of the document, each once."""
    spans = [(one.start, one.end) for one in chunks]
    for _section, inside in groupby(chunks, key=lambda one: one.section):
        listed = list(inside)
        spans.append((listed[0].start, listed[-1].end))
    if chunks:
        spans.append((chunks[0].start, chunks[-1].end))
    return list(dict.fromkeys(spans))


# -- between processes ---------------------------------------------------------------------


def build_processor(
    options: Mapping[str, Any],
) -> Callable[[Reading, str], tuple[dict[str, Any], bytes]]:
    """Return what a reading process does with each reading; ``options`` are chunk sizes."""
    sizes = ChunkSizes(**options)

    def make(reading: Reading, name: str) -> tuple[dict[str, Any], bytes]:
        return pack(prepare(reading, name, sizes))

    return make


def pack(prepared: Prepared) -> tuple[dict[str, Any], bytes]:
    """Everything as JSON values, and the words' places as bytes."""
    words = prepared.words
    header = {
        "sections": [(s.start, s.end, s.level, s.path) for s in prepared.divided.sections],
        "chunks": [
            (c.start, c.end, c.section, c.heading_path, c.pages) for c in prepared.divided.chunks
        ],
        "words": words.words,
        "texts": [len(one) for one in words.texts],
        "headings": [len(one) for one in words.headings],
        "keys": [(start, end, key.hex()) for (start, end), key in words.keys.items()],
    }
    return header, b"".join(one.tobytes() for one in (*words.texts, *words.headings))


def unpack(header: Mapping[str, Any], data: bytes, length: int) -> Prepared:
    """Put it together again, for a text of that length.

    Raises:
        ValueError: it makes no sense, as it may when a file got the better of its reader.
    """
    try:
        sections = tuple(
            Section(index, int(start), int(end), _small(level), _strings(path))
            for index, (start, end, level, path) in enumerate(header["sections"])
        )
        chunks = tuple(
            Chunk(index, int(start), int(end), int(section), _strings(path), _pages(pages))
            for index, (start, end, section, path, pages) in enumerate(header["chunks"])
        )
        words = _strings(header["words"])
        texts, headings = header["texts"], header["headings"]
        keys = {(int(start), int(end)): bytes.fromhex(key) for start, end, key in header["keys"]}
        numbers = array("I", data)
        sound = (
            len(texts) == len(headings) == len(chunks)
            and sum(texts) + sum(headings) == len(numbers)
            and max(numbers, default=-1) < len(words)
            and min((*texts, *headings), default=0) >= 0
            and all(0 <= one.start <= one.end <= length for one in sections)
            and all(0 <= one.start <= one.end <= length for one in chunks)
            and all(0 <= one.section < len(sections) for one in chunks)
            and all(len(key) in (0, _KEY_BYTES) for key in keys.values())
            and keys.keys() == set(_spans(chunks))
        )
    except (LookupError, TypeError, AttributeError, OverflowError) as error:
        raise ValueError("parts are missing") from error
    if not sound:
        raise ValueError("parts do not fit")
    parts = _parts(numbers, [*texts, *headings])
    return Prepared(
        Divided(sections, (), chunks),
        DocumentWords(words, parts[: len(chunks)], parts[len(chunks) :], keys),
    )


def _strings(values: Any) -> tuple[str, ...]:
    """The values, which must be texts."""
    strings = tuple(values)
    if not set(map(type, strings)) <= {str}:
        raise TypeError
    return strings


def _pages(values: Any) -> tuple[int, int] | None:
    """The numbers of a chunk's first and last page."""
    return (_small(values[0]), _small(values[1])) if values else None


def _small(value: Any) -> int:
    """The value, which must be a number that the catalog can hold."""
    if not -_LARGEST <= int(value) <= _LARGEST:
        raise OverflowError
    return int(value)


def _parts(numbers: array[int], lengths: Iterable[int]) -> tuple[array[int], ...]:
    """Take an array apart."""
    parts, start = [], 0
    for length in lengths:
        parts.append(numbers[start : start + length])
        start += length
    return tuple(parts)
