"""What a document is called: the first of its candidates that tells it from others.

Programs write titles that say nothing: the name of a template, "Untitled-1", the number under which
a file was submitted. Others say only what kind of document it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from enum import IntEnum
from itertools import groupby
from statistics import median
from typing import TYPE_CHECKING

from ragkit.reading.reading_parts import joined, one_line, stem

if TYPE_CHECKING:
    from ragkit.reading.pdf_contents import Line

_LONGEST_HEADING = 150
_LONGEST_KIND = 40
_MOST_HEADINGS = 4
_LARGER = 1.15
"""How much larger than most text of a page a heading is set."""

_PROGRAM = re.compile(r"microsoft (?:office )?(?:word|excel|powerpoint|publisher) - ", re.I)
_FILE = re.compile(
    r"(.*\S)\.(?:docx?|docm|dotx?|dotm|tex|dvi|p?md|indd?|pdf|qxd|rtf|od[tsp]|pptx?|potx?|xlsx?|"
    r"html?|txt|ps|eps|ai|cdr|pub|wpd|fm|tmp)",
    re.I,
)
_CODE = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{16,}", re.I)
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
_WORD = re.compile(r"[^\W_]+")
_HYPHEN = re.compile(r"(?<=[^\W\d_])-+(?=[^\W\d_]{2})|(?<=\d)-+(?=[^\W\d_]{2})|-+(?=\d{4})")
_NUMBERED = re.compile(r"([^\W\d_]{3,})\d*")
_MOST_DIGITS = 4
_LONGEST_CODE = 6

# Words in which a title says nothing, in the languages in which programs and forms do.
_EMPTY_WORDS = """
a an and by de der des die du el en et for in la las le les los of on or the to und von y
untitled unnamed unknown noname unbenannt sans titre sin título titulo senza titolo naamloos
template templates muster vorlage modèle modele plantilla normal default layout cover title titel
powerpoint word excel microsoft slide slides folie diapositive page pages seite table
document documents dokument documento presentation präsentation présentation presentación
book mappe workbook sheet tabelle spreadsheet
contents content inhalt inhaltsverzeichnis sommaire índice index home main new neu nouveau nuevo
copy kopie copie copia final version draft entwurf brouillon borrador rev revision print web
online test tmp temp scan scanned img image picture file filename doc docs pdf
confidential vertraulich confidentiel internal use only proprietary privileged public
united states securities exchange commission washington pursuant section act mark one number
first second third quarter
"""
# Of these, those of templates and programs, which make a kind of document no title either.
_NEVER_WORDS = """
untitled unnamed noname unbenannt sans sin senza template templates muster vorlage modèle modele
plantilla normal default layout powerpoint microsoft
"""
# Words for a kind of document, which many documents share.
_KIND_WORDS = """
annual quarterly monthly weekly daily interim half yearly year fiscal full
report reports statement statements financial form agreement contract framework supply master
manual user users guide handbook instruction instructions operating installation service
audit letter memo memorandum minutes meeting note notes invoice receipt order offer quote
brochure flyer newsletter paper article thesis summary
executive abstract introduction preface foreword chapter part appendix annex
bericht jahresbericht geschäftsbericht prüfbericht rechnung vertrag rahmenvertrag angebot
protokoll anleitung handbuch bedienungsanleitung betriebsanleitung brief notiz zusammenfassung
rapport annuel facture contrat manuel lettre informe anual factura contrato carta acta
"""
_EMPTY, _NEVER, _KINDS = (
    frozenset(words.split()) for words in (_EMPTY_WORDS, _NEVER_WORDS, _KIND_WORDS)
)


class _Says(IntEnum):
    """How much a title says."""

    NOTHING = 0
    KIND = 1
    ITSELF = 2


def choose(candidates: Iterable[str], name: str) -> str:
    """Return the title of a document: the first candidate that tells it from others.

    ``candidates`` are what the file declares and its largest headings, the best first. What a
    program made the file from, as in "Microsoft Word - Minutes of May.doc", comes after them, and
    last the file's own name, in words. What says only the kind of document stands before the title:
    "Annual Report 2021 · Lakeside Mills", and so does a year alone. Where none says anything, the
    name stays as it is.
    """
    listed = list(candidates)
    made_from = (_PROGRAM.sub("", title) for title in listed if _PROGRAM.match(title))
    names = (readable(made) if _FILE.fullmatch(made) else made for made in made_from)
    kind = ""
    for title in (*listed, *names, readable(name)):
        says = _said(title)
        if says is _Says.ITSELF:
            whole = title in listed[:1] and _words(title).isdisjoint(_KINDS)
            return title if whole else one_line(_joined(kind, title, _year(listed)))
        if says is _Says.KIND and not kind and len(title) <= _LONGEST_KIND:
            kind = title
    return kind or stem(name)


def in_order(declared: str, headings: Sequence[str], beginning: str) -> list[str]:
    """Return candidates for ``choose``: what the file declares, if its beginning says it, first.

    A title that stands nowhere in it is often that of the file, or of the template, that it was
    made from; it comes after the headings. Half of its words are enough.
    """
    words = _telling(declared)
    plain = "".join(_WORD.findall(beginning.casefold()))
    missing = sum(word not in plain for word in words)
    return [declared, *headings] if 2 * missing <= len(words) else [*headings, declared]


def readable(name: str) -> str:
    """Return a file's name in words, without folders and suffix; a number or code as it is."""
    plain = stem(name)
    if " " in plain or _said(plain) is _Says.NOTHING:
        return plain
    spaced = re.sub(r"[_+~]+", " ", plain)
    spaced = _HYPHEN.sub(" ", spaced)
    humps = re.split(r"(?<=[a-z]{2})(?=[A-Z][a-z])|(?<=[a-z]{3})(?=\d\d)", spaced)
    return " ".join(humps) if len(humps) > 2 else spaced


