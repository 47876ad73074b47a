"""Names of topics: their telling words, as they are written."""

from __future__ import annotations

import time

import pytest

from ragkit.models.hashing import HashEmbedder
from ragkit.retrieval.query_segmentation.topic_names import (
    LONGEST_NAME,
    telling_tokens,
    topic_names,
)

EMBED = HashEmbedder().embed_passages


def named(*texts, rare=None, embed=None):
    return topic_names(texts, rare or {}, embed)


def test_words_are_those_that_other_topics_do_not_have_in_reading_order():
    names = named(
        "Hello! The Lisbon train leaves at nine. Is the train to Lisbon on time?",
        "Hello! The parser raises a timeout in tz_localize. What timeout, in which parser?",
    )
    assert names[0].startswith("Lisbon train")
    assert {"parser", "timeout"} <= set(names[1].replace(",", "").split())
    assert "Hello" not in " ".join(names)


def test_what_is_rare_in_the_library_tells_more():
    text = "alpha beta gamma delta epsilon zeta"
    common = dict.fromkeys(("beta", "delta"), 0.001)
    rare = dict.fromkeys(("alpha", "gamma", "epsilon", "zeta"), 1.0) | common
    assert named(text, rare=rare) == ["alpha, gamma, epsilon zeta"]


def test_addresses_plain_words_and_other_scripts_are_no_names():
    assert named("see https://example.org/wonderful/place and write to me@example.org") == ["write"]
    assert named("well, what do you think of that then?") == [""]
    assert named("検索システムの評価について話しましょう、来週の会議で決めることが多いです") == [""]


def test_function_words_of_other_languages_are_no_names():
    names = named(
        "Wie lange ist die Kündigungsfrist für die Wohnung?",
        "Wie hoch ist die Sturmflut, ab der die Fluttore geschlossen sein müssen?",
    )
    assert names[0].endswith("Kündigungsfrist, Wohnung")
    words = {word for name in names for word in name.replace(",", "").split()}
    assert words.isdisjoint({"die", "der", "ist", "Wie", "für", "müssen"})


def test_a_name_is_short_and_the_same_each_time():
    text = " ".join(f"extraordinarily{'x' * n} word{n}" for n in range(9))
    (name,) = named(text, embed=EMBED)
    assert 0 < len(name) <= LONGEST_NAME
    assert [name] == named(text, embed=EMBED)


def test_replies_hold_nothing_telling():
    assert telling_tokens("ok, thanks! I'll look at it tomorrow") == set()
    assert telling_tokens("the ferry to Porto") == {"ferri", "porto"}


@pytest.mark.parametrize("run", ["-", '"', "12,34;", '{"a":"b1","c":[1,2]},'])
def test_long_runs_without_spaces_take_no_longer_than_words(run):
    text = f"The harbour {run * 20_000}"[:20_000]
    start = time.process_time()
    assert all(len(name) <= LONGEST_NAME for name in named(*[text] * 4))
    assert time.process_time() - start < 2
