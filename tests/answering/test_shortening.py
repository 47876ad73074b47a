"""Weak chunks between strong ones are shown by their best sentence."""

from __future__ import annotations

import pytest
from small_library import add, find, open_library, write_files

from ragkit.surfaces.render import answer_as_json, answer_as_text
from ragkit.surfaces.render_exports import export_markdown


def paragraph(subject, answer=""):
    told = [f"The {subject} is swept by hand number {n} on most days." for n in range(26)]
    told.insert(13, answer or f"A red lamp burns by the {subject}.")
    return " ".join(told)


FILES = {
    "harbour.md": "# Harbour\n\n"
    + "\n\n".join(
        [
            "## Buoys\n\n" + paragraph("buoy", "A lamp buoy burns red over the sandbank."),
            "## Cranes\n\n" + paragraph("crane"),
            "## Sheds\n\n" + paragraph("shed"),
            "## Lamps\n\n" + paragraph("lamp", "A lamp buoy burns red over the harbour sandbank."),
            "## Ropes\n\n" + paragraph("rope"),
        ]
    )
}
QUESTION = "lamp buoy burns red sandbank"


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    root = tmp_path_factory.mktemp("shortening")
    opened = open_library(root / "library")
    add(opened, write_files(root / "files", FILES))
    yield opened
    opened.close()


def asked(library, **options):
    return find(library, QUESTION, expansion="document", chunks_per_doc=2, **options)


def test_a_weak_chunk_between_strong_ones_is_its_best_sentence(library):
    (whole,) = asked(library).results
    assert len(whole.passages) == 1
    answer = asked(library, shorten_below=0.5)
    (result,) = answer.results
    text = library.documents.get(result.document.id).text
    kinds = [passage.shortens is not None for passage in result.passages]
    assert kinds == [False, True, True, False], "the last chunk is between no strong ones"
    for passage in result.passages:
        assert passage.text == text[passage.start : passage.end]
    short = [passage for passage in result.passages if passage.shortens]
    assert [passage.text for passage in short] == [
        "A red lamp burns by the crane.", "A red lamp burns by the shed.",
    ]  # fmt: skip
    assert [[one.text[start:end] for start, end in one.highlights] for one in short] == [
        ["red", "lamp", "burns"], ["red", "lamp", "burns"],
    ]  # fmt: skip
    assert [passage.heading_path[-1] for passage in short] == ["Cranes", "Sheds"]


def test_filters_are_no_words_that_a_sentence_may_answer(tmp_path):
    crane = "A red lamp burns by the crane. The title of a harbour type is a title of type harbour."
    text = FILES["harbour.md"].replace("A red lamp burns by the crane.", crane)
    with open_library(tmp_path / "library") as library:
        add(library, write_files(tmp_path / "files", {"harbour.md": text}))
        typed = f"{QUESTION} type:md title:harbour"
        answer = find(library, typed, expansion="document", chunks_per_doc=2, shorten_below=0.4)
        shown = [each.text for each in answer.results[0].passages if each.shortens]
    assert shown == ["A red lamp burns by the crane.", "A red lamp burns by the shed."]


def test_a_question_with_half_a_character_is_shortened_too(library):
    typed = QUESTION + " \ud83d"
    answer = find(library, typed, expansion="document", chunks_per_doc=2, shorten_below=0.4)
    assert any(each.shortens for each in answer.results[0].passages)


def test_what_stands_for_the_document_tiles_it(library):
    (result,) = asked(library, shorten_below=0.5).results
    text = library.documents.get(result.document.id).text
    position = 0
    for passage in result.passages:
        start, end = passage.start, passage.end
        if passage.shortens is not None:
            start, end = passage.shortens.start, passage.shortens.end
            assert start <= passage.start < passage.end <= end
        assert text[position:start].strip() == ""
        position = end
    assert text[position:].strip() == ""
    assert (result.gaps, result.chunk_coverage) == ((), "chunks 1-5 of 5")


def test_scores_and_order_stay_as_they_are(library):
    (whole,), (result,) = asked(library).results, asked(library, shorten_below=0.5).results
    assert result.score == whole.score
    assert result.matched_chunks == whole.matched_chunks
    assert result.context_chunks == whole.context_chunks


def test_nothing_is_shortened_where_no_two_strong_chunks_are_apart(library):
    (one,) = find(
        library, QUESTION, expansion="document", chunks_per_doc=1, shorten_below=0.5
    ).results
    assert [passage.shortens for passage in one.passages] == [None]


def test_it_is_told_as_text_markdown_and_json(library):
    answer = asked(library, shorten_below=0.5)
    said = "\n".join(answer_as_text(answer, explain=False, colour=False))
    assert "… (chunk 2 shortened)" in said
    assert "> … (chunk 3 shortened)" in export_markdown(answer)
    (result,) = answer_as_json(answer)["results"]
    shortens = [passage["shortens"] for passage in result["passages"]]
    assert [one is not None for one in shortens] == [False, True, True, False]
