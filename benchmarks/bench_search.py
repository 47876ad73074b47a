"""Searching 100,000 chunks: the whole search against bare FAISS and bare bm25s in the same run.

``cpu_…_to_plain`` is the CPU time of questions with filters, phrases and exclusions, and of one
with a slip, as a multiple of that of the same questions without. ``highlighted`` is the search and
looking at every highlight of its answer; ``one_thread`` is the search with words asked after
vectors and not beside them.

python benchmarks/bench_search.py [--chunks 100000] [--questions 200] [--json]

The library is made once, of real texts cut into pieces and put together anew, and kept in the
temporary folder. It goes through the real catalog, tokenizer, embedder and index files.
"""

from __future__ import annotations

import hashlib
import json
import random
import re
import shutil
import tempfile
import time
from collections.abc import Iterator
from functools import partial
from itertools import pairwise
from pathlib import Path

import numpy as np
from common import SAMPLE, SHARED, arguments, median, percentile, process_seconds, python, report

from ragkit.catalog.records import ChunkRecord, DocumentDraft, EntryDraft
from ragkit.chunking import contextualised
from ragkit.chunking.structural_context import content_key
from ragkit.indexes.tokenizer import TOKENIZER_VERSION, tokenize
from ragkit.library import Library
from ragkit.models.factory import open_embedder
from ragkit.options import Mode
from ragkit.results import Answer
from ragkit.retrieval import candidates
from ragkit.retrieval.search import AnswerCache
from ragkit.settings import load_settings
from ragkit.types import FIELD_CODES, LEVEL_CODES, Chunk, Field, Level, Section

LAYOUT = 2
DEPTH = 50
PIECE_WORDS, CHUNK_PIECES, DOCUMENT_CHUNKS = 60, 3, 10
_SYNTAX = {
    "path": "{} path:part7/",
    "field": '{} topic:"topic 3"',
    "age": "{} older_than:1y",
    "excluded_tag": "{} -tag:tag1",
    "excluded_word": "{} -protein",
    "phrase": '{} "cell death"',
    "or": '{} path:part7/ OR "cell death"',
    "slip": "{} type:markdwn",
}
_SETS = ("scifact", "mtrag_pool", "anthropic_codebase")


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


def make_library(place: Path, chunks: int) -> None:
    """Write documents of ten chunks straight into the catalog, then one index generation."""
    library = Library.open(load_settings(library=place), create=True)
    writer = library.writer()
    record = library.catalog.collections.ensure("default")
    source = library.catalog.collections.ensure_source(record.id, "folder", str(place / "files"))
    chooser = random.Random(20260101)
    pieces = list(dict.fromkeys(cut(texts())))
    tokens = [tokenize(piece) for piece in pieces]
    for number in range(-(-chunks // DOCUMENT_CHUNKS)):
        count = min(DOCUMENT_CHUNKS, chunks - number * DOCUMENT_CHUNKS)
        chosen = [chooser.sample(range(len(pieces)), CHUNK_PIECES) for _ in range(count)]
        one = draft(number, chosen, pieces, tokens, library, (source.id, record.id))
        library.catalog.documents.put_many([one], writer.embedder_id)
    library.indexes.save(library.catalog.collections.get("default"))
    library.close()


def draft(number, chosen, pieces, tokens, library, home) -> DocumentDraft:
    title = " ".join(pieces[chosen[0][0]].split()[:5])
    context = f"{title} › Part {number % 7}"
    bodies = ["\n\n".join(pieces[at] for at in row) + "\n\n" for row in chosen]
    starts = np.cumsum([0, *map(len, bodies)]).tolist()
    contexts = tokenize(context)
    embedded = [contextualised(context, body) for body in bodies]
    keys = [content_key(f"{number} {body}") for body in embedded]
    vectors = library.embedder.embed_passages(embedded).astype("<f2")
    spans = list(pairwise(starts))
    return DocumentDraft(
        source_id=home[0],
        collection_id=home[1],
        path=f"part{number % 50}/{number}.md",
        size=starts[-1],
        mtime_ns=1_700_000_000_000_000_000 + number * 10**12,
        hash=f"{number:032x}",
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
                        *(token for one in row for token in tokens[one]),
                    ],
                    FIELD_CODES[Field.TITLE]: contexts,
                },
            )
            for at, row in enumerate(chosen)
        ),
        vectors=dict(zip(keys, (row.tobytes() for row in vectors), strict=True)),
    )


def library_of(chunks: int) -> tuple[Path, float]:
    """The library of that size, made when it is not there yet, and how long that took."""
    embedder = open_embedder(load_settings().models).fingerprint
    parts = [LAYOUT, SHARED.is_dir(), TOKENIZER_VERSION, embedder]
    key = hashlib.blake2b(repr(parts).encode(), digest_size=4).hexdigest()
    place = Path(tempfile.gettempdir(), f"ragkit-bench-search-{chunks}-{key}")
    if (place / "made").is_file():
        return place, 0.0
    started = time.perf_counter()
    making = Path(tempfile.mkdtemp(prefix="ragkit-bench-making-"))
    make_library(making, chunks)
    (making / "made").touch()
    shutil.rmtree(place, ignore_errors=True)
    making.rename(place)
    return place, time.perf_counter() - started


def timed(work) -> float:
    started = time.perf_counter()
    work()
    return (time.perf_counter() - started) * 1000


