"""Web results as JSON values and text, always marked as such."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from ragkit.surfaces.render import plain
from ragkit.web.results import Folded, WebAnswer, WebResult

WHY_FOLDED = {
    Folded.SAME_SITE: "another page of a site above",
    Folded.KNOWN_SITE: "your library has documents of this site",
    Folded.KNOWN_PAGE: "this page is in your library",
}
"""Why a web result is listed apart, in words."""


def web_as_json(answer: WebAnswer) -> dict[str, Any]:
    """Return the object that ``ragkit search --web --json`` prints as "web"."""
    return {
        "words": answer.words,
        "host": answer.host,
        "results": [_result(result) for result in answer.results],
        "folded": [
            {**_result(result), "folded": result.folded.value, "document": result.document}
            for result in answer.folded
        ],
        "notices": list(answer.notices),
    }


def web_as_text(answer: WebAnswer) -> Iterator[str]:
    """Yield lines for a terminal."""
    yield f"From the web, by {answer.host}:"
    for number, result in enumerate(answer.results, start=1):
        published = f" · {result.published}" if result.published else ""
        yield f"{number}. [web] {plain(result.title)}  {result.score:.2f}"
        yield f"   {plain(result.url)}{published}"
        if result.text:
            yield f"     {plain(result.text)}"
    if not answer.results:
        yield "Nothing found."
    for result in answer.folded:
        yield f"   [web] {plain(result.title)}: {WHY_FOLDED[result.folded]}"
        yield f"   {plain(result.url)}"


def _result(result: WebResult) -> dict[str, Any]:
    return {
        "title": result.title,
        "url": result.url,
        "text": result.text,
        "engine": result.engine,
        "published": result.published,
        "score": result.score,
        "contributions": [asdict(part) for part in result.contributions],
    }
