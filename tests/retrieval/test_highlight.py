"""Highlighting by the indexes' own tokenizer, and windows around what it finds."""

from __future__ import annotations

import time
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ragkit.indexes.tokenizer import query_tokens, token_spans, tokenize, without_stop_words
from ragkit.retrieval.highlight import (
    LONGEST_HIGHLIGHTED,
    Highlighter,
    best_window,
    highlight,
    highlight_question,
    merge_spans,
    question_words,
)


def marked(text: str, question: str) -> list[str]:
    return [text[start:end] for start, end in highlight(text, tokenize(question))]


@pytest.mark.parametrize(
    ("text", "question", "expected"),
    [
        ("We cached the query; caching caches.", "cache", ["cached", "caching", "caches"]),
        ("Café, CAFE and cafés", "cafe", ["Café", "CAFE", "cafés"]),
        ("naïve Müller", "naive muller", ["naïve", "Müller"]),
        ("call load_user_data() now", "user", ["user"]),
        ("call load_user_data() now", "load_user_data", ["load_user_data"]),
        ("set maxRetryCount to 3", "retry", ["Retry"]),
        ("C++ is not C", "C++", ["C++"]),
        ("since v2.0.1 (not 2.0.10)", "2.0.1", ["2.0.1"]),
        ("全文検索の使い方", "検索", ["検索"]),
        ("返金は、検索結果。", "検索", ["検索"]),
        ("the house of the rising sun", "the house", ["house"]),
        ("to be or not to be", "to be", ["to", "be", "to", "be"]),
        ("nothing here", "refund", []),
        ("", "refund", []),
        ("refund", "", []),
        ("e\u0301tude and étude", "etude", ["e\u0301tude", "étude"]),
        ("re\u00adfund re\u200bfund", "refund", ["re\u00adfund"]),
        ("<b>refund</b>", "refund", ["refund"]),
        ("\u202erefund\u202c", "refund", ["refund"]),
        ("\u202e<b>refund\u202c again", "refund", ["refund"]),
    ],
)
def test_the_words_that_the_index_matches_are_marked(text, question, expected):
    assert marked(text, question) == expected


@pytest.mark.parametrize(
    ("text", "question", "expected"),
    [
        ("-39,90 and 3,5 %, not 39,91", "39,90 or 3.5", ["39,90", "3,5"]),
        ("(1.250,00), 1,250.00 and 12,500", "1250.00", ["1.250,00", "1,250.00"]),
        ("| -1 250,00 € | 250,00 |", "1250,00", ["1 250,00"]),
        ("Total 1\u202f250,00, 1\u00a0250,00。", "1.250,00", ["1\u202f250,00", "1\u00a0250,00"]),
    ],
)
def test_a_number_is_marked_in_every_notation(text, question, expected):
    assert [text[start:end] for start, end in highlight(text, query_tokens(question))] == expected


def test_offsets_count_characters_of_the_text():
    assert highlight("a refund, refunded", {"refund"}) == ((2, 8), (10, 18))


def test_overlapping_pairs_of_characters_become_one_mark():
    assert highlight("全文検索", tokenize("文検索")) == ((1, 4),)


def test_the_order_of_the_tokens_makes_no_difference():
    tokens = tokenize("cache a database connection")
    text = "The database caches connections"
    assert highlight(text, tokens) == highlight(text, set(tokens)) == ((4, 12), (13, 19), (20, 31))


words = st.sampled_from(
    [
        "refund", "Refunds", "snake_case", "camelCase", "C++", "v2.0.1", "検索", "全文検索。検",
        "，5", "5，000", "5,000", "é", "e\u0301", "\u0301", "\u200b", "\u00ad", "’s", "it's",
        ".env", ").x", "a/b", "。.x", " ", "\u3000", "\n", "\x1c", "\x85", "한국어", "ไทย", "हिन्दी",
        "“refund”",
        "，", "「検索」", "-", "ﬁx", "①",
    ]
)  # fmt: skip


@example("5,000", "5,000")
@example("is 1 234,50 and 2 234,51", "1234,50")
@example("dying lying tying", "die lie tie")
@example("die tried a X", "dying try a x")
@given(st.lists(words, max_size=12).map("".join), st.lists(words, max_size=4).map(" ".join))
def test_marks_are_those_of_the_tokenizer(text, question):
    tokens = tokenize(question)
    wanted = set(without_stop_words(tokens))
    expected = merge_spans((one.start, one.end) for one in token_spans(text) if one.token in wanted)
    found = highlight(text, tokens)
    assert merge_spans(found) == expected
    assert all(0 <= start < end <= len(text) for start, end in found)
    assert all(a[1] <= b[0] for a, b in pairwise(found))


def test_a_highlighter_gives_the_same_for_each_text_again():
    marks = Highlighter(tokenize("refund policy"), ("refund", "policy"))
    texts = ["The refund policy", "No match", "Refunds", "The refund policy"]
    assert [marks.spans(text) for text in texts] == [
        ((4, 10), (11, 17)), (), ((0, 7),), ((4, 10), (11, 17)),
    ]  # fmt: skip
    assert [marks.terms(text) for text in texts] == [
        ("refund", "policy"), (), ("refund",), ("refund", "policy"),
    ]  # fmt: skip


