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

import random
import time
from functools import partial

import numpy as np
from common import arguments, median, percentile, process_seconds, python, report
from large_library import library_of, questions

from ragkit.indexes.tokenizer import tokenize
from ragkit.library import Library
from ragkit.options import Mode
from ragkit.results import Answer
from ragkit.retrieval import candidates
from ragkit.retrieval.search import AnswerCache
from ragkit.settings import load_settings
from ragkit.types import Field

DEPTH = 50
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