def headings_of(pages: Sequence[Sequence[Line]]) -> list[str]:
    """Return the lines of a PDF's first page that are set larger than its text, largest first.

    Lines of one size that follow each other are one heading. A year that stands alone comes last,
    whatever its size.
    """
    sizes = [line.top - line.bottom for lines in pages[:3] for line in lines for _ in line.text]
    least = median(sizes or [0.0]) * _LARGER
    headings: list[tuple[float, str]] = []
    lines = pages[0] if pages else ()
    for size, group in groupby(lines, key=lambda line: round(line.top - line.bottom)):
        inside = list(group)
        text = one_line(" ".join(line.text for line in inside))
        # Letters that stand on each other are in the margin.
        upright = all(line.right - line.left > size for line in inside if len(line.text) > 2)
        if size > least and upright and len(text) <= _LONGEST_HEADING:
            headings.append((-size, text))
    largest = [text for _, text in sorted(headings, key=lambda pair: pair[0])[:_MOST_HEADINGS]]
    years = [line.text for line in lines if _YEAR.fullmatch(line.text)]
    return [*largest, *years[:1]]


def _said(title: str) -> _Says:
    """Return how much a title says; the name of a file that it was made from says nothing."""
    title = title.strip()
    if any(pattern.fullmatch(title) for pattern in (_CODE, _FILE)) or _PROGRAM.match(title):
        return _Says.NOTHING
    if _telling(title):
        return _Says.ITSELF
    tokens, words = _WORD.findall(title.casefold()), _words(title)
    if words & _KINDS:
        return _Says.NOTHING if words & _NEVER else _Says.KIND
    # A short name such as "3M" or "LM-40", but no date and no number of a form.
    digits, letters = sum(map(str.isdigit, title)), sum(map(str.isalpha, title))
    short = letters and digits <= _MOST_DIGITS and max(map(len, tokens)) <= _LONGEST_CODE
    return _Says.KIND if short and _EMPTY.isdisjoint([*tokens, *words]) else _Says.NOTHING


def _telling(title: str) -> set[str]:
    """Return the words of a title that tell its document from others."""
    return _words(title) - _EMPTY - _KINDS


def _words(title: str) -> set[str]:
    """Return the words of a title without the numbers at their ends; parts of codes are none."""
    tokens = _WORD.findall(title.casefold())
    words = {match[1] for match in map(_NUMBERED.fullmatch, tokens) if match}
    return words | {
        token for token in tokens if len(token) == 2 and token.isalpha() and not token.isascii()
    }


def _year(candidates: Iterable[str]) -> str:
    """Return the first candidate that is a year, as covers have it; it tells reports apart."""
    return next((candidate for candidate in candidates if _YEAR.fullmatch(candidate)), "")


def _joined(kind: str, title: str, year: str) -> str:
    """Put kind and year to a title that does not hold them: "Annual Report 2021 · Mills"."""
    there = set(_WORD.findall(title.casefold()))
    if there.issuperset(_WORD.findall(kind.casefold())):
        kind = ""
    if _YEAR.search(f"{kind} {title}"):
        year = ""
    return f"{joined((kind, year), ' ')} · {title}" if kind else joined((title, year), " ")
