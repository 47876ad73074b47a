"""Questions that lean on the one before, such as "and for faulty ones?", made to stand alone.

By rules, for where no model rewrites them: English and German, and the shortest of French and
Spanish. Nothing is guessed; words of the question before are added, or nothing is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ragkit.answers import Turn
from ragkit.errors import QueryError
from ragkit.indexes.tokenizer import index_tokens
from ragkit.retrieval.query_parser import ParsedQuery, parse_query

_WORD = re.compile(r"[^\W_]+(?:['’\-][^\W_]+)*")
_YEAR = re.compile(r"(?:\s(?:in|from|of|since|im|von|aus|seit|en|de|del))?\s+(?:19|20)\d\d\b", re.I)
_LEADING = re.compile(
    r"(?:(?:and|but|or|so|then|also|now|und|aber|oder|also|dann|et|mais|y|pero)\b[\s,]*)?"
    r"(?:(?:what|how)\s+about|what\s+of|what\s+if|was\s+ist\s+mit|wie\s+(?:ist|steht)\s+es\s+mit"
    r"|wie\s+sieht\s+es\s+(?:mit|bei)|et\s+pour|qu['’]en\s+est-il\s+de|qué\s+pasa\s+con)?\b\s*",
    re.IGNORECASE,
)
_PLEONASTIC = re.compile(
    r"\bit\s+(?:is|was|be)?\s*(?:possible|necessary|allowed|true|required|worth)\b"
    r"|\b(?:is|are|was|were)\s+there\b|\bthere\s+(?:is|are|was|were)\b"
    r"|\bes\s+(?:möglich|nötig|erlaubt|wahr)\b|\bgibt\s+es\b|\bes\s+gibt\b",
    re.IGNORECASE,
)
_FORMAL = re.compile("Sie|Ihnen|Ihr(?:e[nmrs]?)?")
_THIS_TIME = re.compile(
    r"\b(?:this|that)\s+(?:year|month|week|quarter|morning|evening|spring|summer|autumn|winter)\b"
    r"|\bdies\w{1,2}\s+(?:jahr|monat|woche|quartal)\b",
    re.IGNORECASE,
)
_LONGEST_FRAGMENT, _LONGEST_BASE = 6, 200
_MOST_SAID, _MOST_CARRIED = 3, 4
"""Telling words before a pointer that leave it without a sense, and those that are added."""


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_QUESTION_WORDS = _set(
    "who whom whose what which when where why how wer wen wem wessen was welche welcher welches "
    "welchen wann wo wohin woher warum wieso weshalb wie wieviel qui que quoi quand où pourquoi "
    "comment quién qué cuándo dónde cómo"
)
_AGREEMENTS = _set(
    "yes yeah yep sure ok okay please more continue go on tell me do show it that all exactly "
    "ja jo bitte gern gerne weiter mehr genau erzähl mir zeig oui sí si claro"
)
_POINTERS = _set(
    "it its they them their theirs he him his she her hers this that these those one ones same "
    "there such former latter both neither else instead "
    "es er sie ihn ihm ihr ihnen ihre ihren dies diese dieser dieses diesen diesem jene jener "
    "dafür davon damit dabei dazu darauf darin daran danach dort solche solchen denen stattdessen"
)
_AUXILIARIES = _set(
    "is are was were am do does did can could may might must shall should will would has have had "
    "ist sind war waren hat haben hatte kann können darf dürfen muss müssen soll wird werden gibt "
    "i we you wie ich wir"
)
_ONES = _set("one ones")
_JOINING = _set("that one both such")
_PREPOSITIONS = _set(
    "for in with without to from on at by before after during within under over until "
    "für im in mit ohne bei beim nach vor seit von vom aus auf zum zur bis während "
    "pour avec sans dans chez para con sin"
)
_CARRIED_NOT = _QUESTION_WORDS | _set(
    "may must many much long often far old big does did the and are was were will shall der die "
    "das den dem des ein eine einen einer eines ist sind war waren hat haben kann darf muss soll "
    "wird werden man ich wir ihr sich nicht und oder ob viel viele lange oft zu im am "
    "i me my we our us you your can could would should have has had been any some please also "
    "still not know think help tell see want need get give find mean understand explain say "
    "describe"
)


def stand_alone(question: str, turns: Sequence[Turn], known_fields: Sequence[str] = ()) -> str:
    """Return a question with what it leaves out, taken from the turns before it.

    A question that leans on nothing comes back as it is. Filters of the question before hold on,
    but for those that it names itself. ``known_fields`` are fields of front matter.
    """
    if not turns:
        return question
    own = _parsed(question, known_fields)
    if not leans(own.text) and (own.text or not own.restrictions):
        return question
    rest = _leading_cut(own.text)
    words = set(_words(rest))
    if _is_sentence(rest) or (_has_pointer(rest) and not words & _ONES):
        base = _parsed(turns[-1].asked, known_fields)
        text = f"{rest}: {_telling(base.text, rest)}".removesuffix(": ")
    else:
        fragment = rest if telling(rest) and not words <= _AGREEMENTS else ""
        base = _parsed(_base(turns, replaced=bool(fragment)).asked, known_fields)
        before = base.text.rstrip(" ?!.,;:")
        if len(before) > _LONGEST_BASE:
            before = _telling(before, fragment)
        if _YEAR.search(f" {fragment}"):
            before = _YEAR.sub("", f" {before}").strip()
        text = f"{before}, {fragment}?" if fragment else base.text
    return " ".join([text, *_filters(question, own, turns[-1].asked, known_fields)]).strip()


def leans(question: str) -> bool:
    """Return whether a question, without its filters, cannot be understood alone."""
    words = _words(question)
    if not words:
        return False
    if set(words) <= _AGREEMENTS or set(words) <= _CARRIED_NOT | _PREPOSITIONS:
        return True
    rest = _leading_cut(question)
    if _has_pointer(rest):
        return True
    if _is_sentence(rest) or len(words) > _LONGEST_FRAGMENT:
        return False
    return rest != question.strip(" ?!.,;:") or words[0] in _PREPOSITIONS


def telling(text: str) -> frozenset[str]:
    """Return the tokens of the words that say what a question is about."""
    return frozenset(token for word in _kept(text) for token in index_tokens(word))


def _base(turns: Sequence[Turn], *, replaced: bool) -> Turn:
    """Return the turn that a fragment continues: the last that did not lean on another itself.

    What says nothing new, such as "yes", continues the last one, whatever that was.
    """
    alone = (turn for turn in reversed(turns) if not leans(turn.question))
    return next(alone, turns[0]) if replaced else turns[-1]


def _leading_cut(question: str) -> str:
    """Return a question without "and", "what about" before it, and its last marks."""
    rest = question.strip(" ?!.,;:")
    match = _LEADING.match(rest)
    return (rest[match.end() :].strip() if match else rest) or rest


def _is_sentence(rest: str) -> bool:
    """Return whether a question has a verb or a word that asks, and is no mere fragment."""
    words = _words(rest)
    return bool(words) and (words[0] in _AUXILIARIES or not _QUESTION_WORDS.isdisjoint(words))


def _has_pointer(question: str) -> bool:
    """Return whether a word points to something that is not in the question before it."""
    shown = _PLEONASTIC.sub(" ", _THIS_TIME.sub(" ", question))
    # "IT" is a department, and "Sie" inside a sentence is whoever is asked.
    words = [
        word
        for at, word in enumerate(_WORD.findall(shown))
        if not (word.isupper() and len(word) > 1) and not (at and _FORMAL.fullmatch(word))
    ]
    said = 0
    for at, word in enumerate(words):
        folded, edge = word.casefold(), at in (0, len(words) - 1)
        # Inside, these join clauses and count; at the edges they point.
        if folded in _POINTERS and (edge or folded not in _JOINING):
            return True
        if edge and at and folded == "das":
            return True
        said += any(True for _ in _kept(word))
        if said > _MOST_SAID:
            return False
    return False


def _telling(text: str, known: str) -> str:
    """Return the words of a question that carry its subject and that ``known`` lacks."""
    there = telling(known)
    words = [word for word in _kept(text) if not there.issuperset(index_tokens(word))]
    return " ".join(list(dict.fromkeys(words))[:_MOST_CARRIED])


def _kept(text: str) -> Iterator[str]:
    for word in _WORD.findall(text):
        folded = re.split("['’]", word.casefold())[0]
        if folded not in _CARRIED_NOT | _POINTERS | _PREPOSITIONS and index_tokens(word):
            yield word


def _filters(question: str, own: ParsedQuery, before: str, fields: Sequence[str]) -> Iterator[str]:
    """Yield the filters of the question before that hold on, and the question's own."""
    named = {one.name for one in own.restrictions}
    earlier = (one for one in _parsed(before, fields).restrictions if one.name not in named)
    for text, kept in ((before, earlier), (question, iter(own.restrictions))):
        yield from dict.fromkeys(text[slice(*one.span)].strip() for one in kept)


def _parsed(question: str, known_fields: Sequence[str]) -> ParsedQuery:
    try:
        return parse_query(question, known_fields)
    except QueryError:
        return ParsedQuery(question)


def _words(text: str) -> list[str]:
    return [word.casefold() for word in _WORD.findall(text)]
