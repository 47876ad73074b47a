"""The part above the results: chips, counts, trace, nothing found. Pure functions.

Chips are filters and exclusions. Both are part of the question's text, and are added and removed by
rewriting it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from pages.parts.common.markup import action, attributes, name, notices, number, text, took
from pages.parts.search.trace_view import trace_view
from ragkit.formatting import plural
from ragkit.options import SEARCH_OPTIONS, Mode, SearchOptions, Sort
from ragkit.results import Answer, PhrasingOutcome
from ragkit.retrieval.query.intent import with_filters
from ragkit.retrieval.query.parser import parse_query

_STEP = 10
MOST_RESULTS = int((SEARCH_OPTIONS["limit"].slider or (0, 50, 1))[1])


@dataclass(frozen=True, slots=True)
class Chip:
    """One value of a filter in a question, or one exclusion.

    ``token`` is its text in the question, ``name`` the filter's name, empty for a word.
    """

    token: str
    name: str


def chips(question: str, known_fields: Sequence[str] = ()) -> tuple[Chip, ...]:
    """Return the filters and exclusions of a question, one chip for each value.

    Raises:
        QueryError: when a filter is not valid.
    """
    all_chips = [
        Chip(token, each.name)
        for each in parse_query(question, known_fields).restrictions
        for token in each.tokens()
    ]
    return tuple(dict.fromkeys(all_chips))


def without_filter(question: str, token: str, known_fields: Sequence[str] = ()) -> str:
    """Return a question without one chip, or without any filter when ``token`` is empty.

    All else stays as it is written.
    """
    kept, last = [], 0
    for each in parse_query(question, known_fields).restrictions:
        if token in each.tokens() if token else each.name:
            left = each.without(token) if token else ""
            start, end = (each.start, each.end) if left else each.span
            kept += [question[last:start], left]
            last = end
    return " ".join(part for part in map(str.strip, [*kept, question[last:]]) if part)


def toggle_filter(question: str, token: str, known_fields: Sequence[str] = ()) -> str:
    """Return a question with the filter added, or without it when it has it."""
    if any(chip.token == token for chip in chips(question, known_fields)):
        return without_filter(question, token, known_fields)
    return f"{question.strip()} {token}".strip()


def head(answer: Answer, options: SearchOptions, tools: str = "") -> str:
    """Return the part above the cards: counts, sorting and notices.

    ``tools`` is HTML of what else can be done with the question. Where nothing was found,
    ``nothing_found`` says why.
    """
    if not answer.results:
        return summary_line(answer)
    sorting = _sorting(answer, options.sort) if len(answer.results) > 1 else ""
    return (
        summary_line(answer, f'<span class="rk-tools">{tools}{sorting}</span>')
        + notices(answer.notices)
        + _several_questions(answer)
        + _corrections(answer)
        + _nothing_close(answer)
        + phrasings(
            answer.phrasings,
            {result.document.id: result.document.title for result in answer.results},
        )
    )


def summary_line(answer: Answer, beside: str = "") -> str:
    """Return ``10 of 184 documents · 14 ms · Details``, the trace under the last of them.

    ``beside`` is HTML that goes to the other end of the line.
    """
    counts = [_counted(answer)]
    documents = len({result.document.id for result in answer.results})
    if len(answer.results) != documents:
        counts.insert(0, plural(len(answer.results), "result"))
    return (
        '<div class="rk-summary"><details class="rk-trace"><summary>'
        f'<span class="rk-counts" role="status">{" · ".join(counts)} · '
        f"{took(answer.trace.ms)}</span>"
        f' · <span class="rk-ask">Details</span></summary>{trace_view(answer.trace)}'
        f"</details>{beside}</div>"
    )


def _counted(answer: Answer) -> str:
    """Return ``10 of 184 documents``; only the first number where it is all."""
    shown = len({result.document.id for result in answer.results})
    if answer.total_documents <= shown:
        return plural(shown, "document")
    return f"{number(shown)} of {plural(answer.total_documents, 'document')}"


def _sorting(answer: Answer, chosen: Sort) -> str:
    """Return the orders to choose from, the one in force pressed; a list has those by date.

    A click on the order that the question asks for leaves the choice to the questions again.
    """
    automatic, now = answer.sorted_by(Sort.AUTO), answer.sorted_by(chosen)
    buttons = "".join(
        action(
            "option", sort.label, data_name="sort",
            data_value=Sort.AUTO if sort is automatic else sort,
            aria_pressed=str(sort is now).lower(),
        )
        for sort in Sort
        if sort.by_date or (sort is Sort.RELEVANCE and not answer.listed)
    )  # fmt: skip
    return f'<span class="rk-sort" role="group" aria-label="Sort by">{buttons}</span>'


def _several_questions(answer: Answer) -> str:
    """Return a link that searches each of several questions separately."""
    if answer.questions < 2:
        return ""
    link = attributes(href=f"conversation?{urlencode({'text': answer.query})}", target="_self")
    return (
        f'<p class="rk-said-of">{answer.questions} questions, searched as one. '
        f'<a class="rk-link"{link}>Search each separately</a></p>'
    )


def _corrections(answer: Answer) -> str:
    """Return the corrected question, or the suggested one."""
    if answer.corrected:
        typed = action("as_typed", f"Search for {answer.query[:80]}", style="rk-inline")
        if answer.spelled:
            also = ", ".join(
                f"<b>{name(correction.meant)}</b> for {name(correction.word)}"
                for correction in answer.spelled
            )
            return f'<p class="rk-said-of">Also searched: {also}. {typed}</p>'
        return f'<p class="rk-said-of">Showing results for {_quoted(answer.corrected)}. {typed}</p>'
    if not answer.suggestion:
        return ""
    unquoted = _is_unquoted(answer)
    label = "Search without quotes" if unquoted else answer.suggestion
    offer = action("ask", label, style="rk-inline", data_question=answer.suggestion)
    return f'<p class="rk-said-of">{offer if unquoted else f"Did you mean {offer}?"}</p>'


def _is_unquoted(answer: Answer) -> bool:
    """Return whether the suggestion is the question without its quotation marks."""
    return '"' in answer.query and '"' not in answer.suggestion


def _nothing_close(answer: Answer) -> str:
    """Return a line if no result is close, or if words are nowhere in the documents."""
    parts = []
    if answer.nothing_close:
        parts.append("<b>Nothing here is close.</b>")
    if answer.missing_terms:
        words = ", ".join(f"<s>{name(term)}</s>" for term in answer.missing_terms[:8])
        parts.append(f'<span class="rk-absent">Not in your documents: {words}.</span>')
    if answer.nothing_close:
        parts.append("The nearest:")
    return f'<p class="rk-said-of" role="status">{" ".join(parts)}</p>' if parts else ""


def phrasings(outcome: PhrasingOutcome | None, titles: Mapping[int, str]) -> str:
    """Return a model's rephrased queries, and the documents that each found.

    ``titles`` are those of the documents that are shown, by their ids.
    """
    if outcome is None or not outcome.phrasings:
        return ""
    items = []
    for phrasing in outcome.phrasings:
        only = [titles[document] for document in phrasing.only if document in titles]
        brought = f"finds {phrasing.found} of these" if phrasing.found else "finds none of these"
        named = ", ".join(f"<bdi>{name(title)}</bdi>" for title in only)
        alone = f", alone: {named}" if only else ""
        items.append(
            f'<li><bdi class="rk-quote">{name(phrasing.text)}</bdi> · {brought}{alone}</li>'
        )
    label = SEARCH_OPTIONS["phrasings"].type(outcome.how).label
    return (
        f'<details class="rk-phrasings"><summary>Also asked: <span class="rk-ask">{text(label)}'
        f"</span> · {text(outcome.model)}</summary><ul>{''.join(items)}</ul></details>"
    )


def _quoted(question: str) -> str:
    return f'<b><bdi class="rk-quote">{name(question, 200)}</bdi></b>'


def more(answer: Answer, options: SearchOptions) -> str:
    """Return the button for more results; empty where there are none, or they are too many."""
    shown = len({result.document.id for result in answer.results})
    is_full = len(answer.results) >= options.limit and options.limit < MOST_RESULTS
    if not is_full or answer.total_documents <= shown:
        return ""
    button = action(
        "option", "More results", style="rk-offer",
        data_name="limit", data_value=min(options.limit + _STEP, MOST_RESULTS),
    )  # fmt: skip
    return f'<div class="rk-further">{button}<span class="rk-soft">{_counted(answer)}</span></div>'


def filter_chips(chips: Sequence[Chip]) -> str:
    """Return the active filters and exclusions, each with a cross that removes it."""
    if not chips:
        return ""
    items = "".join(
        f'<button type="button" class="rk-chip" data-rk="drop" data-token="{text(chip.token)}" '
        f'aria-label="Remove the filter {text(chip.token)}">'
        f"<bdi>{name(chip.token)}</bdi> <span aria-hidden=true>×</span></button>"
        for chip in chips
    )
    return f'<div class="rk-chips" aria-label="Active filters">{items}</div>'


def reading_chips(answer: Answer) -> str:
    """Return the words read as filters, each with a cross that searches for them as words instead.

    The other filters are then written out. Filters that are only offered are added by a click.
    """
    items = []
    restricting = [reading for reading in answer.readings if reading.restricts]
    for reading in answer.readings:
        words, filters = name(" ".join(reading.words.split())), name(reading.filters)
        if reading.restricts:
            others = [other for other in restricting if other is not reading]
            items.append(
                f'<button type="button" class="rk-chip" data-rk="as_typed" '
                f'data-question="{text(with_filters(answer.query, others))}" '
                f'aria-label="Search for {words} as words">“<bdi>{words}</bdi>” read as '
                f"<bdi>{filters}</bdi> <span aria-hidden=true>×</span></button>"
            )
        else:
            items.append(
                f'<button type="button" class="rk-chip rk-chip-offered" data-rk="filter" '
                f'data-token="{text(reading.filters)}" title="Read from “{words}”">'
                f"Only <bdi>{filters}</bdi></button>"
            )
    if not items:
        return ""
    return f'<div class="rk-chips" aria-label="Read from the question">{"".join(items)}</div>'


def _minima(options: SearchOptions) -> Mapping[str, tuple[str, float]]:
    """Return the labels and values of the options that leave weak matches out, by name."""
    least = {name: float(getattr(options, name)) for name in ("min_score", "min_similarity")}
    return {
        name: (SEARCH_OPTIONS[name].label.lower(), value)
        for name, value in least.items()
        if value > 0
    }


def _other_option(label: str, name: str, value: str) -> str:
    return action("option", label, style="rk-offer", data_name=name, data_value=value)


def nothing_found(answer: Answer, chips: Sequence[Chip], options: SearchOptions) -> str:
    """Return the message that nothing was found and why, with offers of what may help."""
    question, suggestion = answer.query, answer.suggestion
    offers = [
        action("drop", f"Search without {chip.token}", style="rk-offer", data_token=chip.token)
        for chip in chips
    ]
    if suggestion and all(without_filter(question, chip.token) != suggestion for chip in chips):
        label = "Search without quotes" if _is_unquoted(answer) else f"Search for {suggestion}"
        offers.insert(0, action("ask", label, style="rk-offer", data_question=suggestion))
    if len(chips) > 1:
        offers.append(action("drop", "Search without filters", style="rk-offer", data_token=""))
    minima = _minima(options) if answer.total_documents else {}
    offers += [
        _other_option(f"Search without a {label}", name, "0") for name, (label, _) in minima.items()
    ]
    if options.mode is not Mode.HYBRID:
        offers.append(_other_option("Try a hybrid search", "mode", Mode.HYBRID.value))
    filters = " with these filters" if chips else ""
    missed = [f"No match reaches the {label} of {least:g}." for label, least in minima.values()]
    reasons = answer.notices or missed or (() if chips else ("Try other or fewer words.",))
    tip = "".join(f"<p>{text(reason)}</p>" for reason in reasons)
    return (
        f'<section class="rk-state"><h2>No results for {_quoted(question)}{filters}</h2>{tip}'
        f'<div class="rk-offers">{"".join(offers)}</div></section>'
    )
