"""The log of searches as HTML: figures, tables, and one search's stages. Pure functions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from urllib.parse import urlencode

from pages.parts.common.markup import action, ago, name, number, text, took
from pages.parts.search import trace_view
from pages.parts.searches.again import options_of
from ragkit.catalog.records import DocumentRecord
from ragkit.formatting import local_time, plural
from ragkit.library.search_figures import Repeated, SearchFigures
from ragkit.library.search_log import DAYS, Door, LoggedSearch
from ragkit.options import CHUNKED_OPTIONS, SEARCH_OPTIONS
from ragkit.surfaces.addresses import document_url
from ragkit.traces import Trace

PAGE = 50
"""Searches on a page."""

DOORS = {
    Door.PAGE: "Page",
    Door.COMMAND: "Command",
    Door.PROGRAM: "Program",
    Door.API: "API",
    Door.MCP: "MCP",
    Door.OPENAI: "OpenAI API",
}
_MOST_LETTERS = 160
_NONE = {
    "all": "No searches in these days.",
    "slow": "No searches in these days.",
    "vain": "Every search of these days found something close.",
}


@dataclass(frozen=True, slots=True)
class Place:
    """The state in the page's address: the list, its days, its page, and the open search."""

    show: str = "all"
    days: int = 30
    page: int = 1
    opened: str = ""

    @property
    def url(self) -> str:
        """The address, without what is usual."""
        asked = {"show": self.show, "days": self.days, "page": self.page, "open": self.opened}
        usual = {"show": "all", "days": 30, "page": 1, "open": ""}
        query = {key: value for key, value in asked.items() if value != usual[key]}
        return f"searches?{urlencode(query)}" if query else "searches"


Urls = Mapping[str, str]
"""The address that asks a search again, by the search's id; empty where there is none."""


def figures(stats: SearchFigures) -> str:
    """Return how many searches there were, how long they took, and how many found nothing."""
    count, noun = plural(stats.searches, "search").split(" ")
    items = [f"<li><b>{count}</b> {noun}</li>"]
    if stats.median_ms is not None and stats.p95_ms is not None:
        items += [
            f'<li title="Half of the searches took no longer."><b>{took(stats.median_ms)}</b> '
            "median</li>",
            f'<li title="95 % of the searches took no longer."><b>{took(stats.p95_ms)}</b> '
            "95th percentile</li>",
        ]
    items.append(
        '<li title="Searches without a result, or with none that is close.">'
        f"<b>{number(stats.in_vain)}</b> found nothing</li>"
    )
    return f'<ul class="rk-figures" id="searches-figures">{"".join(items)}</ul>'


def on_health(stats: SearchFigures, *, kept: bool, allowed: bool) -> str:
    """Return the Health page's part: the figures of the last days, and the way to the log."""
    if not allowed:
        body = "None are kept, as the settings say (<code>search_history</code>)."
    elif not stats.searches:
        body = "None yet." if kept else "The log is switched off."
    else:
        body = figures(stats)
    off = " The log is switched off." if stats.searches and not kept else ""
    link = '<a href="searches" target="_self">All searches</a>'
    return f'<h2>Searches</h2><div class="rk-source">{body}{off}<p>{link}</p></div>'


def table(searches: Sequence[LoggedSearch], urls: Urls, place: Place, below: str) -> str:
    """Return searches as a table; ``below`` goes under the one that is open."""
    if not searches:
        return f'<p class="rk-soft">{_NONE[place.show]}</p>'
    rows = "".join(_row(search, urls, place, below) for search in searches)
    return _table("Searches", ("Question", "When", "By", "Results", "Time"), rows)


def repeated_table(questions: Sequence[Repeated], urls: Urls) -> str:
    """Return questions that were asked several times, as a table."""
    rows = "".join(
        f"<tr><td>{_question(question.last, urls)}</td>"
        f"<td>{number(question.times)}</td>"
        f'<td title="{local_time(question.last.at)}">{ago(question.last.at)}</td>'
        f"<td>{_results(question.last)}</td>"
        f"<td>{took(question.median_ms) if question.median_ms is not None else ''}</td></tr>"
        for question in questions
    )
    if not questions:
        return '<p class="rk-soft">No question was asked more than once in these days.</p>'
    heads = ("Question", "Times", "Last asked", "Results then", "Median time")
    return _table("Questions asked more than once", heads, rows)


