"""Chooses the title of a document: the first candidate that distinguishes it from others.

Programs write meaningless titles: the name of a template, "Untitled-1", a submission number. Other
titles name only the kind of document.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import IntEnum
from statistics import median
from typing import TYPE_CHECKING

from ragkit.reading.reading_parts import joined, one_line, stem

if TYPE_CHECKING:
    from ragkit.reading.pdf.contents import Line

_LONGEST_HEADING = 150
_LONGEST_KIND = 40
_MOST_HEADINGS = 4
_LARGER = 1.15
"""How much larger than most of its page a heading must be."""
_ABOUT, _ALIKE, _SAME, _CLOSE = 0.8, 0.85, 0.97, 2.0
"""A heading of this share of the largest one's size is as large; lines of one heading are this much
alike, or the same where authors follow in nearly that size, and no more than so many times their
height below each other."""
_NO_HEADING = ("| ", "\u00a9")
_MARK = re.compile(r"(?<=\w)[\u2217\u2020\u2021]+(?!\w)")
"""The sign of a footnote."""
_ADDRESS = re.compile(r"\w@\w|https?://|\bwww\.")
"""What no title has, but what stands below one, in letters that seem as large."""
_SECTION = re.compile(r"\d{1,2}(?:\.\d{1,2}){0,3}\.? +[^\W\d_]")

_PROGRAM = re.compile(r"microsoft (?:office )?(?:word|excel|powerpoint|publisher) - ", re.I)
_FILE = re.compile(
    r"(.*\S)\.(?:docx?|docm|dotx?|dotm|tex|dvi|p?md|indd?|pdf|qxd|rtf|od[tsp]|pptx?|potx?|xlsx?|"
    r"pages|numbers|key|html?|txt|ps|eps|ai|cdr|pub|wpd|fm|tmp)",
    re.I,
)
_CODE = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{16,}", re.I)
_NUMBER = re.compile(r"\d+")
_FEWEST_NUMBERS, _FEWEST_OF_CODE = 6, 4
"""So many numbers and fewer letters are a row of figures; without a space, a code of a program."""
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
_WORD = re.compile(r"[^\W_]+")
_HYPHEN = re.compile(r"(?<=[^\W\d_])-+(?=[^\W\d_]{2})|(?<=\d)-+(?=[^\W\d_]{2})|-+(?=\d{4})")
_NUMBERED = re.compile(r"([^\W\d_]{3,})\d*")
_MOST_DIGITS = 4
_LONGEST_CODE = 6

# Words that distinguish no document, in the languages of common programs and forms.
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
# Words of templates and programs: with one of them, not even a kind of document makes a title.
_NEVER_WORDS = """
untitled unnamed noname unbenannt sans sin senza template templates muster vorlage modèle modele
plantilla normal default layout powerpoint microsoft
"""
# Words for kinds of documents.
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


class _Meaning(IntEnum):
    """How much a title means: nothing, a kind of document, or this document."""

    NOTHING = 0
    KIND = 1
    ITSELF = 2


def choose(candidates: Iterable[str], name: str) -> str:
    """Return the title of a document: the first candidate that distinguishes it from others.

    ``candidates`` are the declared title and the largest headings, best first. After them come the
    names of original files, as in "Microsoft Word - Minutes of May.doc", and the file's own name in
    words. A kind of document or a year that comes first is put before the title: "Annual Report
    2021 · Lakeside Mills". Without any meaningful candidate, the title is the name as it is. A
    candidate that is the file's name, as scanners declare it, only counts if it is in words.
    """
    own = stem(name)
    listed = ["" if title == own and " " not in title else title for title in candidates]
    made_from = (_PROGRAM.sub("", title) for title in listed if _PROGRAM.match(title))
    names = (readable(made) if _FILE.fullmatch(made) else made for made in made_from)
    kind = ""
    for title in (*listed, *names, readable(name)):
        meaning = _meaning(title)
        if meaning is _Meaning.ITSELF:
            whole = title in listed[:1] and _words(title).isdisjoint(_KINDS)
            return title if whole else one_line(_joined(kind, title, _year(listed)))
        if meaning is _Meaning.KIND and not kind and len(title) <= _LONGEST_KIND:
            kind = title
    return kind or stem(name)


def in_order(declared: str, headings: Sequence[str], beginning: str) -> list[str]:
    """Return the declared title and the headings in the order in which ``choose`` needs them.

    The declared title comes first if at least half of its words are in the ``beginning`` of the
    text. Otherwise it often belongs to a template or an earlier file, and comes last.
    """
    words = _distinctive(declared)
    plain = "".join(_WORD.findall(beginning.casefold()))
    missing = sum(word not in plain for word in words)
    return [declared, *headings] if 2 * missing <= len(words) else [*headings, declared]


def readable(name: str) -> str:
    """Return a file's name in words, without folders and suffix; keep numbers and codes."""
    plain = stem(name)
    if " " in plain or _meaning(plain) is _Meaning.NOTHING:
        return plain
    spaced = re.sub(r"[_+~]+", " ", plain)
    spaced = _HYPHEN.sub(" ", spaced)
    humps = re.split(r"(?<=[a-z]{2})(?=[A-Z][a-z])|(?<=[a-z]{3})(?=\d\d)", spaced)
    return " ".join(humps) if len(humps) > 2 else spaced


