"""The guard in front of every request: pages, sockets, uploads, downloads and APIs.

A request must address this server (Host) and come from one of its own pages or from a program
(Origin, Sec-Fetch-Site). If the library is locked, it must have the cookie of a session. Requests
below ``DOORS`` need the library's token instead. Headers of every response forbid loading anything
from elsewhere and embedding the page.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qs

from ragkit.errors import FolderGoneError, LibraryError
from ragkit.surfaces.http.access import SESSION_SECONDS, Access
from ragkit.surfaces.http.api_token import ApiToken
from ragkit.surfaces.http.place import Place
from ragkit.surfaces.http.refusals import ENTRANCE, Body, Refusal, body_of, is_door, page
from ragkit.surfaces.http.sign_in import LONGEST_FORM, Attempts, signed_in

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

_READING = ("GET", "HEAD", "OPTIONS")
_LOCKED = Refusal(
    401,
    "This ragkit is locked.",
    "To get in, run `ragkit open` in a terminal of this machine, as the person whose library it"
    " is.",
    home="If you have just been let in:",
)
_SIGN_IN = Refusal(
    401,
    "For a code that works once, run `ragkit open` on the machine where ragkit runs.",
    "`ragkit token` shows the token, which works until it is replaced.",
    form=True,
)
_USED = Refusal(
    401,
    "This link has been used already, or is too old.",
    "Run `ragkit open` in a terminal for a new one.",
    home="If you used it yourself:",
)
_STRANGE = Refusal(403, "This request came from another page or program, and is refused.")
_WRONG = "That is not the token, or a code that still works."
_NO_TOKEN = Refusal(
    401,
    "Programs need the token of the library.",
    "`ragkit token` shows it; send it as `Authorization: Bearer TOKEN`.",
)
_GONE = Refusal(FolderGoneError.http_status, FolderGoneError().message, FolderGoneError().cure)


class Guard:
    """ASGI middleware that refuses requests that should not be served at ``place``.

    With ``access`` the library is locked: pages need a session. ``token`` admits programs.
    ``scripts`` are the CSP hashes of inline scripts.
    """

    def __init__(
        self,
        app: App,
        *,
        place: Place,
        token: ApiToken,
        access: Access | None = None,
        scripts: Iterable[str] = (),
    ) -> None:
        self._app = app
        self._place = place
        self._token = token
        self._access = access
        self._scripts = " ".join(scripts)
        self._attempts = Attempts()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer or refuse the request, or pass it to the app."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        headers = _gathered(scope)
        send = self._guarded(send, headers)
        refusal = wrong_address(headers, self._place)
        if refusal is None and is_door(scope["path"]):
            refusal = self._wrong_program(headers)
            scope = scope if self._place.reach else _unpacked(scope)
        elif refusal is None:
            entered = self._entered(headers)
            refusal = wrong_place(scope, headers, self._place, entered=entered)
            if refusal is None and self._access is not None and not entered:
                # Signing in would create the folder again.
                refusal = _GONE if self._token.is_lost() else None
            if refusal is None and scope["type"] == "http" and scope["path"] == ENTRANCE:
                await self._enter(scope, headers, receive, send)
                return
            if refusal is None and self._access is not None and not entered:
                refusal = _SIGN_IN if self._place.reach else _LOCKED
        if refusal is None:
            await self._app(scope, receive, send)
        else:
            await _refuse(scope, send, refusal)

    def _wrong_program(self, headers: dict[str, list[str]]) -> Refusal | None:
        """Return why a program's request is refused: it comes from a page, or lacks the token."""
        origins = headers.get("origin", [])
        if origins and not _is_own(origins, headers, self._place):
            return _STRANGE
        given = headers.get("authorization", [])
        scheme, _, token = given[0].partition(" ") if len(given) == 1 else ("", "", "")
        admitted = scheme.lower() == "bearer" and self._token.admits(token.strip())
        if admitted:
            return None
        return _GONE if self._token.is_lost() else _NO_TOKEN

    def _entered(self, headers: dict[str, list[str]]) -> bool:
        """Return whether the library is locked and this browser has a session."""
        if self._access is None:
            return False
        name = cookie_name(self._place.port)
        return any(self._access.admits(value) for value in _cookies(headers, name))

    async def _enter(
        self, scope: Scope, headers: dict[str, list[str]], receive: Receive, send: Send
    ) -> None:
        """Begin a session for a link, a code or the token, and lead on to the pages.

        It answers with a page instead of a redirect: a link opened from a terminal or a file
        counts as cross-site, and the browser would not send the new cookie.
        """
        if self._access is None:
            await _answer(send, 200, Body(page(Refusal(200, "Opening ragkit."), onward=True)))
            return
        try:
            if scope["method"] == "POST" and self._place.reach:
                session = await self._signed_in(scope, receive, self._access)
            else:
                session = await _by_link(scope, headers, self._access)
                session = _SIGN_IN if session is _USED and self._place.reach else session
        except LibraryError as error:
            session = Refusal(503, error.message, error.cure)
        if isinstance(session, Refusal):
            await _refuse(scope, send, session)
            return
        cookie = (
            f"{cookie_name(self._place.port)}={session}; Path=/; Max-Age={SESSION_SECONDS}; "
            "HttpOnly; SameSite=Strict"
        )
        body = Body(page(Refusal(200, "You are in."), onward=True))
        await _answer(send, 200, body, (b"set-cookie", cookie.encode()))

    async def _signed_in(self, scope: Scope, receive: Receive, access: Access) -> str | Refusal:
        """Return a new session if the submitted form has a code or the token."""
        address = (scope.get("client") or ("",))[0]
        if wait := self._attempts.wait(address):
            again = f"Try again in {wait} seconds."
            return Refusal(429, "Too many wrong codes.", again, form=True, wait=wait)
        form = await _form(receive)
        session = await asyncio.to_thread(signed_in, form, access, self._token)
        if session is not None:
            return session
        self._attempts.note(address)
        return Refusal(401, _WRONG, f"{_SIGN_IN.message} {_SIGN_IN.cure}", form=True)

    def _guarded(self, send: Send, headers: dict[str, list[str]]) -> Send:
        """Add the security headers to every response."""
        host = headers.get("host", [""])[0]
        added = _protection(host if self._place.answers_to(host) else "", self._scripts)
        names = {name for name, _ in added}

        async def guarded(message: MutableMapping[str, Any]) -> None:
            if message["type"] in ("http.response.start", "websocket.http.response.start"):
                kept = [pair for pair in message.get("headers", ()) if pair[0].lower() not in names]
                message = {**message, "headers": [*kept, *added]}
            await send(message)

        return guarded


