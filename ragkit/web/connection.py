"""Sends requests to a search service: only to checked addresses, within limits of size and time.

It uses httpcore, on which httpx is built: addresses can be checked at the moment of connecting, and
it reads no environment, follows no redirects, decompresses nothing, and does not log addresses,
which contain the words, as httpx does.
"""

from __future__ import annotations

import queue
import re
import socket
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urljoin, urlsplit

import httpcore

from ragkit.errors import RagkitError, WebError
from ragkit.formatting import byte_size
from ragkit.web.addresses import PORTS, ServiceAddress, ascii_host, is_own, is_public

MOST_BYTES = 2_000_000
"""The largest answer that is read; twenty results take about 20 kB."""

MOST_REDIRECTS = 3

Resolver = Callable[..., Iterable[tuple[Any, ...]]]
"""A function like ``socket.getaddrinfo``."""

# Parts of system errors that mean nothing to people.
_SYSTEM = re.compile(r"\[[^\]]*\] | \(_ssl\.c:\d+\)")
_MOVED = frozenset((301, 302, 303, 307, 308))
_SAME_METHOD = frozenset((307, 308))


@dataclass(frozen=True, slots=True)
class WebRequest:
    """A request. ``target`` is path and query; ``headers`` may contain a key. Never logged."""

    method: str
    target: str
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    body: bytes = field(default=b"", repr=False)


@dataclass(frozen=True, slots=True)
class WebReply:
    """A reply; ``content_type`` has no parameters."""

    status: int
    content_type: str
    body: bytes


class PublicOnly(httpcore.SyncBackend):
    """Connects only to addresses of the public internet.

    A name is looked up once, and its checked addresses are used: a second look-up might return
    others. ``own`` is one (host, port) that must be on this machine or a private network instead.
    After ``until``, a monotonic time, it no longer connects.
    """

    def __init__(self, own: tuple[str, int] | None, resolve: Resolver, until: float) -> None:
        self._own = own
        self._resolve = resolve
        self._until = until

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        """Connect to the first of a host's addresses that answers.

        Raises:
            WebError: the host has a forbidden address.
            httpcore.ConnectError: the host has no address, or none answers.
        """
        expected = is_own if (host, port) == self._own else is_public
        try:
            addresses = [
                str(info[4][0]) for info in self._resolve(host, port, type=socket.SOCK_STREAM)
            ]
        except (OSError, UnicodeError) as error:
            raise httpcore.ConnectError("there is no such host") from error
        if not addresses:
            raise httpcore.ConnectError("there is no such host")
        if not all(map(expected, addresses)):
            raise _refused(host, own=expected is is_own)
        if time.monotonic() > self._until:
            raise httpcore.ConnectTimeout("looking up the name took too long")
        for address in addresses[:-1]:
            try:
                return super().connect_tcp(address, port, timeout, local_address, socket_options)
            except (httpcore.ConnectError, httpcore.ConnectTimeout):
                continue
        return super().connect_tcp(addresses[-1], port, timeout, local_address, socket_options)

    def connect_unix_socket(self, *_: Any, **__: Any) -> httpcore.NetworkStream:
        """Refuse: services are not reached through a Unix socket."""
        raise httpcore.ConnectError("Unix sockets are not supported")


