"""What says the meaning of a term that a question asks for comes first."""

from __future__ import annotations

import pytest
from small_library import add, find, open_library, paths, write_files

from ragkit.options import Mode
from ragkit.retrieval.definitions import definitions


@pytest.mark.parametrize(
    ("text", "sure"),
    [
        ("cleat\nA fitting to which ropes are tied.", 1.0),
        ("## Cleats\n\nRopes are tied to them.", 0.5),
        ("- [Cleats](cleats.html)\n- [Masts](masts.html)", 0.0),
        ("**Cleat (deck fitting)**\n\nRopes are tied to it.", 1.0),
        ("Ropes hold. A *cleat* is a fitting on deck.", 1.0),
        ("[Cleats](deck.html#cleats) are the fittings on deck.", 1.0),
        ("- cleat: ropes are tied to it", 0.8),
        ("A fitting of this kind is called a cleat.", 0.6),
        ("Cleats are painted in May.", 0.2),
        ("Of ropes.\ncleat\nA fitting on deck.", 1.0),
        ("We tied the rope to a cleat.", 0.0),
        ("These fittings can be used as\ncleats.\nThey are of steel.", 0.0),
        ("These are the fittings of the old\ncleat\nof the pier.", 0.0),
        ("Ropes are tied to one and the other\ncleat is a spare.", 0.0),
        ("The price of a cleat is a secret.", 0.0),
        ("Cleatings\nare something else.", 0.0),
        ("cleat", 0.0),
        ("   :cleat: /kleet/, n.\n\n   A fitting on deck.", 0.8),
        (":cleat:\n\n   A fitting on deck.", 1.0),
        # A list of nothing but terms, and entries as short as terms.
        ("bollard\n\ncleat\n\ncleat hitch\n\ncoil\n\ncrane\n\ndeck\n\nUse them all.", 0.0),
        ("cleat\n\nfitting on deck\n\ncoil\n\nA ring of rope.", 1.0),
        ("| Word | Meaning |\n|---|---|\n| Cleat | A fitting on deck. |", 0.8),
        ("| Word | Meaning |\n|---|---|\n| Bitt | cleat | A post. |", 0.0),
        ("Of ropes. Cleats to a pier are screwed on.", 0.0),
        ("Of ropes. Cleats on the pier are old.", 0.0),
    ],
)
def test_what_says_the_meaning_is_told_from_what_has_the_word(text, sure):
    assert max(definitions(("cleats",), text).values(), default=0.0) == sure


@pytest.mark.parametrize(
    ("text", "sure"),
    [
        ("船を綱で岸に止める。繋船柱とは、岸壁に立つ柱である。", 1.0),
        ("繋船柱は赤い。", 0.2),
        ("「繋船柱」：岸壁に立つ柱", 0.8),
        ("繋船柱\n岸壁に立つ柱。", 1.0),
        ("古い繋船柱が五本ある。", 0.0),
    ],
)
def test_a_meaning_is_known_in_writing_without_spaces(text, sure):
    assert max(definitions(("繋船柱",), text).values(), default=0.0) == sure


@pytest.mark.parametrize(
    ("term", "text", "sure"),
    [
        ("Poller", "Poller bezeichnet einen Pfahl am Ufer.", 1.0),
        ("pullert", "En pullert er en kort pæl på kajen.", 1.0),
        ("pollare", "En pollare är en påle.", 1.0),
        ("poler", "Poler oznacza słupek na nabrzeżu.", 1.0),
        ("poler", "Poler jest czarny.", 0.2),
        ("poler", "Polery są czarne.", 0.2),
        ("pollari", "Pollari tarkoittaa paalua.", 1.0),
        ("δέστρα", "Η δέστρα είναι ένας στύλος.", 1.0),
        ("кнехт", "Кнехт это тумба на причале.", 1.0),
        ("кнехт", "Старый кнехт окрашен.", 0.0),
        ("مربط", "المربط هو عمود قصير.", 1.0),
        ("계선주", "계선주란 밧줄을 매는 기둥이다.", 1.0),
        ("계선주", "계선주는 검다.", 0.2),
        ("계선주", "## 계선주\n\n계선주는 밧줄을 맨다.", 0.5),
        ("babalar", "Babalar\nHalatların bağlandığı direkler.", 1.0),
        ("SQL", "İlk bölüm.\n\n## SQL\n\nBir dildir.", 0.5),
        ("ışık", "IŞIK\nGözle görülür.", 1.0),
    ],
)
def test_a_meaning_is_known_in_other_languages(term, text, sure):
    assert max(definitions((term,), text).values(), default=0.0) == sure


