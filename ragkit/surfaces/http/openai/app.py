"""The routes of OpenAI's API that ragkit answers: models, and chat completions."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from contextlib import aclosing
from typing import Any, TypeVar

from anyio import CancelScope, CapacityLimiter, to_thread
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Send

from ragkit.surfaces.http.openai.answering import Pieces, answer_of
from ragkit.surfaces.http.openai.errors import Problem, problem_of
from ragkit.surfaces.http.openai.requests import (
    LARGEST_BODY,
    PREFIX,
    WITH_LIST,
    RequestError,
    no_such_model,
    read_request,
)
from ragkit.surfaces.http.openai.wire import BEAT, Completion, as_bytes
from ragkit.surfaces.http.shared import NO_STORE, SharedLibrary

_AT_ONCE = 16
_BEAT_SECONDS = 10.0
_GONE = 499

_T = TypeVar("_T")


def application(library: SharedLibrary) -> ASGIApp:
    """Return the app to be mounted at ``/v1``."""
    door = _Door(library)
    routes = [
        Route("/models", door.answering(door.models)),
        Route("/models/{model:path}", door.answering(door.model)),
        Route("/chat/completions", door.answering(door.complete), methods=["POST"]),
    ]
    return Starlette(routes=routes, exception_handlers={HTTPException: _unknown})


def _unknown(_request: Request, error: Exception) -> Response:
    """Respond to a request for an unknown address, or with the wrong method."""
    status = error.status_code if isinstance(error, HTTPException) else 500
    what = "There is no such address" if status == 404 else "This address has no such method"
    routes = "GET /v1/models, GET /v1/models/MODEL and POST /v1/chat/completions."
    return _problem(Problem(status, f"{what}. ragkit answers {routes}"))


class _Door:
    """Handles requests, in threads of its own so that the pages keep theirs."""

    def __init__(self, library: SharedLibrary) -> None:
        self._library = library
        self._threads = CapacityLimiter(_AT_ONCE)

    def answering(
        self, endpoint: Callable[[Request], Awaitable[Response]]
    ) -> Callable[[Request], Awaitable[Response]]:
        """Return an endpoint that responds to errors in OpenAI's form."""

        async def answer(request: Request) -> Response:
            try:
                return await endpoint(request)
            except ClientDisconnect:
                return Response(status_code=_GONE)
            except Exception as error:  # noqa: BLE001 - told in words, and logged there
                return _problem(problem_of(error))

        return answer

    async def models(self, _request: Request) -> Response:
        """Return a model for each collection."""
        names = await self._run(lambda: self._library.get().collections.names())
        models = [_as_model(f"{PREFIX}{name}") for name in names]
        return _json({"object": "list", "data": models})

    async def model(self, request: Request) -> Response:
        """Return one model."""
        model = request.path_params["model"]
        prefix = next((start for start in (PREFIX, WITH_LIST) if model.startswith(start)), "")
        name = model.removeprefix(prefix)
        if not prefix or not await self._run(lambda: self._library.get().collections.has(name)):
            raise no_such_model()
        return _json(_as_model(model))

    async def complete(self, request: Request) -> Response:
        """Return an answer, as a whole or as a stream."""
        asked = read_request(await _body(request))
        base = f"{request.url.scheme}://{request.url.netloc}"
        pieces = await self._run(lambda: answer_of(self._library.get(), asked, base))
        completion = Completion(asked.model, asked.usage)
        if asked.stream:
            return _Events(self._streamed(completion, pieces))
        async with aclosing(self._read(pieces)) as read:
            async for piece in read:
                if await request.is_disconnected():
                    raise ClientDisconnect
                completion.add(piece)
        return _json(completion.whole())

    async def _streamed(self, completion: Completion, pieces: Pieces) -> AsyncGenerator[bytes]:
        """Yield the events of a stream; closing it stops the model."""
        yield completion.opening()
        sent_at = time.monotonic()
        try:
            async with aclosing(self._read(pieces)) as read:
                async for piece in read:
                    for chunk in completion.chunks(piece):
                        yield chunk
                        sent_at = time.monotonic()
                    if time.monotonic() - sent_at > _BEAT_SECONDS:
                        yield BEAT
                        sent_at = time.monotonic()
        except Exception as error:  # noqa: BLE001 - told in words, and logged there
            yield completion.broken(problem_of(error))

    async def _read(self, states: Generator[_T, None, None]) -> AsyncGenerator[_T]:
        """Read a generator in threads, and close it even if the reader is cancelled."""
        try:
            while (state := await self._run(lambda: next(states, None))) is not None:
                yield state
        finally:
            with CancelScope(shield=True):
                await self._run(states.close)

    async def _run(self, call: Callable[[], _T]) -> _T:
        return await to_thread.run_sync(call, limiter=self._threads)


class _Events(StreamingResponse):
    """A stream of events that is closed as soon as its client disconnects."""

    body_iterator: AsyncGenerator[bytes]

    def __init__(self, events: AsyncGenerator[bytes]) -> None:
        headers = {**NO_STORE, "X-Accel-Buffering": "no"}
        super().__init__(events, headers=headers, media_type="text/event-stream")

    async def stream_response(self, send: Send) -> None:
        """Send the events, then close them."""
        async with aclosing(self.body_iterator):
            await super().stream_response(send)


async def _body(request: Request) -> bytes:
    """Read the body of a request.

    Raises:
        RequestError: it is too large; the rest is not read.
    """
    body = bytearray()
    async for piece in request.stream():
        body += piece
        if len(body) > LARGEST_BODY:
            raise RequestError(
                f"The request has more than {LARGEST_BODY:,} bytes.",
                "Send fewer messages, or shorter ones.",
                "messages",
                status=413,
                code="request_too_large",
            )
    return bytes(body)


def _as_model(name: str) -> dict[str, Any]:
    # The time at which a collection was created is not known.
    return {"id": name, "object": "model", "created": 0, "owned_by": "ragkit"}


def _problem(problem: Problem) -> Response:
    return _json(problem.as_json(), problem.status)


def _json(value: object, status: int = 200) -> Response:
    return Response(as_bytes(value), status, NO_STORE, "application/json")
