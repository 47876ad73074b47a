"""Which page of which report answers a question: two generated sets of 20 PDFs of 60 pages.

python benchmarks/bench_reports.py [--sets choose report] [--seed 1] [--json > before]
RAGKIT_SEARCH__DOCUMENT_WEIGHT=0 python benchmarks/bench_reports.py --against before

The files are read and indexed by the real pipeline into a temporary library, and asked as a person
asks. A page counts as found at 10 when it is among the first ten pages that matched chunks stand
on, in the order of ranking, every chunk a result of its own; passages around them do not count. A
file is judged by the results that a search gives by default.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from common import arguments, report
from report_set import SETS, Question, write_set

from ragkit.evaluation.ephemeral_library import COLLECTION, EphemeralLibrary
from ragkit.evaluation.metrics import Values, summarise
from ragkit.indexing.progress import Reporter
from ragkit.options import SearchOptions
from ragkit.results import Answer
from ragkit.retrieval.search import SearchEngine
from ragkit.settings import load_settings

DEPTH = 10
DEEPEST = 50


@contextmanager
def library_of(
    name: str, root: Path, seed: int = 1
) -> Iterator[tuple[EphemeralLibrary, list[Question]]]:
    """Write a set into a folder and index it."""
    questions = write_set(root / "files", name, seed)
    library = EphemeralLibrary(root / "library", load_settings())
    try:
        library.add_folder(root / "files", Reporter())
        yield library, questions
    finally:
        library.close()


def values_of(engine: SearchEngine, questions: list[Question], options: SearchOptions) -> Values:
    """The figures of each question."""
    options = replace(options, collections=(COLLECTION,))
    chunks = replace(options, per_document=0, limit=DEEPEST)
    values: Values = {}
    for question in questions:
        pages = _distinct(_pages(engine.search(question.text, chunks)))
        found = engine.search(question.text, options).results
        files = _distinct(result.document.path for result in found)
        right = {file for file, _ in question.places}
        of_page = next((1 / at for at, page in enumerate(pages, 1) if page in question.places), 0.0)
        figures = {
            "page recall@10": float(any(page in question.places for page in pages[:DEPTH])),
            "page mrr": of_page,
            "file recall@1": float(bool(right.intersection(files[:1]))),
            "file recall@10": float(bool(right.intersection(files[:DEPTH]))),
        }
        for metric, value in figures.items():
            values.setdefault(metric, {})[question.id] = value
    return values


def _pages(answer: Answer) -> Iterator[tuple[str, int]]:
    for result in answer.results:
        for chunk in result.matched_chunks:
            first, last = chunk.pages or (0, -1)
            for page in range(first, last + 1):
                yield result.document.path, page


def _distinct(items: Iterable) -> list:
    return list(dict.fromkeys(items))


def summary(name: str, questions: list[Question], values: Values) -> dict[str, float]:
    """Means over the set, and page recall of each kind of question."""
    figures = {
        f"{name} {metric}": sum(of_question.values()) / len(of_question)
        for metric, of_question in values.items()
    }
    recall = values["page recall@10"]
    kinds = {"named": [one for one in questions if one.named]}
    for question in questions:
        kinds.setdefault(question.kind if question.named else "unnamed", []).append(question)
    for kind, asked in kinds.items():
        mean = sum(recall[one.id] for one in asked) / len(asked)
        figures[f"{name} page recall@10, {kind} ({len(asked)})"] = mean
    return figures


def differences(before: Values, after: Values) -> dict[str, str]:
    """What changed in the mean, question by question, with its 95 % interval."""
    changed = {
        metric: {key: value - before[metric][key] for key, value in of_question.items()}
        for metric, of_question in after.items()
    }
    return {
        f"{one.name}, change": f"{one.value:+.3f} ({one.low:+.3f} to {one.high:+.3f})"
        for one in summarise(changed)
    }


def main() -> None:
    parser = arguments(__doc__ or "")
    parser.add_argument("--sets", nargs="+", choices=SETS, default=SETS)
    parser.add_argument("--seed", type=int, default=1, help="other figures and questions")
    parser.add_argument("--against", type=Path, help="the --json of an earlier run")
    given = parser.parse_args()
    options = load_settings().search.options()
    figures: dict[str, float | str] = {}
    of_sets: dict[str, Values] = {}
    for name in given.sets:
        with (
            tempfile.TemporaryDirectory() as root,
            library_of(name, Path(root), given.seed) as indexed,
        ):
            library, questions = indexed
            of_sets[name] = values_of(library.engine, questions, options)
        figures |= summary(name, questions, of_sets[name])
    if given.against:
        before = json.loads(given.against.read_text("utf-8"))["questions"]
        for name in given.sets:
            changes = differences(before[name], of_sets[name])
            figures |= {f"{name} {key}": value for key, value in changes.items()}
    report({**figures, "questions": of_sets} if given.json else figures, given.json)


if __name__ == "__main__":
    main()
