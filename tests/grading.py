"""What a model answers that is asked for grades."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence

_PASSAGES = re.compile(r"<passage-(\d+)-([0-9a-f]+)>\n(.*?)\n</passage-\1-\2>", re.S)

_QUESTION = re.compile(r"<question-([0-9a-f]+)>\n(.*?)\n</question-\1>", re.S)
_WORDS = re.compile(r"\w{4,}")


def passages_in(messages: Sequence[dict[str, str]]) -> dict[int, str]:
    """The passages of a prompt by their numbers."""
    return {int(n): text for n, _mark, text in _PASSAGES.findall(messages[-1]["content"])}


def graded(messages: Sequence[dict[str, str]]) -> str:
    """Grade each passage by the share of the question's words that it holds."""
    found = _QUESTION.search(messages[-1]["content"])
    words = set(_WORDS.findall(found[2].casefold() if found else ""))

    def rule(text: str) -> int:
        held = words & set(_WORDS.findall(text.casefold()))
        return round(10 * len(held) / max(1, len(words)))

    return grading(rule)(messages)


def grading(rule: Callable[[str], object]) -> Callable[[Sequence[dict[str, str]]], str]:
    """A reply that grades each passage by a rule; ``None`` leaves it out."""

    def reply(messages: Sequence[dict[str, str]]) -> str:
        given = {number: rule(text) for number, text in passages_in(messages).items()}
        entries = [{"number": n, "grade": one} for n, one in given.items() if one is not None]
        return json.dumps({"grades": entries})

    return reply
