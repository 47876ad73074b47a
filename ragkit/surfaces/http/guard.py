"""What stands in front of every page, socket, upload and download.

A request must be meant for this server (its Host), come from one of its own pages (its Origin, and
what the browser says of the site) and, when the library is locked, from a browser that was let in.
Every answer tells the browser to load nothing from elsewhere and to be shown in no other page.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from dataclasses import dataclass
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qs

from ragkit.errors import LibraryError
from ragkit.surfaces.http.access import SESSION_SECONDS, Access

ENTRANCE = "/_ragkit/enter"
"""The path of one-time links; the secret is their ``token``."""

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

_READING = ("GET", "HEAD", "OPTIONS")
_LOCKED = (
    "This ragkit is locked. To get in, run <code>ragkit open</code> in a terminal of this machine, "
    'as the person whose library it is. If you have just been let in: <a href="/">open ragkit</a>.'
)
_USED = (
    "This link has been used already, or is too old. Run <code>ragkit open</code> in a terminal "
    'for a new one. If you used it yourself: <a href="/">open ragkit</a>.'
)


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a request is not answered: a status and a sentence, in HTML."""

    status: int
    sentence: str


class Guard:
    """ASGI middleware that refuses whoever is not meant to be served on ``port``.

    With ``access`` the library is locked. ``scripts`` are the CSP hashes of scripts inside pages.
    """

    def __init__(
        self, app: App, *, port: int, access: Access | None = None, scripts: Iterable[str] = ()
    ) -> None:
        self._app = app
        self._port = port
        self._access = access
        self._scripts = " ".join(scripts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, refuse, or hand over to the app."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        headers = _gathered(scope)
        send = self._guarded(send, headers)
        entered = self._entered(headers)
        refusal = wrong_address(headers, self._port) or wrong_place(scope, headers, entered)
        if refusal is None and scope["type"] == "http" and scope["path"] == ENTRANCE:
            await self._enter(scope, headers, send)
            return
        if refusal is None and self._access is not None and not entered:
            refusal = Refusal(401, _LOCKED)
        if refusal is None:
            await self._app(scope, receive, send)
        else:
            await _refuse(scope, send, refusal)

    def _entered(self, headers: dict[str, list[str]]) -> bool:
        """True when a locked library has let this browser in."""
        if self._access is None:
            return False
        name = cookie_name(self._port)
        return any(self._access.admits(value) for value in _cookies(headers, name))

    async def _enter(self, scope: Scope, headers: dict[str, list[str]], send: Send) -> None:
        """Let the bearer of a link in, once, and leave its address.

        A page that leads on, instead of a redirect: from a terminal or a file, that counts as
        coming from elsewhere, and the browser would keep the cookie to itself.
        """
        if self._access is None:
            await _answer(send, 200, _page("Opening ragkit.", onward=True))
            return
        # A browser that fetches an address in advance does not use the link.
        ahead = scope["method"] != "GET" or "prefetch" in " ".join(headers.get("sec-purpose", ()))
        token = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])[0]
        try:
            session = None if ahead else await asyncio.to_thread(self._access.enter, token)
        except LibraryError as error:
            await _refuse(scope, send, Refusal(503, _escaped(str(error))))
            return
        if session is None:
            await _refuse(scope, send, Refusal(401, _USED))
            return
        cookie = (
            f"{cookie_name(self._port)}={session}; Path=/; Max-Age={SESSION_SECONDS}; "
            "HttpOnly; SameSite=Strict"
        )
        page = _page("You are in.", onward=True)
        await _answer(send, 200, page, (b"set-cookie", cookie.encode()))

    def _guarded(self, send: Send, headers: dict[str, list[str]]) -> Send:
        """Add what browsers must know to every answer."""
        host = headers.get("host", [""])[0]
        added = _protection(host if _is_here(host, self._port) else "", self._scripts)
        names = {name for name, _ in added}

        async def guarded(message: MutableMapping[str, Any]) -> None:
            if message["type"] in ("http.response.start", "websocket.http.response.start"):
                kept = [pair for pair in message.get("headers", ()) if pair[0].lower() not in names]
                message = {**message, "headers": [*kept, *added]}
            await send(message)

        return guarded


def cookie_name(port: int) -> str:
    """Return the name of a server's cookie: browsers share cookies between the ports of a host."""
    return f"ragkit_{port}"


def wrong_address(headers: dict[str, list[str]], port: int) -> Refusal | None:
    """Return why a request was not meant for this server, going by its Host header."""
    hosts = headers.get("host", [])
    if len(hosts) == 1 and _is_here(hosts[0], port):
        return None
    return Refusal(
        421, f"ragkit answers on this machine only: open <code>http://localhost:{port}</code>."
    )


