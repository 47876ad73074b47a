"""The client of a local Ollama server: the only code that talks to one.

Nothing is asked of any other machine unless the settings allow a remote server.
"""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from types import TracebackType
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ragkit.errors import (
    InputTooLongError,
    ModelMissingError,
    OllamaAnswerError,
)
from ragkit.models.ollama_errors import broke_off, checked_address, not_numbers
from ragkit.models.ollama_models import OllamaModels
from ragkit.models.ollama_text import (
    Health,
    JsonObject,
    Message,
    ModelInfo,
    PullProgress,
    Reply,
    ThinkingFilter,
    estimate_tokens,
    json_object,
    one_line,
    prompt_was_cut,
    sendable,
    without_thinking,
)
from ragkit.models.ollama_wire import OllamaWire
from ragkit.settings import ModelSettings

logger = logging.getLogger(__name__)

_HELD_CHARACTERS = 1500
_SHORTEST_TEXT = 16
_SHORTER = 0.7
_CHARACTERS_PER_TOKEN = 8
_T = TypeVar("_T")
_THINKERS = re.compile(r"r1|qwq|think|reason|magistral", re.I)


class OllamaClient:
    """Asks Ollama, within time limits, and names whatever goes wrong.

    Passing failures are tried again with growing pauses; after several in a row the server is left
    alone for a while. Nothing is connected before the first call. Safe between threads.
    """

    def __init__(
        self,
        settings: ModelSettings,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """Keep the settings.

        Raises:
            SettingsError: the address is none, or another machine's without leave.
        """
        self.url = checked_address(settings.ollama_url, settings.allow_remote)
        self.settings = settings
        self._clock = clock
        self._wire = OllamaWire(self.url, settings, clock, sleep)
        self._models = OllamaModels(self._wire, self.url, settings)
        self._widths: dict[str, int] = {}

    def __enter__(self) -> OllamaClient:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close all connections; a later call opens new ones."""
        self._wire.close()

    def health(self) -> Health:
        """Return within about three seconds whether Ollama answers; never raises."""
        return self._models.health()

    def models(self) -> tuple[ModelInfo, ...]:
        """List the models that Ollama has, by name; what they can do is asked for once.

        Raises:
            OllamaError: they cannot be listed.
        """
        return self._models.all()

    def model(self, name: str, *, fresh: bool = False) -> ModelInfo:
        """Find a model; the answer is remembered unless it is to be ``fresh``.

        Raises:
            ModelMissingError: Ollama does not have it.
            ModelUnsuitableError: it runs elsewhere, and that is not allowed.
        """
        return self._models.find(name, fresh=fresh)

    def window(self, model: str, tokens: int | None = None) -> int:
        """Return the window in tokens, the same for each call of a model, which keeps it loaded."""
        most = self.model(model).context_length or self.settings.context_window
        return min(tokens or self.settings.context_window, most)

    def chat(
        self,
        messages: Sequence[Message],
        model: str,
        *,
        schema: JsonObject | None = None,
        num_ctx: int | None = None,
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
        window = self.window(model, num_ctx)
        sent = _sent(messages)
        options = self._options(window, num_predict, temperature, seed)
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
            done_reason=answer.done_reason or "",
        )

    def stream(
        self,
        messages: Sequence[Message],
        model: str,
        *,
        num_ctx: int | None = None,
        num_predict: int | None = None,
        temperature: float = 0.0,
        seed: int = 0,
    ) -> Iterator[str]:
        """Yield an answer piece by piece; closing the iterator stops the model.

        Raises:
            OllamaError: while iterating, also in the middle of the answer.
        """
        info = self.model(model)
        options = self._options(self.window(model, num_ctx), num_predict, temperature, seed)
        thinks = "thinking" in info.capabilities or _THINKERS.search(model)
        cleaned = ThinkingFilter(_HELD_CHARACTERS if thinks else 0)
        client, sent = self._wire.client(self.settings.chat_seconds), _sent(messages)
        parts = self._wire.parts(
            lambda: client.chat(
                model,
                sent,
                stream=True,
                options=options,
                think=False,
                keep_alive=self.settings.keep_alive,
            ),
            model,
        )
        finished = False
        with closing(parts):
            for part in parts:
                shown = cleaned.add(part.message.content or "")
                if shown:
                    yield shown
                finished = finished or bool(part.done)
        if not finished:
            raise broke_off(self.url)
        rest = cleaned.end()
        if rest:
            yield rest

    def embed(
        self, texts: Sequence[str], model: str, *, patient: bool = True
    ) -> NDArray[np.float32]:
        """Embed texts, (n, d), as the model returns them; texts of white space alone become zeros.

        Of a text that is too long only the beginning is embedded, with a warning in the log.
        Without patience nothing is tried again, and the limit is that of a question.

        Raises:
            OllamaError: there are no usable vectors.
        """
        info = self.model(model)
        window = self.window(model)
        most = window * _CHARACTERS_PER_TOKEN
        rows: list[tuple[int, NDArray[np.float32]]] = []
        for batch in _batches(
            texts, most, self.settings.embed_characters, self.settings.embed_texts
        ):
            cut = [sendable(texts[index][:most]) for index in batch]
            rows += zip(batch, self._embedded(cut, model, window, patient), strict=True)
        width = self._widths.setdefault(info.digest, rows[0][1].size if rows else 0)
        width = width or (rows[0][1].size if rows else info.dimensions)
        self._widths[info.digest] = width
        vectors = np.zeros((len(texts), width), dtype=np.float32)
        for index, row in rows:
            if row.size != width:
                raise OllamaAnswerError(
                    f'"{one_line(model)}" gave a vector of {row.size} numbers instead of {width}.',
                    "Choose the model again, so that everything is embedded anew.",
                )
            vectors[index] = row
        return vectors

    def pull(self, model: str) -> Generator[PullProgress, None, None]:
        """Download a model to Ollama; yield progress until it is there.

        Raises:
            OllamaError: while iterating; what was downloaded is kept for the next try.
        """
        self._models.check_name(model)
        client = self._wire.client(self.settings.pull_seconds)
        status = ""
        for part in self._wire.parts(lambda: client.pull(model, stream=True), model):
            status = part.status or ""
            yield PullProgress(one_line(status, 100), part.completed or 0, part.total or 0)
        if status != "success":
            raise broke_off(self.url)
        self._models.forget()

    def _ask(self, call: Callable[[], _T], model: str, *, patient: bool = True) -> _T:
        """Make a call of a model; one that is gone is forgotten."""
        try:
            return self._wire.again(call, model, patient=patient)
        except ModelMissingError:
            self._models.forget()
            raise

    def _options(
        self, window: int, num_predict: int | None, temperature: float, seed: int
    ) -> dict[str, Any]:
        return {
            "num_ctx": window,
            "num_predict": num_predict or self.settings.answer_tokens,
            "temperature": temperature,
            "seed": seed,
        }

    def _embedded(
        self, texts: list[str], model: str, window: int, patient: bool
    ) -> list[NDArray[np.float32]]:
        """Embed a batch; if it does not fit, its halves, and at last shorter texts."""
        try:
            return self._vectors_of(texts, model, window, patient)
        except InputTooLongError:
            if len(texts) == 1:
                return self._beginning_embedded(texts[0], model, window, patient)
        half = len(texts) // 2
        first = self._embedded(texts[:half], model, window, patient)
        return first + self._embedded(texts[half:], model, window, patient)

    def _beginning_embedded(
        self, text: str, model: str, window: int, patient: bool
    ) -> list[NDArray[np.float32]]:
        """Embed as much of a text as fits, with a warning in the log."""
        share = min(_SHORTER, window / max(1, estimate_tokens(text)))
        kept = int(len(text) * share)
        while True:
            try:
                vectors = self._vectors_of([text[:kept]], model, window, patient)
            except InputTooLongError:
                kept = int(kept * _SHORTER)
                if kept < _SHORTEST_TEXT:
                    raise
                continue
            total = len(text)
            logger.warning(
                "%s embeds only the first %d of a text's %d characters", model, kept, total
            )
            return vectors

    def _vectors_of(
        self, texts: list[str], model: str, window: int, patient: bool
    ) -> list[NDArray[np.float32]]:
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
        return _checked_vectors(answer.embeddings, len(texts), model)


def _sent(messages: Sequence[Message]) -> list[Message]:
    return [
        {"role": message["role"], "content": sendable(message["content"])} for message in messages
    ]


def _decoded(content: str, cleaned: str, model: str, cut: bool) -> JsonObject:
    """Decode the answer; what begins as an object may speak of tags that are no thoughts."""
    try:
        return json_object(content if content.lstrip().startswith("{") else cleaned)
    except ValueError as error:
        after = "was cut off before its end" if cut else "is not the JSON object that was asked for"
        cure = "Raise models.answer_tokens." if cut else "Try again, or choose another model."
        raise OllamaAnswerError(f'The answer of "{one_line(model, 80)}" {after}.', cure) from error


def _batches(
    texts: Sequence[str], most: int, most_characters: int, most_texts: int
) -> Iterator[list[int]]:
    """Yield batches of positions of the texts that are not blank, bounded by characters and number.

    Of one text at most ``most`` characters count.
    """
    batch: list[int] = []
    size = 0
    for index, text in enumerate(texts):
        if not text or text.isspace():
            continue
        length = min(len(text), most)
        full = size + length > most_characters
        if batch and (full or len(batch) >= most_texts):
            yield batch
            batch, size = [], 0
        batch.append(index)
        size += length
    if batch:
        yield batch


def _checked_vectors(
    rows: Sequence[Sequence[float]], count: int, model: str
) -> list[NDArray[np.float32]]:
    """Return the rows of a server as vectors (d,).

    Raises:
        OllamaAnswerError: they are too few, or have NaN, infinity or nothing but zeros.
    """
    cure = "Update Ollama, or choose another embedding model."
    if len(rows) != count:
        raise OllamaAnswerError(f"Ollama gave {len(rows)} vectors for {count} texts.", cure)
    vectors = [np.asarray(row, dtype=np.float32) for row in rows]
    if any(not np.isfinite(row).all() for row in vectors):
        raise not_numbers(model)
    if any(row.size == 0 or not row.any() for row in vectors):
        raise OllamaAnswerError(
            f'"{one_line(model, 80)}" gave a vector of nothing but zeros for a text.', cure
        )
    return vectors
