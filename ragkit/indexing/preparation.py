"""Prepares a reading for indexing: chunks, their tokens, and the texts to embed.

It runs in reading processes, under the limits of reading, and so imports neither numpy nor
pydantic.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

from ragkit.chunking import divide, structural_context
from ragkit.chunking.sections import sections_within
from ragkit.chunking.sizes import ChunkSizes
from ragkit.chunking.structural_context import (
    CONTEXT_CHARACTERS,
    chunk_text,
    content_key,
    document_name,
    document_text,
    section_text,
    text_hash,
)
from ragkit.indexes.tokenizer import index_tokens
from ragkit.indexing.names import folder_tokens, name_tokens
from ragkit.types import (
    BlockKind,
    Chunk,
    Divided,
    FileState,
    InnerBlock,
    Level,
    Markup,
    Reading,
    Section,
)

_KEY_BYTES = 16
_LARGEST = 2**53


@dataclass(frozen=True, slots=True)
class DocumentWords:
    """The tokens of a document as indices into ``words``, which holds each token once.

    ``texts`` and ``headings`` hold an array for each chunk, then one for each inner block. Each of
    ``headings`` begins with the file's name. ``folders`` holds the tokens of the folders. ``keys``
    maps the spans of chunks, inner blocks, sections and the document to their content keys.
    """

    words: tuple[str, ...]
    texts: tuple[array[int], ...]
    headings: tuple[array[int], ...]
    folders: array[int]
    keys: Mapping[tuple[int, int], bytes]


@dataclass(frozen=True, slots=True)
class PreparedDocument:
    """A reading divided into sections and chunks, with a structural context for each chunk.

    ``name`` is the title with which the contexts begin. ``blocks`` are parts of the chunks.
    """

    reading: Reading
    name: str
    sections: tuple[Section, ...]
    chunks: tuple[Chunk, ...]
    contexts: tuple[str, ...]
    words: DocumentWords
    blocks: tuple[InnerBlock, ...] = ()


@dataclass(frozen=True, slots=True)
class ReadFile:
    """A file that was read and prepared, with the hash of its bytes.

    ``seconds`` is how long reading took.
    """

    source_id: int
    collection_id: int
    state: FileState
    content_hash: str
    pipeline_fingerprint: str
    document: PreparedDocument
    seconds: float = 0.0


def prepare(reading: Reading, path: str, divided: Divided) -> PreparedDocument:
    """Prepare a divided reading; ``path`` is the path of its file."""
    name = document_name(reading.title, reading.markup, path)
    chunks = divided.chunks
    contexts = tuple(structural_context(name, chunk, reading.pages) for chunk in chunks)
    words = _find_words(reading, path, divided, contexts)
    return PreparedDocument(reading, name, divided.sections, chunks, contexts, words, divided.inner)


def _find_words(
    reading: Reading, path: str, divided: Divided, contexts: Sequence[str]
) -> DocumentWords:
    """Tokenise chunks, headings and the file's path, without page numbers."""
    indices: dict[str, int] = {}
    chunks, sections = divided.chunks, divided.sections

    def numbered(tokens: Iterable[str]) -> array[int]:
        return array("I", [indices.setdefault(token, len(indices)) for token in tokens])

    text = reading.text
    # An inner block is tokenised like a chunk with the same span.
    spans = [*chunks, *(_as_chunk(block, chunks[block.chunk]) for block in divided.inner)]
    texts = tuple(numbered(index_tokens(text[span.start : span.end])) for span in spans)
    names = name_tokens(path, reading.metadata)
    headings = tuple(
        numbered(
            _with_name(
                names, index_tokens(_headings(reading, span, contexts[span.index], sections))
            )
        )
        for span in spans
    )
    # The path of source code is part of its title already.
    folders = numbered(() if reading.markup is Markup.CODE else folder_tokens(path))
    keys = {
        (start, end): content_key(text[start:end]) for start, end in _spans(chunks, divided.inner)
    }
    return DocumentWords(tuple(indices), texts, headings, folders, keys)


def _as_chunk(block: InnerBlock, chunk: Chunk) -> Chunk:
    return replace(chunk, start=block.start, end=block.end, section=block.section)