def wrong_place(scope: Scope, headers: dict[str, list[str]], entered: bool) -> Refusal | None:
    """Return why a request does not come from one of this server's own pages.

    Browsers send an Origin with every socket and whatever changes something. A program that was
    let in (``entered``) may open a socket without one.
    """
    strange = Refusal(403, "This was asked from another page or program, and is refused.")
    origins = headers.get("origin", [])
    if origins:
        own = f"http://{headers['host'][0]}".lower()
        return None if [origin.lower() for origin in origins] == [own] else strange
    socket = scope["type"] == "websocket"
    if not socket and scope["method"] not in _READING:
        return strange
    if socket and not entered:
        return strange
    sites = headers.get("sec-fetch-site", ["none"])
    if sites in (["none"], ["same-origin"]):
        return None
    # A link or a bookmark may lead here from anywhere; a picture, a script or a frame may not.
    mode, target = headers.get("sec-fetch-mode"), headers.get("sec-fetch-dest")
    led_here = (mode, target) == (["navigate"], ["document"]) and scope["method"] == "GET"
    return None if led_here else strange


def _is_here(host: str, port: int) -> bool:
    return host.lower() in {f"{name}:{port}" for name in ("localhost", "127.0.0.1", "[::1]")}


def _gathered(scope: Scope) -> dict[str, list[str]]:
    """Return all values of each header, by its name in small letters."""
    found: dict[str, list[str]] = {}
    for name, value in scope["headers"]:
        found.setdefault(name.decode("latin-1").lower(), []).append(value.decode("latin-1").strip())
    return found


def _cookies(headers: dict[str, list[str]], name: str) -> list[str]:
    values = []
    for header in headers.get("cookie", ()):
        for part in header.split(";"):
            try:
                morsel = SimpleCookie(part).get(name)
            except CookieError:
                continue
            values += [morsel.value] if morsel else []
    return values


def _protection(host: str, scripts: str) -> list[tuple[bytes, bytes]]:
    """Return the headers of every answer."""
    # Streamlit writes styles into the page, and makes scripts of components up as blobs.
    policy = "; ".join(
        (
            "default-src 'self'",
            f"script-src 'self' blob: {scripts}".rstrip(),
            "style-src 'self' 'unsafe-inline'",
            "img-src 'self' data: blob:",
            "font-src 'self' data:",
            f"connect-src 'self' {f'ws://{host}' if host else ''}".rstrip(),
            "frame-ancestors 'none'",
            "object-src 'none'",
            "base-uri 'self'",
            "form-action 'self'",
        )
    )
    headers = {
        "content-security-policy": policy,
        "x-frame-options": "DENY",
        "x-content-type-options": "nosniff",
        "referrer-policy": "no-referrer",
        "cross-origin-opener-policy": "same-origin",
        "cross-origin-resource-policy": "same-origin",
    }
    return [(name.encode(), value.encode("latin-1")) for name, value in headers.items()]


async def _refuse(scope: Scope, send: Send, refusal: Refusal) -> None:
    """Answer with a small page; a socket is not opened."""
    if scope["type"] == "http":
        await _answer(send, refusal.status, _page(refusal.sentence))
    elif "websocket.http.response" in scope.get("extensions", {}):
        await _answer(send, refusal.status, _page(refusal.sentence), kind="websocket.http.response")
    else:
        await send({"type": "websocket.close", "code": 1008})


async def _answer(
    send: Send, status: int, page: bytes, *more: tuple[bytes, bytes], kind: str = "http.response"
) -> None:
    headers = [
        (b"content-type", b"text/html; charset=utf-8"),
        (b"content-length", str(len(page)).encode()),
        (b"cache-control", b"no-store"),
        *more,
    ]
    await send({"type": f"{kind}.start", "status": status, "headers": headers})
    await send({"type": f"{kind}.body", "body": page})


def _page(sentence: str, *, onward: bool = False) -> bytes:
    lead = '<meta http-equiv="refresh" content="0; url=/">' if onward else ""
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>ragkit</title>{lead}'
        "<style>body{font:1.05rem/1.6 system-ui,sans-serif;max-width:36rem;margin:18vh auto;"
        "padding:0 1.5rem;color:#22252a;background:#fcfbf8}a{color:#0b665f}"
        "code{background:#f3f1ea;padding:.1em .35em;border-radius:.3em}"
        "@media(prefers-color-scheme:dark){body{color:#e7e4dc;background:#16181b}a{color:#7ccbc2}"
        f"code{{background:#1f2226}}}}</style></head><body><h1>ragkit</h1><p>{sentence}</p></body>"
        "</html>\n"
    ).encode()


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
