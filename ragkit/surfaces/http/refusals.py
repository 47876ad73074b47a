"""Responses to refused requests: a small page for people, JSON for programs."""

from __future__ import annotations

import html
import json
import re
from dataclasses import dataclass
from http import HTTPStatus

from ragkit.surfaces.http.problems import MEDIA_TYPE, as_problem

ENTRANCE = "/_ragkit/enter"
"""The path of one-time links (``?token=SECRET``) and of signing in."""

DOORS = ("/api", "/v1", "/mcp")
"""The paths of APIs: requests below them need the token."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a request is refused, in sentences with `` `code` ``.

    ``home`` introduces a link to the pages, ``form`` adds a form to sign in, and ``wait`` is the
    number of seconds after which to try again.
    """

    status: int
    message: str
    cure: str = ""
    home: str = ""
    form: bool = False
    wait: int = 0


@dataclass(frozen=True, slots=True)
class Body:
    """The body of a response, with its media type."""

    content: bytes
    kind: str = "text/html; charset=utf-8"


def is_door(path: str) -> bool:
    """Return whether a path belongs to an API."""
    return any(path == door or path.startswith(f"{door}/") for door in DOORS)


def body_of(refusal: Refusal, path: str) -> Body:
    """Return a refusal in the form that clients of ``path`` expect."""
    if not is_door(path):
        return Body(page(refusal))
    text = " ".join(filter(None, (refusal.message, refusal.cure)))
    if path.startswith("/v1"):
        # The form of OpenAI's own errors, which its clients read.
        code = "invalid_api_key" if refusal.status == HTTPStatus.UNAUTHORIZED else None
        kind = "server_error" if refusal.status >= 500 else "invalid_request_error"
        error = {"message": text, "type": kind, "param": None, "code": code}
        return Body(json.dumps({"error": error}).encode(), "application/json")
    value = as_problem(refusal.status, refusal.message, refusal.cure)
    return Body(json.dumps(value).encode(), MEDIA_TYPE)


def page(refusal: Refusal, *, onward: bool = False) -> bytes:
    """Return a refusal as an HTML page; with ``onward`` it redirects to the app."""
    lead = '<meta http-equiv="refresh" content="0; url=/">' if onward else ""
    text = _as_html(" ".join(filter(None, (refusal.message, refusal.cure))))
    if refusal.home:
        text += f' {_as_html(refusal.home)} <a href="/">open ragkit</a>.'
    form = _FORM if refusal.form else ""
    # Under the referrer policy of all other pages, browsers would submit the form without Origin.
    lead += '<meta name="referrer" content="same-origin">' if refusal.form else ""
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>ragkit</title>'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">{lead}'
        f"<style>{_STYLE}</style></head><body><main><h1>ragkit</h1>{form}<p>{text}</p></main>"
        "</body></html>\n"
    ).encode()


def _as_html(sentence: str) -> str:
    return re.sub(r"`([^`]*)`", r"<code>\1</code>", html.escape(sentence))


_FORM = (
    f'<form method="post" action="{ENTRANCE}"><label for="secret">Code or token</label>'
    '<div><input id="secret" name="secret" type="password" required autofocus maxlength="200" '
    'autocomplete="current-password" autocapitalize="none" spellcheck="false">'
    "<button>Sign in</button></div></form>"
)
_STYLE = (
    "body{font:1.05rem/1.6 system-ui,sans-serif;max-width:36rem;margin:18vh auto;"
    "padding:0 1.5rem;color:#22252a;background:#fcfbf8}a{color:#0b665f}"
    "code{background:#f3f1ea;padding:.1em .35em;border-radius:.3em}"
    "label{display:block;font-weight:600;margin-bottom:.3rem}form div{display:flex;gap:.6rem}"
    "form{margin:0 0 1.5rem}input,button{font:inherit;padding:.5rem .8rem;border-radius:.4rem;"
    "border:1px solid #8a8d91;min-width:0}input{flex:1;background:#fff;color:inherit}"
    "button{background:#0b665f;border-color:#0b665f;color:#fff;cursor:pointer;white-space:nowrap}"
    "input:focus-visible,button:focus-visible{outline:3px solid #2f9c92;outline-offset:2px}"
    "@media(prefers-color-scheme:dark){body{color:#e7e4dc;background:#16181b}a{color:#7ccbc2}"
    "code{background:#1f2226}input{background:#1f2226}button{background:#7ccbc2;"
    "border-color:#7ccbc2;color:#10201e}}"
)
