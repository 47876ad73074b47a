"""Libraries of any size, written straight into the catalog: real texts, cut and joined anew.

A chunk is three pieces of real texts, its tokens are theirs, and its vector is the mean of theirs
with a little noise: reading and embedding are left out, the catalog, its tokenizer and the index
files are the product's. Words do not become more with size as they would in real texts.
"""

from __future__ import annotations

import hashlib
import json
import random
import re
import shutil
import tempfile
import time
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import chain, islice, pairwise
from pathlib import Path

import numpy as np
from common import SAMPLE, SHARED

from ragkit.background.context_entries import FinishedContext, store_contexts
from ragkit.catalog.context_records import ContextAnswer
from ragkit.catalog.records import ChunkRecord, DocumentDraft, EntryDraft
from ragkit.catalog.schema import MIGRATIONS
from ragkit.chunking import contextualised
from ragkit.chunking.structural_context import content_key
from ragkit.indexes.tokenizer import TOKENIZER_VERSION, tokenize
from ragkit.library import Library
from ragkit.models.factory import open_embedder
from ragkit.settings import load_settings
from ragkit.types import FIELD_CODES, LEVEL_CODES, Chunk, Field, Level, Section

LAYOUT = 3
PIECE_WORDS, CHUNK_PIECES, DOCUMENT_CHUNKS = 60, 3, 10
QUESTIONS_A_CHUNK = 3
_NOISE = 0.1
_TOGETHER = 10
_SETS = ("scifact", "mtrag_pool", "anthropic_codebase")


# -- real texts ----------------------------------------------------------------------------


def texts() -> Iterator[str]:
    """Real texts, whichever are at hand."""
    tree = SHARED / "docs_tree"
    for path in sorted((tree if tree.is_dir() else SAMPLE).rglob("*.md")):
        yield path.read_text("utf-8", "replace")
    for name in _SETS:
        yield from (line["text"] for line in lines(SHARED / name / "corpus.jsonl"))


def lines(path: Path) -> Iterator[dict[str, str]]:
    if path.is_file():
        with path.open("rb") as stream:
            yield from (json.loads(line) for line in stream)


def questions(count: int, chooser: random.Random) -> list[str]:
    """Real questions and, where they do not suffice, words that stand together in a text."""
    found = [line["text"] for name in _SETS for line in lines(SHARED / name / "queries.jsonl")]
    found = [text for text in dict.fromkeys(found) if len(text) < 300 and ":" not in text]
    chooser.shuffle(found)
    pieces = list(cut(texts()))
    while len(found) < count:
        words = re.findall(r"\w{4,}", chooser.choice(pieces))
        if len(words) > 5:
            found.append(" ".join(chooser.sample(words, 5)))
    return found[:count]


def cut(found: Iterator[str]) -> Iterator[str]:
    for text in found:
        words = text.split(" ")
        for start in range(0, len(words), PIECE_WORDS):
            piece = " ".join(words[start : start + PIECE_WORDS]).strip()
            if piece:
                yield piece


# -- the library ---------------------------------------------------------------------------


@cache
def _pieces() -> tuple[list[str], list[list[str]], np.ndarray]:
    """Pieces of texts, their tokens and their vectors, made once a process."""
    pieces = list(dict.fromkeys(cut(texts())))
    embedder = open_embedder(load_settings().models)
    return pieces, [tokenize(piece) for piece in pieces], embedder.embed_passages(pieces)


