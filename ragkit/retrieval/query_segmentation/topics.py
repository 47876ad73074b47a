"""Cutting a long question: the topics of a text, and the segments that ask for each of them.

Of several questions each asks for itself. Else a message of a conversation is a unit; where there
are none, a paragraph, and in one long paragraph a sentence. Neighbouring units that speak of the
same thing make a topic. Each segment of a topic asks for itself, so that no topic is averaged away
by the others.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ragkit.chunking.chunks import cut_by_size
from ragkit.chunking.sizes import WORD
from ragkit.chunking.splitter import Size
from ragkit.chunking.structure import front_matter_end
from ragkit.indexes.tokenizer import index_tokens
from ragkit.options import ChunkedOptions, CutMethod
from ragkit.retrieval.query.word_forms import (
    LONGEST_JUDGED,
    foreign_language,
    function_tokens,
    has_other_letters,
)
from ragkit.retrieval.query_segmentation.exchanges import (
    Embed,
    Exchange,
    backgrounds,
    conversations,
    exchanges_between,
    exchanges_of,
    last_questions,
    transcript_of,
)
from ragkit.retrieval.query_segmentation.mail_parts import without_mail_parts
from ragkit.retrieval.query_segmentation.message_roles import (
    Unit,
    asking_roles,
    find_messages,
    typed_alone,
)
from ragkit.retrieval.query_segmentation.question_units import find_sentences
from ragkit.retrieval.query_segmentation.topic_names import telling_tokens
from ragkit.types import MessageSpan

MOST_SEGMENTS = 60
"""A text is asked in no more segments than this; of more, the longest ones."""

_SHORT_WORDS = 60
_WORDS_PER_QUESTION = 200
_LONGEST_TEXT = 2_000_000
_LONGEST_COUNTED = 2000
_NAME_CHARACTERS = 80
_TELLING = 40
_WINDOW = 3
_FEW_UNITS = 8
_UNLIKE, _UNLIKE_IN_FOREIGN, _UNLIKE_IN_OTHER_LETTERS = 0.15, 0.65, 0.85
"""Below which cosine messages are unlike: texts of other languages are alike whatever they say."""
_LEAST_TOKENS = 2
_SHORTEST_WORD, _BEGINNING = 3, 6
_FEWEST_WORDS = 12
"""With how many words a text may be told to be on another subject: what is shorter shares none."""
_MOST_SHARED = 0.08
"""The share of its words that such a text may have in common with what is before it."""
_LINES = 3
_CHARACTERS_PER_TOKEN = 4

_PARAGRAPH = re.compile(r"\S(?:.*?\S)?(?=\s*?\n[ \t]*\n|\s*\Z)", re.DOTALL)
_SENTENCE = re.compile(
    r"\S.*?(?:[.!?\u3002\uff01\uff1f]+[\"')\]]*(?=\s|\Z)|[\u3002\uff01\uff1f]|\n|\Z)", re.DOTALL
)
_BLANKS = re.compile(r"[^\S\n]+")


@dataclass(frozen=True, slots=True)
class Segment:
    """What is asked: a slice of the text, and earlier words that say what it is about."""

    start: int
    end: int
    text: str
    background: str = ""


@dataclass(frozen=True, slots=True)
class Topic:
    """Neighbouring units on one subject; ``name`` is their first words, or what they tell."""

    index: int
    start: int
    end: int
    name: str
    segments: tuple[Segment, ...]


def cut_question(text: str, embed: Embed | None, options: ChunkedOptions) -> tuple[Topic, ...]:
    """Find the topics of a text and the segments to ask for each. The same text gives the same.

    Without ``embed``, changes of topic are not looked for. An empty text has no topics.
    """
    text = text[:_LONGEST_TEXT]
    if not text.strip():
        return ()
    if options.method is CutMethod.FIXED:
        return _topics([[segment] for segment in _fixed(text, options)], budget=None)
    whole = Segment(0, len(text), text.strip())
    if options.method is CutMethod.WHOLE:
        return _topics([[whole]])
    text = without_mail_parts(text)
    units = find_units(text)
    typed = typed_alone(text, units)
    if typed != text:
        text, units = typed, find_units(typed)
    questions = _questions(text, units, embed)
    if questions:
        return _topics([[segment] for segment in questions[-MOST_SEGMENTS:]])
    if len(units) < 2 or _is_short(text, units):
        return _topics([[whole]])
    return _topics([_segments(group) for group in _by_topic(text, units, embed)])


def questions_of(text: str) -> list[Exchange]:
    """Return the questions of a text that was typed; none where it is long."""
    if len(text) > _LONGEST_COUNTED:
        return []
    return exchanges_of(find_sentences(without_mail_parts(text)))


def is_cut(text: str) -> bool:
    """Return whether a text is so long that only its beginning is read."""
    return len(text) > _LONGEST_TEXT


def find_units(text: str) -> list[Unit]:
    """Split a text into messages where it has them, else paragraphs, else sentences."""
    begin = front_matter_end(text)
    messages = find_messages(text, begin)
    if messages:
        return messages
    paragraphs = [Unit(m.start(), m.end(), m.group()) for m in _PARAGRAPH.finditer(text, begin)]
    if len(paragraphs) > 1:
        return paragraphs
    return [
        Unit(m.start(), m.end(), m.group().strip())
        for m in _SENTENCE.finditer(text, begin)
        if m.group().strip()
    ]


def _questions(text: str, units: Sequence[Unit], embed: Embed | None) -> list[Segment]:
    """Return the questions of a message, or the last ones of its conversations, if it has any."""
    asking = asking_roles(units)
    if asking:
        exchanges = exchanges_between(text, units, asking)
        with_backgrounds = last_questions(conversations(exchanges, embed, by_roles=True))
    elif any(unit.role for unit in units):
        return []
    else:
        sentences = find_sentences(text, front_matter_end(text))
        exchanges = transcript_of(sentences)
        if exchanges:
            with_backgrounds = last_questions(conversations(exchanges, embed, by_roles=False))
        else:
            exchanges = exchanges_of(sentences)
            with_backgrounds = list(zip(exchanges, backgrounds(exchanges), strict=True))
        if len(exchanges) < max(2, len(text.split()) / _WORDS_PER_QUESTION):
            return []
    segments = [
        Segment(exchange.start, exchange.end, exchange.question, background)
        for exchange, background in with_backgrounds
    ]
    return list({segment.text: segment for segment in segments}.values())


def _is_short(text: str, units: Sequence[Unit]) -> bool:
    if any(unit.role for unit in units) or len(text.split()) > _SHORT_WORDS:
        return False
    return sum(bool(line.strip()) for line in text.splitlines()) < _LINES


def _by_topic(text: str, units: Sequence[Unit], embed: Embed | None) -> list[Sequence[Unit]]:
    """Group neighbouring units; a topic ends where what follows is least like what was said."""
    if embed is None:
        return [units]
    vectors = embed([unit.text for unit in units]).astype(np.float64)
    stemmer = foreign_language(text[:LONGEST_JUDGED])
    only_form = function_tokens(stemmer)
    is_chat = any(unit.role for unit in units)
    are_lines = all("\n" in text[a.end - 1 : b.start + 1] for a, b in pairwise(units))
    if not (are_lines or is_chat):
        words = [_words(unit.text, only_form) for unit in units]
        borders = [at for at in topic_borders(vectors) if _window_is_apart(words, at)]
    elif len(units) > _FEW_UNITS or not are_lines:
        borders = topic_borders(vectors)
    elif is_chat or all(len(_SENTENCE.findall(unit.text)) == 1 for unit in units):
        tokens = [telling_tokens(unit.text) - only_form for unit in units]
        borders = few_borders(vectors, tokens, _unlike(text, stemmer))
    else:
        borders = paragraph_borders([_words(unit.text, only_form) for unit in units])
    return [units[start:end] for start, end in pairwise([0, *borders, len(units)])]


def _words(text: str, only_form: Set[str]) -> set[str]:
    """Return the beginnings of the words of a text, which most forms of a word share."""
    tokens = set(index_tokens(text)) - only_form
    return {token[:_BEGINNING] for token in tokens if len(token) >= _SHORTEST_WORD}


def _are_apart(before: Set[str], after: Set[str]) -> bool:
    """Return whether texts have next to no words in common, though both have enough of them."""
    fewest = min(len(before), len(after))
    return fewest >= _FEWEST_WORDS and len(before & after) <= _MOST_SHARED * fewest


def _window_is_apart(words: Sequence[set[str]], at: int) -> bool:
    """Return whether the few sentences before one are on another subject than those from it on."""
    before = set().union(*words[max(0, at - _WINDOW) : at])
    return _are_apart(before, set().union(*words[at : at + _WINDOW]))


def paragraph_borders(words: Sequence[set[str]]) -> list[int]:
    """Return before which of a few paragraphs a new topic begins, from the words of each.

    One begins a topic when it has next to no words in common with the topic so far, nor has the
    next one more than one. Short paragraphs stay with those before, greetings with those after.
    """
    borders = []
    before = set(words[0])
    for at in range(1, len(words)):
        goes_on = at + 1 < len(words) and len(words[at + 1] & before) >= _LEAST_TOKENS
        if _are_apart(before, words[at]) and not goes_on:
            borders.append(at)
            before = set()
        before |= words[at]
    return borders


def _unlike(text: str, stemmer: str) -> float:
    """Return the cosine below which parts of a text are unlike; ``stemmer`` is of its language."""
    if has_other_letters(text):
        return _UNLIKE_IN_OTHER_LETTERS
    return _UNLIKE_IN_FOREIGN if stemmer else _UNLIKE


def few_borders(
    vectors: NDArray[np.float64], tokens: Sequence[set[str]], unlike: float = _UNLIKE
) -> list[int]:
    """Return before which of the vectors (n, d) a new topic begins, where too few show a dip.

    A message begins a topic when it shares no word with the topic so far and is like none of its
    messages. Short ones ("Thanks!") stay with those before, greetings with those after.
    """
    borders: list[int] = []
    start = 0
    for at in range(1, len(vectors)):
        before = set().union(*tokens[start:at])
        if len(tokens[at]) < _LEAST_TOKENS or len(before) < _LEAST_TOKENS or tokens[at] & before:
            continue
        if float((vectors[start:at] @ vectors[at]).max()) < unlike:
            borders.append(at)
            start = at
    return borders


def topic_borders(vectors: NDArray[np.float64]) -> list[int]:
    """Return before which of the vectors (n, d) a new topic begins, by dips in their likeness.

    Source: M. Hearst, TextTiling, Computational Linguistics 23(1), 1997; here with the mean
    vectors of up to three rows on either side.
    """
    n = len(vectors)
    likeness = np.array([_likeness(vectors, gap) for gap in range(1, n)])
    depths = _climbs(likeness) + _climbs(likeness[::-1])[::-1] - 2 * likeness
    if not len(depths) or float(depths.max()) <= 0.0:
        return []
    threshold = max(float(depths.mean() + 0.5 * depths.std()), 0.1)
    borders: set[int] = set()
    for at in np.argsort(-depths, kind="stable").tolist():
        gap = at + 1
        if depths[at] < threshold:
            break
        if borders.isdisjoint((gap - 1, gap + 1)):
            borders.add(gap)
    return sorted(borders)


def _likeness(vectors: NDArray[np.float64], gap: int) -> float:
    """Return the cosine of the sums of a few vectors before a gap and after it."""
    before = vectors[max(0, gap - _WINDOW) : gap].sum(axis=0)
    after = vectors[gap : gap + _WINDOW].sum(axis=0)
    lengths = float(np.linalg.norm(before) * np.linalg.norm(after))
    return float(before @ after) / lengths if lengths > 0 else 0.0


def _climbs(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return for each value (n,) the highest that a climb back from it reaches before a fall."""
    tops = values.tolist()
    for at in range(1, len(tops)):
        if values[at - 1] >= values[at]:
            tops[at] = tops[at - 1]
    return np.array(tops)


