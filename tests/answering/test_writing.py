"""A written answer: streamed, cited, checked, and whatever may go wrong said."""

from __future__ import annotations

import itertools
from contextlib import closing

import pytest
from small_library import HANDBOOK, add, find, open_library, write_files

from ragkit.answers import AnswerState, WrittenAnswer
from ragkit.library import Library

QUESTION = "How long may a customer ask for a refund?"
FIRST = "A customer may ask for a refund within thirty days."


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    place = tmp_path_factory.mktemp("written")
    with open_library(place / "library") as library:
        add(library, write_files(place / "files", HANDBOOK))
    return place / "library"


@pytest.fixture
def library(files, server):
    with open_library(files, models={"embedder": "hash", "ollama_url": server.url}) as library:
        yield library


def snapshots(library: Library, **given: object) -> list[WrittenAnswer]:
    return list(library.answers.write(QUESTION, find(library, QUESTION), **given))


def written(library: Library, **given: object) -> WrittenAnswer:
    return snapshots(library, **given)[-1]


def test_an_answer_grows_and_each_sentence_has_its_place(library, server):
    server.pause = 0.02
    seen = snapshots(library)
    assert [state for state, _ in itertools.groupby(one.state for one in seen)] == [
        AnswerState.READING,
        AnswerState.WRITING,
        AnswerState.DONE,
    ]
    assert any(one.unfinished and FIRST.startswith(one.unfinished) for one in seen)
    answer = seen[-1]
    assert answer.sentences[0].text == FIRST
    assert answer.sentences[0].sources == (1,)
    assert (answer.holding, answer.claims, len(answer.sentences)) == (2, 2, 2)
    assert answer.model == "llama3.2:3b"
    assert (answer.failure, answer.unfinished, answer.dropped, answer.cut) == ("", "", 0, False)
    assert answer.passages_read == answer.passages_found > 1
    for source in answer.sources:
        text = library.documents.get(source.document.id).text
        assert text[source.start : source.end] == source.text


def test_the_first_token_is_handed_on_before_the_second_is_sent(library, server):
    server.pause = 0.3
    with closing(library.answers.write(QUESTION, find(library, QUESTION))) as answers:
        first = next(one for one in answers if one.state is AnswerState.WRITING)
    assert first.unfinished == "A"
