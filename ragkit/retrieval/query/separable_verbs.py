"""Verbs that a question takes apart: "Wie richte ich eine Firewall ein?".

Documents have them in one word: "einrichten", "eingerichtet", "Einrichtung". In Dutch it is
"toevoegen", in Hungarian "beszúrás" for "szúrhatok be".
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

_LONGEST = 300
_PARTICLES = {
    "german": "ab an auf aus bei bereit durch ein fest fort frei heraus herunter hin hinein hinzu "
    "hoch los mit nach raus rein runter statt um vor weg weiter wieder zu zurück zusammen",
    "dutch": "aan af bij door in mee na om op open over samen terug toe uit vast voor weg",
    "hungarian": "alá át be bele el elő fel fenn föl hozzá ide ki körül körbe közbe le létre meg "
    "oda össze rá szét tovább újra utána végig végre vissza",
}
# What each subject gives to the verb, the longest first.
_ENDINGS = {
    "ich": ("e",), "wir": ("en", "n"), "man": ("et", "t"), "du": ("est", "st"), "ihr": ("et", "t"),
    "ik": (), "we": ("en",), "wij": ("en",), "je": (), "jij": (), "u": ("t",), "men": ("t",),
}  # fmt: skip
_HUNGARIAN_ENDING = re.compile(
    "(?:h[ae]t)?(?:[aeo]k|ök|[aeo]m|öm|[uü]nk|j[uü]k|j[aá]k?|ik?|sz|[ao]d|ed)?$"
)
_BEHIND_SUBJECT = (
    r"(?<!\w)(?P<verb>[^\W\d_]{{3,20}})\s+(?P<subject>{subjects})\b[^.?!;:]{{0,200}}?"
    r"(?<=[\s,])(?P<particle>{particles})(?=\s*(?:[,.?!;:]|$))"
)
_BEHIND_VERB = r"(?<!\w)(?P<verb>[^\W\d_]{{4,20}})\s+(?P<particle>{particles})(?!\w)"


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
    """Return the verb of a question that is parted from its particle, if any.

    ``language`` is the name of a stemmer.
    """
    if language not in _PARTICLES or len(question) > _LONGEST:
        return None
    grammar = _grammars()[language]
    found = grammar.pattern.search(question)
    root = grammar.root(found) if found else ""
    if found is None or len(root) < 2:
        return None
    verb, particle = found["verb"].lower(), found["particle"].lower()
    # Of "we" a verb of German or Dutch is the infinitive.
    forms = [*([verb] if verb.endswith("n") else []), *grammar.forms(root)]
    words = dict.fromkeys(f"{particle}{form}" for form in forms)
    start, end = found.span("verb")
    before = question[:start] + question[end : found.start("particle")]
    return SeparableVerb(tuple(words), before, question[found.end() :])


def with_infinitive(question: str, language: str) -> str:
    """Return a question with its separable verb in one word, the likeliest; or as it is."""
    verb = separable_verb(question, language)
    return verb.question(verb.words[0]) if verb else question


def _root_by_subject(found: re.Match[str]) -> str:
    verb = found["verb"].lower()
    return verb.removesuffix(next(filter(verb.endswith, _ENDINGS[found["subject"].lower()]), ""))


def _hungarian_root(found: re.Match[str]) -> str:
    return _HUNGARIAN_ENDING.sub("", found["verb"].lower(), count=1)


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


def _hungarian(root: str) -> tuple[str, ...]:
    noun, may = ("ás", "hat") if re.search("[aáoóuú]", root) else ("és", "het")
    return f"{root}ni", f"{root}{noun}", f"{root}{may}", f"{root}t"


class _Grammar(NamedTuple):
    pattern: re.Pattern[str]
    root: Callable[[re.Match[str]], str]
    """Returns what of the verb is in all its forms, or nearly."""
    forms: Callable[[str], tuple[str, ...]]


@cache
def _grammars() -> dict[str, _Grammar]:
    def pattern(language: str, written: str, subjects: str = "") -> re.Pattern[str]:
        particles = "|".join(sorted(_PARTICLES[language].split(), key=len, reverse=True))
        return re.compile(written.format(particles=particles, subjects=subjects), re.IGNORECASE)

    german = pattern("german", _BEHIND_SUBJECT, "ich|wir|man|du|ihr")
    dutch = pattern("dutch", _BEHIND_SUBJECT, "ik|we|wij|je|jij|u|men")
    return {
        "german": _Grammar(german, _root_by_subject, _german),
        "dutch": _Grammar(dutch, _root_by_subject, _dutch),
        "hungarian": _Grammar(pattern("hungarian", _BEHIND_VERB), _hungarian_root, _hungarian),
    }
