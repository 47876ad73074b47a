"""Questions that lean on what was asked before, such as "and for faulty ones?", found by rules.

English and German, and the shortest of French and Spanish.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ragkit.indexes.tokenizer import index_tokens

_WORD = re.compile(r"[^\W_]+(?:['’\-][^\W_]+)*")
_LEADING = re.compile(
    r"(?:(?:and|but|or|so|then|also|now|und|aber|oder|also|dann|et|mais|y|pero)\b[\s,]*)?"
    r"(?:(?:what|how)\s+about|what\s+of|what\s+if|was\s+ist\s+mit|wie\s+(?:ist|steht)\s+es\s+mit"
    r"|wie\s+sieht\s+es\s+(?:mit|bei)|et\s+pour|qu['’]en\s+est-il\s+de|qué\s+pasa\s+con)?\b\s*",
    re.IGNORECASE,
)
_PLEONASTIC = re.compile(
    r"\bit\s+(?:is|was|be)?\s*(?:possible|necessary|allowed|true|required|worth)\b"
    r"|\b(?:is|are|was|were)\s+there\b|\bthere\s+(?:is|are|was|were)\b"
    r"|\b(?:the\s+)?same\s+(?:\w+\s+)?as\b"
    r"|\bes\s+(?:möglich|nötig|erlaubt|wahr)\b|\bgibt\s+es\b|\bes\s+gibt\b",
    re.IGNORECASE,
)
_FORMAL = re.compile("Sie|Ihnen|Ihr(?:e[nmrs]?)?")
_THIS_TIME = re.compile(
    r"\b(?:this|that)\s+(?:year|month|week|quarter|morning|evening|spring|summer|autumn|winter)\b"
    r"|\bdies\w{1,2}\s+(?:jahr|monat|woche|quartal)\b",
    re.IGNORECASE,
)
_LONGEST_FRAGMENT = 6
_MOST_SAID = 3
"""Telling words before a pointer that leave it without a sense."""


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


QUESTION_WORDS = _set(
    "who whom whose what which when where why how wer wen wem wessen was welche welcher welches "
    "welchen wann wo wohin woher warum wieso weshalb wie wieviel qui que quoi quand où pourquoi "
    "comment quién qué cuándo dónde cómo"
)
AGREEMENTS = _set(
    "yes yeah yep sure ok okay please more continue go on tell me do show it that all exactly "
    "ja jo bitte gern gerne weiter mehr genau erzähl mir zeig oui sí si claro"
)
_POINTERS = _set(
    "it its they them their theirs he him his she her hers this that these those one ones same "
    "there such former latter both neither else instead "
    "es er sie ihn ihm ihr ihnen ihre ihren dies diese dieser dieses diesen diesem jene jener "
    "dafür davon damit dabei dazu darauf darin daran danach dort solche solchen denen stattdessen"
)
AUXILIARIES = _set(
    "is are was were am do does did can could may might must shall should will would has have had "
    "ist sind war waren hat haben hatte kann können darf dürfen muss müssen soll wird werden gibt "
    "i we you wie ich wir"
)
ONES = _set("one ones")
_JOINING = _set("that one both such")
_PREPOSITIONS = _set(
    "for in with without to from on at by before after during within under over until "
    "für im in mit ohne bei beim nach vor seit von vom aus auf zum zur bis während "
    "pour avec sans dans chez para con sin"
)
_CARRIED_NOT = QUESTION_WORDS | _set(
    "may must many much long often far old big does did the and are was were will shall der die "
    "das den dem des ein eine einen einer eines ist sind war waren hat haben kann darf muss soll "
    "wird werden man ich wir ihr sich nicht und oder ob viel viele lange oft zu im am "
    "i me my we our us you your can could would should have has had been any some please also "
    "still not know think help tell see want need get give find mean understand explain say "
    "describe"
)
_ANY_SUBJECT = _set(
    "do bring take takes go come pay cost costs call ring contact ask wait happen happens start "
    "begin end stop use apply send sign prepare wear expect arrive leave next first that "
    "mitbringen bringen mitnehmen nehmen gehen hin hingehen kommen zahlen bezahlen kosten kostet "
    "anrufen rufe an kontaktieren fragen warten tun machen mache passiert beginnen beginnt "
    "anfangen enden endet beachten schicken unterschreiben vorbereiten anziehen abgeben brauche "
    "brauchen mir mich uns"
)
"""Words that fit any subject: what asks with no others leaves out what it is about."""


def leans(question: str) -> bool:
    """Return whether a question, without its filters, cannot be understood alone."""
    words = words_of(question)
    if not words:
        return False
    if set(words) <= AGREEMENTS or set(words) <= _CARRIED_NOT | _PREPOSITIONS:
        return True
    rest = leading_cut(question)
    own = words_of(rest)
    if is_sentence(rest) and set(own) <= _CARRIED_NOT | _PREPOSITIONS | _ANY_SUBJECT:
        return True
    if has_pointer(rest):
        return True
    if is_sentence(rest) or len(words) > _LONGEST_FRAGMENT:
        return False
    return rest != question.strip(" ?!.,;:") or words[0] in _PREPOSITIONS


def telling(text: str) -> frozenset[str]:
    """Return the tokens of the words that say what a question is about."""
    return frozenset(token for word in kept_words(text) for token in index_tokens(word))


def leading_cut(question: str) -> str:
    """Return a question without "and", "what about" before it, and its last marks."""
    rest = question.strip(" ?!.,;:")
    match = _LEADING.match(rest)
    return (rest[match.end() :].strip() if match else rest) or rest


def is_sentence(rest: str) -> bool:
    """Return whether a question has a verb or a word that asks, and is no mere fragment."""
    words = words_of(rest)
    return bool(words) and (words[0] in AUXILIARIES or not QUESTION_WORDS.isdisjoint(words))


def has_pointer(question: str) -> bool:
    """Return whether a word points to something that is not in the question before it."""
    shown = _PLEONASTIC.sub(" ", _THIS_TIME.sub(" ", question))
    # "IT" is a department, and "Sie" inside a sentence is whoever is asked.
    words = [
        word
        for at, word in enumerate(_WORD.findall(shown))
        if not (word.isupper() and len(word) > 1) and not (at and _FORMAL.fullmatch(word))
    ]
    count = 0
    for at, word in enumerate(words):
        folded, edge = word.casefold(), at in (0, len(words) - 1)
        # Inside, these join clauses and count; at the edges they point.
        if folded in _POINTERS and (edge or folded not in _JOINING):
            return True
        if edge and at and folded == "das":
            return True
        count += any(True for _ in kept_words(word))
        if count > _MOST_SAID:
            return False
    return False


def kept_words(text: str) -> Iterator[str]:
    """Yield the words that say what a question is about, as they are written."""
    for word in _WORD.findall(text):
        folded = re.split("['’]", word.casefold())[0]
        if folded not in _CARRIED_NOT | _POINTERS | _PREPOSITIONS and index_tokens(word):
            yield word


def words_of(text: str) -> list[str]:
    """Return the words of a text in lower case."""
    return [word.casefold() for word in _WORD.findall(text)]
