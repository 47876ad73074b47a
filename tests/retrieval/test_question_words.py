"""What is stated of languages is well written, and all of them are searched for."""

from __future__ import annotations

import re
from collections import Counter
from importlib import import_module
from pkgutil import iter_modules

import pytest
import Stemmer

from ragkit.indexes.tokenizer import fold
from ragkit.retrieval.query import question_words
from ragkit.retrieval.query.question_words import LANGUAGES
from ragkit.retrieval.query.question_words.language import Language

BY_CODE = pytest.mark.parametrize("language", LANGUAGES, ids=lambda one: one.codes[0])
PHRASES = ("greetings", "openings", "objects", "endings", "closings", "beside_closings", "meanings")


def lines(text: str) -> list[str]:
    return [line for line in text.replace("\\\n", "").split("\n") if line]


def test_every_language_of_a_module_is_listed_once():
    modules = [
        import_module(f"{question_words.__name__}.{module.name}")
        for module in iter_modules(question_words.__path__)
    ]
    stated = [one for module in modules for one in vars(module).values()]
    assert {one for one in stated if isinstance(one, Language)} == set(LANGUAGES)
    codes = Counter(code for language in LANGUAGES for code in language.codes)
    stemmers = Counter(language.stemmer for language in LANGUAGES if language.stemmer)
    assert {*codes.values(), *stemmers.values()} == {1}
    assert len(set(LANGUAGES)) == len(LANGUAGES)


@BY_CODE
def test_stemmers_are_there_where_words_are_asked_in_other_forms(language: Language):
    assert language.stemmer in {"", *Stemmer.algorithms()}
    assert language.stemmer or not (
        language.has_many_forms or language.accented_endings or language.separable_verbs
    )


@BY_CODE
def test_function_words_are_written_as_they_are_compared(language: Language):
    words = language.function_words.split()
    assert [fold(word).casefold() for word in words] == words
    assert len(set(words)) == len(words)


@BY_CODE
def test_every_line_of_phrases_is_a_pattern(language: Language):
    for name in PHRASES:
        for line in lines(getattr(language, name)):
            re.compile(line)
            assert line.count("X") == (name == "meanings"), line
            # Groups with a name would be taken for the term.
            assert "(?P" not in line


@BY_CODE
def test_what_needs_something_else_does_not_stand_alone(language: Language):
    assert language.openings or not (language.greetings or language.objects)
    assert language.closings or not language.beside_closings
    assert bool(language.asking_words) == ("{words}" in language.asking_pattern)
    verbs = language.separable_verbs
    assert verbs is None or bool(verbs.subjects) != bool(verbs.ending)
