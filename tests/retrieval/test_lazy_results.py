"""Later: made once, when it is looked at, and then like the tuple that it is."""

from __future__ import annotations

import copy
import pickle
from functools import partial

from ragkit.results import Later, Passage
from ragkit.retrieval.highlight import Highlighter, question_words
from ragkit.retrieval.passages import PassagePlan, with_texts


def counted(value):
    calls = []

    def make():
        calls.append(1)
        return value

    return Later(make), calls


def test_it_is_made_once_and_only_when_it_is_looked_at():
    later, calls = counted((3, 1))
    assert calls == []
    assert list(later) == [3, 1]
    assert (later[0], later[-1], later[1:], len(later), 1 in later) == (3, 1, (1,), 2, True)
    assert len(calls) == 1


def test_it_equals_its_tuple():
    later, _ = counted((3, 1))
    assert later == (3, 1)
    assert later == (3, 1)
    assert later == counted((3, 1))[0]
    assert later != (3, 2)
    assert later != [3, 1]
    assert hash(later) == hash((3, 1))
    assert repr(later) == "(3, 1)"
    assert not counted(())[0]


def test_copies_are_the_tuple():
    later, _ = counted((3, 1))
    for same in (pickle.loads(pickle.dumps(later)), copy.deepcopy(later)):
        assert type(same) is tuple
        assert same == (3, 1)


def test_what_travels_is_made_where_it_is_looked_at():
    later = Later(partial(tuple, (3, 1)), travels=True)
    there = pickle.loads(pickle.dumps(later))
    assert type(there) is Later
    assert there == later == (3, 1)
    assert type(pickle.loads(pickle.dumps(there))) is tuple


def test_highlights_of_a_passage_travel_unmade():
    highlighter = Highlighter(["buoy"], partial(question_words, "Buoys drift"))
    plan = PassagePlan((Passage(0, 12, ""),), ())
    passages = with_texts(plan, ["two buoys, a buoy"], [()], highlighter.spans)
    (there,) = pickle.loads(pickle.dumps(passages))
    assert type(there.highlights) is Later
    assert there.highlights == ((4, 9), (13, 17))
    assert pickle.loads(pickle.dumps(highlighter)).terms("a buoy") == ("Buoys",)


def test_passages_find_their_highlights_when_they_are_looked_at():
    looked = []

    def highlight(text):
        looked.append(text)
        return ((0, 2),)

    plan = PassagePlan((Passage(5, 9, ""),), ())
    (passage,) = with_texts(plan, ["abcd"], [()], highlight)
    assert looked == []
    assert passage == Passage(5, 9, "abcd", highlights=((0, 2),))
    assert [*passage.highlights, *passage.highlights] == [(0, 2), (0, 2)]
    assert looked == ["abcd"]
