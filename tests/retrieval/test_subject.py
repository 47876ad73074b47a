"""What a question is about: phrases that only ask are not searched for, in any language.

Questions for a meaning are known in many languages, and others are not taken for them.
"""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from small_library import open_library

from ragkit.answering.questions import Question
from ragkit.indexes.tokenizer import query_tokens
from ragkit.library import Library
from ragkit.options import Mode, SearchOptions
from ragkit.retrieval.highlight import highlight_question
from ragkit.retrieval.query.subject import (
    defined_term,
    subject_of,
    without_asking,
    without_asking_words,
)
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
    "Wie hoch ist die Kaution?": "Wie ist die Kaution?",
    "Kaution: wie lange dauert die Rückzahlung?": "Kaution: wie dauert die Rückzahlung?",
    "Hoe groot moet de schijf zijn?": "Hoe moet de schijf zijn?",
    "wie lange": "wie lange",
    "hoch wie der Turm": "hoch wie der Turm",
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


ABOUT_IN_EAST_ASIA = {
    "如何报销车费？": "报销车费？",
    "什么是报销单": "报销单",
    "请问报销单在哪里": "报销单",
    "為什麼門鎖不上": "門鎖不上",
    "功能怎么用": "功能",  # not the last character of a word
    "用户怎么登录": "用户 登录",
    "任何时候都可以报销吗": "任何时候都 报销",
    "目的是什么": "目的",
    "酒吧有多少": "酒吧",
    "几何学": "几何学",
    "経費精算の方法を教えてください": "経費精算",
    "経費精算はどうすればいいですか？": "経費精算 ？",
    "なぜ経費を精算できないのでしょうか": "経費を精算",
    "領収書はどこから送れる": "領収書 送れる",
    "どこで精算できますか": "精算",
    "どうすればできますか、精算": "、精算",
    "経費精算の手順": "経費精算",
    "経費を申請する手順を教えてもらえますか": "経費を申請する",
    "経費精算に関する情報が欲しいです": "経費精算",
    "経費精算を行いたい場合は？": "経費精算 ？",
    "経費を申請するには": "経費を申請",
    "領収書が見つからない": "領収書",
    "鍵を探しています": "鍵",
    "予約の仕方がわかりません": "予約",
    "情報セキュリティの手順": "情報セキュリティ",
    "経費精算の手順書": "経費精算の手順書",
    "作業手順の確認": "作業手順の確認",
    "申請するには、下記の手順で操作します": "申請するには、下記の手順で操作します",
    "情報セキュリティに関する規程": "情報セキュリティ 規程",
    "旅行の詳細情報": "旅行の詳細情報",
    "新しい傘が欲しい": "新しい傘が欲しい",
    "ファイルが見つかりません": "ファイルが見つかりません",  # what a program says
    "わからないことリスト": "わからないことリスト",
    "なんでも": "なんでも",
    "いつもの経費": "いつもの経費",
    "ぶどうの育て方": "ぶどうの育て方",
    "方法論とは何か": "方法論",
    "すいか": "すいか",
    "경비 어떻게 처리하나요": "경비 처리하나요",
    "경비 처리 방법을 알려 주세요": "경비 처리",
    "경비는 어디에 있나요?": "경비는 ?",
    "어디서나 쓰는 경비": "어디서나 쓰는 경비",
    "怎么办": "怎么办",
    "Wie heißt der Täter?": "Wie heißt der Täter?",
    "": "",
}


@pytest.mark.parametrize(("question", "about"), ABOUT_IN_EAST_ASIA.items(), ids=str)
def test_what_only_asks_is_left_out(question: str, about: str):
    assert " ".join(without_asking_words(question).split()) == about