def test_definitions_begin_where_their_sentence_does():
    text = "Of İzmir. A bitt is a post.\n\nbitt\n  Ropes are tied to it."
    assert list(definitions(("bitt",), text)) == [text.index("bitt is"), text.index("Ropes") - 2]
    assert definitions((), text) == {}


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    place = tmp_path_factory.mktemp("meanings")
    uses = "The bollard is checked. Tie each bollard twice, since a bollard may turn. "
    glossary = (
        "# Words on board\n\nbitt\nA pair of posts on deck.\n\n"
        "bollard\nA short post to tie ropes to."
    )
    files = {f"log {day}.md": f"# Bollard log {day}\n\n{uses * 9}" for day in range(6)}
    opened = open_library(place / "library")
    add(opened, write_files(place / "files", {**files, "words.md": glossary}))
    yield opened
    opened.close()


def test_the_meaning_comes_before_texts_that_use_the_word_more(library):
    assert paths(find(library, "What is a bollard?", definition_weight=0))[0] != "words.md"
    answer = find(library, "What is a bollard?")
    assert paths(answer)[0] == "words.md"
    parts = {part.index: part for part in answer.results[0].matched_chunks[0].contributions}
    assert (parts["definition"].raw, parts["definition"].rank) == (1.0, 0)
    assert parts["definition"].weight == 0.5


def test_other_questions_and_other_modes_are_ranked_as_before(library):
    for question, options in (
        ("check a bollard", {}),
        ("What is a bollard?", {"mode": Mode.KEYWORD}),
    ):
        answer = find(library, question, **options)
        parts = [
            part for result in answer.results for part in result.matched_chunks[0].contributions
        ]
        assert "definition" not in {part.index for part in parts}


FOREIGN = {
    "sözlük.md": "# Sözlük\n\n## İçerik\n\nBir sayfada duran her şeydir.\n\n## SQL\n\nYapısal "
    "Sorgulama Dili, veri tabanlarında kullanılan bir dildir.",
    "용어집.md": "# 용어집\n\n## ODBC\n\n응용 프로그램이 데이터 저장소를 여는 데 쓰는 규격입니다.",
    **{
        f"{number}.md": f"# {number}\n\nSQL komutu {number} kez çalıştı. SQL nedeniyle demekle. "
        f"ODBC 드라이버를 {number}번 설치했습니다. ODBC 목록을 엽니다."
        for number in range(2, 6)
    },
}


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("SQL ne demek?", "Yapısal Sorgulama Dili, veri tabanlarında kullanılan bir dildir."),
        ("SQL NEDİR", "Yapısal Sorgulama Dili, veri tabanlarında kullanılan bir dildir."),
        ("ODBC란 무엇인가요?", "응용 프로그램이 데이터 저장소를 여는 데 쓰는 규격입니다."),
    ],
)
def test_what_stands_below_a_term_is_quoted_and_words_that_ask_are_not_missing(
    tmp_path, question, said
):
    with open_library(tmp_path / "library") as opened:
        add(opened, write_files(tmp_path / "files", FOREIGN))
        answer = opened.search(question)
        assert (answer.missing_terms, answer.spelled) == ((), ())
        assert opened.answers.quick(answer)[0].text == said


def test_the_quick_answer_quotes_the_meaning(library):
    answer = find(library, "What is a bollard?")
    assert library.answers.quick(answer)[0].text.endswith("A short post to tie ropes to.")
