"""Sentences of a text that somebody typed, and which of them ask for something."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from ragkit.reading.markdown import fenced_lines
from ragkit.retrieval.query_segmentation.asking import BULLET, PRONOUNS, asks
from ragkit.retrieval.query_segmentation.leaning import AUXILIARIES, leans, words_of
from ragkit.retrieval.query_segmentation.list_items import list_items
from ragkit.retrieval.query_segmentation.topic_names import telling_tokens

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
_CONNECTIVES = (
    r"(?:and|oh|um|also|then|plus|after that|one more(?: thing)?|another thing|last(?:ly)?|finally"
    r"|number \w+|first(?:ly)?|second(?:ly)?|third(?:ly)?|und|auch|dann|außerdem|et|puis|aussi|y"
    r"|también|además)"
)
_JOINER = re.compile(
    r"(?:[,;:]?\s+(?=(?:and|oh|also|then|plus|number|und|dann|außerdem|et|puis|y|además)\b)"
    rf"|[,;]\s+)(?:{_CONNECTIVES}\b[\s,:]*)*",
    re.IGNORECASE,
)
"""What may separate two questions of one sentence."""

_UNMARKED = re.compile(
    r"(?<=[a-z0-9)])\s+(?=(?:What|How|Where|When|Why|Who|Which|Is|Are|Do|Does|Did|Can|Could|Should"
    r"|Will)(?:'s)?\s+[a-z]|Tell\s+me\b)|\s+(?=\u00bf)"
)
"""Where a capital letter or "¿" begins a question though no mark ends what precedes it."""

_ANNOUNCED = re.compile(
    r"\b(?:questions?|things?|points?|ones|issues?|fragen?|punkte?|preguntas?|dudas?|choses?)\b"
    r"[^:?\n]{0,60}:\s+",
    re.IGNORECASE,
)
_RELATIVE = re.compile(r"(?:which|who|whom|whose|where|when|whether|ob|wer|wo|was)\b", re.I)
_PREDICATE = re.compile(r"(?:need|want|like|help)\s", re.I)
"""What may belong to the subject before it, as in "which plants grow here and need no water"."""

_AUXILIARY = re.compile(
    r"(?:is|are|was|were|do|does|did|can|could|may|should|will|would|has|have|kann|darf|ist|sind"
    r"|gibt)\s+\w",
    re.IGNORECASE,
)
_FEWEST_TELLING, _LONGEST_SENTENCE = 2, 600
_QUOTED = re.compile(r"^[ \t]*(?:>[ \t]?)+", re.MULTILINE)
_NOT_IN_FRAGMENTS = PRONOUNS | AUXILIARIES | {"my", "our", "your", "thanks", "thank", "please"}
_NARROWEST, _WIDEST = 40, 110


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence, or an item of a list, with the number of its paragraph.

    ``is_apart``: nothing else is on its line, or it is a fragment that no mark ends.
    """

    start: int
    end: int
    text: str
    paragraph: int
    asks: bool
    is_apart: bool
    is_item: bool = False


def find_sentences(text: str, begin: int = 0, end: int | None = None) -> list[Sentence]:
    """Split a text into sentences and the items of its lists.

    A line ends a sentence too, unless it was only wrapped. Code in fences never asks.
    """
    end = len(text) if end is None else end
    code = _code_lines(text)
    items = [
        span for span in list_items(text, begin, end) if _line_start(text, span[0]) not in code
    ]
    item_starts = {start for start, _ in items}
    sentences: list[Sentence] = []
    line, last_start, last_stop = _line_start(text, begin), begin, 0
    for number, (start, stop) in _pieces(text, begin, end, items):
        # A line may be the whole text, so it is never gone through for each of its sentences.
        line = text.rfind("\n", last_start, start) + 1 or line
        is_first = last_stop <= line
        last_start, last_stop = start, stop
        words = " ".join(_QUOTED.sub("", text[start:stop]).split())
        if line in code:
            sentences.append(Sentence(start, stop, words, number, asks=False, is_apart=False))
            continue
        is_apart = (is_first and _is_alone(text, line, start, stop)) or _is_fragment(words)
        is_item = start in item_starts
        sentences.append(Sentence(start, stop, words, number, asks(words), is_apart, is_item))
    return sentences


