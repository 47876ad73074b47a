"""An answer of Ollama's as it is written: text, thoughts and silence, part by part."""

from __future__ import annotations

import queue
import re
import socket
import threading
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ragkit.errors import OllamaAnswerError, OllamaTimeoutError
from ragkit.models.ollama_errors import broke_off
from ragkit.models.ollama_text import one_line

if TYPE_CHECKING:
    import ollama

    from ragkit.models.ollama_wire import OllamaWire

BEAT_SECONDS = 0.2
"""After so much silence a reader is told that there is nothing new, and may leave."""

_WAITING = 1000
_JOIN_SECONDS = 1.0
_PATIENCE = 5
_OPENING = re.compile(r"\s*<(?:think|thinking)>", re.I)
_CLOSING = re.compile(r"</(?:think|thinking)>\s*", re.I)
_FIRST_CLOSING = re.compile(r"(?:^|\n)\s*</(?:think|thinking)>\s*", re.I)
_LONGEST_TAG = 12


@dataclass(frozen=True, slots=True)
class StreamEnd:
    """How a stream ended: the server's reason ("stop", "length"), and what it counted in tokens."""

    reason: str = ""
    prompt_tokens: int = 0
    output_tokens: int = 0


@dataclass(frozen=True, slots=True)
class StreamPart:
    """What came next: text, a thought, the end, or, where all are empty, nothing for a while.

    ``forget`` says that the text so far was a thought that nothing had announced.
    """

    text: str = ""
    thinking: bool = False
    forget: bool = False
    end: StreamEnd | None = None


@dataclass(slots=True)
class TokenBudget:
    """What a stream may still take, in parts, each of which is about a token."""

    model: str
    answer: int
    thinking: int

    def take(self, part: StreamPart) -> bool:
        """Count a part; return False where the answer has reached its longest length.

        Raises:
            OllamaAnswerError: the model thinks for longer than it may.
        """
        self.thinking -= part.thinking
        self.answer -= bool(part.text)
        if self.thinking < 0:
            raise thought_too_long(self.model)
        return self.answer >= 0


def thought_too_long(model: str) -> OllamaAnswerError:
    """Return the error for a model whose thoughts leave no room for an answer."""
    return OllamaAnswerError(
        f'"{one_line(model, 80)}" used up its tokens by thinking, before it wrote an answer.',
        "Raise answers.thinking_tokens, or choose a model that does not think.",
    )


class _Left(BaseException):
    """The reader has left; no failure of the server's."""


def chat_parts(
    wire: OllamaWire,
    body: Mapping[str, Any],
    model: str,
    seconds: float,
    clock: Callable[[], float],
    url: str,
) -> Generator[StreamPart, None, None]:
    """Yield the parts of an answer; the last one has an ``end``.

    A part without anything is yielded after every ``BEAT_SECONDS`` of silence. Closing the
    generator cuts the connection, also while the server still reads the prompt. ``seconds`` limit
    the wait for each part, and several times as much the whole.

    Raises:
        OllamaError: what keeps the server from answering, or from going on.
    """
    pump = _Pump(wire, body, model, seconds)
    until = clock() + seconds * _PATIENCE
    thoughts = _Thoughts()
    ended = False
    pump.start()
    try:
        while not ended:
            if clock() > until:
                raise OllamaTimeoutError(
                    f'"{one_line(model, 80)}" did not finish its answer in time.',
                    "Choose a smaller model, or raise models.chat_seconds.",
                )
            answer = pump.next()
            if answer is None:
                yield StreamPart()
                continue
            if answer is _END:
                raise broke_off(url)
            if answer.message.thinking:
                yield StreamPart(thinking=True)
            yield from thoughts.parts(answer.message.content or "", last=bool(answer.done))
            if answer.done:
                ended = True
                reason = answer.done_reason or ""
                counts = answer.prompt_eval_count or 0, answer.eval_count or 0
                yield StreamPart(end=StreamEnd(reason, *counts))
    finally:
        pump.stop()


_END: Any = object()