def _with_name(names: Sequence[str], heading: Sequence[str]) -> list[str]:
    """Return a heading preceded by the tokens of names that it lacks."""
    heading_tokens = frozenset(heading)
    return [*(token for token in names if token not in heading_tokens), *heading]


def _headings(reading: Reading, chunk: Chunk, context: str, sections: Sequence[Section]) -> str:
    """Return the context of a chunk without its pages, and the headings inside the chunk."""
    if chunk.pages is not None:
        context = structural_context(reading.title, replace(chunk, pages=None), ())
    inside = sections_within(sections, chunk.section, chunk.end)
    titles = dict.fromkeys(title for section in inside for title in section.path)
    own = [title for title in titles if title not in chunk.heading_path]
    return "\n".join([context, *own])


def _spans(chunks: Sequence[Chunk], blocks: Sequence[InnerBlock]) -> list[tuple[int, int]]:
    """Return the distinct spans of chunks, inner blocks, sections and the document."""
    spans = [(chunk.start, chunk.end) for chunk in chunks]
    spans += [(block.start, block.end) for block in blocks]
    for _section, group in groupby(chunks, key=lambda chunk: chunk.section):
        inside = list(group)
        spans.append((inside[0].start, inside[-1].end))
    if chunks:
        spans.append((chunks[0].start, chunks[-1].end))
    return list(dict.fromkeys(spans))


# -- texts to embed ------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class EmbeddedText:
    """A text to be embedded, which represents some chunks of a document at a level.

    ``context`` is the structural context with which it begins. For an inner block, ``block`` is its
    index in the document, and ``chunks`` holds the chunk that it is in.
    """

    level: Level
    chunks: tuple[Chunk, ...]
    context: str
    text: str
    text_hash: bytes
    block: int | None = None


def embedded_texts(
    name: str,
    text: str,
    chunks: Sequence[Chunk],
    contexts: Sequence[str],
    blocks: Sequence[InnerBlock],
    headings: Sequence[str],
) -> list[EmbeddedText]:
    """Build the texts to embed of chunks, sections, the document and inner blocks, in that order.

    A section is represented by its context and its beginning, the document by its ``name``, its
    headings and its beginning. ``contexts`` are the structural contexts of the chunks, ``headings``
    the titles of the sections. A block has the context of its chunk, and the title of its section
    if the context lacks it (a chunk may span several sections).
    """

    def entry(level: Level, inside: Sequence[Chunk], context: str, embedded: str) -> EmbeddedText:
        return EmbeddedText(level, tuple(inside), context, embedded, text_hash(embedded))

    texts = [
        entry(Level.CHUNK, [chunk], context, chunk_text(context, text, chunk))
        for chunk, context in zip(chunks, contexts, strict=True)
    ]
    for _section, group in groupby(texts[:], key=lambda each: each.chunks[0].section):
        of_section = list(group)
        inside, context = [each.chunks[0] for each in of_section], of_section[0].context
        texts.append(entry(Level.SECTION, inside, context, section_text(context, text, inside)))
    if chunks:
        texts.append(entry(Level.DOCUMENT, chunks, name, document_text(name, text, chunks)))
    for number, block in enumerate(blocks):
        chunk, context = chunks[block.chunk], contexts[block.chunk]
        title = headings[block.section] if 0 <= block.section < len(headings) else ""
        if title and title not in chunk.heading_path:
            context = f"{context}\n{title}" if context else title
        embedded = chunk_text(context, text, _as_chunk(block, chunk))
        texts.append(replace(entry(Level.BLOCK, [chunk], context, embedded), block=number))
    return texts


# -- between processes ---------------------------------------------------------------------


def build_processor(
    options: Mapping[str, Any],
) -> Callable[[Reading, str], tuple[dict[str, Any], bytes]]:
    """Return the post-processor of reading processes; ``options`` are the chunk sizes."""
    sizes = ChunkSizes(**options)

    def process(reading: Reading, path: str) -> tuple[dict[str, Any], bytes]:
        return pack(prepare(reading, path, divide(reading, sizes)))

    return process


