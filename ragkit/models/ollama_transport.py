"""The transport to Ollama: an answer that never ends is given up."""

from __future__ import annotations

import ssl
import time
from collections.abc import Iterator
from functools import cache
from typing import cast

import httpx

MOST_BYTES = 256 * 1024 * 1024
"""The longest answer that is read; a batch of vectors takes a few megabytes."""

_STREAMS = "application/x-ndjson"


class BoundedTransport(httpx.HTTPTransport):
    """Limits whole answers in time and size, where httpx limits only the wait for each part.

    The time is the request's read timeout. A part that comes after it is still taken, since it
    may be the last: a machine that slept gets what had arrived. Streams, which a reader follows
    part by part and may leave, are not limited in time.
    """

    def __init__(self, url: str) -> None:
        """Keep what connections to an address need; nothing is connected yet."""
        super().__init__(verify=_encryption(httpx.URL(url).scheme == "https"), trust_env=False)

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


@cache
def _encryption(is_used: bool) -> ssl.SSLContext:
    """Return a context with the certificates that are trusted; none if no connection needs them.

    They are read once: that takes as long as several searches.
    """
    if is_used:
        return httpx.create_ssl_context(trust_env=False)
    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


class _BoundedStream(httpx.SyncByteStream):
    def __init__(
        self, parts: httpx.SyncByteStream, until: float | None, request: httpx.Request
    ) -> None:
        self._parts = parts
        self._until = until
        self._request = request

    def __iter__(self) -> Iterator[bytes]:
        size = late = 0
        for part in self._parts:
            size += len(part)
            if size > MOST_BYTES:
                raise ValueError(f"it is longer than {MOST_BYTES // 1024**2} MB")
            late += self._until is not None and time.monotonic() > self._until
            if late > 1:
                raise httpx.ReadTimeout("the answer did not end in time", request=self._request)
            yield part

    def close(self) -> None:
        self._parts.close()
