"""Written answers and threads as JSON values and as text, for all surfaces."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ragkit.answers import (
    AnswerSentence,
    AnswerState,
    Source,
    Thread,
    Turn,
    WrittenAnswer,
    headed,
)
from ragkit.formatting import plural, shortened
from ragkit.results import Answer
from ragkit.surfaces.render import plain, results_as_json

if TYPE_CHECKING:
    from ragkit.answering.excerpts import Excerpt

_LONGEST_SHOWN = 400


# -- JSON ----------------------------------------------------------------------------------


def asked_as_json(
    quick: Sequence[Source],
    written: WrittenAnswer | None,
    answer: Answer,
    excerpts: Sequence[Excerpt | None] | None = None,
) -> dict[str, Any]:
    """Return the JSON object that ``ragkit ask --json`` prints.

    ``start`` and ``end`` count characters of the document's stored text.
    """
    return {
        **_answers_as_json(quick, written),
        "results": results_as_json(answer.results, excerpts),
    }


def thread_as_json(thread: Thread) -> dict[str, Any]:
    """Return a thread with its turns as a JSON object."""
    return {
        "id": thread.id,
        "title": thread.title,
        "collections": list(thread.collections),
        "created_at": thread.created_at,
        "changed_at": thread.changed_at,
        "turns": [turn_as_json(turn) for turn in thread.turns],
    }


def turn_as_json(turn: Turn) -> dict[str, Any]:
    """Return a turn as a JSON object."""
    return {
        "id": turn.id,
        "at": turn.at,
        "question": turn.question,
        "asked": turn.asked,
        **_answers_as_json(turn.quick, turn.written),
    }


def _answers_as_json(quick: Sequence[Source], written: WrittenAnswer | None) -> dict[str, Any]:
    return {
        "quick": [source_as_json(source) for source in quick],
        "answer": written_as_json(written) if written is not None and has_text(written) else None,
    }


def written_as_json(written: WrittenAnswer) -> dict[str, Any]:
    """Return a written answer as a JSON object; sources are numbered from 1."""
    return {
        "sentences": [
            {
                "text": sentence.text,
                "sources": list(sentence.sources),
                "checks": [
                    {"kind": check.kind.value, "detail": check.detail} for check in sentence.checks
                ],
                "holds": sentence.holds,
                "block": sentence.block,
                "item": sentence.item,
            }
            for sentence in written.sentences
        ],
        "model": written.model,
        "sources": [
            {"number": number, **source_as_json(source)}
            for number, source in enumerate(written.sources, start=1)
        ],
        "state": written.state.value,
        "holding": written.holding,
        "claims": written.claims,
        "passages_read": written.passages_read,
        "passages_found": written.passages_found,
        "dropped": written.dropped,
        "not_found": written.not_found,
        "cut": written.cut,
        "judged": written.judged,
        "failure": written.failure,
        "cure": written.cure,
        "notices": list(written.notices),
        "seconds": round(written.seconds, 3),
        "prompt_tokens": written.prompt_tokens,
        "output_tokens": written.output_tokens,
        "tokens_estimated": written.tokens_estimated,
    }


def source_as_json(source: Source) -> dict[str, Any]:
    """Return a source as a JSON object, with its place in a document or its web address."""
    document = source.document
    place: dict[str, Any] = {"document": None, "url": source.url, "title": source.title}
    if document is not None:
        place = {
            "document": {"id": document.id, "path": document.path, "title": document.title},
            "start": source.start,
            "end": source.end,
        }
    question = {"question": source.question} if source.question else {}
    changed = {"changed": True} if source.changed else {}
    return {"text": source.text, **question, **place, **changed}


# -- text ----------------------------------------------------------------------------------


def has_text(written: WrittenAnswer) -> bool:
    """Return whether the model wrote anything, or said that it found no answer."""
    return bool(written.sentences or written.not_found)


def quick_as_text(quick: Sequence[Source]) -> Iterator[str]:
    """Yield the sentences of a quick answer with numbers, then their places.

    Where several questions are answered, each stands above its sentences.
    """
    for number, (question, source) in enumerate(headed(quick), start=1):
        if question:
            yield _line(question)
        indent = "  " if source.question else ""
        yield f"{indent}{_line(source.text, _LONGEST_SHOWN)} [{number}]"
    for number, source in enumerate(quick, start=1):
        yield f"  [{number}] {_place(source)}"


def sentence_as_text(sentence: AnswerSentence) -> str:
    """Return a sentence of a written answer with its citations and what checks found."""
    marks = "".join(f" [{number}]" for number in sentence.sources)
    words = _line(", ".join(check.words for check in sentence.checks))
    item = "- " if sentence.item else ""
    return f"{item}{_line(sentence.text)}{marks}{f'  ({words})' if words else ''}"


def verdicts_as_text(written: WrittenAnswer) -> Iterator[str]:
    """Yield a line for each verdict of a model that judged the answer."""
    for sentence in written.sentences:
        for check in sentence.checks:
            if check.is_verdict:
                yield f"  {check.words}: {_line(sentence.text, _LONGEST_SHOWN)}"


def after_sentences(written: WrittenAnswer) -> Iterator[str]:
    """Yield what follows the sentences of an answer that has ended: notes and sources."""
    yield from notes_as_text(written)
    for number, source in enumerate(written.sources, start=1):
        yield f'  [{number}] "{_line(source.text, _LONGEST_SHOWN)}"'
        yield f"      {_place(source)}"


def notes_as_text(written: WrittenAnswer) -> Iterator[str]:
    """Yield notes on an answer that has ended: failures and figures."""
    if written.not_found:
        yield "Not in your documents: the model found no answer in the passages that it read."
    elif written.state is AnswerState.DONE and not written.is_grounded:
        yield "No sentence names a source: nothing shows that this is in your documents."
    if written.cut:
        yield "The answer ends here: it reached its maximum length."
    if written.state is AnswerState.CANCELLED:
        yield "The answer was stopped here."
    yield from map(_line, written.notices)
    if written.failure:
        yield _line(f"{written.failure} {written.cure}")
    facts = [written.figure]
    if written.dropped:
        facts.append(f"{plural(written.dropped, 'invalid citation')} removed")
    if written.passages_read < written.passages_found:
        facts.append(f"{written.passages_read} of {plural(written.passages_found, 'passage')} read")
    if any(facts):
        yield " · ".join(filter(None, facts))


def written_as_text(written: WrittenAnswer) -> Iterator[str]:
    """Yield the lines of a written answer that has ended."""
    if not written.not_found:
        yield from map(sentence_as_text, written.sentences)
    yield from after_sentences(written)


def titles_as_text(answer: Answer) -> Iterator[str]:
    """Yield the titles and paths of results, one a line."""
    for number, result in enumerate(answer.results, start=1):
        document = result.document
        yield f"{number}. {_line(document.title or document.path)}  {plain(document.path)}"


def thread_as_text(thread: Thread) -> Iterator[str]:
    """Yield the lines of a thread: its questions with their answers."""
    yield _line(thread.title)
    for turn in thread.turns:
        yield from ("", f"> {_line(turn.question)}")
        if turn.asked != turn.question:
            yield f"  asked as: {_line(turn.asked)}"
        yield from quick_as_text(turn.quick)
        if turn.written is not None:
            yield from ("", f"{plain(turn.written.model) or 'A model'} wrote:")
            yield from written_as_text(turn.written)


def _place(source: Source) -> str:
    return _line(source.place + (" (changed since)" if source.changed else ""))


def _line(text: str, longest: int = 0) -> str:
    """Return a text on one line that cannot control a terminal."""
    line = " ".join(plain(text).split())
    return shortened(line, longest) if longest else line
