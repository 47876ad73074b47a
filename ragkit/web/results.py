"""The results of a web search, as plain values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from urllib.parse import urlsplit

from ragkit.answers import Source
from ragkit.chunking.units import text_units
from ragkit.results import Contribution


class Folded(StrEnum):
    """Why a result is folded."""

    NO = ""
    SAME_SITE = "same_site"
    """There is a better result from the same site."""
    KNOWN_SITE = "known_site"
    """The library has documents from this site."""
    KNOWN_PAGE = "known_page"
    """The library has this very page."""


@dataclass(frozen=True, slots=True)
class WebResult:
    """A web page as described by a search engine; the page itself was not read.

    All texts are plain, without markup, control or format characters. ``url`` starts with http://
    or https://. ``text`` is the engine's snippet, ``engine`` its name, and ``published`` an ISO
    date or empty. ``contributions`` add up to ``score``, from 0 to 1; the one named "web" is the
    same for all results. ``document`` is the id of the document that is a copy of this page.
    """

    title: str
    url: str
    text: str
    engine: str
    published: str = ""
    score: float = 0.0
    contributions: tuple[Contribution, ...] = ()
    folded: Folded = Folded.NO
    document: int | None = None

    @property
    def site(self) -> str:
        """The host of the page, without ``www.``."""
        return site_of(self.url)


@dataclass(frozen=True, slots=True)
class WebPreview:
    """The words that would be sent, and where.

    ``words`` may be edited before they are sent to ``host``, whose ``service`` is named.
    ``notices`` say which parts of the question were left out.
    """

    words: str
    host: str
    service: str
    notices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class WebAnswer:
    """The web's answer to the ``words`` that were sent to ``host``.

    ``results`` are best first, one per site, from sites without documents in the library;
    ``folded`` are the others. ``notices`` are sentences for people.
    """

    words: str
    host: str
    results: tuple[WebResult, ...]
    folded: tuple[WebResult, ...] = ()
    notices: tuple[str, ...] = ()


def web_sources(results: Sequence[WebResult]) -> tuple[Source, ...]:
    """Return the sentences of web results in order, as sources that an answer may cite.

    They have no document: ``start`` and ``end`` are offsets in the result's text.
    """
    return tuple(
        Source(
            result.text[unit.start : unit.end], unit.start, unit.end,
            url=result.url, title=result.title,
        )
        for result in results
        for unit in text_units(result.text, code=False)
    )  # fmt: skip


def site_of(url: str) -> str:
    """Return the host of a page without ``www.``, or ``""``."""
    try:
        return (urlsplit(url).hostname or "").removeprefix("www.")
    except ValueError:
        return ""
