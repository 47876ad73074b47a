"""Questions for the meaning of a term, and the places of a text that say what it means."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache

import numpy as np

from ragkit.indexes.analyzer import SPACELESS
from ragkit.options import SearchOptions
from ragkit.retrieval.hits import Hit, Ranking, with_part_of_some
from ragkit.retrieval.query.encoding import Query
from ragkit.retrieval.query.han_variants import writings
from ragkit.retrieval.query.subject import ARTICLE, defined_term
from ragkit.retrieval.ranking import best_half
from ragkit.types import Level

_ARABIC = re.compile("[\u0621-\u064a]{4}")
_ARABIC_THE = "\u0627\u0644"
_SPACELESS = re.compile(f"[{SPACELESS}]")
_MARKS = r"(?:[-*+•>]|\#{1,6}|\d{1,3}(?:\.\d{1,3})*\.?)[ \t]+"
_ITEM = re.compile(r"[-*+•>]\s")
_QUOTE = r"[*_`:\"'“”„«»「『\[]{0,4}"
_FIRST_CELL = re.compile(rf"(?:^|\n)\|[ \t]*{_QUOTE}$")
_OPENS = re.compile(
    rf"(?:(?P<line>^|\n[ \t]*\n|\n(?=[ \t]*{_MARKS})|[.!?:;|。！？：][ \t]*\n)"
    rf"|[.!?:;|]\s|[。！？：])\s*(?:{_MARKS})*(?P<article>{ARTICLE})?{_QUOTE}$",
    re.I,
)
_CALLED_SO = re.compile(
    rf"(?:\b(?:called|termed|known\sas|referred\sto\sas)\s{ARTICLE}?|叫做|称为|稱為){_QUOTE}$",
    re.I,
)
_IS = (
    r"is|are|was|were|means?|refers?\s+to|denotes?|describes?|stands?\s+for|ist|sind|war|waren|est"
    r"|sont|était|es|son|fue|és|són|era|è|sono|é|são|foi|este|zijn|er|är|var|ovat|je|jsou|sú|jest"
    r"|są|to\s+jest|to\s+są|είναι|ήταν|є|הוא|היא"
)
_MEANS = (
    "bezeichne[nt]|bedeute[nt]|désigne|signifie|significa|betekent|betyder|betyr|innebär|oznacza"
    "|znamená|značí|tarkoittaa|jelent|это|является|называется|означает|обозначает|означає|σημαίνει"
    "|ονομάζεται|هو|هي|يعني|تعني|adalah|là"
)
_GOES_ON = re.compile(
    rf"""(?:\]\([^()\s]{{0,200}}\))?[*_`"'“”«»」』\]]{{0,4}}
    (?:[ ]?[(（][^()（）\n]{{1,60}}[)）][*_`"]{{0,4}})?(?:
    (?P<alone>:?[ \t]*\n+(?=[ \t]*\S))
    | (?P<named>[ ]?(?:[:：–—]|[ ]-[ ])[ ]*\S)
    | (?P<cell>[ ]*\|[ ]*[^\s|])
    | (?P<surely>とは|是指|是一|指的是|이?란[ ]|\s+(?:{_MEANS})\s) | [はが是은는이가]
    | \s+(?:{_IS})\s+(?P<one>{ARTICLE}|one\s|any\s)?
    )""",
    re.I | re.X,
)
_TERM = r"[ \t]*\w[^\n]{0,40}\w[ \t]*"
_TERMS = re.compile(rf"(?:{_TERM}\n[ \t]*\n\s*){{4}}")
"""What follows a term in a list of nothing but terms, such as an index."""

_BEFORE, _AFTER = 30, 400
_SURE, _NAMED, _CALLED, _HEADING, _MAYBE = 1.0, 0.8, 0.6, 0.5, 0.2
"""How surely a text defines a term that stands alone above it or "is a", that a colon or a dash
follows, that something is called, that is its heading, or that is anything else."""


def _lower(text: str) -> str:
    """Return a text of the same length in small letters; those of Turkish as others write them."""
    return text.replace("İ", "i").lower().replace("ı", "i")


def _forms(word: str) -> str:
    """Return a pattern for a word with an ending, or an article that is written as part of it."""
    stem = _lower(word)
    if _ARABIC.match(stem):
        return rf"(?:{_ARABIC_THE})?{re.escape(stem.removeprefix(_ARABIC_THE))}\w{{0,3}}(?!\w)"
    if _SPACELESS.match(stem[-1]):
        return f"(?:{'|'.join(map(re.escape, dict.fromkeys((stem, *writings(stem)))))})"
    if len(stem) > 3 and stem[-1] in "sy":
        stem = stem[:-1]
    return rf"{re.escape(stem)}\w{{0,3}}(?!\w)"


@lru_cache(maxsize=64)
def _name(term: tuple[str, ...]) -> re.Pattern[str]:
    """Return a pattern for the words of a term in small letters.

    One that begins with letters and minds their case is found ten times as fast as another.
    """
    return re.compile(r"[\W_]{1,3}".join(map(_forms, term)))


def _how_surely(on: re.Match[str], before: str) -> float:
    """Return how surely a text says what a term means that goes on so in its line."""
    if on["cell"]:
        return _NAMED if _FIRST_CELL.search(before) else 0.0
    return _SURE if on["one"] or on["surely"] else _NAMED if on["named"] else _MAYBE


def definitions(term: tuple[str, ...], text: str) -> dict[int, float]:
    """Return where a text says what a term means: offsets, with how surely, from 0 to 1."""
    found: dict[int, float] = {}
    if not term:
        return found
    is_apart = not _SPACELESS.match(term[0])
    for match in _name(term).finditer(_lower(text)):
        if is_apart and text[match.start() - 1 : match.start()].isalnum():
            continue
        # What begins within the window does not begin the text.
        cut = max(0, match.start() - _BEFORE)
        before = "x" * bool(cut) + text[cut : match.start()]
        opens = _OPENS.search(before)
        if opens and (on := _GOES_ON.match(text, match.end(), match.end() + _AFTER)):
            if on["alone"]:
                if opens["article"] or opens["line"] is None or _ITEM.search(opens[0]):
                    continue
                if _TERMS.match(text, on.end(), on.end() + _AFTER):
                    continue
                found[on.end()] = _HEADING if "#" in opens[0] else _SURE
            else:
                under_heading = found.get(match.start(), 0.0)
                found[match.start()] = max(under_heading, _how_surely(on, before))
        elif _CALLED_SO.search(before):
            found[match.start()] = _CALLED
    return found


def with_definitions(
    ranking: Ranking,
    queries: Sequence[Query],
    texts: Callable[[Sequence[Hit]], Mapping[int, str]],
    options: SearchOptions,
) -> Ranking:
    """Add how surely a chunk says what the term means that its query asks for.

    ``texts`` returns the texts of chunks by entry id; those of each query's best are read.
    """
    terms = [defined_term(query.text) for query in queries]
    if options.definition_weight <= 0 or not any(terms):
        return ranking
    shares = np.zeros(len(ranking.entry_ids))
    best = best_half(ranking, options.candidates)
    rows = [row for row in best.tolist() if terms[ranking.queries[row]]]
    read = texts([
        Hit(entry, document, chunk, Level.CHUNK, 0.0, ())
        for entry, document, chunk in zip(
            ranking.entry_ids[rows].tolist(),
            ranking.document_ids[rows].tolist(),
            ranking.chunk_indexes[rows].tolist(),
            strict=True,
        )
    ])  # fmt: skip
    for row in rows:
        found = definitions(terms[ranking.queries[row]], read.get(ranking.entry_ids.item(row), ""))
        shares[row] = max(found.values(), default=0.0)
    return with_part_of_some(ranking, "definition", shares, shares, options.definition_weight)
