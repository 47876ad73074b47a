"""The language of a question, other forms of its words, and verbs that documents have in one."""

from __future__ import annotations

import math
import time

import numpy as np
import pytest
from small_library import add, find, open_library, write_files

from ragkit.retrieval.highlight import highlight_question
from ragkit.retrieval.query.word_forms import (
    foreign_language,
    form_weights,
    is_foreign,
    language_of_forms,
    separable_verb,
    with_infinitive,
)


@pytest.mark.parametrize(
    ("question", "language"),
    [
        ("Wie lang ist die Kündigungsfrist?", "german"),
        ("Quelle est la durée du préavis ?", "french"),
        ("¿Cuántos días de vacaciones tienen los empleados?", "spanish"),
        ("Quanti giorni di ferie hanno i dipendenti?", "italian"),
        ("Quantos dias de férias têm os funcionários?", "portuguese"),
        ("Hoeveel vakantiedagen heeft een werknemer?", "dutch"),
        ("Ile dni urlopu ma pracownik i jak go zgłosić, kiedy jest chory?", "polish"),
        ("Hur många semesterdagar har man och vad gäller vid sjukdom?", "swedish"),
        ("Da li se promjena sprema u mapu?", "serbian"),
        ("Kako spremenim pisavo in kje je shranjena?", "serbian"),
        ("Gdzie są klucze w piwnicy?", "polish"),
        ("Kde je klíč v domě?", "czech"),
        ("What did the die hard fans in Den Haag say?", ""),
        ("Tour de la Provence winner", ""),
        ("Kündigungsfrist Mitarbeiter", ""),
        ("Сколько длится отпуск", ""),
        ("", ""),
    ],
)
def test_only_a_question_with_function_words_has_a_language(question: str, language: str):
    assert foreign_language(question) == language


@pytest.mark.parametrize(
    ("text", "language", "stemmer"),
    [
        ("okna drewniane", "pl", "polish"),
        ("okna lesena", "sl", "serbian"),
        ("Da li se promjena sprema u mapu?", "hr", "serbian"),
        ("okna drewniane", "de", ""),
        # One function word of the library's own language is enough.
        ("funktioniert meine Grafikkarte", "de", "german"),
        ("funktioniert meine Grafikkarte", "fr", ""),
        ("MIT license of the suite", "de", ""),
        ("ma carte graphique", "fr", "french"),
        ("okna drewniane", "", ""),
        ("how are the windows to be changed", "pl", ""),
        ("Wie lang ist die Kündigungsfrist?", "pl", "german"),
        ("Was kostet das Ferienhaus?", "de", "german"),
        ("Was kostet das Ferienhaus?", "en", ""),
        ("was the house in order", "de", ""),
        ("was kostet Strom", "de", ""),
    ],
)
def test_the_language_of_forms_is_that_of_the_question_or_of_what_is_searched(
    text, language, stemmer
):
    assert language_of_forms(text, language) == stemmer


@pytest.mark.parametrize(
    ("text", "language", "foreign"),
    [
        ("Wie lang ist die Kündigungsfrist?", "en", True),
        ("Kündigungsfrist Mitarbeiter", "de", True),
        ("Kündigungsfrist Mitarbeiter", "en", False),
        ("where is the Kündigungsfrist", "de", False),
        ("Kündigungsfrist Mitarbeiter", "", False),
        ("срок аренды", "", True),
        ("貸出期間 ISO 9001", "en", True),
        ("", "en", False),
    ],
)
def test_a_question_is_foreign_by_its_words_or_by_what_is_searched(text, language, foreign):
    assert is_foreign(text, language_of_forms(text, language), language) is foreign


@pytest.mark.parametrize(
    ("text", "question", "missing"),
    [
        ("Die Grafikkarte wird erkannt, wenn der Treiber da ist.", "repariert er meine Grafikkarte",
         ("repariert",)),
        ("La tarjeta gráfica se reconoce si hay un controlador en el sistema de la empresa.",
         "¿Reconoce mi tarjeta gráfica nueva?", ("nueva",)),
        ("A placa gráfica é reconhecida quando o controlador está no sistema.",
         "onde está a minha placa azul", ("azul",)),
        ("Видеокарта определяется, если в системе есть драйвер для неё.",
         "определяется ли моя видеокарта сразу?", ("сразу",)),
        ("Grafická karta se rozpozná, pokud má systém ovladač.",
         "Jsem zde, rozpozná se moje karta, kterou bych měnil?", ("zde", "měnil")),
        ("Karta graficzna jest rozpoznawana, gdy system ma sterownik.",
         "jestem ciekaw, skąd mamy sterownik swojej karty", ("ciekaw",)),
        ("Grafikkortet känns igen när drivrutinen finns i systemet.",
         "måste drivrutinen vara blå, och har den sina filer?", ("blå", "filer")),
        ("그래픽 카드는 드라이버가 있으면 인식됩니다.", "내 그래픽 카드는 파란가요?",
         ("파란가요",)),
    ],
)  # fmt: skip
def test_pronouns_are_no_missing_words(tmp_path, text, question, missing):
    with open_library(tmp_path / "library") as library:
        add(library, write_files(tmp_path / "files", {"a.txt": text}))
        assert library.search(question).missing_terms == missing


