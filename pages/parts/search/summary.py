"""What is said around the results: counts, trace, notices, empty states. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from pages.parts.common.markup import action, name, number, plural, text
from pages.parts.search.query_text import Chip
from ragkit.results import Answer, Trace


def summary_line(answer: Answer) -> str:
    """``8 documents · 31 chunks · 14 ms``, with the trace folded under "why?"."""
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


def took(ms: float) -> str:
    """Milliseconds as a person would say them."""
    if ms < 1:
        return "under 1 ms"
    return f"{ms:.0f} ms" if ms < 1000 else f"{ms / 1000:.1f} s"


def trace_table(trace: Trace) -> str:
    """Each stage with what went in and came out and how long it took."""
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


def notices(sentences: Sequence[str]) -> str:
    """What the search wants the person to know."""
    return "".join(f'<p class="rk-notice">{text(one)}</p>' for one in sentences)


def filter_chips(chips: Sequence[Chip]) -> str:
    """The active filters, each with a cross that removes it."""
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
    """Say that nothing was found, and offer what may help."""
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


def problem(message: str, cure: str) -> str:
    """Say what went wrong and what mends it."""
    mend = f"<p>{text(cure)}</p>" if cure else ""
    return (
        '<section class="rk-state rk-error" role="alert">'
        f"<h2>That did not work</h2><p>{text(message)}</p>{mend}</section>"
    )


def state(title: str, body: str) -> str:
    """An empty state: what is the case, and what to do next."""
    return f'<section class="rk-state"><h2>{text(title)}</h2><p>{text(body)}</p></section>'
