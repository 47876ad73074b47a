"""The transport to Ollama: an answer that never ends is given up."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import cast

import httpx

MOST_BYTES = 256 * 1024 * 1024
"""The longest answer that is read; a batch of vectors takes a few megabytes."""

_STREAMS = "application/x-ndjson"


class BoundedTransport(httpx.HTTPTransport):
    """Limits whole answers in time and size, where httpx limits only the wait for each part.

    The time is the request's read timeout. Streams, which a reader follows part by part and may
    leave, are not limited in time.
    """

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request; reading its answer may raise ``httpx.ReadTimeout`` or ValueError."""
        seconds = request.extensions.get("timeout", {}).get("read")
        until = None if seconds is None else time.monotonic() + seconds
        response = super().handle_request(request)
        if response.headers.get("content-type", "").startswith(_STREAMS):
            until = None
        parts = cast(httpx.SyncByteStream, response.stream)
        response.stream = _BoundedStream(parts, until, request)
        return response


class _BoundedStream(httpx.SyncByteStream):
    def __init__(
        self, parts: httpx.SyncByteStream, until: float | None, request: httpx.Request
    ) -> None:
        self._parts = parts
        self._until = until
        self._request = request

    def __iter__(self) -> Iterator[bytes]:
        size = 0
        for part in self._parts:
            size += len(part)
            if size > MOST_BYTES:
                raise ValueError(f"it is longer than {MOST_BYTES // 1024**2} MB")
            if self._until is not None and time.monotonic() > self._until:
                raise httpx.ReadTimeout("the answer did not end in time", request=self._request)
            yield part

    def close(self) -> None:
        self._parts.close()
