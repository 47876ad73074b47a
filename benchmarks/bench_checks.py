"""Checks of answers: how often they warn without cause, and how often of a changed figure.

python benchmarks/bench_checks.py [--json] [--show 20]

No model is asked. Sentences of documents are read as answers that cite themselves: every finding is
false. The answers of people in ``../shared/data/mtrag_pool`` are read against their gold passages,
as they are and with each figure of two digits or more changed; supported claims of ``scifact``
against their abstracts. Figures are shares of sentences, and CPU time for one.
"""

from __future__ import annotations

import random
import re
import time
from collections.abc import Iterable, Iterator

from common import SHARED, arguments, report
from large_library import lines

from ragkit.answering.checks import check_sentence
from ragkit.answering.citations import CitationReader, CitedSentence
from ragkit.answers import Check, Source
from ragkit.chunking.units import text_units

MTRAG, SCIFACT = SHARED / "mtrag_pool", SHARED / "scifact"
_SAMPLE, _LONGEST = 4000, 2000
_FIGURE = re.compile(r"(?<![\w.,])\d{2,}(?![\w.,]\d)")


def sentences_of(answer: str, ground: str, question: str = "") -> Iterator[tuple[str, ...]]:
    """Yield the sentences of an answer with what is found in each."""
    reader = CitationReader([Source("", 0, 0)])
    reader.feed(answer)
    reader.finish()
    for sentence in reader.sentences:
        yield sentence.text, *(one.detail for one in found(sentence.text, ground, question))


def found(text: str, ground: str, question: str) -> tuple[Check, ...]:
    """Check a sentence that cites one ground."""
    return check_sentence(CitedSentence(text, (1,), (1,)), [ground], question)


def texts() -> Iterator[tuple[str, list[str]]]:
    """Yield sets of documents by name."""
    for name, folder in (("streamlit", "docs_tree/streamlit"), ("chroma", "chroma_chunking")):
        yield name, [file.read_text("utf-8") for file in sorted((SHARED / folder).rglob("*.md"))]
    for name, folder in (("scifact", SCIFACT), ("mtrag", MTRAG)):
        yield name, [row["text"] for row in lines(folder / "corpus.jsonl")]


def quoted(documents: Iterable[str]) -> Iterator[tuple[str, str, str]]:
    """Yield sentences of documents, each as an answer with itself as its ground."""
    pieces = [
        text[unit.start : unit.end]
        for text in documents
        for unit in text_units(text, code=False)
        if unit.kind in ("prose", "row") and unit.end - unit.start < _LONGEST
    ]
    for piece in random.Random(0).sample(pieces, min(_SAMPLE, len(pieces))):
        yield " ".join(piece.split()), piece, ""


def conversations() -> Iterator[tuple[str, str, str]]:
    """Yield the answers of people, the gold passages of their questions, and the questions."""
    passages = {
        row["_id"]: f"{row.get('title', '')}\n{row['text']}"
        for row in lines(MTRAG / "corpus.jsonl")
    }
    gold: dict[str, list[str]] = {}
    for line in (MTRAG / "qrels.tsv").read_text("utf-8").split("\n")[1:]:
        if line:
            query, passage, _ = line.split("\t")
            gold.setdefault(query, []).append(passages[passage])
    queries = {row["_id"]: row for row in lines(MTRAG / "queries.jsonl")}
    for name, row in queries.items():
        talk, _, number = name.rpartition("<::>")
        # The answer to a question stands in the conversation of the one after it.
        after = queries.get(f"{talk}<::>{int(number) + 1}")
        turns = after["metadata"]["full_conversation"].split("\nagent: ") if after else []
        if len(turns) > 1 and name in gold:
            yield turns[-1].split("\nuser: ")[0], "\n".join(gold[name]), row["text"]


def claims() -> Iterator[tuple[str, str, str]]:
    """Yield the supported claims with their abstracts."""
    abstracts = {
        row["_id"]: f"{row['title']}\n{row['text']}" for row in lines(SCIFACT / "corpus.jsonl")
    }
    for row in lines(SCIFACT / "queries.jsonl"):
        evidence = row["metadata"].get("evidence", {})
        supporting = [
            name for name, sets in evidence.items() if any(s[0] == "SUPPORT" for s in sets)
        ]
        if supporting:
            yield row["text"], "\n".join(map(abstracts.__getitem__, supporting)), ""


def main() -> None:
    """Measure and print."""
    parser = arguments(__doc__ or "")
    parser.add_argument("--show", type=int, default=0, help="so many findings of each set")
    given = parser.parse_args()
    sets = {f"{name}, citing themselves": quoted(documents) for name, documents in texts()}
    sets |= {"mtrag answers": conversations(), "scifact supported claims": claims()}
    figures: dict[str, float] = {}
    for name, answers in sets.items():
        count = warned = changed = caught = 0
        started = time.process_time()
        for answer, ground, question in answers:
            for text, *details in sentences_of(answer, ground, question):
                count += 1
                warned += bool(details)
                if details and warned <= given.show:
                    print(f"  {details} {text[:120]}")
                other = _FIGURE.sub(lambda figure: str(int(figure[0]) + 7), text)
                if not details and other != text:
                    changed += 1
                    caught += bool(found(other, ground, question))
        figures[f"{name}: sentences"] = count
        figures[f"{name}: with a finding"] = warned
        figures[f"{name}: figures changed"] = changed
        figures[f"{name}: found"] = caught
        figures[f"{name}: ms a sentence"] = 1000 * (time.process_time() - started) / max(1, count)
    report(figures, given.json)


if __name__ == "__main__":
    main()
