"""Whole searches of 100,000 chunks with indexes on a Qdrant server, beside those in files.

    python benchmarks/bench_index_server.py --server http://127.0.0.1:6333 [--json]

``known`` asks a question again, of words that the process has been told of; ``new`` asks it first.
``same`` is the share of questions with the same documents in the same order, ``settled_seconds``
how long the server was busy after everything was written.
"""

from __future__ import annotations

import random
import time
from unittest.mock import patch

from common import arguments, median, report
from large_library import library_of, questions
from qdrant_client import QdrantClient

from ragkit.library import Library
from ragkit.options import Mode
from ragkit.results import Answer
from ragkit.retrieval.search import AnswerCache
from ragkit.settings import load_settings


def timed(library: Library, question: str, mode: Mode) -> tuple[Answer, float]:
    """Ask without what was answered before; return the answer and its milliseconds."""
    library.engine._answers = AnswerCache()
    started = time.perf_counter()
    answer = library.search(question, library.options(mode=mode))
    return answer, (time.perf_counter() - started) * 1000


def settled(address: str) -> float:
    """Wait until the server has nothing to do; return the seconds."""
    client = QdrantClient(url=address, check_compatibility=False)
    started = time.perf_counter()
    quiet = 0
    while quiet < 5 and time.perf_counter() - started < 900:
        time.sleep(1)
        names = [each.name for each in client.get_collections().collections]
        is_green = all(client.get_collection(name).status == "green" for name in names)
        quiet = quiet + 1 if is_green else 0
    return time.perf_counter() - started - quiet


def measure(chunks: int, count: int, address: str) -> dict[str, float | int]:
    place, _made = library_of(chunks)
    files = Library.open(load_settings(library=place))
    server = Library.open(load_settings(library=place, index={"server": address}))
    asked = questions(count + 1, random.Random(11))
    figures: dict[str, float | int] = {"chunks": chunks, "questions": count}
    figures["writing_seconds"] = timed(server, asked.pop(), Mode.HYBRID)[1] / 1000
    figures["settled_seconds"] = settled(address)
    for mode in Mode:
        of_files, new, known = [], [], []
        same = 0
        for question in asked:
            expected, spent = timed(files, question, mode)
            of_files.append(spent)
            found, spent = timed(server, question, mode)
            new.append(spent)
            known.append(timed(server, question, mode)[1])
            documents = [
                [one.document.id for one in answer.results] for answer in (expected, found)
            ]
            same += documents[0] == documents[1]
        figures |= {
            f"{mode.value}_files_p50_ms": median(of_files),
            f"{mode.value}_new_p50_ms": median(new),
            f"{mode.value}_known_p50_ms": median(known),
            f"{mode.value}_known_to_files": median(known) / median(of_files),
            f"{mode.value}_same": same / count,
        }
    files.close()
    server.close()
    return figures


def main() -> None:
    parser = arguments(__doc__ or "")
    parser.add_argument("--chunks", type=int, default=100_000)
    parser.add_argument("--questions", type=int, default=60)
    parser.add_argument("--server", help="its address; without one, nothing is measured")
    parser.add_argument("--least", default="1.20", help="the oldest version that is asked")
    options = parser.parse_args()
    if not options.server:
        print("no Qdrant server is named: left out")
        return
    least = tuple(int(part) for part in options.least.split("."))
    with patch("ragkit.indexes.qdrant.server.LEAST_VERSION", least):
        report(measure(options.chunks, options.questions, options.server), options.json)


if __name__ == "__main__":
    main()
