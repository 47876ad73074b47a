"""Citations in a stream: which numbers, for which sentence, and what becomes of all the rest."""

from __future__ import annotations

import time

import pytest

from ragkit.answering.citations import CitationReader, is_not_found
from ragkit.answers import Source

GIVEN = [Source(f"sentence {number}", number, number + 1) for number in range(1, 21)]


def read(text: str, step: int = 1000) -> CitationReader:
    reader = CitationReader(GIVEN)
    for start in range(0, len(text), step):
        reader.feed(text[start : start + step])
    reader.finish()
    return reader


def cited(text: str) -> list[tuple[str, tuple[int, ...]]]:
    """Sentences with the prompt's numbers, the same however the text is cut into pieces."""
    whole = read(text).sentences
    for step in (1, 3, 7):
        assert read(text, step).sentences == whole
    return [(sentence.text, sentence.cited) for sentence in whole]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Returns take 14 days [17]. Ports are shut[3][8].", [17, (3, 8)]),
        ("It is so. [1] And so. [2, 3] End [4-6].", [1, (2, 3), (4, 5, 6)]),
        ("Eins 【3】. Zwei ［4］。三。[5]四【6】。", [3, 4, 5, 6]),
        ("[1] Before. [2] Its sentence.", [1, 2]),
        ("Alone on a line.\n[7]\nNext [8].", [7, 8]),
        ("One [Source 3], two [^4], three [5†page].", [(3, 4, 5)]),
        (r"Escaped \[9\]. Again [9][9].", [9, 9]),
        ("Dr. Smith came on 1. März 2025 [1]. Then e.g. Bob [2].", [1, 2]),
        ("Yes. It is so [1]. No. It is not [2].", [1, 2]),
        ("A year [2024] is no number [1].", [1]),
        ("The call `a[1]` is code [2].", [2]),
    ],
)
def test_each_sentence_has_the_numbers_that_follow_it(text, expected):
    wanted = [(one,) if isinstance(one, int) else one for one in expected]
    assert [numbers for _, numbers in cited(text)] == wanted
    assert not any("[9" in words or "【" in words for words, _ in cited(text))


def test_marks_in_the_flow_of_words_leave_no_trace():
    assert cited(
        "Take it [1], [2] and [3]. According to [4], ropes float. Laut [5][6] kostet es 5."
    ) == [
        ("Take it.", (1, 2, 3)),
        ("Ropes float.", (4,)),
        ("Kostet es 5.", (5, 6)),
    ]


def test_readers_see_numbers_by_first_use_and_unknown_ones_are_counted():
    reader = read("Last [20]. First [1]. Last again [20][99][0]. None [500-501].")
    assert [one.sources for one in reader.sentences] == [(1,), (2,), (1,), ()]
    assert [source.text for source in reader.numbers.sources] == ["sentence 20", "sentence 1"]
    assert reader.numbers.dropped == 4


def test_what_else_a_model_writes_becomes_plain_text():
    text = (
        "# Heading\nIntro **in bold**:\n- one `code` [1]\n- *two* [2]\n\n1. first [3]\n\n"
        "| a | b |\n|---|---|\n| x | 3 [4] |\n\n"
        "![pic](https://evil.example/?q=1) and [link](http://a.b/c) [5]. <script>alert(1)</script>"
    )
    assert [(one.text, one.cited, one.item, one.claims) for one in read(text, 1).sentences] == [
        ("Heading", (), False, False),
        ("Intro in bold:", (), False, False),
        ("one code", (1,), True, True),
        ("two", (2,), True, True),
        ("first", (3,), True, True),
        ("a · b", (), True, False),
        ("x · 3", (4,), True, True),
        ("pic (https://evil.example/?q=1) and link (http://a.b/c).", (5,), False, True),
        ("<script>alert(1)</script>", (), False, True),
    ]
    blocks = [one.block for one in read(text).sentences]
    assert blocks == [1, 2, 3, 4, 5, 6, 7, 8, 8]


def test_only_a_heading_that_is_no_sentence_needs_no_source():
    text = "**Returns**\n**They last 45 days.**\n## They last 45 days.\n### Costs [1]\n"
    assert [(one.text, one.cited, one.claims) for one in read(text).sentences] == [
        ("Returns", (), False),
        ("They last 45 days.", (), True),
        ("They last 45 days.", (), True),
        ("Costs", (1,), False),
    ]


