"""What a search of the web returns: plain values for pages, commands and written answers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from urllib.parse import urlsplit

from ragkit.answers import Source
from ragkit.chunking.units import text_units
from ragkit.results import Contribution


class Folded(StrEnum):
    """Why a result stands behind the others."""

    NO = ""
    SAME_SITE = "same_site"
    """A better one is of the same site."""
    KNOWN_SITE = "known_site"
    """The library has documents of this site."""
    KNOWN_PAGE = "known_page"
    """The library has this very page."""


@dataclass(frozen=True, slots=True)
class WebResult:
    """A page of the web as a search engine describes it; the page itself was not read.

    All texts are plain: without markup, control or direction-changing characters. ``url`` begins
    with http:// or https://. ``text`` is the engine's snippet, ``engine`` its name, and
    ``published`` an ISO date or empty. ``contributions`` add up to ``score``, from 0 to 1; that
    named "web" is the same for all. ``document`` is the id of the document that is this page.
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
    """What would leave this machine, and where it would go.

    ``words`` may be changed before they are sent. ``host`` is the one that gets them, with the
    name of its ``service``. ``notices`` say what of the question was left out.
    """

    words: str
    host: str
    service: str
    notices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class WebAnswer:
    """What the web has for the ``words`` that were sent to ``host``.

    ``results`` are best first, one a site, of sites that the library has nothing of; ``folded``
    are the others. ``notices`` are sentences for the person.
    """

    words: str
    host: str
    results: tuple[WebResult, ...]
    folded: tuple[WebResult, ...] = ()
    notices: tuple[str, ...] = ()


def web_sources(results: Sequence[WebResult]) -> tuple[Source, ...]:
    """Return the sentences of web results for a written answer to cite, in their order.

    They have no document: ``start`` and ``end`` are offsets in the result's text.
    """
    return tuple(source for result in results for source in _sentences(result))


def _sentences(result: WebResult) -> Iterator[Source]:
    for unit in text_units(result.text, code=False):
        yield Source(
            result.text[unit.start : unit.end], unit.start, unit.end,
            url=result.url, title=result.title,
        )  # fmt: skip


def site_of(url: str) -> str:
    """Return the host of a page without ``www.``; empty where there is none."""
    try:
        return (urlsplit(url).hostname or "").removeprefix("www.")
    except ValueError:
        return ""
