"""The backfill's own cost at a large library, and what it takes from searches and indexing.

``own``: milliseconds a chunk of everything but the model, with a model that answers at once, in a
library of ``--chunks`` chunks. ``ratios``: median time of searches and of indexing a new file in
one run, beside a model that takes ``--seconds`` a chunk, over the same without one.
"""

from __future__ import annotations

import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import common
import numpy as np

from ragkit.background.contexts import Backfill
from ragkit.background.worker import Worker
from ragkit.catalog.records import ChunkRecord, DocumentDraft, EntryDraft
from ragkit.indexes.tokenizer import index_tokens
from ragkit.library import Library
from ragkit.models.context_checks import WrittenContext
from ragkit.settings import load_settings
from ragkit.types import LEVEL_CODES, Chunk, Level, Section

CHUNKS_EACH = 20
WORDS_EACH = 120
VOCABULARY = 30_000


class Model:
    """Answers after a time; the words depend on the chunk."""

    model = "stand-in"

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.asked = 0

    def prompt_hash(self, kind: str) -> str:
        return kind

    def summarise(self, _request: Any, _attempt: int = 0) -> None:
        return None

    def write(self, request: Any, attempt: int = 0) -> WrittenContext:  # noqa: ARG002
        self.asked += 1
        if self.seconds:
            time.sleep(self.seconds)
        words = request.chunk_text.split()
        return WrittenContext(
            f"This part of the record concerns {' and '.join(words[:12])}, and goes on to say "
            f"what follows from {' with '.join(words[12:20])} in the years after.",
            tuple(words[20:26]),
            tuple(f"What is said of {' and '.join(words[n : n + 4])}?" for n in (30, 40, 50)),
            {"topic_summary": " ".join(words[60:64])},
            900,
            self.seconds,
            truncated=False,
        )


def fill(library: Library, chunks: int) -> None:
    """Put documents straight into the catalog, as the writer would."""
    random = np.random.default_rng(1)
    collection = library.catalog.collections.ensure("default")
    source = library.catalog.collections.ensure_source(collection.id, "folder", "/made-up")
    embedder = library.writer().embedder_id
    dimensions = library.embedder.dimensions
    for number in range(chunks // CHUNKS_EACH):
        drawn = (random.pareto(1.1, CHUNKS_EACH * WORDS_EACH) * 50).astype(int) % VOCABULARY
        parts = [
            " ".join(f"word{one}" for one in drawn[n * WORDS_EACH : (n + 1) * WORDS_EACH])
            for n in range(CHUNKS_EACH)
        ]
        vectors = random.standard_normal((CHUNKS_EACH, dimensions))
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        records, entries, stored, at = [], [], {}, 0
        for n, part in enumerate(parts):
            name = number.to_bytes(8, "big") + n.to_bytes(8, "big")
            records.append(ChunkRecord(Chunk(n, at, at + len(part), 0, ("Top",)), "Record › Top"))
            entries.append(
                EntryDraft(LEVEL_CODES[Level.CHUNK], n, name, name, {0: index_tokens(part)})
            )
            stored[name] = vectors[n].astype("<f2").tobytes()
            at += len(part) + 2
        text = "\n\n".join(parts)
        library.catalog.documents.put_many(
            [DocumentDraft(
                source.id, collection.id, f"{number}.txt", len(text), 1, f"{number:032x}", "r",
                f"Record {number}", "text", "plain", "en", "", {}, (), (), text,
                (Section(0, 0, len(text), 1, ("Top",)),), tuple(records), tuple(entries), stored,
            )],
            embedder,
        )  # fmt: skip
    library.indexes.save(library.catalog.collections.get("default"), always=True)


def own_cost(library: Library, most: int) -> dict[str, float]:
    """Milliseconds a chunk, the model's own time not counted."""
    model = Model(0.0)
    stopping = threading.Event()
    backfill = Backfill(library.writer(), lambda _: model, stopping=stopping)
    inner = model.write

    def counting(request: Any, attempt: int = 0) -> WrittenContext:
        if model.asked + 1 >= most:
            stopping.set()
        return inner(request, attempt)

    model.write = counting  # type: ignore[method-assign]
    processor = time.process_time()
    started = time.perf_counter()
    backfill.work()
    spent = time.perf_counter() - started
    return {
        "own_ms_per_chunk": 1000 * spent / backfill.done,
        "own_processor_ms_per_chunk": 1000 * (time.process_time() - processor) / backfill.done,
        "measured_chunks": backfill.done,
    }


def beside(library: Library, folder: Path, seconds: float | None, rounds: int) -> dict[str, float]:
    """Median milliseconds of a search, and of having a new file found, beside the worker."""
    stopping = threading.Event()
    model = Model(seconds or 0.0)

    served = library
    if seconds is None:
        off = library.settings.models.model_copy(update={"contexts": False})
        settings = library.settings.model_copy(update={"models": off})
        served = Library(settings, library.paths, library.catalog)
    worker = Worker(served.writer(), stopping=stopping, open_model=lambda _: model)
    thread = threading.Thread(target=worker.run, kwargs={"watch": False})
    thread.start()
    time.sleep(1.0)
    source = library.sources.add_folder(folder)
    searches, files = [], []
    for number in range(rounds):
        name = f"new-{'with' if seconds else 'without'}-{number}"
        (folder / f"{name}.md").write_text(f"# {name}\n\nA fresh {name} note.\n")
        files.append(common.seconds(lambda: library.jobs.wait(library.sources.sync(source))))
        for n in range(8):
            question = f"word{number * 8 + n} word{n} {name}"
            searches.append(common.seconds(lambda q=question: library.search(q)))
        time.sleep(0.3)
    stopping.set()
    thread.join(timeout=30)
    return {
        "search_ms": 1000 * common.median(searches),
        "index_ms": 1000 * common.median(files),
        "asked": model.asked,
    }


def main() -> None:
    parser = common.arguments(__doc__ or "")
    parser.add_argument("--chunks", type=int, default=100_000)
    parser.add_argument("--measured", type=int, default=4000)
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--rounds", type=int, default=20)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        settings = load_settings(library=Path(place) / "library")
        library = Library.open(settings, create=True)
        fill(library, options.chunks)
        figures: dict[str, Any] = {"chunks": library.documents.counts().chunks}
        figures |= own_cost(library, options.measured)
        folder = Path(place) / "new"
        folder.mkdir()
        beside(library, folder, None, 2)
        without = beside(library, folder, None, options.rounds)
        slow = beside(library, folder, options.seconds, options.rounds)
        figures |= {f"without_{name}": value for name, value in without.items()}
        figures |= {f"beside_{name}": value for name, value in slow.items()}
        figures["search_ratio"] = slow["search_ms"] / without["search_ms"]
        figures["index_ratio"] = slow["index_ms"] / without["index_ms"]
        common.report(figures, options.json)
        library.close()


if __name__ == "__main__":
    main()
