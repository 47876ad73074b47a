"""Quick answers: which of them are right, and what they cost beside the search.

python benchmarks/bench_answers.py [--chunks 100000] [--questions 200] [--json]

Asks ``../shared/data/chroma_chunking`` (a right excerpt overlapped by the first sentence, and by
one of three, also where the same words stand at several places; ``chosen`` is the half on which
weights were chosen), ``../shared/data/mtrag_pool``
(last turns as they are; silence where nothing answers and where something does, in halves of whole
conversations) and ``../shared/data/scifact`` (claims with evidence, none of them chosen on), with
the options that a library has at first. ``cpu`` is that of this process, of a question to the
library of ``bench_search.py``: it counts the work on a busy machine as well. ``--chunks 0`` leaves
that out.
"""

from __future__ import annotations

import random
import re
import tempfile
import time
import zlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from bench_excerpts import overlaps, scifact
from common import SHARED, arguments, median, percentile, report
from large_library import library_of, lines, questions

from ragkit.answers import Source
from ragkit.library import Library
from ragkit.settings import load_settings

CHROMA, MTRAG = SHARED / "chroma_chunking", SHARED / "mtrag_pool"
Figures = dict[str, float | int]


def library_with(folder: Path) -> Library:
    """Index the files of a folder into a library beside it."""
    settings = load_settings(library=folder.parent / "library")
    library = Library.open(settings, create=True)
    library.jobs.wait(library.sources.sync(library.sources.add_folder(folder)))
    return library


def chosen_on(number: int) -> bool:
    """Whether a question of chroma_chunking is one of the 240 that weights were chosen on."""
    return number % 59 < 30


def chroma(files: Path) -> Figures:
    for file in (CHROMA / "docs").iterdir():
        (files / file.name).write_bytes(file.read_bytes())
    gold: dict[str, list[dict]] = {}
    for row in lines(CHROMA / "excerpts.jsonl"):
        gold.setdefault(row["query"], []).append(row)
    texts = {file.name: file.read_text("utf-8") for file in files.iterdir()}

    def is_there(source: Source, question: str) -> bool:
        return any(
            f"{row['doc']}.md" == source.document.path
            and source.start < row["end"]
            and row["start"] < source.end
            for row in gold[question]
        )

    def says_it(source: Source, question: str) -> bool:
        said = plain(source.text)
        marked = (
            plain(texts[f"{row['doc']}.md"][row["start"] : row["end"]]) for row in gold[question]
        )
        return is_there(source, question) or any(said in one or one in said for one in marked)

    figures: Figures = {}
    with library_with(files) as library:
        asked = list(lines(CHROMA / "queries.jsonl"))
        for name, half in (("chosen", True), ("other", False)):
            rows = [row for number, row in enumerate(asked) if chosen_on(number) is half]
            answers = [library.answers.quick(library.search(row["text"])) for row in rows]
            figures[f"chroma_chunking, {name}: questions"] = len(rows)
            for words, right in (("", is_there), (", by its words", says_it)):
                hits = [
                    [right(source, row["_id"]) for source in sources]
                    for row, sources in zip(rows, answers, strict=True)
                ]
                figures[f"chroma_chunking, {name}: first{words}"] = mean(
                    any(one[:1]) for one in hits
                )
                figures[f"chroma_chunking, {name}: one of three{words}"] = mean(map(any, hits))
            figures[f"chroma_chunking, {name}: silent"] = mean(not one for one in answers)
            pairs = list(zip(rows[::2], rows[1::2], strict=False))
            figures |= two_in_one(library, f"chroma_chunking, {name}, two in one", pairs, is_there)
    return figures


