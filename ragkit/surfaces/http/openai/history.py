"""Earlier messages of a chat as turns of a thread, so that follow-ups can be understood.

The thread is not saved. Its turns have no sources, since clients send texts only.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ragkit.answers import AnswerSentence, AnswerState, Thread, Turn, WrittenAnswer
from ragkit.models.ollama_text import Message

LIST_HEAD = "**Sources**"
"""The heading of the list of sources."""

_MOST_TURNS = 6
_LONGEST = 2000
_MARKS = re.compile(r"\s?\[\d{1,3}\]")
_ASIDE = re.compile(r"^\*(?!\*).*\*$", re.M)
_ESCAPED = re.compile(r"\\([\\`*_{}\[\]<>#|!~&$])")


def thread_of(earlier: Sequence[Message], collection: str) -> Thread:
    """Return the last turns before a question, to which a follow-up may refer."""
    turns: list[Turn] = []
    for message in earlier:
        text = message["content"].strip()
        if message["role"] == "user":
            turns.append(Turn(text[:_LONGEST], text[:_LONGEST]))
        elif message["role"] == "assistant" and turns:
            asked = turns[-1].asked
            sentences = (AnswerSentence(_said(text)),)
            written = WrittenAnswer(asked, state=AnswerState.DONE, sentences=sentences)
            turns[-1] = Turn(asked, asked, written=written)
    return Thread(0, "", (collection,), tuple(turns[-_MOST_TURNS:]))


def _said(text: str) -> str:
    """Return an answer without its citations, and without ragkit's own remarks."""
    reply = text.split(f"\n{LIST_HEAD}\n")[0]
    reply = _ESCAPED.sub(r"\1", _MARKS.sub("", _ASIDE.sub("", reply)))
    return " ".join(reply.split())[:_LONGEST]