def test_matched_terms_are_the_persons_own_words_in_their_order():
    question = "Caching DB connections for the load_user"
    words = question_words(question)
    assert words == ("Caching", "DB", "connections", "for", "the", "load_user")
    text = "the connection for a user is cached"
    assert Highlighter(tokenize(question), words).terms(text) == (
        "Caching",
        "connections",
        "load_user",
    )


def test_the_words_of_a_question():
    assert question_words("What is C++ v2.0.1, café?") == ("What", "is", "C++", "v2.0.1", "café")
    assert question_words("全文検索") == ("全文", "文検", "検索")
    assert question_words("refund refund") == ("refund",)
    assert question_words("?!") == ()


@pytest.mark.parametrize(
    "line",
    ["refund ", "refund", "é refund ", "返金検索", "x" * 50 + " ", "a\u0301", "refund\u200b"],
)
def test_a_line_of_a_megabyte_is_bounded(line):
    text = line * (1_000_000 // len(line))
    started = time.process_time()
    found = highlight(text, tokenize("refund 検索"))
    assert time.process_time() - started < 60
    assert all(end <= LONGEST_HIGHLIGHTED for _, end in found)


STORY = (
    "It began in spring. Nothing came of it at first. Then the refund was paid, and another "
    "refund followed. Much later, in a different town, someone asked about a refund again."
)


def window(text: str, question: str, width: int) -> str:
    start, end = best_window(text, highlight(text, tokenize(question)), width)
    assert end - start <= width
    return text[start:end]


def test_a_window_shows_the_densest_matches_from_the_start_of_a_sentence():
    assert window(STORY, "refund", 60) == (
        "Then the refund was paid, and another refund followed. Much"
    )


def test_a_window_starts_with_a_word_when_its_sentence_began_too_far_away():
    assert window(STORY, "town", 40) == "Much later, in a different town, someone"
    assert window(STORY, "town", 30) == "a different town, someone"


def test_a_window_keeps_the_beginning_of_a_sentence_that_says_no():
    text = (
        "As the rule says, packages must not place any files in the folder, neither in the archive "
        "of files nor by a script of the package. The package may make empty folders, however."
    )
    assert window(text, "place files folder archive package", 140) == (
        "As the rule says, packages must not place any files in the folder, neither in the archive "
        "of files nor by a script of the package. The"
    )
    assert window(f"Long before. {text}", "place files folder archive package", 90) == (
        "As the rule says, packages must not place any files in the folder, neither in the archive"
    )


def test_a_window_near_the_end_uses_its_width():
    assert window(STORY, "again", 60) == "in a different town, someone asked about a refund again."


def test_a_window_without_matches_is_the_beginning():
    assert window(STORY, "zebra", 30) == "It began in spring. Nothing"
    assert best_window("short", (), 30) == (0, 5)
    assert best_window("", (), 30) == (0, 0)


def test_a_window_in_text_without_spaces():
    text = "無" * 200 + "検索" + "無" * 200
    start, end = best_window(text, ((200, 202),), 50)
    assert end - start == 50
    assert start <= 200
    assert end >= 202


@given(
    st.text(st.sampled_from("ab. \n検"), max_size=120),
    st.lists(st.integers(0, 119), max_size=6, unique=True),
    st.integers(5, 60),
)
def test_a_window_stays_within_the_text_and_holds_a_match(text, places, width):
    marks = tuple((at, at + 1) for at in sorted(places) if at < len(text))
    start, end = best_window(text, marks, width)
    assert 0 <= start <= end <= len(text)
    assert end - start <= width
    if marks:
        assert any(start <= at and until <= end for at, until in marks)
    if text:
        assert end > start


@pytest.mark.parametrize(
    "piece",
    [
        "e^{i\\pi}", "LR\\n", "2'O-methyltransferase", "5,000", "-39,90", "U.S.A.", "dying",
        "skies", "camelCase", "HTTPServer", "os.path.join", "well-known", "v1.2.3", "C++",
        "`running`,",
    ],
)  # fmt: skip
def test_a_piece_is_found_by_each_of_its_tokens(piece):
    for token in tokenize(piece):
        marks = Highlighter({token})
        assert marks.spans(f"before {piece} after"), token


def test_another_number_or_day_is_not_marked():
    text = "39,90 on 2024-03-05; 39,91 and 90 on 2024-03-06"
    marks = highlight_question(text, "paid 39,90 on 2024-03-05")
    assert [text[start:end] for start, end in marks] == ["39,90", "2024-03-05", "2024", "03"]


def test_the_function_words_of_another_language_are_not_marked():
    text = "Die Gans und die Ente: wer bringt den Rotkohl?"
    spans = highlight_question(text, "Wer bringt die Gans?")
    assert [text[start:end] for start, end in spans] == ["Gans", "bringt"]
    assert highlight_question("wer die das", "wer die das") != ()


def test_the_letter_of_a_code_is_not_marked_where_it_stands_alone():
    text = "Reading plus e. Error E2044, or 2044 for short; plan B."
    spans = Highlighter(query_tokens("error E2044")).spans(text)
    assert [text[start:end] for start, end in spans] == ["Error", "E2044", "2044"]
    assert Highlighter(query_tokens("plan B")).spans(text) == ((48, 52), (53, 54))
