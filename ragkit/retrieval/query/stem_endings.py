"""The endings that the English stemmer takes off: which words a stem may stand for."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

_VOWELS = frozenset("aeiou")
# They make all but 0.1 % of the words in texts of many kinds (docs/decisions.md).
_ENDINGS = """
    abilities ability able abled ables abling ably al aled aling alism alities ality alization
    alizations alize alized alizer alizes alizing ally als ance ances ancies ancy ant antly ants ate
    ated ately ateness ates ating ation ational ationally ations ative atively atives ator ators d e
    eability eable eably eal eally eate eated eating eation eations ed edly eds eement eements eer
    eered eering eers eful efully efulness eic eing eities eity elis ely ement emented ements ence
    ences encies ency eness ent ented enting ently ents eous eously er erative ered ering erings
    erly ers es ess ful fully fulness ibilities ibility ible ibles ibly ic ical icality ically icals
    icate icated icates icating ication ications icative icator iced icing icities icity ics ies
    ilities ility ing ingly ings ion ional ionalism ionality ionally ionals ioned ioning ions is ism
    isms ist ists ities itis ity ive ively iveness ives ivities ivity ization izations ize ized izer
    izers izes izing l li ly ment mented menting ments ness nesses or ors ous ously ousness s y
"""


def may_stand_for(stem: str, word: str, most: int) -> bool:
    """Return whether a word within ``most`` edits (OSA) of ``word`` can have this stem.

    Both are folded and without capitals. Stems of other scripts may stand for anything.
    """
    from rapidfuzz import process
    from rapidfuzz.distance import OSA

    if not stem.isascii():
        return True
    forms = (begin + ending for begin in _beginnings(stem) for ending in _endings())
    return process.extractOne(word, forms, scorer=OSA.distance, score_cutoff=most) is not None


@cache
def _endings() -> tuple[str, ...]:
    return ("", *_ENDINGS.split())


def _beginnings(stem: str) -> Iterator[str]:
    """Yield what a stem's words begin with: "copi" and "copy", "stop" and "stopp"."""
    yield stem
    last = stem[-1]
    if last in "iel":
        yield stem[:-1]
        yield f"{stem[:-1]}y"
    if last not in _VOWELS:
        yield stem + last
