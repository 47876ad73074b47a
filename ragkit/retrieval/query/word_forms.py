"""Questions in other languages of Latin letters: their function words, and other forms of words.

Documents are indexed with the stems of English, whatever they are written in. So a question that is
clearly in another language is asked without its function words, and a word that the library does
not have as it stands is asked in the forms that it has.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache

from ragkit.catalog import Catalog
from ragkit.indexes.analyzer import STOP_WORDS
from ragkit.indexes.tokenizer import fold, index_tokens

# Without those that are also words of English, such as "was" and "man".
_FUNCTION_WORDS: Mapping[str, str] = {
    "german": "der die das den dem des ein eine einen einem einer eines und oder nicht kein "
    "keine ist sind wird werden wurde haben kann muss darf mit von zu zum zur auf "
    "fur im bei nach aus uber unter vor durch gegen ohne um sich es er sie wir ihr "
    "ich wie wo wohin woher wann warum wer wen wem welche welcher welches welchen "
    "wieviel viele gibt man wenn dass als auch noch",
    "french": "le la les un une des du de et ou ne pas est sont a ont peut doit dans sur sous "
    "avec sans pour par chez vers il elle on nous vous ils elles ce cette ces son "
    "sa ses que qui quoi quel quelle quels quelles comment quand combien pourquoi "
    "aux au y en",
    "spanish": "el la los las un una unos unas de del y o no es son esta estan hay puede debe "
    "en con sin por para sobre entre hasta desde se su sus lo que quien cual cuales "
    "como cuando cuanto cuanta cuantos cuantas donde al pero porque",
    "italian": "il lo la i gli le un una uno di del della dei delle e o non sono ha hanno puo "
    "deve in nel nella con senza per tra fra sul sulla da dal dalla si che chi "
    "quale quali come quando quanto quanti quante dove perche al alla ai",
    "portuguese": "o os a as um uma de do da dos das e ou nao sao tem pode deve em no na nos nas "
    "com sem por para sobre entre ate se seu sua que quem qual quais como quando "
    "quanto quantos quantas onde ao",
    "dutch": "de het een en of niet geen is zijn wordt worden heeft hebben kan moet mag met "
    "van voor aan bij naar uit over onder door tegen zonder om er hij zij wij ik "
    "hoe waar wanneer waarom wie welke welk hoeveel dat deze dit op te",
}
_LETTERS = re.compile(r"[^\W\d_]+")
_FEWEST = 2
_LONGEST = 500
_SHORTEST_STEM = 4
_MOST_TOKENS = 300


def foreign_language(text: str) -> str:
    """Return the language of a question if it is clearly one of these, and not English, or ``""``.

    Two different function words speak for a language, and more than for English or another.
    """
    if len(text) > _LONGEST:
        return ""
    words = set(_LETTERS.findall(fold(text).casefold()))
    votes = {name: len(words & own) for name, own in _function_words().items()}
    best = max(votes, key=lambda name: votes[name])
    others = [count for name, count in votes.items() if name != best]
    most = votes[best]
    clear = most >= _FEWEST and most > max(others) and most > len(words & STOP_WORDS)
    return best if clear else ""


def is_function_word(word: str) -> bool:
    """Return whether a word, with or without its accents, is one of a foreign language."""
    plain = fold(word).casefold()
    return any(plain in words for words in _function_words().values())


def without_function_words(text: str, tokens: Sequence[str]) -> tuple[str, ...]:
    """Return a question's tokens; in a foreign language without those of its function words."""
    language = foreign_language(text)
    if not language:
        return tuple(tokens)
    words = _function_words()[language].intersection(_LETTERS.findall(fold(text).casefold()))
    left_out = {token for word in words for token in index_tokens(word)}
    return tuple(token for token in tokens if token not in left_out) or tuple(tokens)


def in_known_forms(catalog: Catalog, text: str, tokens: Sequence[str]) -> tuple[str, ...]:
    """Return a question's tokens; in a foreign language those of its words as the library has them.

    A word that the library has in no form keeps its own tokens.
    """
    language = foreign_language(text)
    if not language:
        return tuple(tokens)
    functions = _function_words()[language]
    words = dict.fromkeys(_LETTERS.findall(fold(text).casefold()))
    tokens_of = {word: index_tokens(word) for word in words}
    token_ids = catalog.entries.token_ids(tokens)
    instead: dict[str, Sequence[str]] = {}
    for word, own in tokens_of.items():
        if word in functions:
            instead.update(dict.fromkeys(own, ()))
        elif len(own) == 1 and own[0] not in token_ids:
            instead[own[0]] = _forms(catalog, word, language) or own
    asked = [form for token in tokens for form in instead.get(token, (token,))]
    return tuple(asked) or tuple(tokens)


def _forms(catalog: Catalog, word: str, language: str) -> list[str]:
    """Return the tokens of the vocabulary that are forms of a folded word."""
    import Stemmer

    # One of its own each time, since it keeps state between calls.
    stem = Stemmer.Stemmer(language, 0).stemWord
    stemmed = stem(word)
    if len(stemmed) < _SHORTEST_STEM:
        return []
    beginning = stemmed[: max(_SHORTEST_STEM, len(stemmed) - 1)]
    near = catalog.entries.tokens_from(beginning, _MOST_TOKENS)
    return [token for token in near if stemmed in (token, stem(token))]


@cache
def _function_words() -> Mapping[str, frozenset[str]]:
    return {name: frozenset(words.split()) for name, words in _FUNCTION_WORDS.items()}
