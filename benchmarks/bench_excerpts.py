"""Excerpts: how often what the first result shows holds what answers the question.

python benchmarks/bench_excerpts.py [--width 230] [--json]

Asks ``../shared/data/scifact`` (claims whose evidence is known by sentence) and
``../shared/data/chroma_chunking`` (questions with gold excerpts), each document a file. Only
questions whose first result is a document with evidence count; the share is of those whose
excerpt overlaps the evidence by half of the shorter of the two.
"""

from __future__ import annotations

import re
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from bench_search import lines
from common import SHARED, arguments, median, report

from ragkit.library import Library
from ragkit.results import Answer
from ragkit.retrieval.excerpts import best_excerpts
from ragkit.settings import load_settings

SCIFACT = SHARED / "scifact"
CHROMA = SHARED / "chroma_chunking"
Gold = dict[str, list[str]]
_SENTENCES = re.compile(r"(?<=[.!?])\s+(?=[A-Z0-9(])")


def scifact(files: Path) -> Iterator[tuple[str, Gold]]:
    """Write the abstracts; yield each claim with its evidence by file."""
    # The set counts sentences but does not hold them: documents that divide otherwise are left out.
    sentences: dict[str, list[str]] = {}
    for row in lines(SCIFACT / "corpus.jsonl"):
        (files / f"{row['_id']}.md").write_text(f"# {row['title']}\n\n{row['text']}", "utf-8")
        parts = _SENTENCES.split(row["text"])
        if len(parts) == row["metadata"]["n_sentences"]:
            sentences[row["_id"]] = parts
    for name in ("queries.jsonl", "queries_train.jsonl"):
        for row in lines(SCIFACT / name):
            gold: Gold = {}
            for document, sets in row["metadata"].get("evidence", {}).items():
                if document not in sentences:
                    continue
                numbers = {int(part) for _, of_set in sets for part in of_set.strip("[]").split()}
                gold[document] = [sentences[document][number] for number in sorted(numbers)]
            if gold:
                yield row["text"], gold


def chroma(files: Path) -> Iterator[tuple[str, Gold]]:
    """Write the documents; yield each question with its excerpts."""
    for file in (CHROMA / "docs").iterdir():
        (files / file.name).write_text(file.read_text("utf-8"), "utf-8")
    golds: dict[str, Gold] = {}
    for row in lines(CHROMA / "excerpts.jsonl"):
        golds.setdefault(row["query"], {}).setdefault(row["doc"], []).append(row["text"])
    for row in lines(CHROMA / "queries.jsonl"):
        yield row["text"], golds[row["_id"]]


def overlaps(shown: str, evidence: list[str]) -> bool:
    """Return whether half of an excerpt, or of a piece of evidence, is in the other."""
    words = shown.split()
    for piece in evidence:
        wanted = piece.split()
        need = max(1, min(len(words), len(wanted)) // 2)
        runs = {tuple(wanted[at : at + need]) for at in range(len(wanted) - need + 1)}
        if any(tuple(words[at : at + need]) in runs for at in range(len(words) - need + 1)):
            return True
    return False


def shown(question: str, answer: Answer, width: int) -> str:
    """Return the excerpt of the first result."""
    excerpts = best_excerpts(question, answer.results, width)
    return " ".join(one.passage.text[one.start : one.end] for one in excerpts[0])


def measure(width: int) -> dict[str, float]:
    """Return the share of each set, and how long the excerpts of an answer take."""
    figures: dict[str, float] = {}
    for name, make in (("scifact", scifact), ("chroma_chunking", chroma)):
        took, hits = [], []
        with tempfile.TemporaryDirectory() as folder:
            files = Path(folder) / "files"
            files.mkdir()
            asked = list(make(files))
            library = Library.open(load_settings(library=Path(folder) / "library"), create=True)
            library.jobs.wait(library.sources.sync(library.sources.add_folder(files)))
            for question, gold in asked:
                answer = library.search(question, library.options())
                first = Path(answer.results[0].document.path).stem if answer.results else ""
                if first not in gold:
                    continue
                started = time.perf_counter()
                excerpt = shown(question, answer, width)
                took.append((time.perf_counter() - started) * 1000)
                hits.append(overlaps(excerpt, gold[first]))
            library.close()
        figures[f"{name}: questions"] = len(hits)
        figures[f"{name}: evidence shown"] = sum(hits) / len(hits)
        figures[f"{name}: excerpts of an answer, ms"] = median(took)
    return figures


def main() -> None:
    parser = arguments(__doc__ or "")
    parser.add_argument("--width", type=int, default=230, help="characters of an excerpt")
    given = parser.parse_args()
    report(measure(given.width), given.json)


if __name__ == "__main__":
    main()
