"""Web search on the command line: the words are shown first, and sent when a person says so."""

from __future__ import annotations

from typing import Any

from ragkit.library import Library
from ragkit.surfaces.cli import console
from ragkit.surfaces.cli.options import confirm
from ragkit.surfaces.render import plain
from ragkit.surfaces.render_web import web_as_json, web_as_text
from ragkit.web.results import WebAnswer, WebPreview


def search_web(library: Library, preview: WebPreview, *, yes: bool) -> WebAnswer:
    """Show what would be sent and where, ask unless ``yes``, send it, and return what came back.

    Raises:
        WebError: there is no answer.
        QueryError: there are no words.
    """
    console.say(*preview.notices)
    console.say(f"These words leave this machine, for {preview.host} ({preview.service}):")
    console.say(f"  {plain(preview.words)}")
    confirm(yes, "Send them?")
    answer = library.web.search(preview.words)
    console.say(*answer.notices)
    return answer


def web_json(library: Library, preview: WebPreview, *, yes: bool) -> dict[str, Any]:
    """Return the results as JSON values; see :func:`search_web`."""
    return web_as_json(search_web(library, preview, yes=yes))


def put_web(library: Library, preview: WebPreview, *, yes: bool) -> None:
    """Print what came back; see :func:`search_web`."""
    console.put(*web_as_text(search_web(library, preview, yes=yes)))
