"""Verbs that a question takes apart: are the pages found that have them in one word?

python benchmarks/bench_separable_verbs.py FOLDER --language de|hu|nl [--half first|second] [--json]

FOLDER holds the help of LibreOffice in German, Dutch or Hungarian (``text`` of Debian's
``libreoffice-help-*``). Headings that end in a separable verb ("Bedingung hinzufügen", "Kép
beszúrása") and are on five pages at the most are asked as they are, and as questions: "Wie füge ich
Bedingung hinzu?", "Hoe voeg ik ... toe?", "Hogyan szúrhatok be kép?", the last without the ending
of its object. ``first`` and ``among ten`` are the shares that find one of their pages there. Every
other heading is of the first half, on which the forms of verbs were chosen.
"""

from __future__ import annotations

import re
from collections import defaultdict
from html import unescape
from pathlib import Path

from bench_index_terms import asked, library_of
from common import arguments, report

_PARTICLES = {
    "de": "an|ab|auf|aus|bei|ein|fest|frei|hinzu|los|mit|um|vor|weg|wieder|zu|zurück|zusammen",
    "hu": "át|be|el|fel|hozzá|ki|le|létre|meg|össze|vissza|végre",
    "nl": "aan|af|bij|door|in|mee|om|op|samen|terug|toe|uit|vast|voor|weg",
}
_HEADING = re.compile(r"<h[1-4][^>]*>(.*?)</h[1-4]>", re.DOTALL)
_MOST_PAGES = 5


def questions(folder: Path, language: str) -> dict[str, tuple[str, set[str]]]:
    """Return by heading the question for it, and the pages that have it."""
    ends = re.compile(
        rf"(?P<rest>[^\s(][^(]{{5,80}}) (?P<particle>{_PARTICLES[language]})"
        rf"(?P<root>[^\W\d_]{{3,14}}?)(?P<ending>{'ása|ése' if language == 'hu' else 'en'})"
    )
    pages: dict[str, set[str]] = defaultdict(set)
    for file in sorted(folder.rglob("*.html")):
        for heading in _HEADING.findall(file.read_text("utf-8")):
            text = " ".join(unescape(re.sub("<[^>]+>", "", heading)).split())
            pages[text].add(str(file.relative_to(folder)))
    made = {}
    for heading, of_heading in sorted(pages.items()):
        found = ends.fullmatch(heading)
        if found and len(of_heading) <= _MOST_PAGES:
            made[heading] = question(language, **found.groupdict()), of_heading
    return made


def question(language: str, rest: str, particle: str, root: str, ending: str) -> str:
    if language == "hu":
        may = "hatok" if ending == "ása" else "hetek"
        return f"Hogyan {root}{may} {particle} {rest[0].lower()}{rest[1:]}?"
    if language == "de":
        return f"Wie {root}e ich {rest} {particle}?"
    verb = re.sub(r"([b-df-hj-np-tv-z])\1$", r"\1", root)
    if verb == root:
        verb = re.sub(r"(?<![aeiou])([aeou])([bdfgklmnprst])$", r"\1\1\2", root)
    return f"Hoe {verb} ik {rest} {particle}?"


def main() -> None:
    parser = arguments(__doc__ or "")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--language", choices=sorted(_PARTICLES), required=True)
    parser.add_argument("--half", choices=("first", "second"))
    given = parser.parse_args()
    made = questions(given.folder, given.language)
    chosen = list(made.items())[given.half == "second" :: 2 if given.half else 1]
    paths = sorted(str(f.relative_to(given.folder)) for f in given.folder.rglob("*.html"))
    with library_of(given.folder, paths) as library:
        figures: dict[str, float] = {"headings": len(chosen)}
        sets = {
            "headings: ": [(heading, pages) for heading, (_, pages) in chosen],
            "asked: ": [asked_for for _, asked_for in chosen],
        }
        for name, of_set in sets.items():
            shares = asked(library, of_set)
            figures |= {f"{name}{what}": share for what, share in shares.items()}
        report(figures, given.json)


if __name__ == "__main__":
    main()