def pack(prepared: PreparedDocument) -> tuple[dict[str, Any], bytes]:
    """Return a prepared document without its reading: JSON values, and token indices as bytes."""
    words = prepared.words
    header = {
        "name": prepared.name,
        "sections": [(s.start, s.end, s.level, s.path) for s in prepared.sections],
        "chunks": [
            (c.start, c.end, c.section, c.heading_path, c.pages, c.parent) for c in prepared.chunks
        ],
        "contexts": prepared.contexts,
        "words": words.words,
        "texts": [len(indices) for indices in words.texts],
        "headings": [len(indices) for indices in words.headings],
        "folders": len(words.folders),
        "keys": [(start, end, key.hex()) for (start, end), key in words.keys.items()],
        "blocks": [(b.start, b.end, b.kind, b.chunk, b.section) for b in prepared.blocks],
    }
    parts = (*words.texts, *words.headings, words.folders)
    return header, b"".join(indices.tobytes() for indices in parts)


def unpack(header: Mapping[str, Any], data: bytes, reading: Reading) -> PreparedDocument:
    """Restore a prepared document from the output of ``pack``.

    Raises:
        ValueError: the output is inconsistent, as from a process taken over by a hostile file.
    """
    length = len(reading.text)
    try:
        sections = tuple(
            Section(index, int(start), int(end), _small(level), _strings(path))
            for index, (start, end, level, path) in enumerate(header["sections"])
        )
        chunks = tuple(
            Chunk(
                index,
                int(start),
                int(end),
                int(section),
                _strings(path),
                _pages(pages),
                _small(parent),
            )
            for index, (start, end, section, path, pages, parent) in enumerate(header["chunks"])
        )
        blocks = tuple(
            InnerBlock(int(start), int(end), BlockKind(kind), _small(chunk), _small(section))
            for start, end, kind, chunk, section in header["blocks"]
        )
        (name,) = _strings([header["name"]])
        contexts = _strings(header["contexts"])
        words = _strings(header["words"])
        texts, headings, folders = header["texts"], header["headings"], header["folders"]
        lengths = [*texts, *headings, folders]
        keys = {(int(start), int(end)): bytes.fromhex(key) for start, end, key in header["keys"]}
        numbers = array("I", data)
        sound = (
            len(contexts) == len(chunks)
            and len(texts) == len(headings) == len(chunks) + len(blocks)
            and max(map(len, contexts), default=0) <= CONTEXT_CHARACTERS
            and set(map(type, lengths)) == {int}
            and sum(lengths) == len(numbers)
            and max(numbers, default=-1) < len(words)
            and min(lengths) >= 0
            and all(0 <= section.start <= section.end <= length for section in sections)
            and all(0 <= chunk.start <= chunk.end <= length for chunk in chunks)
            and all(0 <= chunk.section < len(sections) for chunk in chunks)
            and all(0 <= block.chunk < len(chunks) for block in blocks)
            and all(0 <= block.section < len(sections) for block in blocks)
            and all(0 <= block.start <= block.end <= length for block in blocks)
            and all(len(key) in (0, _KEY_BYTES) for key in keys.values())
            and keys.keys() == set(_spans(chunks, blocks))
        )
    except (LookupError, TypeError, AttributeError, OverflowError) as error:
        raise ValueError("parts are missing") from error
    if not sound:
        raise ValueError("parts do not fit")
    *parts, of_folders = _split(numbers, lengths)
    of_texts, of_headings = tuple(parts[: len(texts)]), tuple(parts[len(texts) :])
    words_of = DocumentWords(words, of_texts, of_headings, of_folders, keys)
    return PreparedDocument(reading, name, sections, chunks, contexts, words_of, blocks)


def _strings(values: Any) -> tuple[str, ...]:
    """Return the values as a tuple; raise ``TypeError`` unless all are strings."""
    strings = tuple(values)
    if not set(map(type, strings)) <= {str}:
        raise TypeError
    return strings


def _pages(values: Any) -> tuple[int, int] | None:
    """Return the numbers of a chunk's first and last page, or ``None``."""
    return (_small(values[0]), _small(values[1])) if values else None


def _small(value: Any) -> int:
    """Return an integer; raise ``OverflowError`` if the catalog cannot store it."""
    if not -_LARGEST <= int(value) <= _LARGEST:
        raise OverflowError
    return int(value)


def _split(numbers: array[int], lengths: Iterable[int]) -> tuple[array[int], ...]:
    """Split an array into parts of these lengths."""
    parts, start = [], 0
    for length in lengths:
        parts.append(numbers[start : start + length])
        start += length
    return tuple(parts)
