"""Answers to questions, each sentence with its source."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

from ragkit.answers import EXCERPT_WIDTH, AnswerState, WrittenAnswer
from ragkit.errors import OllamaError, QueryError
from ragkit.models.factory import local_embedder
from ragkit.options import Phrasings, Rerank, SearchOptions

if TYPE_CHECKING:
    from ragkit.answering.evidence import Evidence
    from ragkit.answering.excerpts import Excerpt
    from ragkit.answering.follow_up import FollowUp
    from ragkit.answering.meaning import Meaning
    from ragkit.answering.questions import Question
    from ragkit.answers import Source, Thread, Turn
    from ragkit.catalog import Catalog
    from ragkit.evaluation.experiments import Experiment
    from ragkit.models.ollama import OllamaClient
    from ragkit.models.ollama_stream import StreamPart
    from ragkit.models.ollama_text import Message
    from ragkit.results import Answer, Result
    from ragkit.retrieval.multi_query import ChunkedAnswer
    from ragkit.settings import AnswerSettings, Settings

Search: TypeAlias = "Callable[[str, SearchOptions], Answer]"


def answers_of(experiment: Experiment, settings: Settings) -> AnswerService:
    """Return the service that answers an experiment's questions."""
    return AnswerService(settings, experiment.catalog, experiment.engine.search)


def _asked(question: str) -> Question:
    """Return a question without its filters, or as it is written if they are not valid."""
    from ragkit.answering.questions import Question
    from ragkit.retrieval.query.parser import without_filters

    # Some tokenizers fail at lone surrogates, as a badly decoded command line has them.
    return Question(without_filters(question.encode("utf-8", "replace").decode("utf-8")))


