"""Verbs that a question takes apart and documents have in one word."""

from __future__ import annotations

import time

import pytest
from small_library import add, find, open_library, write_files

from ragkit.retrieval.query.separable_verbs import separable_verb


@pytest.mark.parametrize(
    ("question", "finite", "words", "rest"),
    [
        ("Wie richte ich eine Firewall ein?", "richte",
         {"einrichten", "einzurichten", "eingerichtet", "einrichtung"},
         "Wie richte ich eine Firewall ?"),
        ("Wo melde ich mich AN", "melde", {"anmelden", "angemeldet", "anmeldung"},
         "Wo melde ich mich "),
        ("Wie ändert man das Datum ab, und warum?", "ändert", {"abändern", "abzuändern"},
         "Wie ändert man das Datum , und warum?"),
        ("Wann geben wir die Schlüssel zurück?", "geben", {"zurückgeben", "zurückgegeben"},
         "Wann geben wir die Schlüssel ?"),
    ],
)  # fmt: skip
def test_the_particle_at_the_end_of_a_clause_is_part_of_the_verb(question, finite, words, rest):
    verb = separable_verb(question, "german")
    assert verb is not None
    assert (verb.finite, verb.rest) == (finite, rest)
    assert words <= set(verb.words)


@pytest.mark.parametrize(
    ("question", "word"),
    [
        ("Hoe voeg ik een bijlage toe?", "toevoegen"),
        ("Hoe stel ik de klok in?", "instellen"),
        ("Hoe maak ik een kopie aan?", "aanmaken"),
        ("Hoe meld ik me aan?", "aangemeld"),
    ],
)
def test_dutch_verbs_are_written_as_their_infinitives(question, word):
    verb = separable_verb(question, "dutch")
    assert verb is not None
    assert word in verb.words


@pytest.mark.parametrize(
    ("question", "language"),
    [
        ("Wie komme ich mit dem Rad zum Bahnhof?", "german"),
        ("Was kostet die Fähre ab Kiel?", "german"),
        ("Ich fahre mit", "german"),
        ("How do I log in?", "german"),
        ("Hoe kom ik bij de haven?", "dutch"),
        ("Wie richte ich eine Firewall ein?", ""),
        ("Wie richte ich eine Firewall ein?", "english"),
        ("Wie richte ich " + "x" * 400 + " ein?", "german"),
        ("", "german"),
    ],
)
def test_other_questions_keep_their_words(question, language):
    assert separable_verb(question, language) is None


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
    library.close()
