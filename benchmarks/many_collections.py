"""Libraries of many collections, written by the product's own functions, quickly.

Some documents are read, cut, tokenised and embedded once by the product's own steps. Each
collection then gets copies of some of them, with a word that only this collection has, and keys of
its own, so that nothing is shared: other collections hold the same texts but for that word.
"""

from __future__ import annotations

import hashlib
import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import cycle, islice
from typing import Any

from large_library import texts

from ragkit.catalog.records import CollectionRecord, DocumentDraft, NumberedTokens
from ragkit.chunking import divide
from ragkit.chunking.sizes import ChunkSizes
from ragkit.indexing.preparation import ReadFile, prepare
from ragkit.indexing.writer import pipeline_fingerprint
from ragkit.library import Library
from ragkit.types import FileState, Reading, Version

_LETTERS = "bcdfghjklm"
_BATCH = 100
TEMPLATES, TEMPLATE_WORDS = 400, (300, 3_000)


def own_word(number: int) -> str:
    """The word that only the collection of that number has; all are of one length."""
    return "zq" + "".join(_LETTERS[int(digit)] for digit in f"{number:06d}") + "x"


_PLACE = own_word(999_999)


def templates(library: Library) -> list[DocumentDraft]:
    """Return documents of 2 to 15 chunks, by the product's chunker, tokenizer and embedder."""
    words = (word for text in texts() for word in text.split(" "))
    home = CollectionRecord(0, "", {}, Version(0))
    sizes = ChunkSizes.of(library.settings.chunking)
    fingerprint = pipeline_fingerprint(library.settings, home)
    files = []
    for number in range(TEMPLATES):
        taken = list(islice(words, random.Random(number).randint(*TEMPLATE_WORDS)))
        if not taken:
            break
        body = f"{_PLACE} {' '.join(taken)}"
        title = " ".join(body.split()[1:6])
        reading = Reading(body, title, "text")
        path = f"part{number % 7}/{number}.txt"
        prepared = prepare(reading, path, divide(reading, sizes))
        state = FileState(path, len(body), 1_700_000_000_000_000_000)
        files.append(ReadFile(0, 0, state, f"{number:032x}", fingerprint, prepared))
    return library.writer().pipeline.run(files)


def copy_of(template: DocumentDraft, number: int, source_id: int, home: int) -> DocumentDraft:
    """Return a template as a document of a collection, with keys of its own."""
    word, mark = own_word(number), number.to_bytes(4, "big")
    tables: dict[int, tuple[str, ...]] = {}

    def renamed(tokens: list[str] | NumberedTokens) -> list[str] | NumberedTokens:
        if not isinstance(tokens, NumberedTokens):
            return [word if token == _PLACE else token for token in tokens]
        if id(tokens.words) not in tables:
            table = tuple(word if token == _PLACE else token for token in tokens.words)
            tables[id(tokens.words)] = table
        return NumberedTokens(tables[id(tokens.words)], tokens.numbers)

    def own(key: bytes) -> bytes:
        return hashlib.blake2b(key, digest_size=len(key), key=mark).digest()

    return replace(
        template,
        source_id=source_id,
        collection_id=home,
        hash=own(bytes.fromhex(template.hash)).hex(),
        text=template.text.replace(_PLACE, word),
        entries=tuple(
            replace(
                entry,
                text_hash=own(entry.text_hash),
                tokens={field: renamed(tokens) for field, tokens in entry.tokens.items()},
            )
            for entry in template.entries
        ),
        vectors={own(key): vector for key, vector in template.vectors.items()},
    )