class Maker:
    """Writes documents of ten chunks into the first collection of a library."""

    def __init__(self, library: Library, folder: Path) -> None:
        self.library = library
        self._writer = library.writer()
        self._pieces, self._tokens, self._vectors = _pieces()
        record = library.catalog.collections.ensure("default")
        source = library.catalog.collections.ensure_source(record.id, "folder", str(folder))
        self._home = source.id, record.id

    def write(self, numbers: Iterable[int], turn: int = 0, *, contexts: bool = False) -> None:
        """Write documents by their numbers, in another turn with other texts."""
        drawn = (self.draft(number, turn) for number in numbers)
        while drafts := list(islice(drawn, _TOGETHER)):
            ids = self.library.catalog.documents.put_many(drafts, self._writer.embedder_id)
            if contexts:
                every = (_contexts(*pair) for pair in zip(ids, drafts, strict=True))
                store_contexts(self._writer, list(chain.from_iterable(every)))

    def draft(self, number: int, turn: int = 0) -> DocumentDraft:
        chooser = random.Random(f"{number} {turn}")
        every = range(len(self._pieces))
        chosen = [chooser.sample(every, CHUNK_PIECES) for _ in range(DOCUMENT_CHUNKS)]
        title = " ".join(self._pieces[chosen[0][0]].split()[:5])
        context = f"{title} › Part {number % 7}"
        bodies = ["\n\n".join(self._pieces[at] for at in row) + "\n\n" for row in chosen]
        starts = np.cumsum([0, *map(len, bodies)]).tolist()
        contexts = tokenize(context)
        keys = [content_key(f"{number} {contextualised(context, body)}") for body in bodies]
        spans = list(pairwise(starts))
        return DocumentDraft(
            source_id=self._home[0],
            collection_id=self._home[1],
            path=f"part{number % 50}/{number}.md",
            size=starts[-1],
            mtime_ns=1_700_000_000_000_000_000 + number * 10**12,
            hash=f"{number:024x}{turn:08x}",
            pipeline_fingerprint="benchmark",
            title=title,
            format="markdown",
            markup="markdown",
            language="en",
            date="",
            metadata={"topic": f"topic {number % 9}", "tags": [f"tag{number % 5}"]},
            pages=(),
            warnings=(),
            text="".join(bodies),
            sections=tuple(
                Section(at, start, end, 1, (f"Part {at}",)) for at, (start, end) in enumerate(spans)
            ),
            chunks=tuple(
                ChunkRecord(Chunk(at, start, end, at, (f"Part {at}",)), context)
                for at, (start, end) in enumerate(spans)
            ),
            entries=tuple(
                EntryDraft(
                    level=LEVEL_CODES[Level.CHUNK],
                    position=at,
                    text_hash=keys[at],
                    content_key=content_key(bodies[at]),
                    tokens={
                        FIELD_CODES[Field.TEXT]: [
                            *contexts,
                            *contexts,
                            *(token for one in row for token in self._tokens[one]),
                        ],
                        FIELD_CODES[Field.TITLE]: contexts,
                    },
                )
                for at, row in enumerate(chosen)
            ),
            vectors=dict(zip(keys, self._mixed(chosen, number), strict=True)),
        )

    def _mixed(self, chosen: list[list[int]], number: int) -> list[bytes]:
        """The mean vector of each row of pieces, with noise, as the catalog keeps it."""
        means = self._vectors[np.array(chosen)].mean(axis=1)
        means /= np.linalg.norm(means, axis=1, keepdims=True)
        noise = np.random.default_rng(number).standard_normal(means.shape, dtype=np.float32)
        means += noise * (_NOISE / means.shape[1] ** 0.5)
        means /= np.linalg.norm(means, axis=1, keepdims=True)
        return [row.tobytes() for row in means.astype("<f2")]


def _contexts(document_id: int, draft: DocumentDraft) -> Iterator[FinishedContext]:
    """A context and three questions for each chunk, of its own words."""
    for record in draft.chunks:
        words = draft.text[record.chunk.start : record.chunk.end].split()
        answer = ContextAnswer(
            f"This part of {draft.title} concerns {' '.join(words[:15])}.",
            tuple(words[20:26]),
            tuple(
                f"What is said of {' '.join(words[30 + 10 * at : 36 + 10 * at])}?"
                for at in range(QUESTIONS_A_CHUNK)
            ),
            model="benchmark",
        )
        yield FinishedContext(document_id, draft.hash, record, answer)


def make_library(place: Path, chunks: int, *, contexts: bool = False) -> None:
    """Write all documents, then one index generation."""
    with Library.open(load_settings(library=place), create=True) as library:
        documents = range(-(-chunks // DOCUMENT_CHUNKS))
        Maker(library, place / "files").write(documents, contexts=contexts)
        library.indexes.save(library.catalog.collections.get("default"))


def library_of(chunks: int, *, contexts: bool = False) -> tuple[Path, float]:
    """The library of that size, made when it is not there yet, and how long that took."""
    embedder = open_embedder(load_settings().models).fingerprint
    parts = [LAYOUT, SHARED.is_dir(), TOKENIZER_VERSION, embedder, len(MIGRATIONS)]
    key = hashlib.blake2b(repr(parts).encode(), digest_size=4).hexdigest()
    name = f"{chunks}-contexts" if contexts else f"{chunks}"
    place = Path(tempfile.gettempdir(), f"ragkit-bench-search-{name}-{key}")
    if (place / "made").is_file():
        return place, 0.0
    started = time.perf_counter()
    making = Path(tempfile.mkdtemp(prefix="ragkit-bench-making-"))
    make_library(making, chunks, contexts=contexts)
    (making / "made").touch()
    shutil.rmtree(place, ignore_errors=True)
    making.rename(place)
    return place, time.perf_counter() - started