def test_a_block_of_code_is_one_sentence_in_which_brackets_are_code():
    intro, code, after = read(
        "Run this [2]:\n```python\na[1] = 2\n\nb\n```\nThen [3].", 1
    ).sentences
    assert (intro.text, code.text, after.text) == ("Run this:", "a[1] = 2\n\nb", "Then.")
    assert (intro.cited, code.cited, after.cited) == ((2,), (2,), (3,))


def test_figures_and_names_with_marks_in_them_stay():
    (words, _), *_ = cited("2**3 is 8, see snake_case_name and __init__ [1].")
    assert words == "2**3 is 8, see snake_case_name and __init__."


def test_what_may_become_a_citation_is_held_back():
    reader = CitationReader(GIVEN)
    seen = []
    for character in "Take 14 [17]. Next [2":
        reader.feed(character)
        seen.append(reader.unfinished)
    assert not any("[" in text for text in seen)
    assert seen[7] == "Take 14"
    assert seen[-1] == "Next"
    assert [one.text for one in reader.sentences] == ["Take 14."]
    reader.finish(whole=False)
    assert reader.unfinished == "Next"
    assert len(reader.sentences) == 1


def test_characters_that_nobody_sees_are_left_out():
    ((words, numbers),) = cited("Pay\u202e now\u200b, \U000e0041it says [\u20601].")
    assert (words, numbers) == ("Pay now, it says.", (1,))


@pytest.mark.parametrize(
    "text",
    [
        "او می\u200cخواهد کتاب\u200cها را بخواند.",  # Persian: "he wants to read the books"
        "क्\u200dष और श्री\u200cमान यहाँ हैं.",  # Hindi
        "Done \u2764\ufe0f\u200d\U0001f525 by \U0001f469\u200d\U0001f4bb, step 1\ufe0f\u20e3.",
    ],
)
def test_joiners_of_words_and_emoji_stay(text):
    assert cited(f"{text} [1]") == [(text, (1,))]


def test_joiners_that_join_nothing_are_left_out():
    hidden = "Pay\u200c now\u200d\u200c, a\ufe0fn\u200dd می\u200c\u200cرود \u2764\ufe0f\ufe0f [1]."
    assert cited(hidden) == [("Pay now, and میرود \u2764\ufe0f.", (1,))]


@pytest.mark.parametrize(
    "text",
    [
        "The documents do not say.",
        '**"The documents do not say"**',
        "The documents don't say. ",
        "“The documents do not say.”",
        "THE DOCUMENTS DO NOT SAY",
    ],
)
def test_the_literal_sentence_is_recognised(text):
    assert is_not_found(text)
    (sentence,) = read(text + " [3]").sentences
    assert is_not_found(sentence.text)
    assert not sentence.claims


def test_a_sentence_that_says_more_than_the_literal_one_needs_a_source():
    said = [
        "The documents do not say how long it lasts.",
        "The documents do not say, but it is 30 days.",
        "The documents do say.",
    ]
    assert not any(map(is_not_found, said))
    assert [read(text).sentences[0].claims for text in said] == [False, True, True]


def test_a_sentence_without_an_end_is_divided_between_words():
    sentences = read("word " * 1000 + "[1]").sentences
    assert {word for one in sentences for word in one.text.split()} == {"word"}
    assert sum(len(one.text.split()) for one in sentences) == 1000
    assert len(sentences) > 3
    assert sentences[-1].cited == (1,)


@pytest.mark.parametrize(
    "piece", ["[", "a [1", "[1] ", "word ", "a. ", "`a[1]`", "**a ", "|", "[a](", "- ", "*", "#"]
)
def test_no_text_takes_long(piece):
    """Each piece again costs the same: 4,000 characters take well under two seconds."""
    reader = CitationReader(GIVEN)
    text = piece * (4000 // len(piece))
    before = time.process_time()
    for start in range(0, len(text), 8):
        reader.feed(text[start : start + 8])
        assert reader.unfinished is not None
    reader.finish()
    assert time.process_time() - before < 2
