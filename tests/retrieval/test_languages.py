from __future__ import annotations

from collections.abc import Iterator

import pytest
from languages_set import QUESTIONS, TEXTS
from small_library import add, write_files

from ragkit.library import Library
from ragkit.models.wordllama import WordLlamaEmbedder
from ragkit.options import Fusion, Mode, SearchOptions
from ragkit.retrieval.query.word_forms import foreign_language
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


@pytest.mark.parametrize(
    ("question", "language"),
    [
        ("Wie lang ist die Kündigungsfrist?", "german"),
        ("Quelle est la durée du préavis ?", "french"),
        ("¿Cuántos días de vacaciones tienen los empleados?", "spanish"),
        ("Quanti giorni di ferie hanno i dipendenti?", "italian"),
        ("Quantos dias de férias têm os funcionários?", "portuguese"),
        ("Hoeveel vakantiedagen heeft een werknemer?", "dutch"),
        ("What did the die hard fans in Den Haag say?", ""),
        ("Tour de la Provence winner", ""),
        ("Kündigungsfrist Mitarbeiter", ""),
        ("Сколько длится отпуск", ""),
        ("", ""),
    ],
)
def test_only_a_question_with_function_words_has_a_language(question: str, language: str):
    assert foreign_language(question) == language


def test_the_vectors_know_how_little_they_know():
    share = WordLlamaEmbedder.open().known_share
    assert share("How long is the notice period?") > 0.95
    assert share("Wie lang ist die Kündigungsfrist für Mitarbeiter?") > 0.9
    assert share("Сколько длится отпуск сотрудников?") > 0.8
    for question, _ in [*QUESTIONS["arabic"], *QUESTIONS["japanese"]]:
        assert share(question) < 0.3
    assert share("") == 0.0
