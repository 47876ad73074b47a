"""Questions in other languages of Latin letters: their function words, and other forms of words.

Documents are indexed with the stems of English, whatever they are written in. So a question that is
clearly in another language is asked without its function words, and a word that the library does
not have as it stands is asked in the forms that it has; in languages of many forms, every word is.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from itertools import chain

import numpy as np

from ragkit.catalog import Catalog
from ragkit.indexes.analyzer import STOP_WORDS
from ragkit.indexes.bm25 import idf_of
from ragkit.indexes.languages import stem
from ragkit.indexes.protocol import EntryIndex
from ragkit.indexes.tokenizer import fold, index_tokens
from ragkit.retrieval.query.separable_verbs import separable_verb
from ragkit.retrieval.query_segmentation.asking import asks
from ragkit.types import Field

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
    "swedish": "och eller inte ar det den en ett som hur var nar vad vem vilken vilka varfor med "
    "for till fran av pa om",
    "danish": "og eller ikke er det den en et som hvordan hvor hvornar hvad hvem hvilken hvorfor "
    "med for til fra af pa om hvis",
    "norwegian": "og eller ikke er det den en et som hvordan hvor nar hva hvem hvilken hvorfor "
    "med for til fra av pa om hvis",
    "finnish": "ja tai ei ovat miten missa milloin kuinka paljon mika mitka kuka mita miksi jos "
    "kun etta se",
    "hungarian": "az egy es vagy nem van hogy hogyan hol mikor mennyi hany mi ki mit melyik miert "
    "meg csak",
    "polish": "w we z ze o u na od oraz lub albo nie jest sa sie jak gdzie kiedy ile czy co kto "
    "ktory ktora ktore dla po przy przez pod nad za ta te tego tej byc moze mozna trzeba dlaczego "
    "jaki jaka jakie",
    "czech": "v ve z ze k o u na od nebo ne je jsou se si jak kde kdy kolik co kdo ktery ktera "
    "ktere pro po pri pod nad za ta byt muze proc jaky jaka jake",
    "serbian": "je su se si sa o u na za po pri od iz ili ali ne nije ni da ce li kao kako gdje "
    "gde kje kada kad kdaj tko kdo ko sto sta kaj koji koja koje kateri katera katere koliko zasto "
    "zakaj moze mogu lahko treba",
    "turkish": "ve veya ile icin bir bu ne nasil nerede zaman kac kim neden hangi mi mu degil",
}
# Of English, those that are indexed, since texts are quoted with them.
_IN_QUESTIONS = (
    "any some other others another much many more most less few several those one ones all him her "
    "them themselves itself myself yourself im ive just only very really quite even ever yet "
    "already actually still also too maybe perhaps please thanks thank ok okay though although "
    "however here now"
)
# By code, of those whose words in Latin letters have many forms.
_OF_MANY_FORMS = {
    "cs": "czech", "da": "danish", "et": "estonian", "fi": "finnish", "hr": "serbian",
    "hu": "hungarian", "lt": "lithuanian", "no": "norwegian", "pl": "polish", "sl": "serbian",
    "sr": "serbian", "sv": "swedish", "tr": "turkish",
}  # fmt: skip
_LETTERS = re.compile(r"[^\W\d_]+")
_FEWEST = 2
_LONGEST = 500
_SHORTEST_STEM = 3
_ACCENTED = {
    "hungarian": ("ként", "ból", "ből", "tól", "től", "ról", "ről", "nál", "nél", "ért"),
    "polish": ("ów",),
}
"""Endings with the accents that tokens have lost, by which a stemmer knows them."""
_MOST_TOKENS = 600
_OTHER_FORM = 0.8
"""How much a form counts that a text has instead of the one that was asked."""


@lru_cache(maxsize=64)
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


def without_function_words(text: str, tokens: Sequence[str], language: str = "") -> tuple[str, ...]:
    """Return a question's tokens without those of its function words."""
    language = language or foreign_language(text)
    if language in _function_words():
        words = _function_words()[language].intersection(_LETTERS.findall(fold(text).casefold()))
        left_out = frozenset(token for word in words for token in index_tokens(word))
    elif not asks(text):
        return tuple(tokens)
    else:
        left_out = _tokens_in_questions()
    return tuple(token for token in tokens if token not in left_out) or tuple(tokens)


def language_of_forms(text: str, language: str) -> str:
    """Return the stemmer of the language in whose forms a question's words are asked, or ``""``.

    ``language`` is the code of the one in which most of what is searched is written; it counts
    where words have so many forms that a question seldom has the one of the text.
    """
    if named := foreign_language(text):
        return named
    words = set(_LETTERS.findall(fold(text[:_LONGEST]).casefold()))
    is_english = len(words & STOP_WORDS) >= _FEWEST
    return "" if is_english else _OF_MANY_FORMS.get(language, "")


