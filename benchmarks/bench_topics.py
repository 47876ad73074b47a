"""Long questions on one subject, and on several: how often are they cut, and where?

python benchmarks/bench_topics.py FOLDER [--languages en,de] [--json]

FOLDER holds GNOME's help, a folder for each language with "C" for English (``usr/share/help`` of
Debian's ``gnome-user-docs``). ``torn`` is the number of borders in four paragraphs of a page; of
the borders between a paragraph each of three pages, and two each, the shares that are found.
``torn sentences`` is the share of beginnings of pages that are cut when they are written as one
paragraph, ``found`` the share of borders between two of these.

Of letters and notes, as ordinary people write them (``letters.json``), the same beside it: the
shares that are cut as paragraphs, lines and one paragraph, and of two of them, a paragraph each.
"""

from __future__ import annotations

import html
import json
import random
import re
from collections.abc import Sequence
from itertools import accumulate, permutations
from pathlib import Path

from common import arguments, report

from ragkit.models.factory import local_embedder
from ragkit.options import ChunkedOptions
from ragkit.retrieval.query_segmentation.topics import cut_question, find_units

LETTERS = Path(__file__).with_name("letters.json")
_MESSAGES = 80
_SHORTEST = 100


def pages(folder: Path, language: str) -> list[list[str]]:
    """Return the paragraphs of each page, without those that are left in English."""

    def paragraphs(file: Path) -> list[str]:
        found = re.findall(r"<p>(.*?)</p>", file.read_text("utf-8"), re.DOTALL)
        return [" ".join(html.unescape(re.sub(r"<[^>]+>", "", text)).split()) for text in found]

    english = folder / "C" / "gnome-help"
    own = folder / language / "gnome-help"
    if language == "en":
        return [_long(paragraphs(file), ()) for file in sorted(english.glob("*.page"))]
    return [
        _long(paragraphs(file), paragraphs(english / file.name))
        for file in sorted(own.glob("*.page"))
    ]


def _long(paragraphs: Sequence[str], left_out: Sequence[str]) -> list[str]:
    return [p for p in paragraphs if len(p) > _SHORTEST and "?" not in p and p not in left_out]


def borders(parts: Sequence[str], between: str = "\n\n") -> set[int]:
    """Return before which parts of a message a topic begins."""
    starts = accumulate((len(part) + len(between) for part in parts), initial=0)
    first = dict(zip(starts, range(len(parts)), strict=False))
    topics = cut_question(between.join(parts), local_embedder().embed_passages, ChunkedOptions())
    return {max(at for start, at in first.items() if start <= t.start) for t in topics[1:]}


def of_pages(pages: Sequence[Sequence[str]]) -> dict[str, float]:
    drawn = random.Random(2)
    long = [page[:4] for page in pages if len(page) >= 4]
    long = drawn.sample(long, min(_MESSAGES, len(long)))
    figures = {"torn": sum(len(borders(page)) for page in long) / len(long)}
    for each in (1, 2):
        enough = [page[:each] for page in pages if len(page) >= each]
        found = 0
        for _ in range(_MESSAGES):
            parts = [part for page in drawn.sample(enough, 3) for part in page]
            found += len(borders(parts) & {each, 2 * each})
        figures[f"found, {each} each"] = found / (2 * _MESSAGES)
    openings = [" ".join(page[:3]) for page in pages]
    openings = [text for text in openings if text.endswith(".") and 40 < len(text.split()) < 150]
    openings = drawn.sample(openings, min(2 * _MESSAGES, len(openings)))
    sentences = [[unit.text for unit in find_units(text)] for text in openings]
    cut = [bool(borders(each, " ")) for each in sentences if len(" ".join(each).split()) > 60]
    figures["torn sentences"] = sum(cut) / len(cut)
    both = list(zip(sentences[::2], sentences[1::2], strict=False))
    figures["found"] = sum(len(a) in borders([*a, *b], " ") for a, b in both) / len(both)
    return figures


def of_letters(letters: Sequence[Sequence[str]]) -> dict[str, float]:
    ways = {"paragraphs": "\n\n", "lines": "\n", "one paragraph": " "}
    return {
        f"torn as {name}": sum(bool(borders(letter, way)) for letter in letters) / len(letters)
        for name, way in ways.items()
    }


def main() -> None:
    parser = arguments(__doc__ or "")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--languages", default="en,de,fr,es,pt,nl,sv,pl,cs,ru,uk")
    given = parser.parse_args()
    figures: dict[str, float] = {}
    for half, by_language in json.loads(LETTERS.read_text("utf-8")).items():
        shares = of_letters([letter for letters in by_language.values() for letter in letters])
        pairs = [
            [" ".join(letter) for letter in pair]
            for letters in by_language.values()
            for pair in permutations(letters, 2)
        ]
        shares["two found"] = sum(bool(borders(pair)) for pair in pairs) / len(pairs)
        figures |= {f"letters {half}, {name}": share for name, share in shares.items()}
    for language in given.languages.split(","):
        found = of_pages(pages(given.folder, language))
        figures |= {f"{language} {name}": share for name, share in found.items()}
    report(figures, given.json)


if __name__ == "__main__":
    main()