def two_in_one(
    library: Library,
    name: str,
    pairs: list[tuple[dict, dict]],
    right: Callable[[Source, str], bool],
) -> Figures:
    """Ask two questions in one message: whether each is answered, by one search or by its own."""
    shared, apart, sentences = [], [], []
    read_for_one, read_for_each = [], []
    for pair in pairs:
        answer = library.search(" ".join(row["text"] for row in pair))
        as_one = library.answers.quick(replace(answer, questions=1))
        each = library.answers.quick(answer)
        sentences.append(len(each))
        for row in pair:
            own = [source for source in each if source.question in ("", row["text"])]
            shared.append(any(right(source, row["_id"]) for source in as_one))
            apart.append(any(right(source, row["_id"]) for source in own))
        for found, read in ((replace(answer, questions=1), read_for_one), (answer, read_for_each)):
            passages = [
                Source(passage.text, passage.start, passage.end, result.document)
                for result in library.answers.read_for(found)
                for passage in result.passages
            ]
            read += [any(right(each, row["_id"]) for each in passages) for row in pair]
    return {
        f"{name}: searched as one": mean(shared),
        f"{name}: each by itself": mean(apart),
        f"{name}: sentences": sum(sentences) / len(sentences),
        f"{name}: passages read, searched as one": mean(read_for_one),
        f"{name}: passages read, each by itself": mean(read_for_each),
    }


def plain(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.lower()))


def mtrag(files: Path) -> Figures:
    for number, row in enumerate(lines(MTRAG / "corpus.jsonl")):
        title = f"# {row['title']}\n\n" if row["title"] else ""
        (files / f"{number:04d}.md").write_text(title + row["text"], "utf-8")
    silent: dict[str, list[bool]] = {}
    with library_with(files) as library:
        for row in lines(MTRAG / "queries.jsonl"):
            kind = (row["metadata"].get("answerability") or [""])[0]
            if kind in ("ANSWERABLE", "UNANSWERABLE"):
                conversation = row["_id"].split("<::>")[0]
                half = "other" if zlib.crc32(conversation.encode()) % 2 else "chosen"
                sources = library.answers.quick(library.search(row["text"]))
                silent.setdefault(f"mtrag_pool, {half}: {kind.lower()}", []).append(not sources)
    figures: Figures = {}
    for name in sorted(silent):
        figures[name] = len(silent[name])
        figures[f"{name}, silent"] = mean(silent[name])
    return figures


def claims(files: Path) -> Figures:
    asked = list(scifact(files))
    first, three = [], []
    with library_with(files) as library:
        for claim, gold in asked:
            hits = [
                overlaps(source.text, gold.get(Path(source.document.path).stem, []))
                for source in library.answers.quick(library.search(claim))
            ]
            first.append(any(hits[:1]))
            three.append(any(hits))
    return {
        "scifact: claims": len(asked),
        "scifact: first": mean(first),
        "scifact: one of three": mean(three),
    }


def mean(values: Iterator[bool] | list[bool]) -> float:
    listed = list(values)
    return sum(listed) / len(listed)


def cost(chunks: int, count: int) -> Figures:
    place, _ = library_of(chunks)
    searching, answering = [], []
    with Library.open(load_settings(library=place)) as library:
        asked = questions(count + 20, random.Random(7))
        for question in asked:
            began = time.process_time()
            answer = library.search(question)
            found = time.process_time()
            library.answers.quick(answer)
            searching.append((found - began) * 1000)
            answering.append((time.process_time() - found) * 1000)
    # The first ones open files and meet their words for the first time.
    searching, answering = searching[20:], answering[20:]
    return {
        "chunks": chunks,
        "search, cpu ms": median(searching),
        "quick answer, cpu ms": median(answering),
        "quick answer, cpu ms, p95": percentile(answering, 0.95),
        "quick_to_search": median(answering) / median(searching),
    }


def main() -> None:
    parser = arguments(__doc__ or "")
    parser.add_argument("--chunks", type=int, default=100_000)
    parser.add_argument("--questions", type=int, default=200)
    given = parser.parse_args()
    figures: Figures = {}
    for make in (chroma, mtrag, claims):
        with tempfile.TemporaryDirectory() as folder:
            files = Path(folder) / "files"
            files.mkdir()
            figures |= make(files)
    if given.chunks:
        figures |= cost(given.chunks, given.questions)
    report(figures, given.json)


if __name__ == "__main__":
    main()
