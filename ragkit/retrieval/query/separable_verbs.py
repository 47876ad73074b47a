"""Verbs of German and Dutch that a question takes apart: "Wie richte ich eine Firewall ein?".

Documents have them in one word: "einrichten", "eingerichtet", "Einrichtung"; "toevoegen".
"""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

_LONGEST = 300
_PARTICLES = {
    "german": "ab an auf aus bei bereit durch ein fest fort frei heraus herunter hin hinein hinzu "
    "hoch los mit nach raus rein runter statt um vor weg weiter wieder zu zurück zusammen",
    "dutch": "aan af bij door in mee na om op open over samen terug toe uit vast voor weg",
}
_SUBJECTS = {"german": "ich|wir|man|du|ihr", "dutch": "ik|we|wij|je|jij|u|men"}
# What the subject gives to the verb, the longest first.
_ENDINGS = {"german": ("est", "en", "et", "st", "e", "t"), "dutch": ("en", "t")}


class SeparableVerb(NamedTuple):
    """``finite`` is the verb as it is written, ``words`` what it is with its particle.

    ``rest`` is the question without the particle.
    """

    finite: str
    words: tuple[str, ...]
    rest: str


def separable_verb(question: str, language: str) -> SeparableVerb | None:
    """Return the verb of a question whose particle stands at the end of its clause, if any.

    ``language`` is the name of a stemmer.
    """
    if language not in _PARTICLES or len(question) > _LONGEST:
        return None
    found = _pattern(language).search(question)
    if found is None:
        return None
    verb, particle = found["verb"].lower(), found["particle"].lower()
    ending = next(filter(verb.endswith, _ENDINGS[language]), "")
    root = verb.removesuffix(ending)
    if len(root) < 2:
        return None
    start, end = found.span("particle")
    rest = f"{question[:start]}{question[end:]}"
    return SeparableVerb(found["verb"], _WORDS[language](particle, root), rest)


def _german(particle: str, root: str) -> tuple[str, ...]:
    infinitive = f"{root}n" if root.endswith(("er", "el")) else f"{root}en"
    return (
        f"{particle}{infinitive}",
        f"{particle}zu{infinitive}",
        f"{particle}ge{root}{'e' * root.endswith(('t', 'd'))}t",
        f"{particle}ge{infinitive}",
        f"{particle}{root}ung",
    )


def _dutch(particle: str, root: str) -> tuple[str, ...]:
    # "maak" is "maken", and "stel" "stellen"; which one it is, the vocabulary knows.
    single = re.sub(r"([aeou])\1([^aeiou])$", r"\1\2", root)
    plain = {f"{root}en": None, f"{root}{root[-1]}en": None, f"{single}en": None}
    participles = (f"{particle}ge{root.rstrip('dt')}{ending}" for ending in "dt")
    return (*(f"{particle}{infinitive}" for infinitive in plain), *participles)


_WORDS = {"german": _german, "dutch": _dutch}


@cache
def _pattern(language: str) -> re.Pattern[str]:
    particles = "|".join(sorted(_PARTICLES[language].split(), key=len, reverse=True))
    return re.compile(
        rf"(?<!\w)(?P<verb>[^\W\d_]{{3,20}})\s+(?:{_SUBJECTS[language]})\b[^.?!;:]{{0,200}}?"
        rf"(?<=[\s,])(?P<particle>{particles})(?=\s*(?:[,.?!;:]|$))",
        re.IGNORECASE,
    )
