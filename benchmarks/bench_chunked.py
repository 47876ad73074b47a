"""Long questions: what 20 segments cost beside one question, and what conversations find.

python benchmarks/bench_chunked.py [--chunks N] [--repeats 30] [--quality] [--only NAME] [--json]

The time is taken on the library of ``bench_search.py``, question and conversation by turns.
``--quality`` instead asks the joined conversations of ``../shared/data/mtrag_pool``, each passage
a document of its own, in one question and in several ways of cutting and merging.
"""

from __future__ import annotations

import json
import random
import re
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from common import SHARED, arguments, median, percentile, report
from large_library import library_of, lines, questions

from ragkit.library import Library
from ragkit.options import ChunkedOptions, CutMethod, Merge
from ragkit.settings import load_settings

SEGMENTS = 20
SET = SHARED / "mtrag_pool"
_ROLE = re.compile(r"^(?:user|agent): ", re.MULTILINE)


def conversation(asked: list[str]) -> str:
    return "\n\n".join(
        f"**{'Ann' if number % 2 else 'Bob'}** · 10:{number:02}\n{text}"
        for number, text in enumerate(asked)
    )


def speed(chunks: int, repeats: int) -> dict[str, float | int]:
    place, made = library_of(chunks)
    library = Library.open(load_settings(library=place))
    asked = questions((repeats + 3) * (SEGMENTS + 1), random.Random(11))
    times: dict[str, list[float]] = {"question": [], "conversation": []}
    stages: dict[str, list[float]] = {}
    for number in range(repeats + 3):
        one, *many = asked[number * (SEGMENTS + 1) : (number + 1) * (SEGMENTS + 1)]
        started = time.perf_counter()
        library.search(one, library.options())
        between = time.perf_counter()
        answer = library.search_chunked(conversation(many))
        ended = time.perf_counter()
        assert answer.segments == SEGMENTS
        if number >= 3:
            times["question"].append((between - started) * 1000)
            times["conversation"].append((ended - between) * 1000)
            for stage in answer.trace.stages:
                stages.setdefault(stage.name, []).append(stage.ms)
    library.close()
    figures: dict[str, float | int] = {
        "chunks": chunks,
        "segments": SEGMENTS,
        "making_seconds": made,
    }
    for name, taken in times.items():
        figures[f"{name}_p50_ms"] = median(taken)
        figures[f"{name}_p95_ms"] = percentile(taken, 0.95)
    for name, taken in stages.items():
        figures[f"stage_{name}_p50_ms"] = median(taken)
    figures["conversation_to_question"] = median(times["conversation"]) / median(times["question"])
    return figures


def passages(place: Path) -> Library:
    """A library with a file for each passage."""
    files = place / "files"
    files.mkdir()
    for row in lines(SET / "corpus.jsonl"):
        head = f"---\ntitle: {json.dumps(row['title'])}\n---\n" if row["title"] else ""
        (files / f"{row['_id']}.md").write_text(head + row["text"], "utf-8")
    library = Library.open(load_settings(library=place / "library"), create=True)
    library.jobs.wait(library.sources.sync(library.sources.add_folder(files)))
    return library


def quality(only: str) -> dict[str, float]:
    asked = list(lines(SET / "queries_multi.jsonl"))
    right: dict[str, set[str]] = {}
    for line in (SET / "qrels_multi.tsv").read_text("utf-8").splitlines()[1:]:
        question, passage, _grade = line.split("\t")
        right.setdefault(question, set()).add(passage)
    figures: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as folder:
        library = passages(Path(folder))
        for name, find in ways(library).items():
            if only not in name:
                continue
            recalls, topics = [], []
            for one in asked:
                found = {Path(path).stem for path in find(one["text"])}
                gold = right[one["_id"]]
                recalls.append(len(found & gold) / len(gold))
                aspects = [set(part["gold"]) for part in one["metadata"]["aspects"]]
                topics.append([len(found & part) / len(part) for part in aspects])
            by_place = np.array(topics).mean(axis=0)
            ordered = np.sort(np.array(topics), axis=1).mean(axis=0)
            figures[f"{name}: recall@10"] = float(np.mean(recalls))
            figures[f"{name}: worst to best topic"] = float(by_place.min() / by_place.max())
            figures[f"{name}: worst topic of each message"] = float(ordered[0])
            figures[f"{name}: best topic of each message"] = float(ordered[-1])
        library.close()
    return figures


def ways(library: Library) -> dict[str, Callable[[str], list[str]]]:
    """Ways of asking a text, each giving ten paths."""

    def whole(text: str) -> list[str]:
        return [
            one.document.path for one in library.search(text, library.options(limit=10)).results
        ]

    def chunked(**changes) -> Callable[[str], list[str]]:
        options = ChunkedOptions(limit=10, **changes)

        def find(text: str) -> list[str]:
            answer = library.search_chunked(text, chunked=options)
            return [one.result.document.path for one in answer.results]

        return find

    default = chunked()
    return {
        "one question": whole,
        "default": default,
        "10 hits a segment": chunked(hits_per_segment=10),
        "merged by score": chunked(merge=Merge.SCORE),
        "whole text beside, 0.3": chunked(whole_weight=0.3),
        "segments of 1800 tokens": chunked(method=CutMethod.FIXED),
        "segments of 100 tokens": chunked(
            method=CutMethod.FIXED, segment_tokens=100, overlap_tokens=10
        ),
        "without roles": lambda text: default(_ROLE.sub("\n", text)),
    }


def main() -> None:
    parser = arguments(__doc__ or "")
    parser.add_argument("--chunks", type=int, default=100_000)
    parser.add_argument("--repeats", type=int, default=30)
    parser.add_argument("--quality", action="store_true", help="recall instead of time")
    parser.add_argument("--only", default="", help="ways of asking whose name holds this")
    given = parser.parse_args()
    report(quality(given.only) if given.quality else speed(given.chunks, given.repeats), given.json)


if __name__ == "__main__":
    main()
