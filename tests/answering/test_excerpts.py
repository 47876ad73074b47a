"""Excerpts: the sentence, row or line that answers, in whole sentences."""

from __future__ import annotations

import time

import pytest

from ragkit.answering.evidence import evidence
from ragkit.answering.excerpts import Excerpt, ExcerptKind, best_excerpts, by_words
from ragkit.answering.meaning import Meaning
from ragkit.answering.questions import Question
from ragkit.indexes.tokenizer import tokenize
from ragkit.models.factory import local_embedder
from ragkit.results import DocumentRef, MatchedChunk, Passage, Result
from ragkit.retrieval.highlight import highlight, whole_identifiers
from ragkit.types import Span


def result(text: str, question: str, *, format_: str = "markdown", best: str = "") -> Result:
    start = text.index(best)
    end = start + len(best) if best else len(text)
    document = DocumentRef(1, "a.md", "A", "default", format_, 0, 3, "/a.md")
    shown = Passage(0, len(text), text, (), None, highlight(text, tokenize(question)), (0, 2))
    return Result(document, 0.5, (shown,), (MatchedChunk(0, 0.5, span=Span(start, end)),))


def excerpt(text: str, question: str, width: int = 120, **values: str) -> Excerpt:
    (found,) = by_words(question, [result(text, question, **values)], width)
    assert found is not None
    return found


def shown(text: str, question: str, width: int = 120, **values: str) -> str:
    found = excerpt(text, question, width, **values)
    return text[found.start : found.end]


CACHING = """# Connect to a database

```python
import streamlit as st
import database.connection as cache
```

Streamlit has connections. A database connection in Streamlit is a connection of Streamlit.

Use `st.cache_resource` to cache a database connection, so that it is opened once.

```python
conn = st.connection("sql")
```
"""


def test_the_sentence_that_answers_wins_over_imports_and_repetition():
    question = "how do I cache a database connection in streamlit?"
    assert shown(CACHING, question) == (
        "Use `st.cache_resource` to cache a database connection, so that it is opened once."
    )


def test_rare_words_count_more_than_common_ones():
    question = "heron battery"
    common = " ".join(f"The heron number {number} is fine." for number in range(20))
    text = f"{common} Its battery lasts nine days."
    assert "battery lasts nine days." in shown(text, question, 60)


def test_the_matched_row_is_shown_with_its_header():
    text = "| Invoice | Due |\n| --- | --- |\n| 1 | 2026-01-02 |\n| 2 | 2026-03-05 |\n"
    found = excerpt(text, "2026-03-05")
    assert found.kind is ExcerptKind.ROW
    assert text[found.start : found.end] == "| 2 | 2026-03-05 |"
    assert found.header == "| Invoice | Due |"


def test_a_match_in_the_header_shows_the_first_row():
    text = "| Invoice | Due |\n| --- | --- |\n| 1 | soon |\n"
    assert shown(text, "invoice") == "| 1 | soon |"


def test_code_is_shown_in_whole_lines_without_its_imports():
    text = "import decode\n\ndef decode_frame(frame):\n    return frame[2:]\n"
    found = excerpt(text, "decode frame", format_="code")
    assert found.kind is ExcerptKind.CODE
    assert text[found.start : found.end].startswith("def decode_frame(frame):")


def test_hard_line_breaks_are_no_ends_of_sentences():
    text = "The buoy is returned\nwithin thirty days. Nothing else\nmatters."
    assert shown(text, "thirty", 50) == "The buoy is returned\nwithin thirty days."


def test_what_is_under_a_heading_is_shown_rather_than_the_heading():
    text = "# Refunds\n\nThey take a week.\n\n# Other\n\nSomething else.\n"
    assert shown(text, "refunds", 20) == "They take a week."


def test_a_message_is_shown_with_its_speaker():
    text = "**Ann** · 2026-03-05 09:00\nHello there.\n\n**Bob** · 2026-03-06 09:00\nNo.\n"
    assert shown(text, "2026-03-05").startswith("**Ann** · 2026-03-05 09:00\nHello there.")


def test_without_a_word_of_the_question_the_best_chunk_begins():
    text = "# Head\n\nFirst of all. Second.\n\nThe best chunk is here. And goes on.\n"
    best = "The best chunk is here. And goes on."
    assert shown(text, "zebra", 40, best=best) == best