def cpu_of_syntax(library: Library, asked: list[str]) -> dict[str, float]:
    """CPU time of questions with filters and the like, in the medians of the plain ones."""
    forms = {"plain": "{}", **_SYNTAX}
    taken: dict[str, list[float]] = {name: [] for name in forms}
    for number, question in enumerate(asked):
        for name, form in forms.items():
            library.engine._answers = AnswerCache()
            started = time.process_time()
            library.search(form.format(question))
            if number:  # the first reads what is kept from then on
                taken[name].append((time.process_time() - started) * 1000)
    plain = median(taken["plain"])
    figures = {f"cpu_{name}_to_plain": median(taken[name]) / plain for name in _SYNTAX}
    return {"cpu_plain_p50_ms": plain, **figures}


def highlighted(answer: Answer) -> int:
    """Look at every highlight and matched word, as a page that draws all passages does."""
    passages = [passage for one in answer.results for passage in one.passages]
    chunks = [chunk for one in answer.results for chunk in one.matched_chunks]
    return sum(len(one.highlights) for one in passages) + sum(len(one.terms) for one in chunks)


def bare(library: Library):
    """The two indexes by themselves: what a question costs at the very least."""
    import faiss

    rows = library.indexes.current(library.catalog.collections.get("default")).scan()
    vectors = faiss.IndexScalarQuantizer(
        rows.dimensions, faiss.ScalarQuantizer.QT_fp16, faiss.METRIC_INNER_PRODUCT
    )
    vectors.add(rows.vectors.astype(np.float32))
    from ragkit.indexes.local.keyword import KeywordIndex

    index = KeywordIndex.build(rows.tokens[Field.TEXT])
    words, known = index.bm25, index.token_ids

    def search(tokens, vector) -> None:
        faiss.omp_set_num_threads(1)
        vectors.search(vector[None, :], DEPTH)
        scores = words.get_scores_from_ids(tokens)
        found = np.flatnonzero(scores)
        if len(found) > DEPTH:
            best = np.argpartition(scores[found], len(found) - DEPTH)[-DEPTH:]
            found = found[best]
        found[np.argsort(-scores[found], kind="stable")]

    def prepare(question: str):
        ids = library.catalog.entries.token_ids(tokenize(question))
        wanted = np.unique(np.fromiter(ids.values(), np.int64, len(ids)))
        places = np.searchsorted(known, wanted)
        places = np.minimum(places, len(known) - 1)
        return places[known[places] == wanted], library.embedder.embed_queries([question])[0]

    return prepare, search


def measure(chunks: int, count: int) -> dict[str, float | int]:
    place, made = library_of(chunks)
    library = Library.open(load_settings(library=place))
    prepare, search_bare = bare(library)
    options = {mode: library.options(mode=mode) for mode in Mode}
    names = ["bare", "ranking", "highlighted", "one_thread", *(mode.value for mode in Mode)]
    times: dict[str, list[float]] = {name: [] for name in names}
    concurrently = candidates.run_concurrently
    stages: dict[str, list[float]] = {}
    warm_up = 10
    for number, question in enumerate(questions(count + warm_up, random.Random(7))):
        tokens, vector = prepare(question)
        taken = {"bare": timed(lambda t=tokens, v=vector: search_bare(t, v))}
        for mode in Mode:
            started = time.perf_counter()
            answer = library.search(question, options[mode])
            taken[mode.value] = (time.perf_counter() - started) * 1000
            if mode is Mode.HYBRID:
                ranking = [one.ms for one in answer.trace.stages if one.name != "reconstruction"]
                taken["ranking"] = sum(ranking)
                taken["highlighted"] = taken["hybrid"] + timed(lambda a=answer: highlighted(a))
            if mode is Mode.HYBRID and number >= warm_up:
                for stage in answer.trace.stages:
                    stages.setdefault(stage.name, []).append(stage.ms)
        # Asked last, of words that are known by then: a little less than it would cost first.
        library.engine._answers = AnswerCache()
        candidates.run_concurrently = partial(concurrently, processors=1)
        taken["one_thread"] = timed(lambda q=question: library.search(q, options[Mode.HYBRID]))
        candidates.run_concurrently = concurrently
        if number >= warm_up:
            for name, milliseconds in taken.items():
                times[name].append(milliseconds)
    syntax = cpu_of_syntax(library, questions(count, random.Random(8)))
    library.close()
    first = ["search", "--library", str(place), "how is a protein folded"]
    processes = [process_seconds([python(), "-m", "ragkit", *first]) for _ in range(5)]
    figures: dict[str, float | int] = {"chunks": chunks, "questions": count, "making_seconds": made}
    for name, taken in times.items():
        figures[f"{name}_p50_ms"] = median(taken)
        figures[f"{name}_p95_ms"] = percentile(taken, 0.95)
    for name, taken in stages.items():
        figures[f"stage_{name}_p50_ms"] = median(taken)
    figures |= syntax
    figures["process_to_first_result_seconds"] = median(processes)
    figures["ranking_to_bare"] = figures["ranking_p50_ms"] / figures["bare_p50_ms"]
    figures["hybrid_to_bare"] = figures["hybrid_p50_ms"] / figures["bare_p50_ms"]
    figures["highlighted_to_bare"] = figures["highlighted_p50_ms"] / figures["bare_p50_ms"]
    figures["one_thread_to_bare"] = figures["one_thread_p50_ms"] / figures["bare_p50_ms"]
    figures["hybrid_p95_to_p50"] = figures["hybrid_p95_ms"] / figures["hybrid_p50_ms"]
    return figures


def main() -> None:
    parser = arguments(__doc__ or "")
    parser.add_argument("--chunks", type=int, default=100_000)
    parser.add_argument("--questions", type=int, default=200)
    options = parser.parse_args()
    report(measure(options.chunks, options.questions), options.json)


if __name__ == "__main__":
    main()