class WebConnection:
    """Sends requests to one service. Safe to share between threads; keeps nothing open."""

    def __init__(
        self,
        address: ServiceAddress,
        seconds: float,
        *,
        most_bytes: int = MOST_BYTES,
        resolve: Resolver = socket.getaddrinfo,
    ) -> None:
        """Store the address and the limits without connecting."""
        self.address = address
        self._seconds = seconds
        self._most_bytes = most_bytes
        self._resolve = resolve

    def send(self, request: WebRequest) -> WebReply:
        """Send one request and return its reply, within the time limit.

        Redirects are followed only within the same host; words are never sent to another host.

        Raises:
            WebError: there is no reply, or it is refused.
        """
        replies: queue.SimpleQueue[WebReply | Exception] = queue.SimpleQueue()
        until = time.monotonic() + self._seconds
        own = (self.address.host, self.address.port) if self.address.is_own else None
        backend = PublicOnly(own, self._resolve, until)
        with httpcore.ConnectionPool(network_backend=backend) as pool:

            def call() -> None:
                try:
                    replies.put(self._follow(pool, request, until))
                except Exception as error:  # noqa: BLE001 - raised in the waiting thread
                    replies.put(error)

            # Looking up a name has no time limit, and a server may answer very slowly.
            threading.Thread(target=call, name="ragkit-web", daemon=True).start()
            try:
                reply = replies.get(timeout=self._seconds)
            except queue.Empty:
                raise self._late() from None
        if isinstance(reply, WebReply):
            return reply
        named = self._named(reply)
        raise named from (None if named is reply else reply)

    def _follow(self, pool: httpcore.ConnectionPool, request: WebRequest, until: float) -> WebReply:
        at, target = self.address, request.target
        for _ in range(MOST_REDIRECTS + 1):
            with pool.stream(
                request.method,
                httpcore.URL(scheme=at.scheme, host=at.host, port=at.port, target=target),
                headers=[
                    ("Host", at.shown), ("User-Agent", "ragkit"), ("Accept", "application/json"),
                    ("Accept-Encoding", "identity"), ("Connection", "close"),
                    *request.headers.items(),
                ],
                content=request.body or None,
                extensions={
                    "timeout": dict.fromkeys(("connect", "read", "write", "pool"), self._seconds)
                },
            ) as response:  # fmt: skip
                headers = {
                    name.decode("latin-1").lower(): value.decode("latin-1")
                    for name, value in response.headers
                }
                if response.status in _MOVED and headers.get("location"):
                    if request.method != "GET" and response.status not in _SAME_METHOD:
                        raise self._moved(headers["location"])
                    at, target = self._redirected(at, target, headers["location"])
                    continue
                body = self._read(response, headers, until)
                kind = headers.get("content-type", "").partition(";")[0].strip().lower()
                return WebReply(response.status, kind, body)
        raise WebError(f"{self.address.shown} redirects more than {MOST_REDIRECTS} times.")

    def _read(self, response: httpcore.Response, headers: Mapping[str, str], until: float) -> bytes:
        """Return the body; refuse a compressed one, which was not requested."""
        packed = headers.get("content-encoding", "identity").strip().lower()
        if packed != "identity":
            raise WebError(
                f"{self.address.shown} sent a compressed answer ({packed[:20]!a}), which was not "
                "requested; it was not read.",
                "Check whether a proxy is between ragkit and the service.",
            )
        parts, size = [], 0
        for part in response.iter_stream():
            size += len(part)
            if size > self._most_bytes:
                raise WebError(
                    f"{self.address.shown} sent more than {byte_size(self._most_bytes)}; "
                    "the rest was not read."
                )
            if time.monotonic() > until:
                raise self._late()
            parts.append(part)
        return b"".join(parts)

    def _redirected(
        self, at: ServiceAddress, target: str, location: str
    ) -> tuple[ServiceAddress, str]:
        """Return the target of a redirect, which must stay on the host and keep encryption."""
        try:
            parts = urlsplit(urljoin(f"{at.scheme}://{at.shown}{target}", location))
            host, port = ascii_host(parts.hostname or ""), parts.port
        except ValueError:
            raise self._moved(location) from None
        allowed = {at.scheme, "https"}
        if parts.scheme not in allowed or host != self.address.host or "@" in parts.netloc:
            raise self._moved(location)
        query = f"?{parts.query}" if parts.query else ""
        return (
            ServiceAddress(parts.scheme, host, port or PORTS[parts.scheme]),
            f"{parts.path or '/'}{query}",
        )

    def _moved(self, location: str) -> WebError:
        try:
            other = urlsplit(location).hostname or "another address"
        except ValueError:
            other = "another address"
        return WebError(
            f"{self.address.shown} passes the request on to {other[:80]!a}; nothing was sent "
            "there.",
            "If you trust it, set url under [web] in the settings.",
        )

    def _late(self) -> WebError:
        return WebError(
            f"{self.address.shown} did not answer within {self._seconds:g} s.",
            "Try again, or raise seconds under [web] in the settings.",
        )

    def _named(self, error: Exception) -> Exception:
        """Return a ``WebError`` for connection errors; other errors as they are."""
        where = self.address.shown
        if isinstance(error, RagkitError):
            return error
        if isinstance(error, httpcore.TimeoutException):
            return self._late()
        if isinstance(error, httpcore.ConnectError):
            return WebError(
                f"{where} cannot be reached: {_SYSTEM.sub('', str(error))[:200]}.",
                "Check url under [web] in the settings, and whether the service runs.",
            )
        if isinstance(error, httpcore.NetworkError | httpcore.ProtocolError | ValueError):
            return WebError(
                f"The connection to {where} broke, or what answers there is no web server.",
                "Try again, and check url under [web] in the settings.",
            )
        return error


def _refused(host: str, *, own: bool) -> WebError:
    if own:
        return WebError(
            f"{host} does not lead to this machine or your own network; nothing was sent.",
            "Write its address itself, or https:// and its full name, in url under [web].",
        )
    return WebError(
        f"{host} does not lead to the public internet; nothing was sent.",
        "For a service of your own, write its address itself in url under [web], such as "
        "http://192.168.1.5:8888.",
    )
