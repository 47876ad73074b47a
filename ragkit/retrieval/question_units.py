"""Sentences of a text that somebody typed, and which of them ask for something."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from ragkit.retrieval.leaning import AUXILIARIES, QUESTION_WORDS, leans, words_of
from ragkit.retrieval.topic_names import telling_tokens

_PARAGRAPH = re.compile(r"\S(?:.*?\S)?(?=\s*?\n[ \t]*\n|\s*\Z)", re.DOTALL)
_ENDS = r"[.!?\u2026\u061f\u3002\uff01\uff1f]"
_SENTENCE = re.compile(
    rf"\S.*?(?:{_ENDS}+[\"'\u201d\u2019)\]*_]*(?=\s|\Z)|[\u3002\uff01\uff1f]|\Z)", re.DOTALL
)
_ABBREVIATED = re.compile(
    r"(?:\b[A-Za-z]|\b[B-DF-HJ-NP-TV-XZb-df-hj-np-tv-xz]{2,4}|\b(?:e\.g|i\.e|al|No|no|Prof|Inc|etc"
    r"|approx|incl|Col|Gen|Rev|ca|usw|Abs|Art|Fig|fig|p\.m|a\.m))\.$"
)
_ENDED = re.compile(rf"(?:{_ENDS}|[:;,])[\"'\u201d\u2019)\]*_]*\s*$")
_BULLET = re.compile(r"[ \t]*(?:[-*+\u2022\u2013]|\(?(?:\d{1,2}|[A-Za-z])[.):])[ \t]+")
_JOINED = re.compile(
    r"[,;]\s+(?:and|also|und|et|y)\s+(?:also\s+)?(?=(?:what|which|who|when|where|why|how|is|are|do|does"
    r"|did|can|could|may|tell|was|wie|wer|wann|wo|warum)\b)",
    re.IGNORECASE,
)
_FEWEST_TELLING, _LONGEST_SENTENCE = 2, 600
_QUOTED = re.compile(r"^[ \t]*(?:>[ \t]?)+", re.MULTILINE)
_QUESTION_MARK = re.compile(r"[?\u061f\uff1f][\s\"'\u201d\u2019)\]*_.!?]*$")
_CONNECTING = re.compile(
    r"(?:(?:and|also|so|but|then|or|plus|ok|okay|hi|hello|hey|well|now|first|second|third|firstly"
    r"|secondly|thirdly|lastly|finally|next|additionally|besides|please|kindly|quick question|btw"
    r"|by the way|one more(?: thing| question)?|another(?: one| thing| question)?|last(?: one)?"
    r"|und|auch|oder|aber|bitte|außerdem|dann|et|aussi|y|también|por favor)\b[\s,:;\u2013-]*)*",
    re.IGNORECASE,
)
_AUXILIARY_FIRST = re.compile(
    r"(?:is|are|was|were|do|does|did|can|could|would|should|will|shall|has|have|am|isn't|aren't"
    r"|don't|doesn't|didn't|can't|won't|kann|können|gibt|ist|sind|hat|darf|muss|wird)\s+"
    r"(?:i|we|you|he|she|it|they|there|the|this|these|those|my|our|your|his|her|their|any"
    r"|any(?:one|body|thing)|some(?:one|body)|a|an|all|ich|wir|man|es|er|sie|der|die|das|ein|eine)\b",
    re.IGNORECASE,
)
_NOT_AUXILIARY_FIRST = re.compile(r"(?:do|have)\s+(?:the|this|these|those|a|an|it|all|my)\b", re.I)
_REQUEST = re.compile(
    r"(?:can|could|would|will)\s+(?:you|someone|anyone|anybody)\b"
    r"|(?:i\s+)?(?:need|(?:am\s+)?looking\s+for|searching\s+for)\s+(?!to\b)\w+\s+\w"
    r"|(?:tell|explain|describe|list|show|summari[sz]e|compare|remind|give|outline|clarify|define"
    r"|sag|erklär\w*|zeig\w*|beschreib\w*|nenn\w*|dites|dis|explique\w*|dime|explica\w*)\s+\w+\s+\w",
    re.IGNORECASE,
)
_ABOUT = re.compile(
    r"(?:what|how)\s+about|what\s+if|any\s+\w+|same\s+(?:question|for)|how\s+to|how\s+come|why\s+not"
    r"|was\s+ist\s+mit|et\s+pour|y\s+para",
    re.IGNORECASE,
)
_INDIRECT = re.compile(
    r"\b(?:know|wonder(?:s|ing)?|ask(?:s|ing|ed)?|sure|unsure|clear|unclear|understand|curious|check"
    r"|confirm|find\s+out|figure\s+out|tell\s+(?:me|us)|explain|remind\s+(?:me|us)|idea|clarify"
    r"|learn|look\s+up|question\s+is|interested|need|like|want|wissen|frage\s+mich|unklar|sagen"
    r"|savoir|demande|saber|pregunt\w+)\b[,\s:]+(?:\w+\s+){0,3}?"
    r"(?:whether|if|what|when|where|why|who|whom|whose|which|how|about|ob|was|wann|wo|warum"
    r"|wer|welche\w?|wie|si|ce\s+que|quand|où|comment|pourquoi|qui|quel\w*|qué|cuándo|dónde|cómo"
    r"|quién|cuál)\b",
    re.IGNORECASE,
)
_WANTS = re.compile(
    r"\b(?:ask(?:s|ed|ing)?|wonders?|i|i'm|i'd|we|we'd|we're|me|us|question|please|ich|wir|mir|mich|uns|je|nous|me|nos|yo)\b",
    re.IGNORECASE,
)
_PRONOUNS = frozenset(
    ("i", "we", "you", "he", "she", "they", "it", "ich", "wir", "er", "sie", "es")
)
_WHO = frozenset(("who", "whose", "wer", "wessen", "qui"))
_WHERE_WHEN = frozenset(["when", "where", "wann", "wo", "wie", "als", "while"])
_NARROWEST, _WIDEST = 40, 110


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence, or an item of a list, with the number of its paragraph.

    ``is_line``: nothing else stands on its line.
    """

    start: int
    end: int
    text: str
    paragraph: int
    asks: bool
    is_line: bool


