"""A written answer: asked of a model, read while it is written, checked sentence by sentence."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace

from ragkit.answering.checks import check_sentence
from ragkit.answering.citations import CitationReader, CitedSentence, is_not_found
from ragkit.answering.prompt import (
    LONGEST_QUESTION,
    AnswerPrompt,
    PromptParts,
    build_prompt,
    choose_passages,
)
from ragkit.answers import AnswerSentence, AnswerState, Source, Turn, WrittenAnswer
from ragkit.errors import InputTooLongError, OllamaAnswerError, OllamaError
from ragkit.models.ollama import OllamaClient
from ragkit.models.ollama_stream import StreamEnd, StreamPart, thought_too_long
from ragkit.models.ollama_text import Message, estimate_tokens, one_line, prompt_was_cut
from ragkit.results import Result
from ragkit.settings import AnswerSettings

REDRAW_SECONDS = 0.1
"""The shortest time between two looks at an answer that is being written."""

_SHRUNK = 0.7
_NO_ROOM = 'The window of "{}" has no room for a passage.'
_MORE_ROOM = "Raise models.context_window, or lower answers.answer_tokens."
_ASKED_AGAIN = "The server had not read all of the prompt: it was asked again with less to read."
_PARTLY_READ = (
    "The server did not read all of the prompt. Update Ollama, or lower models.context_window."
)
_MOST_SHRUNK = 2


@dataclass(slots=True)
class _Writing:
    """An answer that is being written."""

    question: str
    model: str
    found: int
    clock: Callable[[], float]
    prompt: AnswerPrompt
    started: float = 0.0
    state: AnswerState = AnswerState.READING
    checked: list[AnswerSentence] = field(default_factory=list)
    notices: tuple[str, ...] = ()
    prompt_tokens: int = 0
    output_tokens: int = 0
    estimated: bool = False
    reader: CitationReader = field(init=False)

    def __post_init__(self) -> None:
        self.started = self.started or self.clock()
        self.begin(self.prompt)

    def begin(self, prompt: AnswerPrompt) -> None:
        """Begin anew, with another prompt or after thoughts that were taken for text."""
        self.prompt = prompt
        self.reader = CitationReader(prompt.sources)
        self.checked.clear()
        self.state = AnswerState.READING

    def answer(self, **changes: object) -> WrittenAnswer:
        """Return the answer as it is now."""
        sentences = self.reader.sentences
        # Numbers on a line of their own may still be added to the last one.
        del self.checked[max(0, len(sentences) - 1) :]
        self.checked += map(self._checked, sentences[len(self.checked) :])
        grounded = any(sentence.sources for sentence in self.checked)
        denied = not grounded and any(is_not_found(sentence.text) for sentence in self.checked)
        written = WrittenAnswer(
            question=self.question,
            model=self.model,
            state=self.state,
            sentences=tuple(
                sentence
                for sentence in self.checked
                if not (denied and is_not_found(sentence.text))
            ),
            sources=self.reader.numbers.sources,
            unfinished=self.reader.unfinished,
            passages_read=self.prompt.read,
            passages_found=self.found,
            dropped=self.reader.numbers.dropped,
            not_found=denied,
            notices=self.notices,
            seconds=self.clock() - self.started,
            prompt_tokens=self.prompt_tokens,
            output_tokens=self.output_tokens,
            tokens_estimated=self.estimated,
        )
        return replace(written, **changes)  # type: ignore[arg-type]

    def count(self, end: StreamEnd) -> None:
        """Add what the server counted, or an estimate where it did not."""
        text = " ".join([*(each.text for each in self.reader.sentences), self.reader.unfinished])
        self.prompt_tokens += end.prompt_tokens or self.prompt.tokens
        self.output_tokens += end.output_tokens or estimate_tokens(text)
        self.estimated |= not (end.prompt_tokens and end.output_tokens)

    def _checked(self, sentence: CitedSentence) -> AnswerSentence:
        grounds = [self.prompt.grounds[number - 1] for number in sentence.cited]
        return AnswerSentence(
            sentence.text,
            sentence.sources,
            check_sentence(sentence, grounds, self.question[:LONGEST_QUESTION]),
            sentence.block,
            sentence.item,
        )


def write_answer(
    question: str,
    results: Sequence[Result],
    client: OllamaClient,
    model: str,
    settings: AnswerSettings,
    *,
    carried: Sequence[Source] = (),
    history: Sequence[Turn] = (),
    extra: Sequence[Source] = (),
    cancelled: Callable[[], bool] = lambda: False,
    clock: Callable[[], float] = time.monotonic,
) -> Generator[WrittenAnswer, None, None]:
    """Yield an answer while a model writes it, at most ten times a second; the last one is final.

    ``carried`` are sentences that the last answer cited, ``extra`` those from elsewhere, as the
    web. Closing the generator, or ``cancelled`` returning True, ends the model's work: in the
    second case what is there is yielded as cancelled. Errors of Ollama's do not raise: the answer
    then says what failed, and keeps what was written.
    """
    passages = choose_passages(results, settings.passages)
    parts = PromptParts(question, passages, 0, tuple(carried), tuple(history), tuple(extra))
    passage_count = sum(len(result.passages) for result in results)
    writing = _Writing(question, model, passage_count, clock, AnswerPrompt())
    yield writing.answer()
    if not (passages or carried or extra):
        yield writing.answer(state=AnswerState.DONE, not_found=True)
        return
    try:
        room = _room(client, model, settings)
        end = yield from _asked(writing, replace(parts, room=room.prompt), client, room, cancelled)
    except OllamaError as error:
        writing.reader.finish(whole=False)
        yield writing.answer(state=AnswerState.FAILED, failure=error.message, cure=error.cure)
        return
    cut = end is not None and end.reason == "length"
    writing.reader.finish(whole=end is not None and not cut)
    if end is None:
        yield writing.answer(state=AnswerState.CANCELLED)
        return
    written = writing.answer(state=AnswerState.DONE, cut=cut)
    if not (written.sentences or written.not_found):
        # What it wrote is no sentence, such as brackets alone, or the beginning of one.
        begun = cut and written.unfinished
        nothing = _cut_short(model) if begun else _wrote_nothing(model, False, end)
        written = replace(
            written, state=AnswerState.FAILED, failure=nothing.message, cure=nothing.cure
        )
    yield written


def _asked(
    writing: _Writing,
    parts: PromptParts,
    client: OllamaClient,
    room: _Room,
    cancelled: Callable[[], bool],
) -> Generator[WrittenAnswer, None, StreamEnd | None]:
    """Ask with as much to read as the server takes; return how the model ended, as ``_written``.

    Raises:
        InputTooLongError: the window has no room for a passage.
        OllamaError: nothing was written, or not to the end.
    """
    for shrunk in itertools.count():
        while True:
            prompt = build_prompt(parts)
            if not prompt.sources:
                raise InputTooLongError(_NO_ROOM.format(one_line(writing.model, 80)), _MORE_ROOM)
            writing.begin(prompt)
            yield writing.answer()
            try:
                end = yield from _written(writing, client, room, cancelled)
                break
            except InputTooLongError as error:
                fewer = parts.fewer(prompt.read)
                if fewer is None:
                    raise InputTooLongError(error.message, _MORE_ROOM) from error
                parts = fewer
        if end is None or not prompt_was_cut(prompt.tokens, end.prompt_tokens, room.window):
            break
        parts = replace(parts, room=int(parts.room * _SHRUNK))
        if shrunk == _MOST_SHRUNK or not build_prompt(parts).sources:
            writing.notices = (_PARTLY_READ,)
            break
        writing.notices = (_ASKED_AGAIN,)
    return end


def _written(
    writing: _Writing, client: OllamaClient, room: _Room, cancelled: Callable[[], bool]
) -> Generator[WrittenAnswer, None, StreamEnd | None]:
    """Yield the answer as it grows, and return how the model ended; None if it was cancelled.

    Raises:
        InputTooLongError: the prompt was refused.
        OllamaError: nothing was written, or not to the end.
    """
    parts = client.stream(
        writing.prompt.messages,
        writing.model,
        answer_tokens=room.answer,
        thinking_tokens=room.thinking,
    )
    shown_at, thought, wrote = -1.0, False, False
    with closing(parts):
        for part in parts:
            if cancelled():
                return None
            before = writing.state
            if part.forget:
                writing.begin(writing.prompt)
            if part.end is not None:
                writing.count(part.end)
                if not wrote:
                    raise _wrote_nothing(writing.model, thought, part.end)
                return part.end
            if part.thinking:
                thought, writing.state = True, AnswerState.THINKING
            elif part.text:
                writing.reader.feed(part.text)
                wrote = wrote or not part.text.isspace()
                writing.state = AnswerState.WRITING if wrote else writing.state
            now = writing.clock()
            if writing.state is not before or now - shown_at >= REDRAW_SECONDS:
                shown_at = now
                yield writing.answer()
    raise AssertionError("a stream ends with its end, or raises")


def reply(
    messages: Sequence[Message], client: OllamaClient, model: str, settings: AnswerSettings
) -> Generator[StreamPart, None, None]:
    """Yield what a model says to messages as they are; the last part has an ``end``.

    Raises:
        OllamaError: there is no answer, or it broke off.
    """
    room = _room(client, model, settings)
    wrote, thought = False, False
    parts = client.stream(messages, model, answer_tokens=room.answer, thinking_tokens=room.thinking)
    with closing(parts):
        for part in parts:
            thought |= part.thinking
            wrote = (wrote and not part.forget) or bool(part.text.strip())
            if part.end is not None and not wrote:
                raise _wrote_nothing(model, thought, part.end)
            yield part


def _wrote_nothing(model: str, thought: bool, end: StreamEnd) -> OllamaError:
    if thought or end.reason == "length":
        return thought_too_long(model)
    return OllamaAnswerError(
        f'"{one_line(model, 80)}" wrote nothing.', "Ask again, or choose another model."
    )


def _cut_short(model: str) -> OllamaError:
    return OllamaAnswerError(
        f'"{one_line(model, 80)}" reached the longest length of an answer within its first '
        "sentence.",
        "Allow it more tokens: answers.answer_tokens, or those of the request.",
    )


@dataclass(frozen=True, slots=True)
class _Room:
    """How the window of a model is shared out, in tokens."""

    window: int
    prompt: int
    answer: int
    thinking: int


def _room(client: OllamaClient, model: str, settings: AnswerSettings) -> _Room:
    window = client.window(model)
    answer = min(settings.answer_tokens, window // 2)
    thinking = min(settings.thinking_tokens, window // 4)
    thinks = "thinking" in client.model(model).capabilities
    return _Room(window, window - answer - thinking * thinks, answer, thinking)