def headings_of(pages: Sequence[Sequence[Line]], join: Callable[[Iterable[str]], str]) -> list[str]:
    """Return the headings of the first of a PDF's ``pages``: lines larger than most text.

    The largest come first, in the order of the page; those with a number of a section come after
    the others, and a year on a line of its own comes last. ``join`` makes lines one.
    """
    sizes = [_size(line) for lines in pages for line in lines for _ in line.text]
    least = median(sizes or [0.0]) * _LARGER
    headings: list[tuple[float, str]] = []
    lines = [line for line in (pages[0] if pages else ()) if not line.text.startswith(_NO_HEADING)]
    for inside in _possible_headings(lines):
        size = max(map(_size, inside))
        text = _MARK.sub("", one_line(join(line.text for line in inside)))
        # Letters stacked on each other are a note in the margin.
        upright = all(line.right - line.left > size for line in inside if len(line.text) > 2)
        says = not _ADDRESS.search(text) and (not _SECTION.match(text) or bool(_distinctive(text)))
        if size > least and upright and says and len(text) <= _LONGEST_HEADING:
            headings.append((size, text))
    about_largest = max((size for size, _ in headings), default=0.0) * _ABOUT
    headings.sort(
        key=lambda pair: (_SECTION.match(pair[1]) is not None, -min(pair[0], about_largest))
    )
    years = [line.text for line in lines if _YEAR.fullmatch(line.text)]
    return [*(text for _, text in headings[:_MOST_HEADINGS]), *years[:1]]


def _possible_headings(lines: Iterable[Line]) -> Iterator[list[Line]]:
    """Yield consecutive lines of about one size, or of the same where these would be too many."""
    for group in _close_lines(lines, _ALIKE):
        too_long = len(" ".join(line.text for line in group)) > _LONGEST_HEADING
        yield from _close_lines(group, _SAME) if too_long else (group,)


def _close_lines(lines: Iterable[Line], alike_from: float) -> list[list[Line]]:
    """Group consecutive lines of sizes that are so much alike, closely below each other."""
    groups: list[list[Line]] = []
    for line in lines:
        size, before = _size(line), groups[-1][-1] if groups else line
        alike = min(size, _size(before)) >= max(size, _size(before)) * alike_from
        if groups and alike and abs(before.bottom - line.bottom) <= size * _CLOSE:
            groups[-1].append(line)
        else:
            groups.append([line])
    return groups


def _size(line: Line) -> float:
    """Return the size of the font, or else the height, which one large initial makes greater."""
    return line.size or line.top - line.bottom


def _meaning(title: str) -> _Meaning:
    """Return how much a title means; a file name, also an original one, means nothing."""
    title = title.strip()
    if any(pattern.fullmatch(title) for pattern in (_CODE, _FILE)) or _PROGRAM.match(title):
        return _Meaning.NOTHING
    digits, letters = sum(map(str.isdigit, title)), sum(map(str.isalpha, title))
    fewest = _FEWEST_NUMBERS if " " in title else _FEWEST_OF_CODE
    if digits > letters and len(_NUMBER.findall(title)) >= fewest:
        return _Meaning.NOTHING
    if _distinctive(title):
        return _Meaning.ITSELF
    tokens, words = _WORD.findall(title.casefold()), _words(title)
    if words & _KINDS:
        return _Meaning.NOTHING if words & _NEVER else _Meaning.KIND
    # A short name such as "3M" or "題", but not "D", a date or the number of a form.
    short = letters and digits <= _MOST_DIGITS and max(map(len, tokens)) <= _LONGEST_CODE
    one_letter = len(title) == 1 and title.isascii()
    short = short and not one_letter and _EMPTY.isdisjoint([*tokens, *words])
    return _Meaning.KIND if short else _Meaning.NOTHING


def _distinctive(title: str) -> set[str]:
    """Return the words of a title that distinguish its document from others."""
    return _words(title) - _EMPTY - _KINDS


def _words(title: str) -> set[str]:
    """Return the words of a title without trailing digits; parts of codes are not words."""
    tokens = _WORD.findall(title.casefold())
    words = {match[1] for match in map(_NUMBERED.fullmatch, tokens) if match}
    return words | {
        token for token in tokens if len(token) == 2 and token.isalpha() and not token.isascii()
    }


def _year(candidates: Iterable[str]) -> str:
    """Return the first candidate that is a year, as on the covers of yearly reports, or ``""``."""
    return next((candidate for candidate in candidates if _YEAR.fullmatch(candidate)), "")


def _joined(kind: str, title: str, year: str) -> str:
    """Put kind and year before a title that lacks them: "Annual Report 2021 · Mills"."""
    title_words = set(_WORD.findall(title.casefold()))
    if title_words.issuperset(_WORD.findall(kind.casefold())):
        kind = ""
    if _YEAR.search(f"{kind} {title}"):
        year = ""
    return f"{joined((kind, year), ' ')} · {title}" if kind else joined((title, year), " ")
