"""Endings: which words a stem may stand for, by what the stemmer makes of words."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ragkit.indexes.tokenizer import fold, index_tokens
from ragkit.retrieval.query.spelling import may_stand_for

_PROJECT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("fluoresecnt", "fluorescent"),
        ("beging", "begging"),
        ("posibility", "possibility"),
        ("copeis", "copies"),
        ("stoping", "stopping"),
        ("happly", "happily"),
        ("instalation", "installation"),
        ("metastatses", "metastases"),
    ],
)
def test_a_stem_may_stand_for_a_word_that_was_meant(word, meant):
    (stem,) = index_tokens(meant)
    assert may_stand_for(stem, word, 2)


@pytest.mark.parametrize(
    ("stem", "word"),
    [
        ("pole", "polarizable"),
        ("hyper", "hyperfibrinogenemia"),
        ("micro", "microinvasive"),
        ("arch", "archaeological"),
        ("panic", "panicprone"),
        ("iter", "ivermectin"),
    ],
)
def test_what_no_ending_makes_alike_is_no_reason_to_read(stem, word):
    assert not may_stand_for(stem, word, 2)


def test_the_number_of_edits_counts():
    assert may_stand_for("hous", "huose", 1)
    assert not may_stand_for("hous", "huoze", 1)
    assert may_stand_for("hous", "huoze", 2)


def test_stems_of_other_scripts_may_stand_for_anything():
    assert may_stand_for("библиотек", "библиатека", 1)


def test_words_of_real_texts_are_those_of_their_stems():
    texts = [*_PROJECT.glob("sample_data/**/*.md"), *_PROJECT.glob("docs/*.md")]
    words = set[str]()
    for file in texts:
        words.update(re.findall(r"[^\W\d_]{5,30}", fold(file.read_text("utf-8")).casefold()))
    stems = {word: index_tokens(word) for word in words if word.isascii()}
    one = {word: tokens[0] for word, tokens in stems.items() if len(tokens) == 1}
    strange = [word for word, stem in one.items() if not may_stand_for(stem, word, 0)]
    assert len(one) > 3000
    assert len(strange) <= len(one) * 0.002
