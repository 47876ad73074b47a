"""Answers as a stream of pieces: text, and each source before the text that cites it."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace

from ragkit.answering.follow_up import FollowUp
from ragkit.answering.thread_markdown import sentence_as_markdown
from ragkit.answers import AnswerSentence, AnswerState, Source, Turn, WrittenAnswer, headed
from ragkit.errors import OllamaError
from ragkit.formatting import escape_markdown, shortened
from ragkit.library import Library
from ragkit.library.search_log import Door
from ragkit.models.ollama_stream import StreamEnd, StreamPart
from ragkit.models.ollama_text import Message, estimate_tokens
from ragkit.results import Answer
from ragkit.surfaces.http.openai.citing import Citations, Cited
from ragkit.surfaces.http.openai.history import LIST_HEAD, thread_of
from ragkit.surfaces.http.openai.requests import ChatRequest, no_such_model
from ragkit.surfaces.render_answers import notes_as_text

_NOTHING_FOUND = "Not in your documents: the search found nothing."
_NO_SENTENCE = "Not in your documents: no sentence of them answers this by itself."
_QUOTED = "These sentences of your documents answer it:"
_AGAIN = "The model began again:"
_LONGEST_SHOWN = 400


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens that the local model read and wrote; 0 if no model was asked."""

    prompt: int = 0
    output: int = 0
    estimated: bool = False


@dataclass(frozen=True, slots=True)
class End:
    """The end of an answer; ``cut`` says that it reached its maximum length."""

    cut: bool = False
    usage: Usage = Usage()


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of an answer: text, a source, the end, or nothing, which only shows progress.

    ``start`` is the offset, in the whole text, of the first mark that cites the source, as ``[1]``.
    """

    text: str = ""
    cited: Cited | None = None
    end: End | None = None
    start: int = 0


Pieces = Generator[Piece, None, None]


def answer_of(library: Library, request: ChatRequest, base: str) -> Pieces:
    """Return the pieces of an answer; ``base`` is the address of ragkit's pages.

    The search is made before the first piece, so that errors in a question are raised at once.

    Raises:
        RagkitError: the question cannot be answered, or, while reading pieces, the model failed.
    """
    if not library.collections.has(request.collection):
        raise no_such_model()
    if request.is_task:
        # Not in the generator, which would look for the model only when it is read.
        parts = library.answers.reply(request.messages, longest=request.longest)
        return _handed_on(parts, request.messages)
    earlier = request.messages[: request.asked]
    thread = thread_of(earlier, request.collection)
    follow = library.answers.follow_up(thread, request.question)
    # Answers need texts, even if the collection's own options leave them out.
    options = replace(library.options(collections=request.collection), show_content=True)
    answer = library.search(follow.rewritten, options)
    library.contexts.note_hits(answer)
    library.searches.note(follow.rewritten, answer, options, door=Door.OPENAI)
    return _Answering(library, request, follow, answer, Citations(base, answer)).pieces(
        thread.turns
    )


def _handed_on(parts: Generator[StreamPart, None, None], messages: Sequence[Message]) -> Pieces:
    """Yield a model's reply as one piece, since its beginning may turn out to be thinking."""
    text, end = "", StreamEnd()
    with closing(parts):
        for part in parts:
            text = "" if part.forget else text + part.text
            end = part.end or end
            yield Piece()
    read = end.prompt_tokens or sum(estimate_tokens(message["content"]) for message in messages)
    wrote = end.output_tokens or estimate_tokens(text)
    usage = Usage(read, wrote, not (end.prompt_tokens and end.output_tokens))
    yield Piece(text=text)
    yield Piece(end=End(end.reason == "length", usage))


