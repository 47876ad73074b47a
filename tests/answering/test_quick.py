"""The quick answer: which sentences of the found passages answer, and when it stays silent."""

from __future__ import annotations

import pytest
from small_library import HANDBOOK, add, find, open_library, write_files

from ragkit.answers import Source
from ragkit.library import Library


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    place = tmp_path_factory.mktemp("quick")
    with open_library(place / "library") as library:
        add(library, write_files(place / "files", HANDBOOK))
        yield library


def quick(library: Library, question: str, **options: object) -> tuple[Source, ...]:
    return library.answers.quick(find(library, question, **options))


def test_the_sentence_that_answers_comes_first_as_a_slice_of_its_document(library):
    first, *others = quick(library, "How long may a customer ask for a refund?")
    assert first.text == "A customer may ask for a refund within thirty days."
    assert first.document is not None
    assert first.document.path == "handbook/refunds.md"
    assert first.heading_path == ("Refunds",)
    for source in (first, *others):
        assert (
            library.documents.get(source.document.id).text[source.start : source.end] == source.text
        )


def test_a_list_of_documents_and_weak_results_have_no_answer(library):
    assert quick(library, "path:handbook/") == ()
    assert quick(library, "zeppelin xylophone quartz 4711", mode="keyword") == ()