def _is_alone(text: str, line: int, start: int, stop: int) -> bool:
    """Return whether only space is beside a span on the lines that it begins and ends on."""
    line_end = (text.find("\n", stop) + 1 or len(text) + 1) - 1
    return not text[line:start].strip() and not text[stop:line_end].strip()


def _code_lines(text: str) -> set[int]:
    """Return where the lines of fenced code begin."""
    if "```" not in text and "~~~" not in text:
        return set()
    return {offset for offset, _, fenced in fenced_lines(text) if fenced}


def _line_start(text: str, at: int) -> int:
    return text.rfind("\n", 0, at) + 1


def _is_fragment(sentence: str) -> bool:
    """Return whether no mark ends a sentence, and none of its words is a pronoun or auxiliary."""
    return not _ENDED.search(sentence) and _NOT_IN_FRAGMENTS.isdisjoint(words_of(sentence))


def mostly_asks(sentences: Sequence[Sentence]) -> bool:
    """Return whether a third of the words of some sentences are those of questions."""
    counts = [(len(sentence.text.split()), sentence.asks) for sentence in sentences]
    asking = sum(count for count, is_question in counts if is_question)
    return 3 * asking >= sum(count for count, _ in counts)


def _pieces(
    text: str, begin: int, end: int, items: Sequence[tuple[int, int]]
) -> Iterator[tuple[int, tuple[int, int]]]:
    """Yield the span of each sentence and item, with the number of its paragraph, in order."""
    next_item = 0
    for number, paragraph in enumerate(_PARAGRAPH.finditer(text, begin, end)):
        start = paragraph.start()
        while next_item < len(items) and items[next_item][0] < paragraph.end():
            item_start, item_end = items[next_item]
            next_item += 1
            if start <= item_start:
                for span in _prose(text, start, item_start):
                    yield number, span
                yield number, (item_start, item_end)
                start = item_end
        for span in _prose(text, start, paragraph.end()):
            yield number, span


def _prose(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the spans of sentences where there is no list."""
    lines = list(_lines(text, start, end))
    if not _is_wrapped([text[first:last] for first, last in lines]):
        for first, last in lines:
            yield from _sentences(text, first, last)
        return
    first = start
    for begin, _ in [*lines[1:], (end, end)]:
        if begin == end or BULLET.match(text, begin):
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
        if not BULLET.match(next_line)
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
        unfinished = _ABBREVIATED.search(match.group()) or BULLET.fullmatch(f"{match.group()} ")
        if unfinished and match.end() < end and text[match.end() :].strip():
            continue
        yield from _questions(text, first, match.start() + len(match.group().rstrip()))
        first = -1


def _questions(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the span of a sentence, or of each question in it, if each could stand alone."""
    bound = min(end, start + _LONGEST_SENTENCE)
    announced = _ANNOUNCED.search(text, start, bound)
    if announced and asks(text[announced.end() : bound]):
        yield start, announced.start() + len(announced.group().rstrip())
        start = announced.end()
    joiners = sorted(
        match.span() for form in (_JOINER, _UNMARKED) for match in form.finditer(text, start, bound)
    )
    clause_ends = [before for before, _ in joiners[1:]] + [end]
    for (stop, begin), clause_end in zip(joiners, clause_ends, strict=False):
        if stop < start:
            continue
        before, joiner, clause = text[start:stop], text[stop:begin], text[begin:clause_end]
        fewest = min(len(telling_tokens(before)), len(telling_tokens(text[begin:bound])))
        if fewest < _FEWEST_TELLING or leans(clause):
            continue
        if joiner.isspace() or (asks(before) and _asks_after(joiner, clause)):
            yield start, stop
            start = begin
    yield start, end


def _asks_after(joiner: str, clause: str) -> bool:
    """Return whether a clause asks by its words, whatever mark ends it."""
    if _PREDICATE.match(clause):
        return False
    is_connected = bool(joiner.strip(" ,;:\n"))
    if not is_connected and _RELATIVE.match(clause):
        return False
    if is_connected and joiner[0] in ",;" and _AUXILIARY.match(clause):
        return True
    return asks(clause.rstrip(" ?"))
