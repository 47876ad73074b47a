"""Questions in Chinese, Japanese and Korean are searched without the words that only ask."""

from __future__ import annotations

import time

import pytest

from ragkit.answering.questions import Question
from ragkit.library import Library
from ragkit.options import Mode, SearchOptions
from ragkit.retrieval.highlight import highlight_question
from ragkit.retrieval.query.subject import without_asking_words

ABOUT = {
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


@pytest.mark.parametrize(("question", "about"), ABOUT.items(), ids=str)
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
