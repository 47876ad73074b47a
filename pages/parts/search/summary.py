"""What stands above the results: filters as chips, counts, trace, nothing found. Pure functions.

A filter is part of the question's text: chips add and remove filters by rewriting it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from pages.parts.common.markup import action, name, number, plural, text, took
from ragkit.options import Filters
from ragkit.results import Answer, Trace
from ragkit.retrieval.query_parser import format_filters, parse_query


@dataclass(frozen=True, slots=True)
class Chip:
    """One value of one filter of a question. ``token`` is how the question writes it."""

    token: str
    part: str


def chips(question: str, known_fields: Sequence[str] = ()) -> tuple[Chip, ...]:
    """Return the filters of a question, one chip for each value.

    Raises:
        QueryError: when a filter is not valid.
    """
    parsed = parse_query(question, known_fields)
    filters = [
        Chip(format_filters(replace(Filters(), **{part: value})), part)
        for part, value in _single_values(parsed.filters)
    ]
    collections = [
        Chip(format_filters(Filters(), (collection,)), "collection")
        for collection in parsed.collections
    ]
    return (*filters, *collections)


def _single_values(filters: Filters) -> Iterator[tuple[str, Any]]:
    for field in fields(Filters):
        value = getattr(filters, field.name)
        if isinstance(value, tuple):
            for item in value:
                yield field.name, (item,)
        elif value:
            yield field.name, value


def without_filter(question: str, token: str, known_fields: Sequence[str] = ()) -> str:
    """Return a question without one filter; without any when ``token`` is empty."""
    parsed = parse_query(question, known_fields)
    if not token:
        return parsed.text
    tokens = [chip.token for chip in chips(question, known_fields) if chip.token != token]
    return " ".join([parsed.text, *tokens]).strip()


def toggle_filter(question: str, token: str, known_fields: Sequence[str] = ()) -> str:
    """Return a question with the filter added, or without it when it has it."""
    if any(chip.token == token for chip in chips(question, known_fields)):
        return without_filter(question, token, known_fields)
    return f"{question.strip()} {token}".strip()


def filter_token(name: str, value: str) -> str:
    """Return a filter as a question writes it, by the query language's name or a field's."""
    parts = {
        "type": "types", "path": "paths", "lang": "languages", "tag": "tags", "source": "sources",
    }  # fmt: skip
    if name in parts:
        changes: dict[str, Any] = {parts[name]: (value,)}
        return format_filters(replace(Filters(), **changes))
    return format_filters(Filters(fields=((name, value),)))


def summary_line(answer: Answer) -> str:
    """Return ``8 documents · 31 chunks · 14 ms``, with the trace collapsed under "why?"."""
    documents = len({result.document.id for result in answer.results})
    chunks = len(
        {(result.document.id, index) for result in answer.results for index in result.shown_chunks}
    )
    counts = [plural(documents, "document"), plural(chunks, "chunk")]
    if len(answer.results) != documents:
        counts.insert(0, plural(len(answer.results), "result"))
    return (
        '<div class="rk-summary" role="status"><details class="rk-trace">'
        f'<summary><span class="rk-counts">{" · ".join(counts)} · {took(answer.trace.ms)}</span>'
        f' · <span class="rk-ask">why?</span></summary>{trace_table(answer.trace)}'
        "</details></div>"
    )


def trace_table(trace: Trace) -> str:
    """Return a table of the stages with what went in and came out, and how long each took."""
    most = max((stage.ms for stage in trace.stages), default=0.0) or 1.0
    rows = "".join(
        f"<tr><th scope=row>{text(stage.name)}</th>"
        f"<td>{number(stage.count_in)} → {number(stage.count_out)}</td>"
        f'<td class="rk-ms">{stage.ms:.1f} ms'
        f'<i style="width:{100 * stage.ms / most:.0f}%"></i></td>'
        f"<td>{text(stage.note)}</td></tr>"
        for stage in trace.stages
    )
    index = f"Index {text(trace.generation)}. " if trace.generation else ""
    return (
        '<div class="rk-wide"><table class="rk-stages"><thead><tr><th>Stage</th>'
        "<th>In → out</th><th>Time</th><th>What it did</th></tr></thead>"
        f"<tbody>{rows}</tbody></table></div>"
        f'<p class="rk-soft">{index}Times are for this search alone, on this machine.</p>'
    )


def filter_chips(chips: Sequence[Chip]) -> str:
    """Return the active filters, each with a cross that removes it."""
    if not chips:
        return ""
    items = "".join(
        f'<button type="button" class="rk-chip" data-rk="drop" data-token="{text(chip.token)}" '
        f'aria-label="Remove the filter {text(chip.token)}">'
        f"<bdi>{name(chip.token)}</bdi> <span aria-hidden=true>×</span></button>"
        for chip in chips
    )
    return f'<div class="rk-chips" aria-label="Active filters">{items}</div>'


def nothing_found(question: str, chips: Sequence[Chip], mode: str) -> str:
    """Return the message that nothing was found, with offers of what may help."""
    offers = [
        action("drop", f"Search without {chip.token}", style="rk-offer", data_token=chip.token)
        for chip in chips
    ]
    if len(chips) > 1:
        offers.append(action("drop", "Drop all filters", style="rk-offer", data_token=""))
    if mode != "hybrid":
        offers.append(action("mode", "Try a hybrid search", style="rk-offer", data_mode="hybrid"))
    if chips:
        why = "No document that passes the filters holds anything like it."
    elif mode == "keyword":
        why = "None of these words stands in any document."
    else:
        why = "No document holds anything like it. Fewer or other words may."
    return (
        '<section class="rk-state"><h2>Nothing found</h2>'
        f'<p>{why} You asked for <bdi class="rk-quote">{name(question[:200])}</bdi></p>'
        f'<div class="rk-offers">{"".join(offers)}</div></section>'
    )
