"""Documentation: which file answers a question, and how large its chunks and parents are.

python benchmarks/bench_docs.py [--json]

Indexes ``../shared/data/docs_tree/streamlit`` and asks 70 questions of one who uses it
(``docs_questions.tsv``: a question, a tab, the files that answer it between bars), the titles that
only one page has, its headings of four words or more, and runs of eight words of its sentences.
Gold of the latter three is the file;
``at its place`` says that a chunk that is shown as matched touches the section or the sentence.
Sizes are in words, of documents that are long enough. With ``RAGKIT_CHUNKING__MIN_WORDS=40``
hardly any sections are put together.
"""

from __future__ import annotations

import random
import re
import tempfile
from collections import Counter
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

from common import SHARED, arguments, median, report

from ragkit.library import Library
from ragkit.settings import load_settings

TREE = SHARED / "docs_tree" / "streamlit"
QUESTIONS = Path(__file__).with_name("docs_questions.tsv")
Task = tuple[str, str, list[str], tuple[int, int] | None]
_SENTENCES = re.compile(r"(?<=[.!?]\s)[A-Z][^.!?\n]{60,250}[.!?](?=\s)")


def words(text: str) -> int:
    return len(text.split())


def tasks(library: Library) -> Iterator[Task]:
    """Yield (kind, question, files, span of the place)."""
    for line in QUESTIONS.read_text("utf-8").splitlines():
        question, files = line.split("\t")
        yield "questions", question, files.split("|"), None
    titles = Counter(document.title for document in library.documents.list())
    rng = random.Random(5)
    for document in sorted(library.documents.list(), key=lambda document: document.path):
        if not document.chunks:
            continue
        if titles[document.title] == 1:
            yield "titles", document.title, [document.path], None
        detail = library.documents.get(document.id)
        for section in detail.sections:
            long = words(detail.text[section.start : section.end]) >= 30
            if section.level >= 2 and words(section.title) >= 4 and long:
                place = section.start, section.end
                yield "headings", section.title, [document.path], place
        sentences = list(_SENTENCES.finditer(detail.text))
        for sentence in rng.sample(sentences, min(3, len(sentences))):
            run = re.sub(r"[`*]", "", sentence.group()).split()
            at = rng.randrange(max(1, len(run) - 8))
            yield "sentences", " ".join(run[at : at + 8]), [document.path], sentence.span()


def sizes(library: Library) -> dict[str, float | int]:
    chunks: list[int] = []
    parents: list[int] = []
    alone = 0
    for document in library.documents.list():
        detail = library.documents.get(document.id)
        length = words(detail.text)
        if length >= 200:
            chunks += [words(detail.text[c.chunk.start : c.chunk.end]) for c in detail.chunks]
        for _, group in groupby(detail.chunks, lambda record: record.chunk.parent):
            inside = [record.chunk for record in group]
            if length >= 800:
                parents.append(words(detail.text[inside[0].start : inside[-1].end]))
                alone += len(inside) == 1
    return {
        "chunks": library.documents.counts().chunks,
        "chunks of documents of 200 words: median": median(chunks),
        "parents of documents of 800 words: median": median(parents),
        "parents of documents of 800 words: single chunks": alone / len(parents),
    }


def measure() -> dict[str, float | int]:
    with tempfile.TemporaryDirectory() as folder:
        settings = load_settings(library=Path(folder) / "library")
        with Library.open(settings, create=True) as library:
            library.jobs.wait(library.sources.sync(library.sources.add_folder(TREE)))
            figures = sizes(library)
            asked = sorted(tasks(library), key=lambda task: task[0])
            for kind, group in groupby(asked, lambda task: task[0]):
                figures |= recall(library, kind, list(group))
    return figures


def recall(library: Library, kind: str, asked: list[Task]) -> dict[str, float | int]:
    """Ask, and count how often a right file is among the first, and the right place in it."""
    ranks: list[int] = []
    at_place: list[bool] = []
    for _, question, files, place in asked:
        results = library.search(question).results
        found = [one.document.path for one in results]
        ranks.append(next((rank for rank, path in enumerate(found) if path in files), 99))
        chunks = [
            chunk.span
            for one in results[:5]
            if one.document.path in files
            for chunk in one.matched_chunks
        ]
        if place is not None:
            start, end = place
            at_place.append(any(span and span.start < end and start < span.end for span in chunks))
    figures: dict[str, float | int] = {kind: len(asked)}
    for depth in (1, 5, 10):
        figures[f"{kind}: file recall@{depth}"] = sum(r < depth for r in ranks) / len(ranks)
    if at_place:
        figures[f"{kind}: at its place@5"] = sum(at_place) / len(at_place)
    return figures


def main() -> None:
    given = arguments(__doc__ or "").parse_args()
    report(measure(), given.json)


if __name__ == "__main__":
    main()
