"""Puts the app's styles and scripts into the HTML page itself, so that nothing jumps.

As elements of the app they would arrive after others were drawn, and again with every run.
"""

from __future__ import annotations

from collections.abc import MutableMapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

SCRIPT = '<script>window.__streamlit={BACKEND_BASE_URL:location.origin+"/"}</script>'
"""Tells Streamlit the server's address; otherwise it first looks below the page's own address."""

_END = b"</body>"
_OWN_COPY = {b"if-none-match", b"if-modified-since", b"accept-encoding", b"range"}
_OF_THE_FILE = {b"content-length", b"etag", b"last-modified"}


def read_styles(pages: Path) -> str:
    """Return all CSS below a folder: the theme first, then by path."""
    files = sorted(pages.rglob("*.css"), key=lambda file: (file.stem != "theme", file.as_posix()))
    return "\n".join(file.read_text("utf-8") for file in files)


def read_scripts(pages: Path) -> str:
    """Return ``SCRIPT`` and the page scripts below a folder (``*.page.js``) as HTML.

    Each script has its own scope, and runs once, before the app starts.
    """
    files = sorted(pages.rglob("*.page.js"), key=lambda file: file.as_posix())
    own = "".join(f"(() => {{\n{file.read_text('utf-8')}}})();\n" for file in files)
    return f"{SCRIPT}<script>{own}</script>" if own else SCRIPT


class PageStyle:
    """ASGI middleware that appends the styles and scripts to each page, after Streamlit's own."""

    def __init__(self, app: ASGIApp, styles: str, scripts: str = SCRIPT) -> None:
        self._app = app
        self._styles = f"<style>{styles}</style>{scripts}".encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request to the app; hold a page until it is complete, then add the styles."""
        if scope["type"] != "http" or not _wants_page(scope):
            await self._app(scope, receive, send)
            return
        # Always get the whole page: the browser's copy may have other styles.
        kept = [pair for pair in scope["headers"] if pair[0].lower() not in _OWN_COPY]
        await self._app({**scope, "headers": kept}, receive, self._styled(send))

    def _styled(self, send: Send) -> Send:
        start: MutableMapping[str, Any] = {}
        body = bytearray()

        async def styled(message: MutableMapping[str, Any]) -> None:
            nonlocal start
            if message["type"] == "http.response.start" and _is_page(message):
                start = message
                return
            if not start or message["type"] != "http.response.body":
                await send(message)
                return
            body.extend(message.get("body", b""))
            if message.get("more_body"):
                return
            page = bytes(body).replace(_END, self._styles + _END, 1)
            kept = [pair for pair in start["headers"] if pair[0].lower() not in _OF_THE_FILE]
            length = (b"content-length", str(len(page)).encode())
            await send({**start, "headers": [*kept, length]})
            await send({"type": "http.response.body", "body": page})

        return styled


def _wants_page(scope: Scope) -> bool:
    accepted = b",".join(value for name, value in scope["headers"] if name.lower() == b"accept")
    return scope["method"] == "GET" and b"text/html" in accepted


def _is_page(message: MutableMapping[str, Any]) -> bool:
    kinds = [value for name, value in message["headers"] if name.lower() == b"content-type"]
    return message["status"] == 200 and any(kind.startswith(b"text/html") for kind in kinds)
