"""The search services: their requests, and the meaning of their answers."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from ragkit.errors import WebError
from ragkit.settings import WebSettings
from ragkit.web.addresses import ServiceAddress
from ragkit.web.connection import WebConnection, WebReply, WebRequest
from ragkit.web.reading import plain

_MOST_KEY = 200


@dataclass(frozen=True, slots=True)
class Found:
    """The answer of a service: its results as decoded JSON, and sentences for people."""

    items: tuple[Mapping[str, Any], ...]
    notices: tuple[str, ...] = ()


def ask(settings: WebSettings, connection: WebConnection, words: str) -> Found:
    """Send words, and the number of results wanted, to the service of the settings.

    Raises:
        WebError: there is no answer, or it is not a list of results.
    """
    where = connection.address
    if settings.engine == "tavily":
        key = _checked_key(settings)
        reply = connection.send(_tavily(where, words, settings.results, key))
        return _found(where, reply, _TAVILY_REFUSALS)
    reply = connection.send(_searxng(where, words))
    return _found(where, reply, _SEARXNG_REFUSALS)


def _searxng(where: ServiceAddress, words: str) -> WebRequest:
    query = urlencode({"q": words, "format": "json"})
    return WebRequest("GET", f"{where.path}/search?{query}")


def _tavily(where: ServiceAddress, words: str, results: int, key: str) -> WebRequest:
    body = {
        "query": words,
        # Some will be left out: known pages and further pages of a site.
        "max_results": min(2 * results, 20),
        "search_depth": "basic",
        "include_answer": False,
        "include_raw_content": False,
        "include_images": False,
    }
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
    return WebRequest("POST", f"{where.path}/search", headers, json.dumps(body).encode())


def _checked_key(settings: WebSettings) -> str:
    key = settings.key.get_secret_value().strip()
    cure = "Set key under [web] in the settings, or RAGKIT_WEB__KEY."
    if not key:
        raise WebError("Tavily needs a key.", cure)
    if len(key) > _MOST_KEY or not key.isascii() or not key.isprintable() or " " in key:
        raise WebError("The key of Tavily has characters that no key has.", cure)
    return key


_Refusals = Mapping[int, tuple[str, str]]

_SEARXNG_REFUSALS: _Refusals = {
    401: ("{host} wants a login, which ragkit does not send.", "Use an instance of your own."),
    403: (
        "{host} does not answer in JSON.",
        "In its settings.yml, json must be among search.formats; then start it again.",
    ),
    404: (
        "There is no SearXNG at {host}.",
        "Set url under [web] to its address, without /search.",
    ),
    429: (
        "{host} says that it was asked too often.",
        "Wait a while, or set server.limiter to false in its settings.yml.",
    ),
}
_TAVILY_REFUSALS: _Refusals = {
    400: ("Tavily did not understand the request.", "Send fewer or other words."),
    401: (
        "Tavily does not know the key.",
        "Set key under [web] in the settings, or RAGKIT_WEB__KEY.",
    ),
    403: ("Tavily does not allow this key to search.", "Look at your account with Tavily."),
    429: ("Tavily says that it was asked too often.", "Wait a minute."),
    432: ("The limit of your plan with Tavily is reached.", "Look at your account with Tavily."),
    433: (
        "The limit that you set for paying Tavily by use is reached.",
        "Look at your account with Tavily.",
    ),
}


def _found(where: ServiceAddress, reply: WebReply, refusals: _Refusals) -> Found:
    if reply.status in refusals:
        message, cure = refusals[reply.status]
        raise WebError(message.format(host=where.shown), cure)
    if reply.status != 200:
        raise WebError(
            f"{where.shown} answered with an error (HTTP {reply.status}).",
            "Try again later, and check url under [web] in the settings.",
        )
    value = _decoded(where, reply)
    items = value.get("results") if isinstance(value, dict) else None
    if not isinstance(items, list):
        raise WebError(
            f"{where.shown} did not send a list of results.",
            "Check url and engine under [web] in the settings.",
        )
    kept = tuple(item for item in items if isinstance(item, dict))
    return Found(kept, _silent(value) if not kept else ())


def _decoded(where: ServiceAddress, reply: WebReply) -> Any:
    try:
        # NaN and infinities are not JSON, but Python accepts them.
        return json.loads(reply.body, parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        page = "html" in reply.content_type or reply.body.lstrip()[:1] == b"<"
        raise WebError(
            f"{where.shown} answered with {'a web page' if page else 'something'} that is not "
            "JSON.",
            "Check url and engine under [web] in the settings.",
        ) from error


def _no_number(_: str) -> None:
    """Read NaN and infinities as ``None``."""


def _silent(value: Mapping[str, Any]) -> tuple[str, ...]:
    """Return a sentence on the search engines that did not answer a SearXNG."""
    silent = value.get("unresponsive_engines")
    names = [
        ": ".join(plain(part, 40) for part in (item[:2] if isinstance(item, list) else [item]))
        for item in (silent[:5] if isinstance(silent, list) else [])
    ]
    named = "; ".join(filter(None, names))
    return (f"These search engines did not answer it: {named}.",) if named else ()
