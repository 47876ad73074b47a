"""Web search on the command line: shows the words first, and sends them once confirmed."""

from __future__ import annotations

from ragkit.library import Library
from ragkit.surfaces.cli import console
from ragkit.surfaces.cli.options import confirm
from ragkit.surfaces.render import plain
from ragkit.web.results import WebAnswer, WebPreview


def search_web(library: Library, preview: WebPreview, *, yes: bool) -> WebAnswer:
    """Show what would be sent and where, ask for consent unless ``yes``, and search the web.

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