class _Answering:
    """An answer from the results of a search, and what was sent of it."""

    def __init__(
        self,
        library: Library,
        request: ChatRequest,
        follow: FollowUp,
        answer: Answer,
        citations: Citations,
    ) -> None:
        self._library = library
        self._request = request
        self._follow = follow
        self._found = answer
        self._citations = citations
        self._length = 0
        self._sent: list[AnswerSentence] = []

    def pieces(self, turns: Sequence[Turn]) -> Pieces:
        """Yield the answer of a model or, if none is available, sentences of the documents."""
        follow, answer = self._follow, self._found
        rewritten = [f"Asked as: {follow.rewritten}"] * (follow.rewritten != follow.question)
        for line in (*rewritten, *answer.understood, *answer.notices):
            yield self._paragraph(f"*{escape_markdown(shortened(line, _LONGEST_SHOWN))}*")
        if not answer.results:
            yield self._paragraph(_NOTHING_FOUND)
            yield Piece(end=End())
            return
        written = WrittenAnswer(follow.rewritten)
        states = self._library.answers.write(
            follow.rewritten,
            answer,
            carried=follow.carried,
            history=turns,
            longest=self._request.longest,
        )
        with closing(states):
            for written in states:
                yield Piece()
                if self._request.stream:
                    yield from self._sentences(written, written.settled)
        failed = written.state is AnswerState.FAILED
        end = len(written.sentences)
        if failed and end and not written.sentences[-1].sources:
            # The citations of its last sentence may be missing.
            end -= 1
        if failed and not (self._sent or end):
            yield from self._quoted(written)
            return
        if not written.not_found:
            yield from self._sentences(written, end)
        if failed:
            raise OllamaError(written.failure, written.cure)
        for note in notes_as_text(written):
            yield self._paragraph(f"*{escape_markdown(note)}*")
        yield from self._list()
        yield Piece(end=End(written.cut, _usage(written)))

    def _quoted(self, written: WrittenAnswer) -> Iterator[Piece]:
        """Yield why no model wrote an answer, then sentences of the documents."""
        why = f"No model wrote an answer: {written.failure} {written.cure}".strip()
        yield self._paragraph(f"*{escape_markdown(why)}*")
        quick = self._library.answers.quick(self._found)
        yield self._paragraph(_QUOTED if quick else _NO_SENTENCE)
        for question, source in headed(quick):
            if question:
                yield self._paragraph(escape_markdown(question))
            quote = AnswerSentence(source.text, (1,))
            yield from self._cited(quote, (source,), "\n\n> ")
        yield from self._list()
        yield Piece(end=End(usage=_usage(written)))

    def _sentences(self, written: WrittenAnswer, end: int) -> Iterator[Piece]:
        """Yield the sentences before index ``end`` that were not sent yet."""
        texts = [sentence.text for sentence in written.sentences]
        if [sentence.text for sentence in self._sent] != texts[: len(self._sent)]:
            yield self._paragraph(f"*{_AGAIN}*")
            self._sent.clear()
        for sentence in written.sentences[len(self._sent) : end]:
            lead = self._lead(sentence)
            self._sent.append(sentence)
            yield from self._cited(sentence, written.sources, lead)

    def _lead(self, sentence: AnswerSentence) -> str:
        """Return the white space and list mark before a sentence."""
        before = self._sent[-1] if self._sent else None
        if before is not None and before.block == sentence.block:
            return " "
        item = "- " if sentence.item else ""
        if before is None:
            return f"\n\n{item}" if self._length else item
        return f"\n{item}" if item and before.item else f"\n\n{item}"

    def _cited(
        self, sentence: AnswerSentence, sources: Sequence[Source], lead: str
    ) -> Iterator[Piece]:
        """Yield the new sources of a sentence, in order, and then the sentence."""
        before = len(self._citations.all)
        numbers = tuple(self._citations.number(sources[number - 1]) for number in sentence.sources)
        text = lead + sentence_as_markdown(replace(sentence, sources=numbers))
        for cited in self._citations.all[before:]:
            # Brackets in the sentence itself are escaped, or part of an address.
            start = text.index(f" {cited.mark}") + 1
            yield Piece(cited=cited, start=self._length + start)
        yield self._text(text)

    def _list(self) -> Iterator[Piece]:
        """Yield the list of sources, if the client wants one."""
        lines = list(self._citations.as_list()) if self._request.lists_sources else []
        if lines:
            yield self._paragraph("\n".join([LIST_HEAD, "", *lines]))

    def _paragraph(self, text: str) -> Piece:
        return self._text(f"\n\n{text}" if self._length else text)

    def _text(self, text: str) -> Piece:
        self._length += len(text)
        return Piece(text=text)


def _usage(written: WrittenAnswer) -> Usage:
    return Usage(written.prompt_tokens, written.output_tokens, written.tokens_estimated)
