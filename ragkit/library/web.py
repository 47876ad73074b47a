"""Web search, if the settings allow it: a person sees every word before it is sent."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ragkit.errors import QueryError, WebError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ragkit.catalog import Catalog
    from ragkit.results import FilterReading
    from ragkit.settings import WebSettings
    from ragkit.web.results import WebAnswer, WebPreview

LONGEST = 300
"""The most characters that are sent; of a longer question, the beginning is offered."""


class WebService:
    """Asks a web search service. Safe to share between threads.

    Only :meth:`search` sends anything, and only the words that it is given. Results are shown and
    may be cited; they are never indexed.
    """

    def __init__(self, settings: WebSettings, catalog: Catalog) -> None:
        self._settings = settings
        self._catalog = catalog

    @property
    def is_on(self) -> bool:
        """Whether the settings name a service."""
        return bool(self._settings.engine)

    def preview(self, question: str, readings: Sequence[FilterReading] = ()) -> WebPreview:
        """Return the words of a question that would be sent, and to whom; nothing is sent.

        Filters, exclusions and names of collections are left out, and so are phrases that a search
        read as filters (``readings``), such as a folder or a person.

        Raises:
            WebError: web search is off, or its settings are wrong.
            QueryError: a filter in the question cannot be understood.
        """
        from ragkit.retrieval.query.intent import with_filters
        from ragkit.retrieval.query.parser import parse_query
        from ragkit.web.addresses import SERVICES, address_of
        from ragkit.web.reading import visible
        from ragkit.web.results import WebPreview

        host = address_of(self._settings).shown
        fields = self._catalog.filters.field_names(self._catalog.collections.apart(()))
        filtered = with_filters(question, [reading for reading in readings if reading.restricts])
        words = visible(parse_query(filtered, fields).text)
        notices: tuple[str, ...] = ()
        if len(words) > LONGEST:
            words = words[: LONGEST + 1].rpartition(" ")[0] or words[:LONGEST]
            notices = ("The question is long; these are its first words.",)
        return WebPreview(words, host, SERVICES[self._settings.engine], notices)

    def search(self, words: str) -> WebAnswer:
        """Send exactly these words to the search service, and return its results.

        Raises:
            WebError: web search is off, or the service gives no usable answer.
            QueryError: there are no words, or too many.
        """
        from ragkit.formatting import plural
        from ragkit.web.addresses import SERVICES, address_of
        from ragkit.web.connection import WebConnection
        from ragkit.web.engines import ask
        from ragkit.web.reading import KnownPage, one_a_site, read_results
        from ragkit.web.results import WebAnswer

        address = address_of(self._settings)
        if not words.strip():
            raise QueryError("There are no words to send.", "Write what to look for.")
        if len(words) > LONGEST:
            raise QueryError(f"These are more than {LONGEST} characters.", "Send fewer words.")
        answer = ask(self._settings, WebConnection(address, self._settings.seconds), words)
        results, left_out = read_results(answer.items)
        if answer.items and not results:
            raise WebError(
                f"No result of {address.shown} has the address of a web page.",
                "Check url and engine under [web] in the settings.",
            )
        service = SERVICES[self._settings.engine]
        pages = [KnownPage(*row) for row in self._catalog.documents.web_addresses()]
        shown, folded = one_a_site(
            [replace(result, engine=result.engine or service) for result in results],
            pages,
            self._settings.results,
        )
        notices = answer.notices
        if left_out:
            notices += (f"{plural(left_out, 'result')} without a usable address left out.",)
        return WebAnswer(words, address.shown, shown, folded, notices)