def _segments(units: Iterable[Unit]) -> list[Segment]:
    """Return a segment for each unit that says something; equal ones ask once."""
    by_text: dict[str, Segment] = {}
    for unit in units:
        if len(unit.text) > 2:
            by_text.setdefault(unit.text, Segment(unit.start, unit.end, unit.text))
    return list(by_text.values())


def _fixed(text: str, options: ChunkedOptions) -> list[Segment]:
    """Cut by size alone, where chunks of a document are cut; marks of Markdown are not asked."""
    from ragkit.retrieval.query_segmentation.asked_text import asked_text

    shown = asked_text(text)
    messages = [
        MessageSpan(unit.start, unit.end, unit.role)
        for unit in find_messages(text, front_matter_end(text))
        if unit.role
    ]
    most = _size(options.segment_tokens)
    overlap = _size(min(options.overlap_tokens, options.segment_tokens // 2))
    return [
        Segment(_with_marks(shown, start), end, _BLANKS.sub(" ", shown[start:end]))
        for start, end in cut_by_size(text, shown, messages, most, overlap)
    ]


def _with_marks(shown: str, start: int) -> int:
    """Return where the line begins of which nothing before ``start`` is asked, or ``start``."""
    line = shown.rfind("\n", 0, start) + 1
    return start if shown[line:start].strip() else line


def _size(tokens: int) -> Size:
    """Return how much text has so many tokens: of four characters, and of a word at most."""
    return Size(tokens * WORD, tokens * _CHARACTERS_PER_TOKEN)


def _topics(
    groups: Sequence[Sequence[Segment]], budget: int | None = MOST_SEGMENTS
) -> tuple[Topic, ...]:
    """Number the groups of segments that are not empty; within a budget, the longest stay."""
    filled = [segments for segments in groups if segments]
    total = sum(map(len, filled))
    topics = []
    for number, segments in enumerate(filled):
        kept = list(segments)
        if budget is not None and total > budget:
            share = max(1, round(budget * len(segments) / total))
            kept = sorted(segments, key=lambda segment: -len(segment.text))[:share]
            kept.sort(key=lambda segment: segment.start)
        span = segments[0].start, segments[-1].end
        topics.append(Topic(number, *span, _name(kept), tuple(kept)))
    return tuple(topics if total <= (budget or total) else topics[:budget])


def _name(segments: Sequence[Segment]) -> str:
    telling = next((segment for segment in segments if len(segment.text) >= _TELLING), segments[0])
    line = " ".join(telling.text.split())
    if len(line) <= _NAME_CHARACTERS:
        return line
    return line[: _NAME_CHARACTERS - 1].rsplit(" ", 1)[0] + " …"
