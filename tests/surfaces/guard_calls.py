"""Requests as a guard gets them, and what it answers."""

from __future__ import annotations

from support import run_async


async def app(scope, receive, send):
    if scope["type"] == "websocket":
        await send({"type": "websocket.accept"})
        return
    headers = [(b"content-type", b"text/plain"), (b"X-Frame-Options", b"SAMEORIGIN")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": b"inside"})


def ask(
    guard,
    *,
    method="GET",
    path="/",
    query="",
    kind="http",
    headers=(),
    body=b"",
    client="",
    **named,
):
    """What a guard sends: each message in turn. Named headers have one value."""
    given = [*headers, *((name.replace("_", "-"), value) for name, value in named.items())]
    scope = {
        "type": kind,
        "path": path,
        "query_string": query.encode(),
        "headers": [(name.encode(), value.encode()) for name, value in given],
        "extensions": {"websocket.http.response": {}},
        "client": (client, 50_000),
    }
    if kind == "http":
        scope["method"] = method
    sent = []

    async def send(message):
        sent.append(message)

    async def receive():
        return {"type": "http.request", "body": body, "more_body": False}

    run_async(guard(scope, receive, send))
    return sent


def status(sent):
    """The status of an answer; 101 for a socket that was opened."""
    return 101 if sent[0]["type"] == "websocket.accept" else sent[0]["status"]


def said(sent, name):
    return [
        value.decode() for key, value in sent[0]["headers"] if key.lower() == name.encode().lower()
    ]
