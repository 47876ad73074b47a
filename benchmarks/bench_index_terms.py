"""Terms of a manual's index, in any language: are the pages found that the index names?

python benchmarks/bench_index_terms.py FOLDER [--questions 400] [--converter tw2s] [--json]

FOLDER holds the help of LibreOffice in one language (``text`` of Debian's ``libreoffice-help-*``).
Its pages name the entries of the index that lead to them, which are not indexed here. Of each page
one entry of two words or more is asked for, the same in every language, if it leads to five pages
at the most. ``first`` and ``among ten`` are the shares of entries that find one of their pages
there, with the options that a library has at first; ``mrr`` is the mean of one by its place.
With ``--converter``, entries in Chinese are asked in the characters that a converter of OpenCC
writes, such as simplified ones for the help in traditional ones.
"""

from __future__ import annotations

import random
import re
import tempfile
import time
from collections import defaultdict
from html import unescape
from pathlib import Path

from common import arguments, median, report
from opencc import OpenCC

from ragkit.library import Library
from ragkit.settings import load_settings

PARTS = ("scalc", "swriter/guide", "simpress", "shared/guide", "shared/01", "shared/optionen")
_ENTRY = re.compile(r'itemprop="keywords" content="([^"]*)"')
_MOST_PAGES = 5


def entries(folder: Path) -> dict[str, list[str]]:
    """Return the index entries of each page, by its path within the folder."""
    pages = (page for part in PARTS for page in sorted((folder / part).rglob("*.html")))
    return {
        page.relative_to(folder).as_posix(): [
            " ".join(unescape(entry).replace(",", " ").split())
            for entry in _ENTRY.findall(page.read_text("utf-8"))
        ]
        for page in pages
    }


def questions(of_pages: dict[str, list[str]], most: int) -> list[tuple[str, set[str]]]:
    """Choose an entry of each page; return them with the pages that they lead to."""
    leads_to = defaultdict(set)
    for page, own in of_pages.items():
        for entry in own:
            leads_to[entry].add(page)
    chance = random.Random(3)
    chosen = [own[chance.randrange(len(own))] for own in of_pages.values() if own]
    chance.shuffle(chosen)
    asked = ((entry, leads_to[entry]) for entry in chosen if " " in entry)
    return [(entry, pages) for entry, pages in asked if len(pages) <= _MOST_PAGES][:most]


def asked(library: Library, terms: list[tuple[str, set[str]]]) -> dict[str, float]:
    """Return the shares of terms whose page is found first and among ten, and the CPU time."""
    places, took = [], []
    for term, pages in terms:
        began = time.process_time()
        results = library.search(term).results
        took.append((time.process_time() - began) * 1000)
        right = (n for n, each in enumerate(results) if each.document.path in pages)
        places.append(next(right, None))
    found = [place for place in places if place is not None]
    return {
        "first": found.count(0) / len(places),
        "among ten": sum(place < 10 for place in found) / len(places),
        "mrr": sum(1 / (place + 1) for place in found) / len(places),
        "search, cpu ms": median(took),
    }


def main() -> None:
    parser = arguments(__doc__ or "")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--questions", type=int, default=400)
    parser.add_argument("--converter", choices=("s2t", "s2tw", "s2hk", "t2s", "tw2s", "hk2s"))
    given = parser.parse_args()
    of_pages = entries(given.folder)
    terms = questions(of_pages, given.questions)
    if given.converter:
        convert = OpenCC(given.converter).convert
        terms = [(convert(term), pages) for term, pages in terms]
    with tempfile.TemporaryDirectory() as place:
        files = Path(place) / "files"
        for path in of_pages:
            page = files / path
            page.parent.mkdir(parents=True, exist_ok=True)
            page.write_text(_ENTRY.sub("", (given.folder / path).read_text("utf-8")), "utf-8")
        settings = load_settings(library=Path(place) / "library")
        with Library.open(settings, create=True) as library:
            library.jobs.wait(library.sources.sync(library.sources.add_folder(files)))
            report({"terms": len(terms), **asked(library, terms)}, given.json)


if __name__ == "__main__":
    main()