@pytest.mark.parametrize(
    "piece", ["情報", "の手順", "したいの", "を探しています", "にするには", "!"]
)
def test_what_asks_without_end_takes_no_time(piece: str):
    began = time.process_time()
    without_asking_words(piece * (100_000 // len(piece)))
    assert time.process_time() - began < 3


@pytest.mark.parametrize(
    ("question", "marked"),
    [("請問為什麼門鎖不上呢", {"门锁不上"}), ("図書館の開館時間はいつですか", {"開館時間"})],
)
def test_what_only_asks_is_neither_searched_nor_marked(east_asian: Library, question, marked):
    answer = east_asian.search(question, SearchOptions(mode=Mode.KEYWORD))
    best = answer.results[0]
    assert not best.weak
    for passage in best.passages:
        assert marked <= {passage.text[start:end] for start, end in passage.highlights}
    assert answer.missing_terms == ()


def test_what_is_not_there_is_not_close_however_it_is_asked(east_asian: Library):
    # The texts have "机", "电" and "时", but as parts of other words.
    for question in (
        "请问机场电话是多少？",
        "怎么预约临时牙医",
        "歯医者の予約方法を教えてください",
    ):
        assert east_asian.search(question, SearchOptions(mode=Mode.KEYWORD)).nothing_close


def test_no_sentence_answers_because_it_asks_too():
    words = Question("请问门锁在哪里？").words
    assert {"门锁", "门", "锁"} == set(words)


def test_what_only_asks_is_not_marked_in_a_document():
    text = "请问门锁在哪里？门锁在左边。"
    spans = highlight_question(text, "门锁在哪里？")
    assert [text[start:end] for start, end in spans] == ["门锁", "门锁"]


@pytest.mark.parametrize(
    ("question", "term"),
    [
        ("What is a bollard?", "bollard"),
        ("what's the stay sail", "stay sail"),
        ("What are f-strings?", "f strings"),
        ("What does LBYL mean?", "LBYL"),
        ("what is meant by duck typing?", "duck typing"),
        ("Define the term 'blob object'", "blob object"),
        ("What is the meaning of life?", "life"),
        ("definition of entropy", "entropy"),
        ("lee shore meaning", "lee shore"),
        ("Who was Ada Lovelace?", "Ada Lovelace"),
        ("What is a factor in R?", "factor"),
        ("What is the limit in Spain?", "limit in Spain"),
        ("Was ist ein Poller?", "Poller"),
        ("Was bedeutet Skonto?", "Skonto"),
        ("was versteht man unter Skonto", "Skonto"),
        ("Skonto Bedeutung", "Skonto"),
        ("Qu'est-ce qu'un décorateur ?", "décorateur"),
        ("qu'est-ce que l'intégration", "intégration"),
        ("c'est quoi la TVA ?", "TVA"),
        ("Quelle est la définition de l'usufruit ?", "usufruit"),
        ("¿Qué es una bita?", "bita"),
        ("¿Cuál es el significado de noray?", "noray"),
        ("què és un noray", "noray"),
        ("Cos'è un puntatore?", "puntatore"),
        ("definizione di usufrutto", "usufrutto"),
        ("O que é uma variável?", "variável"),
        ("significado de usucapião", "usucapião"),
        ("Ce este un bolard?", "bolard"),
        ("Wat is een bolder?", "bolder"),
        ("wat is de betekenis van btw", "btw"),
        ("Hvad betyder moms?", "moms"),
        ("Hva er en fortøyningspåle?", "fortøyningspåle"),
        ("Vad menas med moms", "moms"),
        ("Mitä tarkoittaa pollari?", "pollari"),
        ("Mi az a bika?", "bika"),
        ("kikötőbak jelentése", "kikötőbak"),
        ("Co to jest poler?", "poler"),
        ("czym jest pachoł", "pachoł"),
        ("Co znamená pacholík?", "pacholík"),
        ("Što je bitva?", "bitva"),
        ("sto je bitva", "bitva"),
        ("sta znaci bitva", "bitva"),
        ("co znamena pacholik", "pacholik"),
        ("mika on pollari", "pollari"),
        ("o que e uma boia", "boia"),
        ("vad ar moms", "moms"),
        ("definition de l'usufruit", "usufruit"),
        ("Что такое указатель?", "указатель"),
        ("кнехт это что такое", "кнехт"),
        ("Що таке кнехт?", "кнехт"),
        ("Τι είναι η δέστρα;", "δέστρα"),
        ("ما هو المربط؟", "المربط"),
        ("מה זה אלגוריתם?", "אלגוריתם"),
        ("الگوریتم چیست", "الگوریتم"),
        ("एल्गोरिदम क्या है?", "एल्गोरिदम"),
        ("baba nedir?", "baba"),
        ("KDV ne demek", "KDV"),
        ("thuật toán là gì?", "thuật toán"),
        ("apa itu algoritma", "algoritma"),
        ("อัลกอริทึมคืออะไร", "อัลกอริทึม"),
        ("계선주란 무엇인가요?", "계선주"),
        ("계선주가 뭐야", "계선주"),
        ("계선주의 뜻", "계선주"),
        ("什么是熵？", "熵"),
        ("熵是什么意思", "熵"),
        ("繋船柱とは何ですか？", "繋船柱"),
        ("繋船柱の意味は？", "繋船柱"),
    ],
)
def test_a_question_for_a_meaning_names_its_term(question, term):
    assert " ".join(defined_term(question)) == term


@pytest.mark.parametrize(
    "question",
    ["bollard", "What is it?", "Who are you?", "how do I install it", "when is the ball", "",
     "What are the three largest harbours of the whole northern coast?", "what is " + "?" * 5000,
     "What are some ways I can reduce the cost of my garbage collection service?",
     "Wie viel kostet die Reparatur?", "Où est la gare ?", "¿Cómo instalo el programa?",
     "Kde je nádraží?", "明日は何時に始まりますか", "점심은 무엇을 먹을까",
     "이 회의의 의미 있는 결과"],
)  # fmt: skip
def test_other_questions_ask_for_no_meaning(question):
    assert defined_term(question) == ()


@pytest.mark.parametrize(
    ("question", "about"),
    [
        ("What does the word bitt mean?", "the word bitt"),
        ("¿Qué significa la palabra noray?", "la palabra noray"),
        ("was versteht man unter Skonto?", "Skonto"),
        ("How is a bitt made?", "How is a bitt made?"),
        ("", ""),
    ],
)
def test_words_that_only_ask_are_left_out(question, about):
    assert without_asking(question) == about


def test_an_answer_needs_no_word_that_only_asks():
    assert list(Question("Was bedeutet Skonto?").words) == ["skonto"]
    assert list(Question("¿Qué significa noray?").words) == ["noray"]


@pytest.mark.parametrize(
    "piece", ["what is ", "in ", "X ", "의 뜻", "est-ce que ", "? ", "と", "' "]
)
def test_hostile_questions_take_no_time(piece):
    began = time.process_time()
    for start in ("", "what is a ", "qu'est-ce qu'"):
        defined_term((start + piece * 200)[:200])
    assert time.process_time() - began < 0.5
