"""Stems and function words of languages that their script gives away.

Words of one script are taken for its most common language: Cyrillic for Russian, Greek for Greek,
Arabic script for Arabic, kana for Japanese. Words in Latin letters are stemmed as English.
"""

from __future__ import annotations

import re
import threading
from typing import Any

_SHORTEST = 2
# "And", articles and endings of number and person, as in light10 (Larkey and others, 2007).
_AND = "\u0648"
_ARABIC_ARTICLES = (
    "\u0627\u0644",
    "\u0628\u0627\u0644",
    "\u0643\u0627\u0644",
    "\u0641\u0627\u0644",
    "\u0644\u0644",
)
_ARABIC_ENDINGS = ("ها", "ان", "ات", "ون", "ين", "يه", "ه", "ي")
_ARABIC = re.compile("[\u0621-\u064a\u066e-\u06d3]+")

_STOP = """
а без более бы был была были было быть в вам вас ведь во вот все всего всех вы где да даже для
до его ее ей если есть еще же за здесь и из или им их к каждый как какая какие какой какую ко
когда кто куда ли либо мне может можно мы на над надо наш не него нее нет ни них но ну о об
однако он она они оно от очень по под после потому почему при про с сам свои себя сколько со так
также такой там те тем то того той только том тот тоже ты у уже хотя чего чей чем что чтобы чье
эта эти это этого этой этом этот я και να το τα οι του της των τον την στο στη στην στον στα για
με σε απο που πως ειναι ηταν θα δεν μη μην τι ποιος ποια ποιο ποτε ενας ενα μια αν αλλα οπως
ποσο ποσες ما ماذا من هو هي هم هل في علي الي عن مع هذا هذه ذلك تلك التي الذي الذين ان او ثم كم
كيف اين متي لماذا اذا لا لم لن قد كان كانت يكون تكون بعد قبل بين كل اي عند عندما حتي وهو وهي وفي
ومن انه انها لكن
"""
FOREIGN_STOP_WORDS = frozenset(_STOP.casefold().split())
"""Words that carry no meaning in a search, folded."""

_PAIRS = """
です ます まし した して する され れる れば いる ある あり なり なる こと との もの ため
から まで より など これ それ この その どの どこ なに いつ だれ どう よう うに すか のは
のか には では とは にお おい いて って った たら けれ ない いま たい だけ ませ せん てい
とい いう でき きる くだ ださ さい
"""
JAPANESE_FUNCTION_PAIRS = frozenset(_PAIRS.split())
"""Pairs of kana that are mostly endings and particles, question words included."""

_local = threading.local()


def stem(word: str) -> str:
    """Stem a folded word without capitals; words of scripts not named above come back unchanged."""
    if word.isascii():
        return _snowball("english", word)
    first, last = word[0], word[-1]
    if "\u0400" <= first <= "\u052f" and "\u0400" <= last <= "\u052f":
        return _snowball("russian", word)
    if "\u0370" <= first <= "\u03ff" and "\u0370" <= last <= "\u03ff":
        return _snowball("greek", word)
    if _ARABIC.fullmatch(word):
        return _arabic(word)
    return _snowball("english", word)


def _snowball(language: str, word: str) -> str:
    """Stem with a stemmer of the thread's own: it keeps state between calls."""
    stemmer: Any = getattr(_local, language, None)
    if stemmer is None:
        import Stemmer

        stemmer = Stemmer.Stemmer(language, 0)
        setattr(_local, language, stemmer)
    return str(stemmer.stemWord(word))


def _arabic(word: str) -> str:
    """Take the article and common endings off a word in Arabic script."""
    if word.startswith(_AND) and len(word) > _SHORTEST + 1:
        word = word[1:]
    for article in _ARABIC_ARTICLES:
        if word.startswith(article) and len(word) >= len(article) + _SHORTEST:
            word = word[len(article) :]
            break
    for ending in _ARABIC_ENDINGS:
        if word.endswith(ending) and len(word) >= len(ending) + _SHORTEST:
            word = word[: -len(ending)]
    return word
