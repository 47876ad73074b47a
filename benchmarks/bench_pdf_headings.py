"""Headings of PDFs that are inferred from how they are drawn, against the files' own bookmarks.

python benchmarks/bench_pdf_headings.py FOLDER [--all] [--every 2 --from 0] [--show 5] [--json]

Each file in FOLDER with five bookmarks or more is read as if it had none. A heading is right if it
is a bookmark of its page or a neighbouring one, without its number. Bookmarks often lack the lowest
headings and those without a number, so ``precision`` counts too little; ``precision of numbered``
is that of headings with a number down to the depth of the bookmarks. ``levels``: the share of
neighbours whose levels go the same way. Of each folder one file is read, or ``--all``. With
``--every 2``, each second one is read, so that the others can be held out.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

from common import arguments, report

from ragkit.reading.limits import Limits
from ragkit.reading.pdf import by_pdfium
from ragkit.reading.pdf.contents import Contents
from ragkit.reading.pdf.headings import Heading, inferred
from ragkit.reading.pdf.paragraphs import in_one_line
from ragkit.reading.pdf.running import without_running_lines
from ragkit.reading.pdf.vocabulary import Vocabulary

_LIMITS = Limits(60, 1500, 500, 500)
_FEWEST_MARKS, _MOST_PAGES = 5, 150
_NUMBER = re.compile(
    r"^(?:(?:chapter|appendix|part|section|kapitel|annex)\s+)?(?:[\dA-Z]\d?(?:\.\d+)*|[ivxlc]+)"
    r"[.)]?\s+",
    re.IGNORECASE,
)


class Scores(NamedTuple):
    """Of one file: the shares of headings that are right, of bookmarks found, and of levels."""

    precision: float | None
    numbered: float | None
    recall: float
    levels: float | None


def plain(title: str) -> str:
    """Return a title without its number, as letters and digits."""
    named = re.sub(r"\W|_", "", _NUMBER.sub("", title.strip()).casefold())
    return named or re.sub(r"\W|_", "", title.casefold())


def depth(title: str) -> int:
    """Return how many parts the number of a title has."""
    number = re.match(r"(?:\d+|[A-Z])(?:\.\d+)*(?=[.)]?\s)", title)
    return number[0].count(".") + 1 if number else 0


def headings_of(contents: Contents) -> list[Heading]:
    """Infer headings as the reader does for a file without bookmarks."""
    vocabulary = Vocabulary(line.text for lines in contents.run.pages for line in lines)
    pages = without_running_lines(vocabulary.mended(contents.run.pages))
    return inferred(pages, partial(in_one_line, vocabulary=vocabulary))


def scored(found: Sequence[Heading], bookmarks: Sequence[Heading]) -> Scores:
    """Score the headings of one file."""
    truth = {(mark.page, plain(mark.title)): mark.level for mark in bookmarks}
    right = {heading: level for heading in found if (level := _level(heading, truth)) is not None}
    keys = {(heading.page, plain(heading.title)): heading.level for heading in found}
    deepest = max((depth(mark.title) for mark in bookmarks), default=0)
    numbered = [heading for heading in found if 0 < depth(heading.title) <= (deepest or 9)]
    order = [
        _sign(one.level - two.level) == _sign(right[one] - right[two])
        for one, two in pairwise(right)
    ]
    return Scores(
        len(right) / len(found) if found else None,
        fmean(heading in right for heading in numbered) if numbered else None,
        fmean(_level(Heading(page, 0, title), keys) is not None for page, title in truth),
        fmean(order) if order else None,
    )


def _level(heading: Heading, among: dict[tuple[int, str], int]) -> int | None:
    named = plain(heading.title)
    around = ((heading.page + step, named) for step in (0, -1, 1))
    return next((among[key] for key in around if key in among), None)


def _sign(difference: int) -> int:
    return (difference > 0) - (difference < 0)


def files_of(paths: Iterable[Path]) -> Iterator[tuple[Path, Contents]]:
    """Yield the files that have enough bookmarks and not too many pages."""
    for path in paths:
        try:
            contents = by_pdfium.contents_of(path.read_bytes(), _LIMITS)
        except Exception as error:  # noqa: BLE001 - files of others may be anything
            print(f"{path.name}: {error}", file=sys.stderr)
            continue
        usual = contents is not None and len(contents.run.pages) <= _MOST_PAGES
        if contents is not None and usual and len(contents.bookmarks) >= _FEWEST_MARKS:
            yield path, contents


def mean(values: Iterable[float | None]) -> float:
    """Return the mean of the values that there are."""
    known = [value for value in values if value is not None]
    return fmean(known) if known else 0.0


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--all", action="store_true", help="all files of each folder")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--from", type=int, default=0, dest="start")
    parser.add_argument("--show", type=int, default=0, help="the headings of so many files")
    given = parser.parse_args()
    # Fonts are read only of files without an outline.
    by_pdfium.is_outline = lambda *_: False
    scores: list[Scores] = []
    paths = sorted(given.folder.rglob("*.pdf"), reverse=True)
    if not given.all:
        paths = list({path.parent: path for path in paths}.values())
    for path, contents in files_of(sorted(paths)[given.start :: given.every]):
        found = headings_of(contents)
        marks = [Heading(*mark) for mark in contents.bookmarks]
        scores.append(scored(found, marks))
        if len(scores) <= given.show:
            print(path, scores[-1])
            for heading in found:
                print("    " * heading.level + f"p. {heading.page + 1}: {heading.title}")
    figures = {
        "files": len(scores),
        "files without a heading": sum(score.precision is None for score in scores),
        "precision": mean(score.precision for score in scores),
        "precision of numbered": mean(score.numbered for score in scores),
        "recall": mean(score.recall for score in scores),
        "levels": mean(score.levels for score in scores),
    }
    report(figures, given.json)


if __name__ == "__main__":
    main()