@dataclass(frozen=True)
class Sizes:
    """How many collections there are, and by kind: which, those that are searched, chunks.

    ``scaled`` are the chunks of those that are not searched.
    """

    count: int
    large: frozenset[int]
    searched: Mapping[str, Sequence[int]]
    full: Mapping[str, tuple[int, int]]
    scaled: Mapping[str, tuple[int, int]]

    @classmethod
    def of(cls, count: int, share: float, most_share: float, options: Any) -> Sizes:
        """Choose sizes with which so many large ones at most stay about within the most chunks."""
        numbers = random.Random(5).sample(range(count), count)
        middle = {kind: sum(getattr(options, kind)) / 2 for kind in ("small", "large")}
        many = max(1, round(count * most_share))
        others = {"small": count - many - options.sample, "large": many - options.sample}
        wished = {kind: max(0, others[kind]) * middle[kind] for kind in others}
        left = max(0, options.most_chunks - options.sample * sum(middle.values()))
        # Small ones have what large ones leave, or half of it all.
        given = {"small": min(wished["small"], max(left - wished["large"], left / 2))}
        given["large"] = min(wished["large"], left - given["small"])
        full = {kind: tuple(getattr(options, kind)) for kind in given}
        part = {kind: given[kind] / wished[kind] if wished[kind] else 1.0 for kind in given}
        scaled = {
            kind: (max(1, int(least * part[kind])), max(1, int(most * part[kind])))
            for kind, (least, most) in full.items()
        }
        large = numbers[: max(1, round(count * share))]
        # The last are small in every case.
        searched = {"small": numbers[-options.sample :], "large": large[: options.sample]}
        return cls(count, frozenset(large), searched, full, scaled)

    def wanted(self, number: int) -> int:
        """How many chunks a collection is to have."""
        kind = "large" if number in self.large else "small"
        bounds = (self.full if number in self.searched[kind] else self.scaled)[kind]
        return random.Random(f"size {number}").randint(*bounds)


@dataclass(frozen=True)
class Filled:
    """A collection with its number, how many chunks it has, and which templates, by place."""

    number: int
    record: CollectionRecord
    source_id: int
    chunks: int
    documents: tuple[int, ...]

    @property
    def word(self) -> str:
        """The word that no other collection has."""
        return own_word(self.number)


class Filler:
    """Fills the collections of one library, with the templates of another if there is one."""

    def __init__(self, library: Library, other: Filler | None = None) -> None:
        self.library = library
        self.templates = other.templates if other else templates(library)
        # Without marks: those of code would make a question a search for a phrase.
        self._words = [re.findall(r"\w{2,}", draft.text) for draft in self.templates]
        self._embedder_id = library.writer().embedder_id

    def fill(self, number: int, wanted: int) -> Filled:
        """Make a collection of about so many chunks."""
        catalog, name = self.library.catalog, f"collection {number:06d}"
        record = catalog.collections.ensure(name)
        source = catalog.collections.ensure_source(record.id, "folder", f"/{name}")
        return self.grow(Filled(number, record, source.id, 0, ()), wanted)

    def grow(self, filled: Filled, wanted: int) -> Filled:
        """Add documents until a collection has about so many chunks; return it as it is then."""
        sizes = [len(template.chunks) for template in self.templates]
        order = random.Random(filled.number).sample(range(len(sizes)), len(sizes))
        fitting = [at for at in order if sizes[at] <= wanted] or [sizes.index(min(sizes))]
        chosen, chunks, first = list(filled.documents), filled.chunks, len(filled.documents)
        for at in cycle(fitting[first % len(fitting) :] + fitting[: first % len(fitting)]):
            if chunks + sizes[at] / 2 >= wanted and chosen:
                break
            chosen.append(at)
            chunks += sizes[at]
        grown = replace(filled, chunks=chunks, documents=tuple(chosen))
        drafts = (self.draft(grown, place) for place in range(first, len(chosen)))
        while batch := list(islice(drafts, _BATCH)):
            self.library.catalog.documents.put_many(batch, self._embedder_id)
        return grown

    def draft(self, filled: Filled, place: int, turn: int = 0) -> DocumentDraft:
        """Return a document of a collection; in another turn, it has the text of another."""
        template = self.templates[(filled.documents[place] + turn) % len(self.templates)]
        named = replace(template, path=f"part{place % 7}/{place}.txt")
        return copy_of(named, filled.number, filled.source_id, filled.record.id)

    def change(self, filled: Filled, turn: int) -> None:
        """Write one document of a collection anew, with another text."""
        place = turn % len(filled.documents)
        self.library.catalog.documents.put_many(
            [self.draft(filled, place, turn + 1)], self._embedder_id
        )

    def question(self, filled: Filled, turn: int) -> str:
        """Four words that stand near each other in a document of the collection."""
        chooser = random.Random(f"{filled.number} {turn}")
        words = self._words[chooser.choice(filled.documents)]
        start = chooser.randrange(1, max(len(words) - 12, 2))
        return " ".join(chooser.sample(words[start : start + 12], 4))
