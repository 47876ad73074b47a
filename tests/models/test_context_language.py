from __future__ import annotations

from ragkit.models.context_language import in_another_language, main_language, main_script


def test_scripts_and_languages_are_told_apart():
    assert main_script("The committee") == "latin"
    assert main_script("Комитет собрался") == "cyrillic"
    assert main_script("委員会は火曜日に") == "han"
    assert main_script("η επιτροπή συνήλθε") == "greek"
    assert main_script("위원회가 화요일에 모였다") == "hangul"
    assert main_script("12345 !!!") == ""
    german = "Der Vertrag zwischen der Gemeinde und dem Unternehmen regelt die Fristen für den Bau."
    french = "Le contrat entre la commune et l'entreprise fixe les délais pour la construction."
    assert main_language(german) == "german"
    assert main_language(french) == "french"
    assert main_language("x = [1, 2]; y.append(x)") == ""


def test_names_and_code_do_not_make_another_language():
    english = "The parser of Tree-sitter is called from this function, which is of no use to us."
    assert not in_another_language(english, "fn parse(de: &str, la: i32) -> el", "let o = e;")
    assert not in_another_language("東京 (Tokyo)", "short", "english text that is long enough")
    german = "Der Vertrag zwischen der Gemeinde und dem Unternehmen regelt die Fristen für den Bau."
    assert in_another_language(german, english, english)
    assert not in_another_language(german, german, english)