def details(search: LoggedSearch, records: Mapping[int, DocumentRecord]) -> str:
    """Return a search's options, its stages with their times, and the documents it showed."""
    shown = "".join(
        f"<li>{_document(result.document_id, search, records)} "
        f'<span class="rk-soft">{result.score:.2f}</span></li>'
        for result in search.shown
    )
    more = search.results - len(search.shown)
    rest = f'<p class="rk-soft">and {number(more)} more</p>' if more > 0 and shown else ""
    documents = f'<h2>Shown</h2><ol class="rk-shown">{shown}</ol>{rest}' if shown else ""
    note = (
        '<p class="rk-soft">Answered from memory: the times are those of when it was made.</p>'
        if search.from_memory
        else ""
    )
    forget = action(
        "forget", "Remove this question from the log", data_question=search.question
    )  # fmt: skip
    return (
        f'<div class="rk-search-details">{documents}<h2>Stages</h2>{note}'
        f"{trace_view.stages(Trace(search.stages))}{forget}</div>"
    )


def explained(*, allowed: bool, kept: bool) -> str:
    """Return a sentence on what is kept and for how long, or why nothing is."""
    if not allowed:
        return (
            '<p class="rk-notice">The settings say <code>search_history = false</code>: no search '
            "is written down.</p>"
        )
    if not kept:
        return (
            '<p class="rk-notice" id="searches-off">The log is switched off: no search is written '
            "down. What is still listed here is from before; Clear deletes it.</p>"
        )
    return (
        '<p class="rk-soft">What was searched for on these pages, by commands and by programs. '
        f"Kept on this machine for {DAYS} days; backups and exports leave it out.</p>"
    )


def _table(label: str, heads: Sequence[str], rows: str) -> str:
    head = "".join(f"<th scope=col>{each}</th>" for each in heads)
    return (
        f'<div class="rk-wide" tabindex="0" role="region" aria-label="{label}">'
        f'<table class="rk-stages rk-stacked rk-searches"><thead><tr>{head}</tr></thead>'
        f"<tbody>{rows}</tbody></table></div>"
    )


def _row(search: LoggedSearch, urls: Urls, place: Place, below: str) -> str:
    is_open = search.id == place.opened
    main = (
        f"<td>{_question(search, urls)}{_options(search)}</td>"
        f'<td title="{ago(search.at)}">{local_time(search.at)}</td>'
        f"<td>{DOORS[search.door]}</td><td>{_results(search)}</td><td>{_time(search, place)}</td>"
    )
    if not is_open:
        return f"<tr>{main}</tr>"
    return f'<tr class="rk-opened">{main}</tr><tr><td colspan="5">{below}</td></tr>'


def _question(search: LoggedSearch, urls: Urls) -> str:
    """Return a question, as a link that asks it again where that is possible."""
    asked = " ".join(search.question.split())
    cut = search.cut or len(asked) > _MOST_LETTERS
    words = f"<bdi>{name(asked[:_MOST_LETTERS])}</bdi>{' …' if cut else ''}"
    if href := urls.get(search.id):
        return f'<a href="{text(href)}" target="_self" title="Search again">{words}</a>'
    return f"<span>{words}</span>"


def _options(search: LoggedSearch) -> str:
    """Return the collection and options of a search in words, where they are not the defaults."""
    options, chunked = options_of(search)
    parts = [search.filters] if search.filters else []
    if search.everywhere:
        parts.append("in all collections")
    elif search.collections != ("default",):
        parts.append(f"in {', '.join(search.collections)}")
    if search.chunked is not None:
        parts.append("a long text, by its topics")
    parts += [SEARCH_OPTIONS[key].describe(getattr(options, key))
             for key in search.options if key in SEARCH_OPTIONS]  # fmt: skip
    parts += [CHUNKED_OPTIONS[key].describe(getattr(chunked, key))
             for key in search.chunked or () if key in CHUNKED_OPTIONS]  # fmt: skip
    return f'<br><span class="rk-soft">{name(" · ".join(parts), 300)}</span>' if parts else ""


def _results(search: LoggedSearch) -> str:
    if not search.results:
        return '<span class="rk-vain">none</span>'
    counted = f"{number(search.results)} of {number(search.documents)}"
    return (
        f'{counted}, <span class="rk-vain">none close</span>' if search.nothing_close else counted
    )


def _time(search: LoggedSearch, place: Place) -> str:
    """Return how long a search took, as the link that opens or closes its stages."""
    is_open = search.id == place.opened
    words = "from memory" if search.from_memory else took(search.ms)
    href = replace(place, opened="" if is_open else search.id).url
    label = f"{words}, {'hide' if is_open else 'show'} the stages"
    return (
        f'<a href="{text(href)}" target="_self" aria-expanded="{str(is_open).lower()}" '
        f'aria-label="{label}" title="Stages">{words}</a>'
    )


def _document(document_id: int, search: LoggedSearch, records: Mapping[int, DocumentRecord]) -> str:
    record = records.get(document_id)
    if record is None:
        return '<span class="rk-soft">a document that is gone</span>'
    href = document_url(document_id, None, search.question)
    title = name(record.title or record.path)
    return f'<a href="{text(href)}" target="_self"><bdi>{title}</bdi></a>'
