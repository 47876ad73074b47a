"""What a question asks for: a person, a time, an amount; and which of its words only ask."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

from ragkit.indexes.tokenizer import fold, index_tokens, query_tokens, word_pattern
from ragkit.retrieval.figures import is_figure
from ragkit.retrieval.query.subject import subject_of, without_asking, without_asking_words
from ragkit.retrieval.query.word_forms import (
    foreign_language,
    with_infinitive,
    without_function_words,
)

_LONGEST = 600


class Kind(StrEnum):
    """What an answer must hold, or whether it is a yes or no."""

    AMOUNT = "amount"
    TIME = "time"
    WHO = "who"
    YES_NO = "yes or no"
    OTHER = "other"


_ASKS = {
    Kind.AMOUNT: re.compile(
        r"\bhow (?:many|much|long|often|old|far|large|big|high|heavy|tall|wide|deep|fast|soon)\b"
        r"|\bwhat(?:(?:['’]?s| is| was) (?:the|its|their|your) (?:\w+ ){0,2}?| )"
        r"(?:percentage|share|number|amount|price|size|age|height|weight|limit)\b"
        r"|\bwie ?(?:viele?|lange|oft|alt|weit|hoch|schwer|gross|teuer|schnell)\b|\bcombien\b"
        r"|\bcuant[oa]s?\b|\bquant(?:[ie]|[oa]s?)\b|\bhoeveel\b|\bсколько\b|\bскільки\b"
        r"|\bποσ(?:[οηα]|οι|εσ)\b|\bكم\b|몇|얼마|几|多少|多久|多大|いくつ|いくら|何(?:人|個|回|日|年|時間|分)"
    ),
    Kind.TIME: re.compile(
        r"\bwhen\b|\b(?:what|which) (?:year|date|day|month|time|hour)\b"
        r"|\bwann\b|\bquand\b|\bcuando\b|\bquando\b|\bwanneer\b"
        r"|\bкогда\b|\bколи\b|\bποτε\b|\bمتي\b|언제|什么时候|何时|いつ"
    ),
    Kind.WHO: re.compile(
        r"\bwho(?:m|se)?\b|\bwe[rmn]\b|\bwessen\b|\bqui\b|\bquien(?:es)?\b|\bchi\b|\bquem\b"
        r"|\bк(?:то|ого|ому|ем)\b|\bхто\b|\bποι(?:οσ|ον|οι|α)\b|누가|누구|谁|誰|だれ"
    ),
    Kind.YES_NO: re.compile(
        r"(?:(?:and|but|so|then|ok(?:ay)?),? )?"
        r"(?:is|are|am|was|were|do|does|did|has|have|had|can|could|will|would|should|may|must)\b"
        r"|(?:ist|sind|war|hat|haben|kann|konnen|darf|durfen|muss|mussen|soll|wird|gibt es)\b"
        r"|est-ce\b|.*(?:[吗嗎]|ですか|ますか)[?？]?$"
    ),
}

_AMOUNT = re.compile(
    r"\d|[零一二三四五六七八九十百千万]"
    r"|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty"
    r"|forty|fifty|sixty|hundred|thousand|million|billion|half|twice|zwei|drei|vier|fünf|sechs"
    r"|sieben|acht|neun|zehn|zwölf|zwanzig|dreißig|hundert|tausend|halbe?)\b",
    re.IGNORECASE,
)
_TIME = re.compile(
    r"\b(?:1[5-9]|20)\d\d\b|\d{1,2}[.:/-]\d{1,2}|[年月日時时]"
    r"|\b(?:jan|feb|mar|apr|ma[iy]|jun|jul|aug|sep|o[ck]t|nov|de[cz])[a-zä]*\b"
    r"|\b(?:mon|tues|wednes|thurs|fri|satur|sun)day|\b\w+(?:tag|woche?)s?\b"
    r"|\b(?:before|after|during|until|noon|midnight|morning|evening|week|day|month|year|hour)s?\b",
    re.IGNORECASE,
)
_CAPITALS = "".join(filter(str.isupper, map(chr, range(0x530))))
_NAME = re.compile(
    rf"(?<![.!?:]\s)(?<!^)(?<!\n)\b[{_CAPITALS}][\w'’-]+|[一-鿿ぁ-ヿ]{{2,}}(?:さん|先生|氏)"
)
_SHOWS = {Kind.AMOUNT: _AMOUNT, Kind.TIME: _TIME, Kind.WHO: _NAME}

# Words that ask for an answer without being in it.
_ASKING = frozenset(
    index_tokens(
        """
specific specifically describe described mention mentioned discuss discussed according text
study stated state provide provided outline outlined note noted main key primary major
explain tell give list name example examples kind type sort various different particular
certain document article report identified identify highlight detail details regarding
related concerning following overall mean means find please summary summarize many much long
often old year date day time percentage percent number amount total reason purpose person
people place location know need want any get use
"""
    )
)
_ASKING_COUNTS = 0.4
_MODALS = frozenset(["may", "might", "must", "shall", "ought", "darf", "kann", "muss", "soll"])
"""In small letters: May is a month, and might a power."""


@dataclass(frozen=True)
class Question:
    """A question's words: tokens without repetition, in order, and without function words."""

    text: str

    @cached_property
    def words(self) -> dict[str, str]:
        """The word that each token is of, as it is written; those that only ask are none."""
        about = without_asking(self.text[:_LONGEST])
        # English verbs that ask count little (``factors``), and may be met by others.
        if language := foreign_language(about):
            rest = subject_of(with_infinitive(about, language))
        else:
            rest = without_asking_words(about)
        folded = fold(rest)
        words: dict[str, str] = {}
        asked = set(query_tokens(folded))
        for match in word_pattern(ascii_only=folded.isascii()).finditer(folded):
            for token in filter(asked.__contains__, index_tokens(match.group())):
                words.setdefault(token, match.group())
        return {token: words[token] for token in without_function_words(self.text, tuple(words))}

    @cached_property
    def figures(self) -> list[bool]:
        """Which of the tokens are exact figures: another one is not like them."""
        return [is_figure(token) for token in self.words]

    @cached_property
    def kind(self) -> Kind:
        """What it asks for."""
        text = fold(self.text[:_LONGEST]).casefold().strip()
        for kind, asks in _ASKS.items():
            if asks.match(text) if kind is Kind.YES_NO else asks.search(text):
                return kind
        return Kind.OTHER

    def factors(self) -> list[float]:
        """Return how much each token counts, besides its rarity: less where it only asks."""
        return [
            _ASKING_COUNTS if token in _ASKING or word in _MODALS else 1.0
            for token, word in self.words.items()
        ]

    def is_met_by(self, sentence: str) -> bool:
        """Return whether a sentence holds what the kind asks for, and the question does not."""
        shows = _SHOWS.get(self.kind)
        if shows is None:
            return False
        text = self.text.casefold()
        return any(match.group().casefold() not in text for match in shows.finditer(sentence))
