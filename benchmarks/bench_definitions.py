"""Questions for the meaning of a term: is the entry of the glossary found, and quoted?

python benchmarks/bench_definitions.py FOLDER GLOSSARY [--language LANGUAGE] [--json]

FOLDER holds a manual as web pages, GLOSSARY is the name of the page that explains its terms, in
definition lists (``<dt>``, ``<dd>``) or below headings. Each term is asked for in one of a few ways
of the language, with the options that a library has at first, and without weight on definitions.
``quoted first`` is the share of questions whose quick answer begins with a sentence of the entry,
on whatever page it stands; ``first`` and ``among ten`` are those whose results have the glossary
there.
"""

from __future__ import annotations

import argparse
import re
import tempfile
import time
from html import unescape
from pathlib import Path

from common import arguments, median, report

from ragkit.answers import Source
from ragkit.library import Library
from ragkit.settings import load_settings

WAYS = {
    "cs": ("Co je {}?", "co je to {}", "Co znamená {}?", "definice {}"),
    "da": ("Hvad er {}?", "hvad er {}", "Hvad betyder {}?", "hvad er en {}"),
    "de": ("Was ist {}?", "was ist {}", "Was bedeutet {}?", "was versteht man unter {}",
           "{} Bedeutung"),
    "el": ("Τι είναι {};", "τι είναι το {}", "Τι σημαίνει {};", "ορισμός {}"),
    "en": ("What is {}?", "what is {}", "What does {} mean?", "define {}", "What are {}s?"),
    "es": ("¿Qué es {}?", "que es {}", "¿Qué significa {}?", "definición de {}", "qué es un {}"),
    "fi": ("Mikä on {}?", "mikä on {}", "Mitä tarkoittaa {}?", "mitä {} tarkoittaa"),
    "fr": ("Qu'est-ce que {} ?", "c'est quoi {}", "Que signifie {} ?", "définition de {}"),
    "hu": ("Mi az a {}?", "mi az {}", "Mit jelent a {}?", "{} jelentése"),
    "it": ("Cos'è {}?", "che cos'è {}", "Cosa significa {}?", "definizione di {}", "cosa è un {}"),
    "ja": ("{}とは何ですか？", "{}とは", "{}って何", "{}の意味は？"),
    "ko": ("{}란 무엇인가요?", "{}이 뭐야", "{}의 뜻", "{}은 무엇입니까?"),
    "nl": ("Wat is {}?", "wat is een {}", "Wat betekent {}?", "definitie van {}"),
    "nn": ("Kva er {}?", "kva er {}", "Kva betyr {}?", "kva er ein {}"),
    "pl": ("Co to jest {}?", "czym jest {}", "Co oznacza {}?", "co to {}", "definicja {}"),
    "pt": ("O que é {}?", "o que é um {}", "O que significa {}?", "definição de {}"),
    "ru": ("Что такое {}?", "что такое {}", "Что значит {}?", "{} это что", "определение {}"),
    "sv": ("Vad är {}?", "vad är en {}", "Vad betyder {}?", "vad menas med {}"),
    "tr": ("{} nedir?", "{} nedir", "{} ne demek?", "{} ne anlama gelir"),
}  # fmt: skip
"""How people ask what a term means, by language."""
_ENTRY = re.compile(r"<dt\b[^<>]*>(.*?)</dt>\s*<dd\b[^<>]*>(.*?)(?=</dd>|<dt\b)", re.S)
_UNDER_HEADING = re.compile(r"<h[23]\b[^<>]*>(.*?)</h[23]>\s*<p\b[^<>]*>(.*?)</p>", re.S)
_TAG = re.compile(r"<[^<>]*>")
_TARGET = re.compile(r"\]\([^()]*(?:\([^()]*\)[^()]*)*\)")


def letters(text: str) -> str:
    """Return the letters and digits of a text without the targets of its links."""
    return "".join(filter(str.isalnum, _TARGET.sub("]", text))).casefold()


def entries(page: Path) -> dict[str, str]:
    """Return what a glossary says of each of its terms."""
    found: dict[str, str] = {}
    text = page.read_text("utf-8", errors="replace")
    for term, said in _ENTRY.findall(text) or _UNDER_HEADING.findall(text):
        term, said = (" ".join(unescape(_TAG.sub(" ", each)).split()) for each in (term, said))
        term = re.sub(r"\s*(\(.*\))?\s*[¶#]?$", "", term)
        if 2 < len(term) < 35 and len(said) > 40 and not said.lower().startswith("see "):
            found.setdefault(term, said)
    return found


def is_of(source: Source, said: str) -> bool:
    """Return whether a sentence is the beginning of what is said, or within it."""
    quoted, meaning = letters(source.text), letters(said)
    return meaning[:30] in quoted or (len(quoted) > 20 and quoted[-60:] in meaning)


def asked(
    library: Library, terms: dict[str, str], given: argparse.Namespace, weight: float
) -> list[float]:
    """Return the shares of questions that are quoted first, found first and among ten, and ms."""
    rows, took, ways = [], [], WAYS[given.language]
    options = library.options(definition_weight=weight)
    for number, (term, said) in enumerate(terms.items()):
        began = time.process_time()
        answer = library.search(ways[number % len(ways)].format(term), options)
        took.append((time.process_time() - began) * 1000)
        quoted = library.answers.quick(answer)[:1]
        names = [result.document.path.rpartition("/")[2] for result in answer.results]
        rows.append((any(is_of(each, said) for each in quoted), given.glossary in names[:1],
                     given.glossary in names))  # fmt: skip
        if given.show and weight and not rows[-1][0]:
            print(ways[number % len(ways)].format(term), rows[-1][1:],
                  [each.text[:80] for each in quoted], names[:2])  # fmt: skip
    return [*(sum(column) / len(rows) for column in zip(*rows, strict=True)), median(took)]


def main() -> None:
    parser = arguments(__doc__ or "")
    parser.add_argument("folder", type=Path)
    parser.add_argument("glossary")
    parser.add_argument("--language", choices=sorted(WAYS), default="en")
    parser.add_argument("--show", action="store_true", help="print what is not quoted")
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
                shares = asked(library, terms, given, weight)
                told = ("quoted first", "first", "among ten", "search, cpu ms")
                figures |= {f"{name}: {what}": one for what, one in zip(told, shares, strict=True)}
    report(figures, given.json)


if __name__ == "__main__":
    main()
