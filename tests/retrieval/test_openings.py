"""What people begin a question with is not searched for."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from small_library import open_library

from ragkit.answering.questions import Question
from ragkit.indexes.tokenizer import query_tokens
from ragkit.options import Mode
from ragkit.retrieval.query.subject import subject_of
from ragkit.retrieval.query.word_forms import without_function_words

ABOUT = {
    "How do I get a refund?": "a refund?",
    "can you please tell me how to reset my password": "reset my password",
    "I'd like to know more about the ferry": "the ferry",
    "What is the best way to store seeds?": "store seeds?",
    "why can't I get the printer to work": "the printer",
    "I'd like to know how the lift works": "how the lift",
    "Where can I find social work?": "social work?",
    "How do I get to work?": "work?",
    "what's the purpose of the fuse box?": "the fuse box?",
    "I need help with my tax return, please": "with my tax return,",
    "Hi there! Could you kindly tell me how I can get the stove working?": "the stove",
    "Weißt du, wo ich den Vertrag finden kann?": "den Vertrag",
    "Hallo zusammen, wo finde ich den Vertrag?": "den Vertrag?",
    "Is there any way to cancel": "cancel",
    "how would one measure drift": "measure drift",
    "Kannst du mir sagen, wo der Schlüssel liegt?": ", wo der Schlüssel liegt?",
    "Wie kann ich meine Rechnung finden?": "meine Rechnung",
    "Was muss ich bei einem Umzug tun?": "bei einem Umzug",
    "Ich suche Informationen über Fähren": "über Fähren",
    "Pouvez-vous m'expliquer le contrat, s'il vous plaît ?": "le contrat,",
    "Comment puis-je trouver ma facture ?": "ma facture ?",
    "Où se trouve la clé ?": "la clé ?",
    "¿Me puedes decir dónde está la llave?": "la llave?",
    "Quiero saber más sobre el contrato": "el contrato",
    "Vorrei sapere come funziona la caldaia": "la caldaia",
    "Ik heb hulp nodig bij mijn factuur": "mijn factuur",
    "Queria saber como funciona a caldeira": "a caldeira",
    "Czy możesz mi powiedzieć, gdzie znajdę fakturę?": "fakturę?",
    "Подскажите, пожалуйста, как мне получить справку?": "справку?",
    "Kan du säga var jag hittar fakturan?": "fakturan?",
    "Hur kan man byta lösenord?": "byta lösenord?",
    "Můžete mi říct, kde najdu fakturu?": "fakturu?",
    "Jeg vil gerne vide, hvordan vaskemaskinen virker": "vaskemaskinen",
    "Jeg trenger hjelp med skatten": "skatten",
    "Jeg vil gjerne vite hvordan ovnen fungerer": "ovnen",
    "Mistä löydän kuitin?": "kuitin?",
    "Miten voin maksaa laskun?": "maksaa laskun?",
    "Miksi kattila ei toimi?": "kattila",
    "Voitteko kertoa, mitä minun pitää tehdä muuttoa varten?": "muuttoa",
    "Hei, pesukoneen huolto, haluaisin lisätietoja, kiitos": "pesukoneen huolto",
    "Kuitti, mistä voin löytää sen?": "Kuitti",
    "Hol található a számla?": "a számla?",
    "El tudná magyarázni, mi az a kaució?": "kaució?",
    "Szeretném tudni, hogyan működik a kazán": "a kazán",
    "Szia! A kaució kapcsán szeretnék segítséget kérni": "A kaució",
    "Kedvezményekről szeretnék többet megtudni, köszönöm": "Kedvezményekről",
    "a kulcsot hol talalom?": "a kulcsot",
    "Vergi iadesi hakkında daha fazla bilgi almak istiyorum": "Vergi iadesi",
    "Bana kira sözleşmesini açıklar mısınız?": "kira sözleşmesini",
    "Ütü nasıl kullanılır?": "Ütü",
    "Nasıl fatura bulabilirim?": "fatura",
    "Faturayı indirmenin bir yolu var mı?": "Faturayı indirmenin",
    "Merhaba, pasaport icin ne yapmam gerekiyor?": "pasaport",
    "hello, world": "hello, world",
    "So long and thanks": "So long and thanks",
    # Nothing else is left, or it asks for nothing.
    "Can you help me?": "Can you help me?",
    "what can I do": "what can I do",
    "bitte": "bitte",
    "help command": "help command",
    "find duplicates": "find duplicates",
    "get method of dict": "get method of dict",
    "best practices": "best practices",
    "information security policy": "information security policy",
    "please-reply headers": "please-reply headers",
    "the best way home": "the best way home",
    "explain plan": "explain plan",
    "Sagrada Familia": "Sagrada Familia",
    "does it work": "does it work",
    "Nasıl yapılır?": "Nasıl yapılır?",
    "Yardım istiyorum": "Yardım istiyorum",
    "Hogyan és hol van?": "Hogyan és hol van?",
    "Çamaşır makinesi çalışmıyor": "Çamaşır makinesi çalışmıyor",
    "Şirket hakkında bilgi": "Şirket hakkında bilgi",
    "Genel bilgi veri tabanı": "Genel bilgi veri tabanı",
    "Neden ve sonuç": "Neden ve sonuç",
    "Cetveli göster": "Cetveli göster",
    "Boka var mi": "Boka var mi",  # Norwegian
    "Tämä kone ei toimi": "Tämä kone ei toimi",
    "Näytä viivain": "Näytä viivain",
    "Tietoa meistä": "Tietoa meistä",
    "Missa solemnis": "Missa solemnis",
    "A mosógép nem működik": "A mosógép nem működik",
    "Azt mondta, hogy működik": "Azt mondta, hogy működik",
    "Mutasd be a csapatot": "Mutasd be a csapatot",
    "Hol van de vos": "Hol van de vos",  # Dutch
    "Mit El Niño": "Mit El Niño",
}


@pytest.mark.parametrize(("question", "about"), ABOUT.items(), ids=str)
def test_openings_and_their_endings_are_left_out(question: str, about: str):
    assert " ".join(subject_of(question).split()) == about


def test_an_opening_is_neither_searched_nor_said_to_be_missing(place: Path):
    with open_library(place) as library:
        words = library.options(mode=Mode.KEYWORD)
        plain = library.search("a customer's refund", words)
        asked = library.search("Can you tell me how I get a customer's refund?", words)
    assert asked.missing_terms == ()
    assert plain.results[0].document.path == "handbook/refunds.md"
    assert [(result.document.path, result.score) for result in asked.results] == [
        (result.document.path, result.score) for result in plain.results
    ]


def test_a_verb_that_is_not_searched_is_still_met_by_what_means_the_same():
    assert list(Question("How do I get a refund?").words) == ["get", "refund"]


def test_in_other_languages_verbs_of_an_opening_are_no_evidence():
    asked = "Kannst du mir sagen, wann die Tomaten Dünger brauchen?"
    assert list(Question(asked).words.values()) == ["Tomaten", "Dunger", "brauchen"]
    missing = "Kannst du mir sagen, wo ich die Erstattung finden kann?"
    assert list(Question(missing).words.values()) == ["Erstattung"]


@pytest.mark.parametrize(
    ("question", "searched"),
    [
        ("are there any other ferries?", {"ferri"}),
        ("how many more stars does it still have", {"star"}),
        ("does it also run here now?", {"run"}),
        # Nothing asks, or nothing else is left.
        ("some ferries still run here", {"some", "ferri", "still", "run", "here"}),
        ("how many?", {"mani"}),
    ],
)
def test_function_words_are_searched_where_nothing_asks(question: str, searched: set[str]):
    assert set(without_function_words(question, query_tokens(question))) == searched


@pytest.mark.parametrize(
    "piece",
    [
        "how do i ",
        "please ",
        "can you ",
        "  ",
        "tell me, ",
        "je ",
        "bilgi ",
        "bana ",
        "több ",
        "se, ",
    ],
)
def test_openings_without_end_take_no_time(piece: str):
    began = time.process_time()
    subject_of(piece * (100_000 // len(piece)))
    assert time.process_time() - began < 2
