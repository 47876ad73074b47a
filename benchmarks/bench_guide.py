"""A manual in thirteen languages: is it found by the same questions in each of them?

python benchmarks/bench_guide.py FOLDER [--unrelated FOLDER] [--languages en,de] [--json]

FOLDER holds the pages of Debian's installation guide, a folder for each language (``doc`` of
Debian's ``installation-guide-amd64``). ``guide_questions.tsv`` has 42 questions of one who installs
it, with the pages that answer them between bars, written before the pages were looked at, and then
put into twelve other languages. ``first`` and ``among three`` are the shares that find one of their
pages there; ``mrr`` is the mean of one by its place. ``quick`` is the share that gets a quick
answer, ``quick right`` the share of these whose first sentence is of such a page.

With ``--unrelated``, 600 pages of a manual that answers next to none of them are asked as well: a
folder for each language again, such as LibreOffice's ``help``. ``unrelated nothing close`` and
``unrelated quick`` are the shares of questions that are said to have no answer there, and that get
a quick one all the same.
"""

from __future__ import annotations

import random
from pathlib import Path

from bench_index_terms import library_of
from common import arguments, report

from ragkit.library import Library

_UNRELATED_PAGES = 600
QUESTIONS = Path(__file__).with_name("guide_questions.tsv")


def questions() -> dict[str, list[tuple[str, set[str]]]]:
    """Return by language the questions, each with the pages that answer it."""
    head, *lines = [line.split("\t") for line in QUESTIONS.read_text("utf-8").splitlines()]
    return {
        language: [
            (line[column], {f"{page}.html" for page in line[0].split("|")}) for line in lines
        ]
        for column, language in enumerate(head)
        if column
    }


def asked(library: Library, of_language: list[tuple[str, set[str]]]) -> dict[str, float]:
    first = three = mrr = quick = right = 0.0
    for question, pages in of_language:
        answer = library.search(question)
        names = [result.document.path.rpartition("/")[2] for result in answer.results]
        places = [place for place, name in enumerate(names) if name in pages]
        if places:
            first += places[0] < 1
            three += places[0] < 3
            mrr += 1 / (places[0] + 1)
        if sources := library.answers.quick(answer):
            quick += 1
            document = sources[0].document
            right += document is not None and document.path.rpartition("/")[2] in pages
    count = len(of_language)
    return {
        "first": first / count,
        "among three": three / count,
        "mrr": mrr / count,
        "quick": quick / count,
        "quick right": right / (quick or 1),
    }


def asked_in_vain(library: Library, of_language: list[tuple[str, set[str]]]) -> dict[str, float]:
    answers = [library.search(question) for question, _ in of_language]
    quick = sum(bool(library.answers.quick(answer)) for answer in answers)
    return {
        "unrelated nothing close": sum(each.nothing_close for each in answers) / len(answers),
        "unrelated quick": quick / len(answers),
    }


def unrelated_pages(folder: Path, language: str) -> tuple[Path, list[str]]:
    """Return the folder of a language and some of its pages."""
    own = folder / ("en-US" if language == "en" else language)
    paths = sorted(str(file.relative_to(own)) for file in own.rglob("*.html"))
    return own, sorted(random.Random(1).sample(paths, min(len(paths), _UNRELATED_PAGES)))


def main() -> None:
    parser = arguments(__doc__ or "")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--unrelated", type=Path)
    parser.add_argument("--languages", default="", help="codes with commas; all if none is named")
    given = parser.parse_args()
    figures: dict[str, float] = {}
    for language, of_language in questions().items():
        if given.languages and language not in given.languages.split(","):
            continue
        paths = sorted(file.name for file in (given.folder / language).glob("*.html"))
        with library_of(given.folder / language, paths) as library:
            shares = asked(library, of_language)
        if given.unrelated:
            with library_of(*unrelated_pages(given.unrelated, language)) as library:
                shares |= asked_in_vain(library, of_language)
        figures |= {f"{language} {name}": share for name, share in shares.items()}
    report(figures, given.json)


if __name__ == "__main__":
    main()
