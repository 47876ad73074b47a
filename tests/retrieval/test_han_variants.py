"""Chinese is found whichever characters it is asked and written in."""

from __future__ import annotations

import pytest

from ragkit.library import Library
from ragkit.options import Mode, SearchOptions
from ragkit.retrieval.definitions import definitions
from ragkit.retrieval.query.han_variants import han_variants, writings


@pytest.mark.parametrize(
    ("question", "path"),
    [
        ("头发干燥怎么办", "台灣.txt"),
        ("护发素", "台灣.txt"),
        ("護髮素", "台灣.txt"),
        ("門鎖檢查", "台湾.txt"),
        ("洗衣機電源", "台湾.txt"),
        ("裏面的過濾器", "台湾.txt"),  # as in Hong Kong
        ("圖書館", "日本.txt"),
    ],
)
def test_a_question_finds_texts_in_other_characters(east_asian: Library, question, path):
    answer = east_asian.search(question, SearchOptions(mode=Mode.KEYWORD))
    assert answer.results[0].document.path == path
    assert not answer.results[0].weak


def test_what_is_there_in_other_characters_is_marked_and_not_missing(east_asian: Library):
    answer = east_asian.search("干燥 温度 telephone", SearchOptions(mode=Mode.KEYWORD))
    assert answer.missing_terms == ("telephone",)
    passage = answer.results[0].passages[0]
    assert {passage.text[start:end] for start, end in passage.highlights} == {"乾燥", "溫度"}


def test_only_what_the_library_has_is_asked_too(east_asian: Library):
    catalog = east_asian.catalog
    assert han_variants(catalog, "头发电话") == {"头": ("頭",), "发": ("髮",), "头发": ("頭髮",)}
    assert han_variants(catalog, "the bus") == {}
    assert han_variants(catalog, "バスはどこ") == {}


def test_a_text_is_written_in_the_characters_of_each_place():
    assert writings("头发里面") == ("头发里面", "頭髮裏面", "頭髮裡面")
    assert writings("頭髮裡面") == ("头发里面", "頭髮裏面", "頭髮裡面")
    assert writings("hair") == ()


def test_the_meaning_of_a_term_is_said_in_other_characters():
    assert definitions(("图层",), "圖層是指一張透明的紙。") == {0: 1.0}
    assert definitions(("图层",), "圖案是指一張透明的紙。") == {}
