"""The client of a local Ollama server: the only code that talks to one.

Nothing is asked of any other machine unless the settings allow a remote server.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from functools import partial
from typing import TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from ragkit.errors import InputTooLongError, ModelMissingError, OllamaAnswerError
from ragkit.models.batches import batches
from ragkit.models.ollama_errors import not_numbers
from ragkit.models.ollama_models import OllamaModels
from ragkit.models.ollama_stream import StreamEnd, StreamPart, TokenBudget, chat_parts
from ragkit.models.ollama_text import (
    JsonObject,
    Message,
    Reply,
    estimate_tokens,
    json_object,
    one_line,
    prompt_was_cut,
    sendable,
    without_thinking,
)

logger = logging.getLogger(__name__)

_SHORTEST_TEXT = 16
_SHORTER = 0.7
_CHARACTERS_PER_TOKEN = 8
_T = TypeVar("_T")
_Vectors: TypeAlias = list[NDArray[np.float32]]
_Ask: TypeAlias = Callable[[list[str]], _Vectors]


class OllamaClient(OllamaModels):
    """Asks Ollama, within time limits, and says what goes wrong.

    Passing failures are tried again with growing pauses; after several in a row the server is left
    alone for a while. Nothing is connected before the first call. Safe between threads.
    """

    def window(self, model: str) -> int:
        """Return the window in tokens, the same for each call of a model, which keeps it loaded."""
        most = self.settings.context_window
        return min(most, self.model(model).context_length or most)

    def room(self, model: str) -> int:
        """Return how many tokens of the window a prompt may take; an answer has the rest."""
        window = self.window(model)
        return window - min(self.settings.answer_tokens, window // 2)

    def chat(
        self,
        messages: Sequence[Message],
        model: str,
        *,
        schema: JsonObject | None = None,
        num_predict: int | None = None,
        temperature: float = 0.0,
        seed: int = 0,
        seconds: float | None = None,
    ) -> Reply:
        """Return one answer; with a schema it is a decoded JSON object.

        ``seconds`` may be a shorter limit than that of the settings.

        Raises:
            OllamaError: there was no answer, or not such an object.
        """
        window = self.window(model)
        sent: list[Message] = [
            {"role": message["role"], "content": sendable(message["content"])}
            for message in messages
        ]
        options = {
            "num_ctx": window,
            "num_predict": num_predict or window - self.room(model),
            "temperature": temperature,
            "seed": seed,
        }
        started = self._clock()
        limit = self.settings.chat_seconds
        client = self._wire.client(limit if seconds is None else min(seconds, limit))
        answer = self._ask(
            lambda: client.chat(
                model,
                sent,
                format=schema,
                options=options,
                think=False,
                keep_alive=self.settings.keep_alive,
            ),
            model,
        )
        content = answer.message.content or ""
        text = without_thinking(content)
        cut = answer.done_reason == "length"
        data = _decoded(content, text, model, cut) if schema is not None else None
        estimated = sum(estimate_tokens(message["content"]) for message in sent)
        return Reply(
            text=text,
            data=data,
            prompt_tokens=answer.prompt_eval_count or 0,
            output_tokens=answer.eval_count or 0,
            seconds=self._clock() - started,
            truncated=prompt_was_cut(estimated, answer.prompt_eval_count or 0, window),
        )

    def stream(
        self,
        messages: Sequence[Message],
        model: str,
        *,
        answer_tokens: int,
        thinking_tokens: int = 0,
        seed: int = 0,
    ) -> Generator[StreamPart, None, None]:
        """Yield one answer as it is written; the prompt is read as a whole, or refused.

        Thoughts have tokens of their own, for models that think although they are told not to.
        Closing the generator cuts the connection. Nothing is tried again.

        Raises:
            InputTooLongError: the prompt does not fit the window; the server has to know how to
                refuse it, and an older one reads a part of it (see ``prompt_was_cut``).
            OllamaError: there is no answer, or it broke off.
        """
        body = {
            "model": model,
            "messages": [
                dict(message, content=sendable(message["content"])) for message in messages
            ],
            "options": {
                "num_ctx": self.window(model),
                "num_predict": answer_tokens + thinking_tokens,
                "temperature": 0.0,
                "seed": seed,
            },
            "stream": True,
            "think": False,
            "truncate": False,
            "shift": False,
            "keep_alive": self.settings.keep_alive,
        }
        limit = self.settings.chat_seconds
        parts = chat_parts(self._wire, body, model, limit, self._clock, self.url)
        budget = TokenBudget(model, answer_tokens, thinking_tokens)
        with closing(parts):
            try:
                for part in parts:
                    if not budget.take(part):
                        yield StreamPart(end=StreamEnd("length"))
                        return
                    yield part
            except ModelMissingError:
                self._forget()
                raise

    def embed(
        self, texts: Sequence[str], model: str, *, patient: bool = True
    ) -> NDArray[np.float32]:
        """Embed texts, (n, d), as the model returns them; texts of white space alone become zeros.

        Of a text that is too long only the beginning is embedded, with a warning in the log.
        Without patience nothing is tried again, and the limit is that of a question.

        Raises:
            OllamaError: there are no usable vectors.
        """
        info, window = self.model(model), self.window(model)
        most = window * _CHARACTERS_PER_TOKEN
        ask = partial(self._vectors_of, model=model, window=window, patient=patient)
        written = [place for place, text in enumerate(texts) if text and not text.isspace()]
        limits = self.settings.embed_characters, self.settings.embed_texts
        rows: _Vectors = []
        for batch in batches(written, lambda place: min(len(texts[place]), most), *limits):
            cut = [sendable(texts[place][:most]) for place in batch]
            rows += _embedded(cut, ask, model, window)
        width = rows[0].size if rows else info.dimensions
        vectors = np.zeros((len(texts), width), dtype=np.float32)
        for place, row in zip(written, rows, strict=True):
            if row.size != width:
                raise OllamaAnswerError(
                    f'"{one_line(model)}" returned {row.size} dimensions instead of {width}.',
                    "Choose the model again to re-embed everything.",
                )
            vectors[place] = row
        return vectors

    def _ask(self, call: Callable[[], _T], model: str, *, patient: bool = True) -> _T:
        """Make a call of a model; one that is gone is forgotten."""
        try:
            return self._wire.again(call, model, patient=patient)
        except ModelMissingError:
            self._forget()
            raise

    def _vectors_of(self, texts: list[str], model: str, window: int, patient: bool) -> _Vectors:
        """Embed texts in one call, each as (d,).

        Raises:
            OllamaAnswerError: they are too few, or have NaN, infinity or nothing but zeros.
        """
        limit = self.settings.embed_seconds if patient else self.settings.query_seconds
        client = self._wire.client(limit)
        answer = self._ask(
            lambda: client.embed(
                model,
                texts,
                truncate=False,
                options={"num_ctx": window},
                keep_alive=self.settings.keep_alive,
            ),
            model,
            patient=patient,
        )
        cure = "Update Ollama, or choose another embedding model."
        count = len(answer.embeddings)
        if count != len(texts):
            raise OllamaAnswerError(
                f"Ollama returned {count} vectors for {len(texts)} texts.", cure
            )
        vectors = [np.asarray(row, dtype=np.float32) for row in answer.embeddings]
        if any(not np.isfinite(row).all() for row in vectors):
            raise not_numbers(model)
        if any(row.size == 0 or not row.any() for row in vectors):
            raise OllamaAnswerError(
                f'"{one_line(model, 80)}" returned a vector of only zeros for a text.', cure
            )
        return vectors


def _decoded(content: str, cleaned: str, model: str, cut: bool) -> JsonObject:
    """Decode the answer; what begins as an object may speak of tags that are no thoughts."""
    try:
        return json_object(content if content.lstrip().startswith("{") else cleaned)
    except ValueError as error:
        after = "was cut off before its end" if cut else "is not the JSON object that was asked for"
        cure = "Raise models.answer_tokens." if cut else "Try again, or choose another model."
        raise OllamaAnswerError(f'The answer of "{one_line(model, 80)}" {after}.', cure) from error


def _embedded(texts: list[str], ask: _Ask, model: str, window: int) -> _Vectors:
    """Embed a batch; if it does not fit, its halves, and at last the beginning of a text."""
    try:
        return ask(texts)
    except InputTooLongError:
        if len(texts) == 1:
            return _beginning_embedded(texts[0], ask, model, window)
    half = len(texts) // 2
    first = _embedded(texts[:half], ask, model, window)
    return first + _embedded(texts[half:], ask, model, window)


def _beginning_embedded(text: str, ask: _Ask, model: str, window: int) -> _Vectors:
    """Embed as much of a text as fits, with a warning in the log."""
    share = min(_SHORTER, window / max(1, estimate_tokens(text)))
    kept = int(len(text) * share)
    while True:
        try:
            vectors = ask([text[:kept]])
        except InputTooLongError:
            kept = int(kept * _SHORTER)
            if kept < _SHORTEST_TEXT:
                raise
            continue
        logger.warning(
            "%s embeds only the first %d of a text's %d characters", model, kept, len(text)
        )
        return vectors
