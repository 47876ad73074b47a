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
# What each subject gives to the verb, the longest first.
_ENDINGS = {
    "ich": ("e",), "wir": ("en", "n"), "man": ("et", "t"), "du": ("est", "st"), "ihr": ("et", "t"),
    "ik": (), "we": ("en",), "wij": ("en",), "je": (), "jij": (), "u": ("t",), "men": ("t",),
}  # fmt: skip
_SUBJECTS = {"german": "ich|wir|man|du|ihr", "dutch": "ik|we|wij|je|jij|u|men"}


class SeparableVerb(NamedTuple):
    """``words`` are what a verb is with its particle, infinitives first.

    ``before`` and ``behind`` are what the question has before and behind the particle, without the
    verb itself.
    """

    words: tuple[str, ...]
    before: str
    behind: str

    def question(self, word: str) -> str:
        """Return the question with a word in the place of the particle, where infinitives stand."""
        return f"{self.before}{word}{self.behind}"


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
    root = verb.removesuffix(next(filter(verb.endswith, _ENDINGS[found["subject"].lower()]), ""))
    if len(root) < 2:
        return None
    words = [f"{particle}{word}" for word in _FORMS[language](root)]
    if verb.endswith("n"):  # of "we" it is the infinitive
        words = [f"{particle}{verb}", *words]
    start, end = found.span("verb")
    before = question[:start] + question[end : found.start("particle")]
    return SeparableVerb(tuple(dict.fromkeys(words)), before, question[found.end() :])


def with_infinitive(question: str, language: str) -> str:
    """Return a question with its separable verb in one word, the likeliest; or as it is."""
    verb = separable_verb(question, language)
    return verb.question(verb.words[0]) if verb else question


def _german(root: str) -> tuple[str, ...]:
    infinitive = f"{root}n" if root.endswith(("er", "el")) else f"{root}en"
    participle = f"ge{root}{'e' * root.endswith(('t', 'd'))}t"
    return infinitive, f"zu{infinitive}", participle, f"ge{infinitive}", f"{root}ung"


def _dutch(root: str) -> tuple[str, ...]:
    # "maak" is of "maken", "stel" of "stellen", "voeg" of "voegen"; the likeliest comes first.
    roots = [root, root + root[-1], re.sub(r"([aeou])\1([^aeiou])$", r"\1\2", root)]
    if roots[2] != root:
        roots.reverse()
    elif re.fullmatch(r"[^aeiou]*[aeiou][^aeiou]", root):
        roots = [roots[1], root]
    return (*(f"{each}en" for each in roots), *(f"ge{root.rstrip('dt')}{end}" for end in "dt"))


_FORMS = {"german": _german, "dutch": _dutch}


@cache
def _pattern(language: str) -> re.Pattern[str]:
    particles = "|".join(sorted(_PARTICLES[language].split(), key=len, reverse=True))
    return re.compile(
        rf"(?<!\w)(?P<verb>[^\W\d_]{{3,20}})\s+(?P<subject>{_SUBJECTS[language]})\b[^.?!;:]{{0,200}}?"
        rf"(?<=[\s,])(?P<particle>{particles})(?=\s*(?:[,.?!;:]|$))",
        re.IGNORECASE,
    )