def known_forms(catalog: Catalog, text: str, stemmer: str) -> dict[str, tuple[str, ...]]:
    """Return other forms of a question's words that the vocabulary has, by the words' own tokens.

    In languages of few forms, those of words that it does not have as they stand.
    """
    functions = _function_words().get(stemmer, frozenset())
    words = dict.fromkeys(_LETTERS.findall(fold(text[:_LONGEST]).casefold()))
    tokens_of = {word: index_tokens(word) for word in words if word not in functions}
    own_of = {word: tokens[0] for word, tokens in tokens_of.items() if len(tokens) == 1}
    known: Collection[str] = ()
    if stemmer not in _OF_MANY_FORMS.values():
        known = catalog.entries.token_ids(list(own_of.values()))
    forms: dict[str, tuple[str, ...]] = {}
    for word, own in own_of.items():
        found = [] if own in known else _forms(catalog, word, stemmer)
        if others := tuple(form for form in found if form != own):
            forms[own] = others
    return forms


def with_joined_verb(
    catalog: Catalog, question: str, stemmer: str
) -> tuple[str, dict[str, tuple[str, ...]]]:
    """Return a question with its separable verb in one word that the vocabulary has.

    Other forms of it that the vocabulary has are returned by its token, as in ``known_forms``.
    """
    verb = separable_verb(question, stemmer)
    if verb is None:
        return question, {}
    found = (_forms(catalog, fold(word).casefold(), stemmer) for word in verb.words)
    known = dict.fromkeys(chain.from_iterable(found))
    for word in verb.words:
        own = index_tokens(word)
        if len(own) == 1 and own[0] in known:
            others = tuple(token for token in known if token != own[0])
            return verb.question(word), {own[0]: others} if others else {}
    return question, {}


def form_weights(
    forms: Mapping[str, Sequence[str]], ids: Mapping[str, int], indexes: Iterable[EntryIndex]
) -> dict[int, float]:
    """Return how much tokens count of words that have other forms: together as one word.

    A word is as rare as all its forms together; other forms than the one that was asked count a
    little less.
    """
    weights: dict[int, float] = {}
    indexes = list(indexes) if forms else []
    rows = sum(index.entries for index in indexes)
    for own, others in forms.items():
        tokens = [token for token in (own, *others) if token in ids]
        token_ids = [ids[token] for token in tokens]
        held = sum(
            (index.document_frequencies(token_ids, Field.TEXT) for index in indexes),
            np.zeros(len(tokens), np.int64),
        )
        # As many rows as would have one of them if they were independent.
        together = rows * (1 - np.prod(1 - held / max(rows, 1)))
        shares = idf_of(rows, np.array(together)) / idf_of(rows, held)
        for token, id_, share in zip(tokens, token_ids, shares.tolist(), strict=True):
            weights[id_] = share if token == own else share * _OTHER_FORM
    return weights


def _forms(catalog: Catalog, word: str, stemmer: str) -> list[str]:
    """Return the tokens of the vocabulary that are forms of a folded word."""
    import Stemmer

    # One of its own each time, since it keeps state between calls.
    stemming = Stemmer.Stemmer(stemmer, 0)
    stemmed = stemming.stemWord(word)
    if len(stemmed) < _SHORTEST_STEM:
        return []
    beginning = stemmed[: max(_SHORTEST_STEM, len(stemmed) - 1)]
    near = catalog.entries.tokens_from(beginning, _MOST_TOKENS)
    written = [(token, word) for token in near for word in _written(token, stemmer)]
    stems = stemming.stemWords([word for _, word in written])
    found = {
        token
        for (token, word), own in zip(written, stems, strict=True)
        if stemmed in (word, fold(own))
    }
    return [token for token in near if token in found]


def _written(token: str, stemmer: str) -> Iterator[str]:
    """Yield the words that a token may be of: itself, and with what tokens have lost of an ending.

    They have lost accents, and what the stems of English are without.
    """
    yield token
    for ending in _ACCENTED.get(stemmer, ()):
        plain = fold(ending)
        if token.endswith(plain):
            yield token.removesuffix(plain) + ending
    longer = (f"{token}e", f"{token}s", *([f"{token[:-1]}y"] if token.endswith("i") else ()))
    yield from (word for word in longer if stem(word) == token)


@cache
def _function_words() -> Mapping[str, frozenset[str]]:
    return {name: frozenset(words.split()) for name, words in _FUNCTION_WORDS.items()}


@cache
def _tokens_in_questions() -> frozenset[str]:
    return frozenset(index_tokens(_IN_QUESTIONS))
