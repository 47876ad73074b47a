"""What a model answers that is asked for grades."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence

_PASSAGES = re.compile(r"<passage-(\d+)-([0-9a-f]+)>\n(.*?)\n</passage-\1-\2>", re.S)


def passages_in(messages: Sequence[dict[str, str]]) -> dict[int, str]:
    """The passages of a prompt by their numbers."""
    return {int(n): text for n, _mark, text in _PASSAGES.findall(messages[-1]["content"])}


def grading(rule: Callable[[str], object]) -> Callable[[Sequence[dict[str, str]]], str]:
    """A reply that grades each passage by a rule; ``None`` leaves it out."""

    def reply(messages: Sequence[dict[str, str]]) -> str:
        given = {number: rule(text) for number, text in passages_in(messages).items()}
        entries = [{"number": n, "grade": one} for n, one in given.items() if one is not None]
        return json.dumps({"grades": entries})

    return reply
