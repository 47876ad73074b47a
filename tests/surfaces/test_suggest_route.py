"""Suggestions over HTTP: behind the guard, as JSON, and never in the way."""

from __future__ import annotations

import asyncio
import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from starlette.applications import Starlette
from starlette.middleware import Middleware
from support import note_searches

from ragkit.library import Library
from ragkit.settings import Settings
from ragkit.surfaces.http.api_token import ApiToken
from ragkit.surfaces.http.guard import Guard
from ragkit.surfaces.http.place import Place
from ragkit.surfaces.http.shared import SharedLibrary
from ragkit.surfaces.http.suggest import PATH, routes

PORT = 8599


def ask(library, query, **headers):
    """The status and the body of one request, through the guard."""
    guard = Middleware(Guard, place=Place(PORT), token=ApiToken(Path("no such file")))
    app = Starlette(routes=routes(library), middleware=[guard])
    sent = []

    async def send(message):
        sent.append(message)

    async def receive():
        return {"type": "http.request", "body": b"", "more_body": False}

    named = {
        "host": f"localhost:{PORT}",
        **{key.replace("_", "-"): v for key, v in headers.items()},
    }
    scope = {
        "type": "http", "method": "GET", "path": PATH, "raw_path": PATH.encode(),
        "query_string": query.encode(), "root_path": "", "scheme": "http", "http_version": "1.1",
        "headers": [(key.encode(), value.encode()) for key, value in named.items()],
    }  # fmt: skip
    # In a thread of its own: a browser that an earlier test opened runs a loop in this one.
    with ThreadPoolExecutor(1) as thread:
        thread.submit(asyncio.run, app(scope, receive, send)).result()
    body = b"".join(message.get("body", b"") for message in sent)
    return sent[0]["status"], body.decode()


def test_suggestions_are_answered_behind_the_guard(tmp_path):
    settings = Settings(library=tmp_path / "library", models={"embedder": "hash"})
    with Library.open(settings, create=True) as library:
        note_searches(library.searches, "lake oxygen")
        shared = SharedLibrary(settings)
        status, body = ask(shared, "q=la&cursor=2&collection=default")
        assert (status, [one["label"] for one in json.loads(body)]) == (200, ["lake oxygen"])
        assert ask(shared, "q=la&cursor=x")[0] == 200
        assert ask(shared, f"q=la&cursor={'9' * 5000}")[0] == 200
        assert ask(shared, "q=la", host="evil.example")[0] == 421
        assert ask(shared, "q=la", origin="http://evil.example")[0] == 403
        assert ask(shared, "q=la", sec_fetch_site="cross-site")[0] == 403
        assert "lake" not in ask(shared, "q=la", sec_fetch_site="cross-site")[1]


def test_a_library_that_cannot_be_read_suggests_nothing(tmp_path):
    assert ask(SharedLibrary(Settings(library=tmp_path / "gone")), "q=la") == (200, "[]")