class _Pump:
    """Reads a stream in a thread of its own, so that a silent server can be left at any time."""

    def __init__(
        self, wire: OllamaWire, body: Mapping[str, Any], model: str, seconds: float
    ) -> None:
        self._wire = wire
        self._body = body
        self._model = model
        self._seconds = seconds
        self._queue: queue.Queue[Any] = queue.Queue(_WAITING)
        self._stopped = threading.Event()
        self._socket: socket.socket | None = None
        self._thread = threading.Thread(target=self._run, name="ragkit-answer", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def next(self) -> Any:
        """Return the next answer of the stream, ``_END``, or None after a beat of silence."""
        try:
            got = self._queue.get(timeout=BEAT_SECONDS)
        except queue.Empty:
            return None
        if isinstance(got, Exception):
            raise got
        return got

    def stop(self) -> None:
        """Cut the connection, so that the server stops writing."""
        self._stopped.set()
        self._cut()
        self._thread.join(_JOIN_SECONDS)

    def _cut(self) -> None:
        if self._socket is not None:
            with suppress(OSError):
                self._socket.shutdown(socket.SHUT_RDWR)

    def _run(self) -> None:
        try:
            with self._wire.own_client(self._seconds) as client:
                for answer in self._wire.parts(lambda: self._asked(client), self._model):
                    self._put(answer)
            self._put(_END)
        except _Left:
            return
        except Exception as error:  # noqa: BLE001 - raised again in the reader's thread
            with suppress(_Left):
                self._put(error)

    def _asked(self, client: ollama.Client) -> Iterator[ollama.ChatResponse]:
        import ollama

        try:
            # The package's own chat() drops what it does not know: truncate and shift.
            yield from client._request(
                ollama.ChatResponse,
                "POST",
                "/api/chat",
                stream=True,
                json=dict(self._body),
                extensions={"trace": self._traced},
            )
        except Exception as error:
            if self._stopped.is_set():
                raise _Left from error
            raise

    def _traced(self, event: str, info: Mapping[str, Any]) -> None:
        """Keep the connection's socket: closing it elsewhere would not wake who reads from it."""
        if event in ("connection.connect_tcp.complete", "connection.start_tls.complete"):
            self._socket = info["return_value"].get_extra_info("socket")
            if self._stopped.is_set():
                self._cut()

    def _put(self, value: object) -> None:
        while not self._stopped.is_set():
            with suppress(queue.Full):
                self._queue.put(value, timeout=BEAT_SECONDS)
                return
        raise _Left


class _Thoughts:
    """Tells thoughts from text where a model writes tags into its text."""

    def __init__(self) -> None:
        self._held = ""
        self._inside = False
        self._looked = False
        self._said = ""

    def parts(self, content: str, *, last: bool = False) -> Iterator[StreamPart]:
        """Yield the parts of a piece of content; what may become a tag is held back."""
        self._held += content
        if not (self._looked or self._look(last=last)):
            return
        if self._inside:
            if content:
                yield StreamPart(thinking=True)
            closing = _CLOSING.search(self._held)
            if closing is None:
                self._held = "" if last else self._held[-_LONGEST_TAG:]
                return
            self._held, self._inside = self._held[closing.end() :], False
        elif unannounced := _FIRST_CLOSING.search(self._said + self._held):
            self._held = (self._said + self._held)[unannounced.end() :]
            self._said = ""
            yield StreamPart(forget=True)
        if not self._said:
            self._held = self._held.lstrip()
        tag = -1 if last else self._held.rfind("<", max(0, len(self._held) - _LONGEST_TAG))
        shown = self._held if tag < 0 else self._held[:tag]
        self._held = self._held[len(shown) :]
        if shown:
            self._said = (self._said + shown)[-_LONGEST_TAG:]
            yield StreamPart(text=shown)

    def _look(self, *, last: bool) -> bool:
        """Look for a tag at the beginning; return whether there is enough of it to tell."""
        opening = _OPENING.match(self._held)
        if opening:
            self._held, self._inside = self._held[opening.end() :], True
        begun = self._held.lstrip()
        waits = not begun or (begun[0] == "<" and ">" not in begun and len(begun) < _LONGEST_TAG)
        self._looked = last or bool(opening) or not waits
        return self._looked