def test_a_long_sentence_is_cut_between_words_around_its_matches():
    text = "word " * 100 + "kestrel nest " + "word " * 100
    found = shown(text, "kestrel", 60)
    assert "kestrel" in found
    assert len(found) <= 60 + 40
    assert not found.startswith("ord")


def test_links_and_pictures_alone_are_no_excerpt():
    text = "![kestrel](kestrel.png)\n\n<Image src='kestrel' />\n\nA kestrel hovers.\n"
    assert shown(text, "kestrel") == "A kestrel hovers."


def test_a_passage_without_its_text_has_no_excerpt():
    assert by_words("x", [result("", "x")], 50) == [None]


@pytest.mark.parametrize("text", ["\n\n", "---\n***\n"])
def test_a_passage_that_says_nothing_has_an_excerpt_all_the_same(text):
    (found,) = by_words("x", [result(text, "x")], 50)
    assert 0 <= found.start <= found.end <= len(text)


def test_contents_are_shown_where_there_is_nothing_else():
    contents = "1 Harbours of the lake … 3\n2 Kestrels and their nests … 17\n3 Other birds … 20"
    assert shown(contents, "kestrel nests", 60) == "2 Kestrels and their nests … 17"
    assert shown(f"{contents}\n\nA kestrel hovers.", "kestrel nests") == "A kestrel hovers."


def test_a_result_without_passages_has_none():
    document = DocumentRef(1, "a.md", "A", "default", "markdown", 0, 3, "/a.md")
    assert by_words("x", [Result(document, 0.5, (), ())], 50) == [None]


def test_a_megabyte_is_bounded():
    text = "kestrel nests here. " * 50_000
    one = result(text, "kestrel")
    started = time.process_time()
    by_words("kestrel", [one], 200)
    assert time.process_time() - started < 5


@pytest.mark.parametrize(
    ("text", "word", "whole"),
    [
        ("set page_token now", "token", "page_token"),
        ("HERON_CLIENT_ID", "CLIENT", "HERON_CLIENT_ID"),
        ("st.cache_resource()", "cache", "cache_resource"),
        ("due 2026-03-05", "03", "03"),
        ("全文検索x", "検索", "検索"),
    ],
)
def test_a_mark_is_extended_to_the_whole_identifier(text, word, whole):
    start = text.index(word)
    ((first, last),) = whole_identifiers(text, [(start, start + len(word))])
    assert text[first:last] == whole


TOKENS = """The access token stands in every request, and a request without an access token fails.

An access token is a signed JWT. It lives for fifteen minutes, whatever asks for it.

Tokens are signed with a key that changes every month.
"""


def chosen(question: str, *results: Result, width: int = 120) -> list[Excerpt | None]:
    found = evidence(Question(question), results, Meaning(local_embedder()))
    return best_excerpts(results, found, width)


def test_the_sentence_that_answers_is_quoted_with_the_one_it_follows_on():
    question = "How long does an access token live?"
    (one,) = chosen(question, result(TOKENS, question))
    assert one is not None
    assert TOKENS[one.start : one.end] == (
        "An access token is a signed JWT. It lives for fifteen minutes, whatever asks for it."
    )


def test_a_row_is_quoted_with_its_header():
    question = "What was the revenue in the south in 2021?"
    table = "| Revenue | 2021 |\n| --- | --- |\n| North | 7 |\n| South | 9 |"
    text = f"All figures of the group are in millions of euros.\n\n{table}"
    (one,) = chosen(question, result(text, question))
    assert one is not None
    assert (text[one.start : one.end], one.kind) == ("| South | 9 |", ExcerptKind.ROW)
    assert one.header == "| Revenue | 2021 |"


def test_results_that_were_not_read_for_an_answer_are_quoted_by_words():
    question = "how do I cache a database connection in streamlit?"
    results = [result(TOKENS, question)] * 5 + [result(CACHING, question)]
    *_, last = chosen(question, *results)
    (by_itself,) = by_words(question, [results[-1]], 120)
    assert last is not None
    assert last == by_itself
    bare = Result(results[0].document, 0.5, (), ())
    assert chosen("x", bare) == [None]
