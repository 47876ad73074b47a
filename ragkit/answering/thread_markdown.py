"""A thread as Markdown: questions, answers with marks such as [1], and their numbered sources.

Nothing that a document, a model or a person wrote becomes a link, a picture or markup.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import groupby

from ragkit.answers import (
    AnswerSentence,
    AnswerState,
    Source,
    Thread,
    Turn,
    WrittenAnswer,
    headed,
)
from ragkit.formatting import escape_markdown


def thread_as_markdown(thread: Thread) -> str:
    """Return a thread with all its answers."""
    when = datetime.fromtimestamp(thread.created_at).astimezone()
    where = escape_markdown(", ".join(thread.collections))
    lines = [f"# {escape_markdown(thread.title)}", "", f"{where} · {when:%Y-%m-%d %H:%M}"]
    for turn in thread.turns:
        lines += ["", *_turn(turn)]
    # No empty line follows another.
    shown = [line for before, line in zip(["", *lines], lines, strict=False) if line or before]
    return "\n".join(shown) + "\n"


def _turn(turn: Turn) -> Iterator[str]:
    yield f"## {escape_markdown(turn.question)}"
    if turn.asked != turn.question:
        yield from ("", f"Asked as: {escape_markdown(turn.asked)}")
    if turn.quick:
        yield from ("", "**From the documents**", "")
        for number, (question, source) in enumerate(headed(turn.quick), start=1):
            if question:
                yield from (escape_markdown(question), "")
            yield from (f"> {escape_markdown(source.text)} [{number}]", "")
        yield from _sources(turn.quick, quoted=False)
    if turn.written is not None:
        yield from ("", *_written(turn.written))
    if not turn.quick and turn.written is None:
        yield from ("", "No answer.")


def _written(written: WrittenAnswer) -> Iterator[str]:
    yield f"**Written by {escape_markdown(written.model) or 'a model'}**"
    for is_list, group in groupby(written.sentences, key=lambda sentence: sentence.item):
        yield ""
        for _, block in groupby(group, key=lambda sentence: sentence.block):
            text = " ".join(map(sentence_as_markdown, block))
            yield from ([f"- {text}"] if is_list else ["", text])
    notes = []
    if written.not_found:
        notes.append("Not in the documents that were read.")
    if written.state is AnswerState.CANCELLED:
        notes.append("Stopped before its end.")
    if written.failure:
        notes.append(escape_markdown(written.failure))
    if written.figure:
        notes.append(f"{written.figure}.")
    if notes:
        yield from ("", " ".join(notes))
    if written.sources:
        yield ""
        yield from _sources(written.sources, quoted=True)


def sentence_as_markdown(sentence: AnswerSentence) -> str:
    """Return a sentence with its numbers, and what speaks against it."""
    marks = "".join(f" [{number}]" for number in sentence.sources)
    words = escape_markdown(", ".join(check.words for check in sentence.checks))
    return f"{escape_markdown(sentence.text)}{marks}{f' *({words})*' if words else ''}"


def _sources(sources: Sequence[Source], *, quoted: bool) -> Iterator[str]:
    for number, source in enumerate(sources, start=1):
        changed = " (changed since)" if source.changed else ""
        text = f": “{escape_markdown(source.text)}”" if quoted else ""
        yield f"{number}. {escape_markdown(source.place)}{changed}{text}"
