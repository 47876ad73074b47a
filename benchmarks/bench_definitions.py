"""Questions for the meaning of a term: is the entry of the glossary found, and quoted?

python benchmarks/bench_definitions.py FOLDER GLOSSARY [--json]

FOLDER holds a manual as web pages, GLOSSARY is the name of the page that explains its terms, in
definition lists (``<dt>``, ``<dd>``). Each term is asked for in one of five ways, with the options
that a library has at first, and without weight on definitions. ``quoted first`` is the share of
questions whose quick answer begins with a sentence of the entry, on whatever page it stands;
``first`` and ``among ten`` are those whose results have the glossary there.
"""

from __future__ import annotations

import re
import tempfile
import time
from html import unescape
from pathlib import Path

from common import arguments, median, report

from ragkit.answers import Source
from ragkit.library import Library
from ragkit.settings import load_settings

WAYS = ("What is {}?", "what is {}", "What does {} mean?", "define {}", "What are {}s?")
_ENTRY = re.compile(r"<dt\b[^<>]*>(.*?)</dt>\s*<dd\b[^<>]*>(.*?)(?=</dd>|<dt\b)", re.S)
_TAG = re.compile(r"<[^<>]*>")
_TARGET = re.compile(r"\]\([^()]*(?:\([^()]*\)[^()]*)*\)")


def letters(text: str) -> str:
    """Return the letters and digits of a text without the targets of its links."""
    return "".join(filter(str.isalnum, _TARGET.sub("]", text))).casefold()


def entries(page: Path) -> dict[str, str]:
    """Return what a glossary says of each of its terms."""
    found: dict[str, str] = {}
    for term, said in _ENTRY.findall(page.read_text("utf-8", errors="replace")):
        term, said = (" ".join(unescape(_TAG.sub(" ", each)).split()) for each in (term, said))
        term = re.sub(r"\s*(\(.*\))?\s*[¶#]?$", "", term)
        if 2 < len(term) < 35 and len(said) > 40 and not said.lower().startswith("see "):
            found.setdefault(term, said)
    return found


def is_of(source: Source, said: str) -> bool:
    """Return whether a sentence is the beginning of what is said, or within it."""
    quoted, meaning = letters(source.text), letters(said)
    return meaning[:30] in quoted or (len(quoted) > 20 and quoted[-60:] in meaning)


def asked(library: Library, terms: dict[str, str], glossary: str, weight: float) -> list[float]:
    """Return the shares of questions that are quoted first, found first and among ten, and ms."""
    rows, took = [], []
    options = library.options(definition_weight=weight)
    for number, (term, said) in enumerate(terms.items()):
        began = time.process_time()
        answer = library.search(WAYS[number % len(WAYS)].format(term), options)
        took.append((time.process_time() - began) * 1000)
        quoted = library.answers.quick(answer)[:1]
        names = [result.document.path.rpartition("/")[2] for result in answer.results]
        rows.append((any(is_of(each, said) for each in quoted), glossary in names[:1],
                     glossary in names))  # fmt: skip
    return [*(sum(column) / len(rows) for column in zip(*rows, strict=True)), median(took)]


def main() -> None:
    parser = arguments(__doc__ or "")
    parser.add_argument("folder", type=Path)
    parser.add_argument("glossary")
    given = parser.parse_args()
    folder = given.folder.resolve()
    terms = entries(next(folder.rglob(given.glossary)))
    figures: dict[str, float | int] = {"terms": len(terms)}
    with tempfile.TemporaryDirectory() as place:
        settings = load_settings(library=Path(place) / "library")
        with Library.open(settings, create=True) as library:
            library.jobs.wait(library.sources.sync(library.sources.add_folder(folder)))
            usual = library.options().definition_weight
            for name, weight in (("without", 0.0), ("default", usual)):
                shares = asked(library, terms, given.glossary, weight)
                told = ("quoted first", "first", "among ten", "search, cpu ms")
                figures |= {f"{name}: {what}": one for what, one in zip(told, shares, strict=True)}
    report(figures, given.json)


if __name__ == "__main__":
    main()