def cookie_name(port: int) -> str:
    """Return the name of the cookie; it has the port, since the ports of a host share cookies."""
    return f"ragkit_{port}"


def wrong_address(headers: dict[str, list[str]], place: Place) -> Refusal | None:
    """Return a refusal if the Host header names another server."""
    hosts = headers.get("host", [])
    if len(hosts) == 1 and place.answers_to(hosts[0]):
        return None
    if place.reach:
        return Refusal(
            421,
            "ragkit does not answer to this name.",
            "Use the machine's address, or add the name to `server.names` in the settings.",
        )
    here = f"open `http://localhost:{place.port}`."
    return Refusal(421, "ragkit answers on this machine only:", here)


def wrong_place(
    scope: Scope, headers: dict[str, list[str]], place: Place, *, entered: bool
) -> Refusal | None:
    """Return a refusal if a request does not come from one of this server's own pages.

    Browsers send an Origin with sockets and with requests that change something. A program with a
    session (``entered``) may open a socket without one.
    """
    origins = headers.get("origin", [])
    if origins:
        return None if _is_own(origins, headers, place) else _STRANGE
    socket = scope["type"] == "websocket"
    if not socket and scope["method"] not in _READING:
        return _STRANGE
    if socket and not entered:
        return _STRANGE
    sites = headers.get("sec-fetch-site", ["none"])
    if sites in (["none"], ["same-origin"]):
        return None
    # A link or bookmark may lead here from anywhere, but no picture, script or frame.
    mode, target = headers.get("sec-fetch-mode"), headers.get("sec-fetch-dest")
    led_here = (mode, target) == (["navigate"], ["document"]) and scope["method"] == "GET"
    return None if led_here else _STRANGE


def _is_own(origins: list[str], headers: dict[str, list[str]], place: Place) -> bool:
    return len(origins) == 1 and place.is_own_origin(origins[0], headers["host"][0])


async def _by_link(scope: Scope, headers: dict[str, list[str]], access: Access) -> str | Refusal:
    """Redeem a link; return the session that it begins."""
    # Prefetching must not use up the link.
    ahead = scope["method"] != "GET" or "prefetch" in " ".join(headers.get("sec-purpose", ()))
    token = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])[0]
    session = None if ahead else await asyncio.to_thread(access.enter, token)
    return _USED if session is None else session


async def _form(receive: Receive) -> bytes:
    """Return the body of a request, or nothing if it is too long for a form."""
    form, more = b"", True
    while more and len(form) <= LONGEST_FORM:
        message = await receive()
        form += message.get("body", b"")
        more = message.get("more_body", False)
    return form if len(form) <= LONGEST_FORM else b""


def _unpacked(scope: Scope) -> Scope:
    """Return the request without Accept-Encoding.

    On one machine, compressing an answer takes longer than all the rest of sending it.
    """
    kept = [pair for pair in scope["headers"] if pair[0].lower() != b"accept-encoding"]
    return {**scope, "headers": kept}


def _gathered(scope: Scope) -> dict[str, list[str]]:
    """Return the values of each header by its lower-case name."""
    values: dict[str, list[str]] = {}
    for name, value in scope["headers"]:
        values.setdefault(name.decode("latin-1").lower(), []).append(
            value.decode("latin-1").strip()
        )
    return values


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
    """Return the security headers of every response."""
    # Streamlit needs inline styles, and creates the scripts of components as blobs.
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
    """Respond with a refusal; a socket is not opened."""
    body = body_of(refusal, scope["path"])
    more = [(b"www-authenticate", b"Bearer")] if refusal is _NO_TOKEN else []
    more += [(b"retry-after", str(refusal.wait).encode())] if refusal.wait else []
    if scope["type"] == "http":
        await _answer(send, refusal.status, body, *more)
    elif "websocket.http.response" in scope.get("extensions", {}):
        await _answer(send, refusal.status, body, *more, kind="websocket.http.response")
    else:
        await send({"type": "websocket.close", "code": 1008})


async def _answer(
    send: Send, status: int, body: Body, *more: tuple[bytes, bytes], kind: str = "http.response"
) -> None:
    headers = [
        (b"content-type", body.kind.encode()),
        (b"content-length", str(len(body.content)).encode()),
        (b"cache-control", b"no-store"),
        *more,
    ]
    await send({"type": f"{kind}.start", "status": status, "headers": headers})
    await send({"type": f"{kind}.body", "body": body.content})
