"""Whether a sentence asks for something: by its mark, its grammar or what it wants to know.

English and German, and what is common in French, Spanish and Italian. People leave out question
marks, apostrophes and the beginnings of sentences, so that grammar has to decide.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ragkit.retrieval.query_segmentation.leaning import AUXILIARIES, QUESTION_WORDS, words_of

_LONGEST_SENTENCE = 600
_FEWEST_WORDS = 3
BULLET = re.compile(r"[ \t]*(?:[-*+\u2022\u2013]|\(?(?:\d{1,2}|[A-Za-z])(?:[.:]|\.?\)))[ \t]+")
_QUESTION_MARK = re.compile(r"[?\u061f\uff1f][\s\"'\u201d\u2019)\]*_.!?]*$")
_CONNECTING = re.compile(
    r"(?:(?:and|also|so|but|then|or|plus|ok|okay|hi|hello|hey|well|now|first|second|third|firstly"
    r"|secondly|thirdly|lastly|finally|next|additionally|besides|please|kindly|quick question|btw"
    r"|by the way|one more(?: thing| question)?|another(?: one| thing| question)?|last(?: one)?"
    r"|und|auch|oder|aber|bitte|außerdem|dann|et|aussi|y|también|por favor)\b[\s,:;\u2013-]*)*",
    re.IGNORECASE,
)

_PRONOUN = r"(?:i|we|you|he|she|it|they|there|ich|wir|man|es|er|sie)"
_DETERMINER = (
    r"(?:the|this|these|those|my|our|your|his|her|their|any(?:one|body|thing)?|some(?:one|body)?|a"
    r"|an|all|der|die|das|ein|eine)"
)
_AUXILIARY_FIRST = re.compile(
    r"(?:did|does)\s+\w"
    r"|(?:is|are|was|were|do|can|could|would|should|will|shall|may|must|has|have|am|isn't|aren't"
    r"|don't|doesn't|didn't|can't|won't|kann|können|gibt|ist|sind|hat|darf|muss|wird)\s+"
    rf"(?:{_PRONOUN}|{_DETERMINER})\b"
    # "do guests need towels", "may tenants paint": nothing but a verb follows the subject.
    r"|(?:do|can|could|should|may|must|will|would|have)\s+(?:\w+\s+)?"
    r"(?:\w{2,}[^\Ws]s|children|people)\s+(?!(?:is|are|was|were|and|or|of|in|on|at|to|for|from|with"
    r"|before|after|by|the|an?|my|your)\b)\w"
    r"|(?:is|are|was|were)\s+(?!not\b|\w+ed\b|open\b|closed\b)\w+\s+(?:\w+\s+)?(?:\w{3,}ed|included"
    r"|welcome|available|open|free|safe|possible|necessary|better|worth|ok|okay|extra|paid|due)\b",
    re.IGNORECASE,
)
_NOT_AUXILIARY_FIRST = re.compile(
    r"(?:do|have)\s+(?:the|this|these|those|a|an|it|all|my)\b"
    r"|was\s+(?:ich|wir|man|es|er|sie|der|die|das|eine?)\b",
    re.IGNORECASE,
)
_REQUEST = re.compile(
    r"(?:can|could|would|will)\s+(?:you|someone|anyone|anybody)\b"
    r"|(?:(?:for|about|on)\s+(?:\w+\s+){1,4}(?=(?:i|we)\s))?(?:(?:i|we)\s+)?(?:(?:also|still|just)\s+)?"
    r"(?:need|(?:am\s+)?looking\s+for|searching\s+for)\s+(?!to\b)\w+\s+\w"
    r"|(?:(?:i|we)(?:\s+|(?='d)))?(?:need|want|(?:would|'d)\s+like)\s+to"
    r"\s+(?:know|find|see|understand|hear|learn)\s+\w"
    r"|ich\s+(?:brauche|bräuchte|suche|benötige)\s+\w+|je\s+(?:cherche|veux|voudrais)\s+\w+"
    r"|(?:yo\s+)?(?:necesito|busco|quisiera)\s+\w+"
    r"|(?:tell|explain|describe|list(?!\s+of)|show(?!\s+must)|summari[sz]e|compare|remind|give|outline|clarify|define"
    r"|sag|erklär\w*|zeig\w*|beschreib\w*|nenn\w*|dites|dis|explique\w*|dime|explica\w*)\s+\w+\s+\w"
    r"|(?:send|forward)\s+(?:me|us)\s+\w|help\s+me\s+(?:to\s+)?(?!out\b)\w+\s+\w",
    re.IGNORECASE,
)
_ABOUT = re.compile(
    r"(?:what|how)\s+about|what\s+if|any\s+\w+|same\s+(?:question|for)|how\s+to|how\s+come|why\s+not"
    r"|was\s+ist\s+mit|et\s+pour|y\s+para",
    re.IGNORECASE,
)
_WITH_QUESTION_WORD = re.compile(
    # "where to find it", "how late it opens", "what happens if", "where the fuse box is".
    r"(?:where|when|who|whom|what|which\s+\w+)\s+to\s+\w|why\s+(?!not\b)\w+\s+\w"
    r"|how\s+(?:much|many|long|late|early|often|far|old|big|large|high|heavy|soon|well|close|fast)\b"
    r"|what\s+happen(?:s|ed)\s+(?:if|when|to|with|after|in)\b"
    rf"|where\s+{_DETERMINER}\s+[^,]+\s(?:is|are|was|were|lives?|stands?)\W*$"
    r"|(?:ab|bis|seit|von|wie|in)\s+(?:wann|wo|wem|viel\w*|lange|hoch|weit|oft|welche\w?)\b"
    r"|(?:was|wer|wo|wann|wie|warum|wieso|woher|wohin|welche\w?)\s+(?:\w+\s+)?(?:passiert|kostet"
    r"|kosten|bedeutet|heißt|gilt|gelten|zahlt|haftet|macht|mache|finde|findet|bekomme|bekommt"
    r"|funktioniert|steht|liegt|läuft|beginnt|endet)\b"
    r"|(?:à\s+(?:qui|quoi|quelle)|quel\w*|combien|où|pourquoi|est-ce\s+que|qu'est-ce)\b"
    r"|(?:a\s+|de\s+|en\s+|por\s+)?(?:qué|cuál\w*|quién\w*|cuándo|cuánt[oa]s?|dónde|cómo)\b"
    r"|qual\s+[èé]|quanto\s+cost\w+|quant[ie]\s+\w|dove\s+(?:si|posso|è|sono|trovo)"
    r"|come\s+(?:si|posso|faccio)\s|che\s+cosa\s|onde\s+(?:é|fica|posso)|como\s+(?:faço|posso)",
    re.IGNORECASE,
)
_SUBJECT_QUESTION = re.compile(
    r"(?:what|which)\s+(?!i\b|we\b|you\b|he\b|she\b|they\b|it\b|the\b|is\b|was\b|means?\b)"
    r"(?:\w+\s+){0,4}?(?:\w{2,}[^\Ws]s|fits?|pays?|gets?|lets?|sets?)\s+\w",
    re.IGNORECASE,
)
"""A verb with "s" follows "what" or "which", as in "which plan includes phone support"."""

_MAIN_CLAUSE = re.compile(r"\s(?:is|are|was|were|will|would|surprised|mattered)\s", re.I)
_BARE_RELATIVE = re.compile(
    r"which\s+(?:(?:is|was)\s+(?:why|how|what|when)|brings|means|leads)\b", re.I
)
_INDIRECT = re.compile(
    r"\b(?:know|wonder(?:s|ing)?|ask(?:s|ing|ed)?|sure|unsure|clear|unclear|hear|understand"
    r"|curious|check|confirm|(?:find|figure|work)\s+out|see|tell\s+(?:me|us)|explain|remind\s+(?:me|us)|idea|clarify"
    r"|learn|look\s+up|question\s+is|interested|need|like|want|wissen|frage\s+mich|unklar|sagen"
    r"|savoir|demande|saber|pregunt\w+)\b[,\s:]+(?:\w+\s+){0,3}?"
    r"(?:whether|if|what|when|where|why|who|whom|whose|which|how|about|ob|was|wann|wo|warum"
    r"|wer|welche\w?|wie|si|s'il|ce\s+que|quand|où|comment|pourquoi|qui|quel\w*|qué|cuándo|dónde|cómo"
    r"|quién|cuál)\b",
    re.IGNORECASE,
)
_WANTS = re.compile(
    r"\b(?:ask(?:s|ed|ing)?|wonder(?:s|ing)?|not\s+sure|unsure|unclear|no\s+idea|can't|cannot|don't"
    r"|curious|i|i'm|i'd|we|we'd|we're|me|us|question|please|ich|wir|mir|mich|uns|je|nous|nos"
    r"|yo)\b",
    re.IGNORECASE,
)
_KNOWS = re.compile(
    r"\b(?:i|we|he|she|they)\s+(?:already\s+|now\s+|do\s+)?(?:know|see|understand)\s"
    r"|\blet\s+(?:me|us)\s+know\s+(?:if\s+(?:you|there|anything)|what\s+you\s+think)\b",
    re.IGNORECASE,
)
"""Says that somebody knows the answer, or ends a letter."""

PRONOUNS = frozenset(("i", "we", "you", "he", "she", "they", "it", "ich", "wir", "er", "sie", "es"))
_WHO = frozenset(("who", "whose", "wer", "wessen", "qui"))
_WHETHER = frozenset(("whether", "ob"))
_CONTRACTED = frozenset(("what", "where", "how", "when", "who"))
_WHERE_WHEN = frozenset(["when", "where", "wann", "wo", "wie", "als", "while"])


def asks(sentence: str) -> bool:
    """Return whether a sentence asks, with or without a question mark."""
    if _QUESTION_MARK.search(sentence):
        return True
    rest = without_mark(sentence)
    connecting = _CONNECTING.match(rest)
    rest = rest[connecting.end() if connecting else 0 :].strip()[:_LONGEST_SENTENCE]
    words = list(_uncontracted(words_of(rest)[:6]))
    if len(words) < _FEWEST_WORDS or rest.endswith((",", ":", "!")):
        return False
    if _AUXILIARY_FIRST.match(rest) and not _NOT_AUXILIARY_FIRST.match(rest):
        return True
    if _REQUEST.match(rest) or _ABOUT.match(rest) or _begins_question(rest, words):
        return True
    indirect = _INDIRECT.search(rest)
    if indirect is None or _KNOWS.search(rest[: indirect.end() + 20]):
        return False
    return bool(_WANTS.search(rest[: indirect.end()]))


def without_mark(item: str) -> str:
    """Return the item of a list without its bullet, number or letter."""
    mark = BULLET.match(item)
    return item[mark.end() :] if mark else item


def _begins_question(sentence: str, words: Sequence[str]) -> bool:
    """Return whether a sentence, whose first words these are, begins as questions do."""
    first, second = words[0], words[1]
    if _BARE_RELATIVE.match(sentence):
        return False
    if first in QUESTION_WORDS and second not in PRONOUNS:
        near = words[1:2] if first in _WHERE_WHEN else words[1:4]
        if not AUXILIARIES.isdisjoint(near):
            return True
    has_clauses = "," in sentence
    if first in _WHETHER or (first in _WHO and second not in PRONOUNS):
        return not has_clauses
    if has_clauses:
        return False
    if _WITH_QUESTION_WORD.match(sentence):
        return True
    subject = _SUBJECT_QUESTION.match(sentence)
    return subject is not None and not _MAIN_CLAUSE.search(sentence, subject.end() - 2)


def _uncontracted(words: Sequence[str]) -> Iterator[str]:
    """Yield words in lower case, "what's" and "whats" as "what" and "is"."""
    for word in words:
        stem, mark, suffix = word.replace("\u2019", "'").partition("'")
        if not mark and stem.endswith("s") and stem[:-1] in _CONTRACTED:
            stem, suffix = stem[:-1], "s"
        if suffix == "s" and stem in QUESTION_WORDS:
            yield from (stem, "is")
        else:
            yield word
