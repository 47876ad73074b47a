"""Excerpts: how often what the first result shows holds what answers the question.

python benchmarks/bench_excerpts.py [--sets chroma sample] [--width 230] [--json]

Asks ``../shared/data/scifact`` (claims whose evidence is known by sentence),
``../shared/data/chroma_chunking`` (questions with gold excerpts, in the halves on which the weights
of sentences were chosen or not), the sample library and the two sets of ``report_set.py``. Only
questions whose first result is a document with evidence count; the share is of those whose
excerpt overlaps the evidence by half of the shorter of the two, or holds the row of a table.
"""

from __future__ import annotations

import re
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

from common import SHARED, arguments, median, report
from large_library import lines
from report_set import SETS, write_set

from ragkit.answering.excerpts import Excerpt
from ragkit.library import Library
from ragkit.settings import load_settings

SCIFACT = SHARED / "scifact"
CHROMA = SHARED / "chroma_chunking"
SAMPLE = Path(__file__).resolve().parents[1] / "sample_data"
QUESTIONS = "tests/answering/sample_questions.jsonl"
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


def sample(files: Path) -> Iterator[tuple[str, Gold]]:
    """Copy the sample documents; yield the questions whose answer is quoted."""
    shutil.copytree(SAMPLE / "library", files, dirs_exist_ok=True)
    for file in (SAMPLE / "questions.jsonl", SAMPLE.parent / QUESTIONS):
        for row in lines(file):
            gold: Gold = {}
            for one in row.get("relevant", []):
                if one.get("quote"):
                    gold.setdefault(Path(one["path"]).stem, []).append(one["quote"])
            if gold:
                yield row["text"], gold


def reports(name: str, files: Path) -> Iterator[tuple[str, Gold]]:
    """Write a set of reports; yield each question with the sentence, or the row of a table."""
    for one in write_set(files, name):
        yield one.text, {Path(file).stem: list(one.answer) for file, _ in one.places}


def holds(shown: str, gold: list[str], *, is_row: bool) -> bool:
    """Return whether an excerpt says it; a row's label, year and figure must all be there."""
    return all(one in shown for one in gold) if is_row else overlaps(shown, gold)


def shown(excerpt: Excerpt | None) -> str:
    """Return what a card quotes, with a row's header."""
    if excerpt is None:
        return ""
    text, header = excerpt.passage.text, excerpt.header
    return " ".join(text[slice(*span)] for span in (header, (excerpt.start, excerpt.end)) if span)


def measure(names: Sequence[str], width: int) -> dict[str, float]:
    """Return the shares of each set, and what the excerpts of an answer cost."""
    figures: dict[str, float] = {}
    for name in names:
        took: list[float] = []
        hits: dict[str, list[bool]] = {}
        lengths: list[int] = []
        with tempfile.TemporaryDirectory() as folder:
            files = Path(folder) / "files"
            files.mkdir()
            asked = list(MAKERS[name](files))
            library = Library.open(load_settings(library=Path(folder) / "library"), create=True)
            library.jobs.wait(library.sources.sync(library.sources.add_folder(files)))
            for number, (question, gold) in enumerate(asked):
                answer = library.search(question, library.options())
                first = Path(answer.results[0].document.path).stem if answer.results else ""
                if first not in gold:
                    continue
                library.answers.quick(answer)
                started = time.process_time()
                asked_for = answer.corrected or question
                excerpts = library.answers.excerpts(asked_for, answer.results, width)
                took.append((time.process_time() - started) * 1000)
                text = shown(excerpts[0])
                lengths.append(len(text))
                is_row = name in SETS and len(gold[first]) > 1
                half = "chosen" if number % 59 < 30 else "other"
                kind = f", {half}" if name == "chroma" else ", rows" if is_row else ""
                hits.setdefault(kind, []).append(holds(text, gold[first], is_row=is_row))
            library.close()
        for kind, of_kind in sorted(hits.items()):
            figures[f"{name}{kind}: questions"] = len(of_kind)
            figures[f"{name}{kind}: evidence shown"] = sum(of_kind) / len(of_kind)
        figures[f"{name}: characters"] = sum(lengths) / len(lengths)
        figures[f"{name}: excerpts of an answer beside its quick answer, cpu ms"] = median(took)
    return figures


MAKERS: dict[str, Callable[[Path], Iterator[tuple[str, Gold]]]] = {
    "scifact": scifact,
    "chroma": chroma,
    "sample": sample,
    **{name: partial(reports, name) for name in SETS},
}


def main() -> None:
    parser = arguments(__doc__ or "")
    parser.add_argument("--width", type=int, default=230, help="characters of an excerpt")
    parser.add_argument("--sets", nargs="+", choices=tuple(MAKERS), default=tuple(MAKERS))
    given = parser.parse_args()
    report(measure(given.sets, given.width), given.json)


if __name__ == "__main__":
    main()
