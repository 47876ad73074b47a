"""Makes results of a service's answer: plain text, safe addresses, scores, one per site."""

from __future__ import annotations

import html
import math
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import urlsplit

from ragkit.results import Contribution
from ragkit.web.addresses import ascii_host
from ragkit.web.results import Folded, WebResult, site_of

BONUS = 0.2
"""The part "web" of the score of every web result; the rest is from the engine."""

_MOST_ITEMS, _MOST_FOLDED = 100, 20
_MOST_TITLE, _MOST_TEXT, _MOST_URL, _MOST_NAME = 200, 1000, 2000, 40
_TAG = re.compile(r"<(?:[a-zA-Z/!?][^<>]{0,1000})>")
_INVISIBLE = frozenset(("Cc", "Cf", "Co", "Cs", "Cn"))
_DATE = re.compile(r"(\d{4}-\d\d-\d\d)(?:[T ]|\Z)")
_TRACKING = re.compile(r"(?:utm_[a-z]+|fbclid|gclid|mc_[ce]id)=")


@dataclass(frozen=True, slots=True)
class KnownPage:
    """The id of a document that is a copy of a web page, and the page's address."""

    document: int
    url: str


def read_results(items: Sequence[Mapping[str, Any]]) -> tuple[list[WebResult], int]:
    """Return the results that can be shown, best first, and the number of others.

    Results have distinct addresses; those without a valid http or https address are left out.
    """
    read: dict[str, tuple[float, WebResult]] = {}
    left_out = 0
    for item in items[:_MOST_ITEMS]:
        url = safe_url(item.get("url"))
        if not url:
            left_out += 1
            continue
        result = WebResult(
            title=plain(item.get("title"), _MOST_TITLE) or site_of(url),
            url=url,
            text=plain(item.get("content"), _MOST_TEXT),
            engine=plain(item.get("engine"), _MOST_NAME),
            published=_date(item.get("publishedDate") or item.get("published_date")),
        )
        read.setdefault(page_of(url), (_number(item.get("score")), result))
    return list(_scored(read.values())), left_out


def _scored(results: Iterable[tuple[float, WebResult]]) -> Iterator[WebResult]:
    """Yield results with scores from 0 to 1, best first; without scores, by their order."""
    ranked = sorted(results, key=lambda scored: -scored[0])
    best = max((score for score, _ in ranked), default=0.0)
    for rank, (raw, result) in enumerate(ranked, start=1):
        share = raw / best if best > 0 else 1 / rank
        weight = 1 - BONUS
        parts = (
            Contribution("engine", rank, raw, share, weight, weight * share),
            Contribution("web", 0, 1.0, 1.0, BONUS, BONUS),
        )
        yield replace(result, score=sum(part.value for part in parts), contributions=parts)


def one_a_site(
    results: Sequence[WebResult], pages_shown: Iterable[KnownPage], most: int
) -> tuple[tuple[WebResult, ...], tuple[WebResult, ...]]:
    """Divide results into those to show and those to fold, both best first.

    Folded are pages that the library has, pages of sites of which it has documents, and further
    pages of a site. Sites must match exactly.
    """
    pages = {page_of(url): page.document for page in pages_shown if (url := safe_url(page.url))}
    sites = {page.partition("/")[0] for page in pages}
    shown: list[WebResult] = []
    folded: list[WebResult] = []
    seen: set[str] = set()
    for result in results:
        page, site = page_of(result.url), result.site
        if page in pages:
            folded.append(replace(result, folded=Folded.KNOWN_PAGE, document=pages[page]))
        elif site in sites:
            folded.append(replace(result, folded=Folded.KNOWN_SITE))
        elif site in seen:
            folded.append(replace(result, folded=Folded.SAME_SITE))
        elif len(shown) < most:
            shown.append(result)
            seen.add(site)
    return tuple(shown), tuple(folded[:_MOST_FOLDED])


def page_of(url: str) -> str:
    """Return an address without scheme, www and tracking, to compare pages."""
    parts = urlsplit(url)
    query = "&".join(pair for pair in parts.query.split("&") if pair and not _TRACKING.match(pair))
    return f"{site_of(url)}{parts.path.rstrip('/') or '/'}{'?' if query else ''}{query}"


def safe_url(value: object) -> str:
    """Return an http or https address that may be linked, or ``""``.

    It has no user name, and its host is in ASCII, so that look-alike letters are noticed.
    """
    if not isinstance(value, str) or len(value) > _MOST_URL:
        return ""
    url = value.strip()
    if any(c.isspace() or _is_unseen(c) for c in url):
        return ""
    try:
        parts = urlsplit(url)
        host, port = ascii_host(parts.hostname or ""), parts.port
    except ValueError:
        return ""
    if parts.scheme not in ("http", "https") or not host or "@" in parts.netloc or "\\" in url:
        return ""
    shown = f"[{host}]" if ":" in host else host
    return parts._replace(netloc=shown if port is None else f"{shown}:{port}").geturl()


def plain(value: object, most: int) -> str:
    """Return the visible text without tags, at most ``most`` characters; ``""`` for no text."""
    if not isinstance(value, str):
        return ""
    words = visible(html.unescape(_TAG.sub(" ", value[: 20 * most])))
    return words if len(words) <= most else f"{words[: most - 1].rstrip()}…"


def visible(text: str) -> str:
    """Return a text on one line without control, format and unassigned characters."""
    seen = (" " if c.isspace() else c for c in text if c.isspace() or not _is_unseen(c))
    return " ".join("".join(seen).split())


def _is_unseen(character: str) -> bool:
    return unicodedata.category(character) in _INVISIBLE


def _number(value: object) -> float:
    """Return a positive finite score, or 0."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return 0.0
    try:
        number = float(value)
    except OverflowError:
        return 0.0
    return number if math.isfinite(number) and number > 0 else 0.0


def _date(value: object) -> str:
    """Return the day of a date, written as in ISO 8601 or mail, in ISO form, or ``""``."""
    if not isinstance(value, str):
        return ""
    if match := _DATE.match(value.strip()):
        return match[1]
    try:
        return parsedate_to_datetime(value[:60]).date().isoformat()
    except (ValueError, TypeError, IndexError, OverflowError):
        return ""