class AnswerService:
    """Answers questions from the results of a search. Safe to share between threads."""

    def __init__(self, settings: Settings, catalog: Catalog, search: Search) -> None:
        self._settings = settings
        self._catalog = catalog
        self._search = search
        self._last: tuple[str, Sequence[Result], Evidence] | None = None

    def quick(self, answer: Answer | ChunkedAnswer) -> tuple[Source, ...]:
        """Return the one to three sentences that answer best, best first; none if none is good.

        Each of several questions, as topics of a long text may be, is searched and answered by
        itself, in one or two sentences. No language model is asked, and no server.
        """
        from ragkit.answering.quick import quick_answer
        from ragkit.results import Answer

        def best(answer: Answer) -> tuple[Source, ...]:
            asked = answer.corrected or answer.query
            return quick_answer(answer, self._evidence(asked, answer.results))

        apart: tuple[Source, ...] = ()
        if found := list(self._searched_apart(answer)):
            from ragkit.answering.several import best_of_each

            apart = tuple(best_of_each((question, best(one)) for question, one in found))
        return best(answer) if isinstance(answer, Answer) and not apart else apart

    def _searched_apart(self, answer: Answer | ChunkedAnswer) -> Iterator[tuple[str, Answer]]:
        """Yield each of several questions with what a search for it alone finds."""
        from ragkit.results import Answer

        options = answer.options
        if options is None or (isinstance(answer, Answer) and answer.questions < 2):
            return
        from ragkit.answering.several import questions_in

        # A model that looks at each of them would take long.
        plain = replace(options, rerank=Rerank.NONE, phrasings=Phrasings.NONE, show_content=True)
        collections = self._catalog.collections.apart(options.collections)
        for question in questions_in(answer, self._catalog.filters.field_names(collections)):
            # A long text may have words that look like a filter with a wrong value.
            with suppress(QueryError):
                yield question.typed, self._search(question.asked, plain)

    def excerpts(
        self, question: str, results: Sequence[Result], width: int = EXCERPT_WIDTH
    ) -> list[Excerpt | None]:
        """Return the excerpt of each result that answers best, of about ``width`` characters.

        ``None`` for a result without text. What ``quick`` has analysed is used again.
        """
        from ragkit.answering.excerpts import best_excerpts

        return best_excerpts(results, self._evidence(question, results), width)

    def shortened(self, answer: Answer, share: float) -> Answer:
        """Return an answer with weak chunks between strong ones reduced to their best sentence.

        Strong chunks have at least ``share`` of the best score in their result.
        """
        from ragkit.answering.shortening import shortened

        asked = _asked(answer.corrected or answer.query)
        results = shortened(self._catalog, asked, answer.results, share, self._meaning)
        return replace(answer, results=results)

    def _evidence(self, question: str, results: Sequence[Result]) -> Evidence:
        """Return the evidence that sentences of results give; the last one is cached."""
        from ragkit.answering.evidence import evidence

        last = self._last
        if last is None or last[0] != question or last[1] is not results:
            found = evidence(_asked(question), results, self._meaning)
            last = self._last = question, results, found
        return last[2]

    @cached_property
    def _meaning(self) -> Meaning:
        """Meaning by the built-in embedder, which is fast whatever embedder the library has."""
        from ragkit.answering.meaning import Meaning

        return Meaning(local_embedder())

    def follow_up(self, thread: Thread, question: str, *, model: str | None = "") -> FollowUp:
        """Rewrite a follow-up question so that it stands alone; return it with its references.

        The named model rewrites it, by default that of the settings; with ``None``, or if the
        model fails, rules do.
        """
        from ragkit.answering.follow_up import follow_up

        client = self._client if model is not None else None
        chosen = model or self._chosen_model()
        collections = self._catalog.collections.named(thread.collections)
        fields = self._catalog.filters.field_names(collections)
        return follow_up(question, thread.turns, client, chosen, known_fields=fields)

    def model(self, name: str = "") -> str:
        """Return the full name of a model, by default of the one that writes answers.

        Raises:
            OllamaError: Ollama does not answer, or has no such model.
        """
        from ragkit.models.context_writer import writing_model

        return writing_model(self._client, name or self._chosen_model()).name

    def write(
        self,
        question: str,
        answer: Answer,
        *,
        carried: Sequence[Source] = (),
        history: Sequence[Turn] = (),
        extra: Sequence[Source] = (),
        model: str = "",
        longest: int | None = None,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> Generator[WrittenAnswer, None, None]:
        """Have a model write an answer from the results of a search; yield each state of it.

        Each of several questions is searched by itself, and has its share of the passages read.
        The last state is done, cancelled or failed. ``carried`` are sentences that the previous
        turn cited, ``history`` the previous turns, ``extra`` sentences from elsewhere, such as the
        web. ``longest`` limits the tokens further than the settings do. Closing the generator
        stops the model.
        """
        from ragkit.answering.writing import write_answer

        yield WrittenAnswer(question)
        try:
            writer = self.model(model)
        except OllamaError as error:
            failed = AnswerState.FAILED
            yield WrittenAnswer(question, "", failed, failure=error.message, cure=error.cure)
            return
        yield from write_answer(
            question,
            self.read_for(answer),
            self._client,
            writer,
            self._settings_for(longest),
            carried=carried,
            history=history,
            extra=extra,
            cancelled=cancelled,
        )

    def reply(
        self, messages: Sequence[Message], *, longest: int | None = None
    ) -> Generator[StreamPart, None, None]:
        """Return a model's reply to messages, part by part; nothing is searched or checked.

        ``longest`` is as in ``write``. The last part has an ``end``. Closing the generator stops
        the model.

        Raises:
            OllamaError: there is no such model, or, while reading, it does not answer.
        """
        from ragkit.answering.writing import reply

        return reply(messages, self._client, self.model(), self._settings_for(longest))

    def _settings_for(self, longest: int | None) -> AnswerSettings:
        """Return the settings for answers, with at most ``longest`` tokens."""
        own = self._settings.answers
        if longest is None:
            return own
        return own.model_copy(update={"answer_tokens": min(longest, own.answer_tokens)})

    def context(self, answer: Answer | ChunkedAnswer) -> str:
        """Return the best results as Markdown, for a prompt or a note; empty without results.

        It holds what ``read_for`` returns, up to ``answers.context_tokens``.
        """
        from ragkit.retrieval.context_block import format_as_context

        return format_as_context(self.read_for(answer), self._settings.answers.context_tokens)

    def read_for(self, answer: Answer | ChunkedAnswer) -> tuple[Result, ...]:
        """Return the results that a model reads for an answer: the parents of the best chunks.

        They are ``answers.passages`` in total; each of several questions has its share of them.
        """
        from ragkit.results import Answer
        from ragkit.retrieval.context_block import results_of

        most = self._settings.answers.passages
        if isinstance(answer, Answer) and (found := list(self._searched_apart(answer))):
            from ragkit.answering.several import joined

            share = -(-most // len(found))
            apart = joined(self._in_parents(one.results, share) for _, one in found)
            if apart:
                return apart
        return self._in_parents(results_of(answer), most)

    def _in_parents(self, results: Sequence[Result], most: int) -> tuple[Result, ...]:
        from ragkit.retrieval.parents import in_parents

        return in_parents(self._catalog, results, most)

    def _chosen_model(self) -> str:
        from ragkit.catalog.background_state import context_model_name

        chosen = self._settings.answers.model
        return chosen or context_model_name(self._catalog, self._settings.models)

    def judge(self, written: WrittenAnswer, *, model: str = "") -> WrittenAnswer:
        """Return an answer with a model's verdict on each sentence that cites something.

        If the model fails, the answer is returned unchanged, with a notice.
        """
        from ragkit.answering.judging import judge_answer, not_judged

        try:
            return judge_answer(written, self._client, self.model(model))
        except OllamaError as error:
            return not_judged(written, str(error))

    @cached_property
    def _client(self) -> OllamaClient:
        """The Ollama client; without retries, since a person waits."""
        from ragkit.models.ollama import OllamaClient

        return OllamaClient(self._settings.models.model_copy(update={"retries": 0}))
