from __future__ import annotations

import pytest

from ragkit.models.ollama_text import (
    estimate_tokens,
    json_object,
    one_line,
    prompt_was_cut,
    sendable,
    without_thinking,
)


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("plain", "plain"),
        ("<think>a\nb</think>\n\nanswer", "answer"),
        ("thoughts without a beginning</think> answer", "answer"),
        ("<THINKING>a</THINKING>answer", "answer"),
        ("one <think>a</think>two<think>b</think> three", "one two three"),
        ("<think>never ends", ""),
        ("answer <think>never ends", "answer"),
        ("a</think>b</think>c", "c"),
        ("x < y and y > z", "x < y and y > z"),
        ("", ""),
    ],
)
def test_thoughts_are_left_out(said, meant):
    assert without_thinking(said) == meant


@pytest.mark.parametrize(
    "text",
    [
        '{"a": 1}',
        '```json\n{"a": 1}\n```',
        'Here it is: {"a": 1} I hope it helps.',
        '\n {"a":\n1}',
    ],
)
def test_an_object_is_found_where_models_put_it(text):
    assert json_object(text) == {"a": 1}


@pytest.mark.parametrize(
    "text",
    ["", "{", '{"a": "b', "[1]", "5", "<html>{}</html", "null", "[" * 100_000, "{" * 100_000],
)
@pytest.mark.usefixtures("nothing_collected")
def test_what_is_no_object_is_refused(text):
    with pytest.raises(ValueError, match="no JSON object") if text != "<html>{}</html" else _fine():
        json_object(text)


class _fine:  # noqa: N801
    def __enter__(self) -> None: ...

    def __exit__(self, *_: object) -> None: ...


def test_tokens_are_estimated_within_a_third():
    prose = "The committee met on Tuesday and agreed on the budget for the coming year. " * 20
    assert estimate_tokens(prose) == pytest.approx(20 * 15, rel=0.34)
    japanese = "委員会は火曜日に会合を開き、来年度の予算について合意した。" * 10
    assert estimate_tokens(japanese) == pytest.approx(10 * 25, rel=0.34)
    assert estimate_tokens("") == 0
    assert estimate_tokens(" " * 10_000) <= 1


@pytest.mark.parametrize(
    ("estimated", "counted", "window", "cut"),
    [
        (1000, 900, 8192, False),
        (1000, 1400, 8192, False),
        (1000, 400, 8192, True),  # far less was read than sent
        (9000, 8192, 8192, True),  # the window is full
        (9000, 0, 8192, True),  # nothing is said, but it cannot have fitted
        (1000, 0, 8192, False),
        (20, 3, 8192, False),  # too short to tell
    ],
)
def test_a_cut_prompt_is_noticed(estimated, counted, window, cut):
    assert prompt_was_cut(estimated, counted, window) is cut


def test_what_utf_8_cannot_hold_is_replaced():
    assert sendable("a\ud800b\0c") == "a?b c"
    assert sendable("schön") == "schön"
    assert one_line("a\n\x1b[31mb\t c") == "a [31mb c"
    assert one_line("word " * 1000, 20) == "word word word word…"
