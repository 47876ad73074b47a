from __future__ import annotations

from collections.abc import Iterator

import pytest
from languages_set import QUESTIONS, TEXTS
from small_library import add, write_files

from pages.parts.search.answer_html import quick
from ragkit.answering.evidence import evidence
from ragkit.answering.excerpts import by_words
from ragkit.answering.meaning import Meaning
from ragkit.answering.questions import Question
from ragkit.library import Library
from ragkit.models.factory import local_embedder
from ragkit.models.wordllama import WordLlamaEmbedder
from ragkit.options import Fusion, Mode, SearchOptions
from ragkit.settings import load_settings

WANTED = {"arabic": 6, "german": 5, "japanese": 6, "russian": 6}


@pytest.fixture(scope="module")
def library(_isolated_session: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    texts = {
        f"{language}/{i}.txt": text for language, of in TEXTS.items() for i, text in enumerate(of)
    }
    library = Library.open(load_settings(library=tmp_path_factory.mktemp("library")), create=True)
    add(library, write_files(tmp_path_factory.mktemp("texts"), texts))
    yield library
    library.close()


@pytest.mark.parametrize("language", WANTED)
@pytest.mark.parametrize("options", [{}, {"fusion": Fusion.RRF}, {"mode": Mode.KEYWORD}], ids=str)
def test_questions_in_other_forms_find_their_text_first(library: Library, language, options):
    first = [
        library.search(question, SearchOptions(**options)).results[0].document.path
        for question, _ in QUESTIONS[language]
    ]
    right = [f"{language}/{number}.txt" for _, number in QUESTIONS[language]]
    assert sum(a == b for a, b in zip(first, right, strict=True)) >= WANTED[language]


def test_a_word_is_asked_in_the_forms_that_the_library_has(library: Library):
    answer = library.search("Wohin mit einer Batterie?", SearchOptions(mode=Mode.KEYWORD))
    assert answer.results[0].document.path == "german/2.txt"
    # Neither function words nor a word found in another form is missing; what is not there is.
    assert answer.missing_terms == ()
    answer = library.search("Wohin mit einem Telefonbuch?")
    assert answer.missing_terms == ("Telefonbuch",)


POLISH = {
    "okna.txt": "Wymiana okien w kamienicy. Stare okna zostaną wyjęte w maju, a nowe okna wstawi "
    "firma z Krakowa. W czasie prac mieszkańcy powinni odsunąć meble od ścian.",
    "drzwi.txt": "Drzwi wejściowe zamykamy po godzinie dwudziestej drugiej. Klucze do drzwi można "
    "dorobić u dozorcy, który mieszka na parterze i ma zapasowy komplet.",
    "ogród.txt": "W ogrodzie za domem wolno sadzić kwiaty i krzewy. Narzędzia leżą w szopie obok "
    "ogrodzenia, a woda do podlewania jest w beczkach przy rynnie.",
    "śmieci.txt": "Śmieci segregujemy do czterech pojemników. Papier jest odbierany we wtorki, a "
    "szkło co dwa tygodnie w piątki rano, jeszcze przed godziną siódmą.",
}
"""Texts of a house, in a language in which a word has many forms."""


@pytest.fixture(scope="module")
def polish(_isolated_session: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    with Library.open(
        load_settings(library=tmp_path_factory.mktemp("polish")), create=True
    ) as library:
        add(library, write_files(tmp_path_factory.mktemp("house"), POLISH))
        yield library


@pytest.mark.parametrize(
    ("question", "path"),
    [
        ("okno", "okna.txt"),  # only "okien" and "okna" are there
        ("wymianie okna", "okna.txt"),
        ("kluczem drzwiami", "drzwi.txt"),
        ("ogrodu narzędziami", "ogród.txt"),
        ("pojemniki na szkła", "śmieci.txt"),
        ("zapasowego", "drzwi.txt"),  # "zapasowy" is there, whose token is "zapasowi"
    ],
)
def test_where_words_have_many_forms_all_are_asked(polish: Library, question, path):
    answer = polish.search(question, SearchOptions(mode=Mode.KEYWORD))
    assert answer.results[0].document.path == path
    assert not answer.results[0].weak


def test_a_word_that_is_there_in_another_form_is_marked_and_not_missing(polish: Library):
    answer = polish.search("pojemniki telefony", SearchOptions(mode=Mode.KEYWORD))
    assert answer.missing_terms == ("telefony",)
    passage = answer.results[0].passages[0]
    assert {passage.text[start:end] for start, end in passage.highlights} == {"pojemników"}


def test_what_has_a_word_in_another_form_is_evidence_and_marked(polish: Library):
    question = "wymianie okno, kluczem"
    answer = polish.search(question)
    chunks = {result.document.path: result.matched_chunks[0] for result in answer.results}
    assert chunks["okna.txt"].terms == ("wymianie", "okno")
    assert chunks["drzwi.txt"].terms == ("kluczem",)
    found = evidence(Question(question), answer.results, Meaning(local_embedder()))
    held = dict(zip([source.text for source in found.sentences], found.held, strict=True))
    assert list(held["Wymiana okien w kamienicy."]) == [True, False, False]
    assert list(held[POLISH["okna.txt"].split(". ")[1] + "."]) == [False, True, False]
    assert list(held[POLISH["drzwi.txt"].split(". ")[1]]) == [False, False, True]
    shown = quick(polish.answers.quick(answer), question, answer.forms)
    assert "Stare <mark>okna</mark> zostaną wyjęte w maju, a nowe <mark>okna</mark>" in shown


def test_an_excerpt_by_words_has_them_in_other_forms(polish: Library):
    answer = polish.search("kluczem", SearchOptions(mode=Mode.KEYWORD))
    (excerpt,) = by_words("kluczem", answer.results[:1], 100)
    assert excerpt is not None
    assert excerpt.passage.text[excerpt.start : excerpt.end].startswith("Klucze do drzwi")


def test_the_vectors_know_how_little_they_know():
    share = WordLlamaEmbedder.open().known_share
    assert share("How long is the notice period?") > 0.95
    assert share("Wie lang ist die Kündigungsfrist für Mitarbeiter?") > 0.9
    assert share("Сколько длится отпуск сотрудников?") > 0.8
    for question, _ in [*QUESTIONS["arabic"], *QUESTIONS["japanese"]]:
        assert share(question) < 0.3
    assert share("") == 0.0