def test_a_word_is_as_rare_as_all_its_forms_together():
    class Index:
        entries = 100

        def document_frequencies(self, token_ids, field):
            return np.array([{1: 20, 2: 5}[token] for token in token_ids])

    weights = form_weights({"okno": ("okna", "okien")}, {"okna": 1, "okien": 2}, [Index()])
    together = math.log1p((100 - 24 + 0.5) / 24.5)  # 1 - 0.8 * 0.95 of 100
    assert weights == {
        1: pytest.approx(0.8 * together / math.log1p(80.5 / 20.5), rel=1e-5),
        2: pytest.approx(0.8 * together / math.log1p(95.5 / 5.5), rel=1e-5),
    }


@pytest.mark.parametrize(
    ("language", "question", "words", "whole"),
    [
        ("german", "Wie richte ich eine Firewall ein?",
         {"einzurichten", "eingerichtet", "einrichtung"}, "Wie  ich eine Firewall einrichten?"),
        ("german", "Wo melde ich mich AN", {"angemeldet", "anmeldung"}, "Wo  ich mich anmelden"),
        ("german", "Wie ändert man das Datum ab, und warum?", {"abzuändern", "abgeändert"},
         "Wie  man das Datum abändern, und warum?"),
        ("german", "Wie richte İch eine Firewall ein?", {"eingerichtet"},
         "Wie  İch eine Firewall einrichten?"),
        ("german", "Wie ändern wir das ab?", {"abgeändert"}, "Wie  wir das abändern?"),
        ("german", "Wann geben wir die Schlüssel zurück?", {"zurückgegeben"},
         "Wann  wir die Schlüssel zurückgeben?"),
        # In Hungarian it stands right behind the verb.
        ("hungarian", "Hogyan szúrhatok be képet?", {"beszúrás", "beszúrhat"},
         "Hogyan  beszúrni képet?"),
        ("hungarian", "Hol kapcsolom ki a fényt?", {"kikapcsolás"}, "Hol  kikapcsolni a fényt?"),
        ("hungarian", "Hogyan jelöljük meg a sort?", {"megjelölés", "megjelölhet"},
         "Hogyan  megjelölni a sort?"),
    ],
)  # fmt: skip
def test_the_particle_is_part_of_the_verb(language, question, words, whole):
    verb = separable_verb(question, language)
    assert verb is not None
    assert words <= set(verb.words)
    assert with_infinitive(question, language) == whole


@pytest.mark.parametrize(
    ("question", "infinitive"),
    [
        ("Hoe voeg ik een bijlage toe?", "toevoegen"),
        ("Hoe stel ik de klok in?", "instellen"),
        ("Hoe maak ik een kopie aan?", "aanmaken"),
        ("Hoe meld ik me aan?", "aanmelden"),
        ("Waar zet ik het alarm uit?", "uitzetten"),
        ("Hoe maken we een kopie aan?", "aanmaken"),
        ("Waar schakelt u de lamp in?", "inschakelen"),
    ],
)
def test_dutch_verbs_are_written_as_their_infinitives(question, infinitive):
    assert infinitive in with_infinitive(question, "dutch")
    assert "aangemeld" in separable_verb("Hoe meld ik me aan?", "dutch").words


@pytest.mark.parametrize(
    ("question", "language"),
    [
        ("Wie komme ich mit dem Rad zum Bahnhof?", "german"),
        ("Was kostet die Fähre ab Kiel?", "german"),
        ("Ich fahre mit", "german"),
        ("How do I log in?", "german"),
        ("Hoe kom ik bij de haven?", "dutch"),
        ("Mikor nyit a kikötő?", "hungarian"),
        ("Wie richte ich eine Firewall ein?", ""),
        ("Wie richte ich eine Firewall ein?", "english"),
        ("Wie richte ich " + "x" * 400 + " ein?", "german"),
        ("", "german"),
    ],
)
def test_other_questions_keep_their_words(question, language):
    assert separable_verb(question, language) is None
    assert with_infinitive(question, language) == question


def test_long_questions_take_no_more_time_than_their_length_asks():
    began = time.process_time()
    for text in ("richte ich " * 27, "ich " * 70, "a" * 300, "richte ich" + " ein," * 60):
        separable_verb(text[:300], "german")
    assert time.process_time() - began < 0.5


def test_a_question_finds_the_verb_in_one_word(tmp_path):
    library = open_library(tmp_path / "library")
    files = {
        "a.md": "# Konten\n\nWer ein neues Konto anlegen will, fragt das Büro der Verwaltung.",
        "b.md": "# Konten\n\nDas neue Konto der Verwaltung legt offen, was das Büro schuldet.",
        "c.md": "# Konten\n\nEin neues Konto des Büros wird von der Verwaltung geprüft.",
    }
    add(library, write_files(tmp_path / "files", files))
    answer = find(library, "Wie lege ich ein neues Konto an?")
    first = answer.results[0]
    assert first.document.path == "a.md"
    [passage] = first.passages
    marked = [passage.text[start:end] for start, end in passage.highlights]
    assert "anlegen" in marked
    assert "lege" not in first.missing_terms
    [sentence] = library.answers.quick(answer)
    assert "anlegen will" in sentence.text
    spans = highlight_question(sentence.text, "Wie lege ich ein neues Konto an?", first.forms)
    assert "anlegen" in [sentence.text[start:end] for start, end in spans]
    library.close()