def find_sentences(text: str, begin: int = 0, end: int | None = None) -> list[Sentence]:
    """Split a text into sentences; lines end them too, unless the lines were only wrapped."""
    found: list[Sentence] = []
    paragraphs = _PARAGRAPH.finditer(text, begin, len(text) if end is None else end)
    for number, paragraph in enumerate(paragraphs):
        for start, stop in _pieces(text, paragraph.start(), paragraph.end()):
            words = " ".join(_QUOTED.sub("", text[start:stop]).split())
            line = text.rfind("\n", 0, start) + 1, (text.find("\n", stop) + 1 or len(text) + 1) - 1
            is_line = text[slice(*line)].strip() == text[start:stop]
            found.append(Sentence(start, stop, words, number, asks(words), is_line))
    return found


def asks(sentence: str) -> bool:
    """Return whether a sentence asks: by its mark, its first words, or what it wants to know."""
    if _QUESTION_MARK.search(sentence):
        return True
    bullet = _BULLET.match(sentence)
    rest = sentence[bullet.end() if bullet else 0 :]
    connecting = _CONNECTING.match(rest)
    rest = rest[connecting.end() if connecting else 0 :].strip()
    words = words_of(rest)[:6]
    if len(words) < 3 or rest.endswith((",", ":", "!")):
        return False
    if _AUXILIARY_FIRST.match(rest) and not _NOT_AUXILIARY_FIRST.match(rest):
        return True
    if _REQUEST.match(rest) or _ABOUT.match(rest):
        return True
    if words[0] in QUESTION_WORDS:
        near = words[1:2] if words[0] in _WHERE_WHEN else words[1:4]
        if words[1] not in _PRONOUNS and not AUXILIARIES.isdisjoint(near):
            return True
    if words[0] in _WHO and words[1] not in _PRONOUNS:
        return True
    indirect = _INDIRECT.search(rest)
    return indirect is not None and bool(_WANTS.search(rest[: indirect.end()]))


def mostly_asks(sentences: Sequence[Sentence]) -> bool:
    """Return whether questions are a third of the words of some sentences."""
    words = [len(one.text.split()) for one in sentences]
    return 3 * sum(n for n, one in zip(words, sentences, strict=True) if one.asks) >= sum(words)


def _pieces(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the spans of the sentences of a paragraph."""
    lines = list(_lines(text, start, end))
    wrapped = _is_wrapped([text[first:last] for first, last in lines])
    if not wrapped:
        for first, last in lines:
            yield from _sentences(text, first, last)
        return
    first = start
    for begin, _ in [*lines[1:], (end, end)]:
        if begin == end or _BULLET.match(text, begin):
            yield from _sentences(text, first, begin)
            first = begin


def _lines(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    for match in re.compile(r"[^\n]*\S[^\n]*").finditer(text, start, end):
        yield match.start(), match.end()


def _is_wrapped(lines: list[str]) -> bool:
    """Return whether each line ends where its width, not its sentence, made it end."""
    if len(lines) < 2:
        return False
    width = max(len(line.rstrip()) for line in lines)
    if not _NARROWEST <= width <= _WIDEST:
        return False
    plain = [
        (line.rstrip(), next_line.split()[0])
        for line, next_line in pairwise(lines)
        if not _BULLET.match(next_line)
    ]
    # Two questions below each other were typed so.
    if any(asks(line) and asks(next_line) for line, next_line in pairwise(lines)):
        return False
    full = sum(len(line) + 1 + len(word) > width for line, word in plain)
    return bool(plain) and full == len(plain) and any(not _ENDED.search(line) for line, _ in plain)


def _sentences(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    first = -1
    for match in _SENTENCE.finditer(text, start, end):
        first = match.start() if first < 0 else first
        # "e.g. this" and "1. this" are no ends.
        unfinished = _ABBREVIATED.search(match.group()) or _BULLET.fullmatch(f"{match.group()} ")
        if unfinished and match.end() < end and text[match.end() :].strip():
            continue
        yield from _questions(text, first, match.start() + len(match.group().rstrip()))
        first = -1


def _questions(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield a sentence, or the questions that it joins, if each could stand alone."""
    for match in _JOINED.finditer(text, start, min(end, start + _LONGEST_SENTENCE)):
        before, after = text[start : match.start()], text[match.end() : end][:_LONGEST_SENTENCE]
        least = min(len(telling_tokens(before)), len(telling_tokens(after)))
        if least >= _FEWEST_TELLING and asks(before) and not leans(after):
            yield start, match.start()
            start = match.end()
    yield start, end
