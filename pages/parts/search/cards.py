"""Result cards as HTML. Pure functions: whatever a document says comes out as text."""

from __future__ import annotations

from pages.parts.common.markup import (
    action,
    attributes,
    document_url,
    excerpt,
    name,
    page_range,
    text,
)
from pages.parts.document.reader import card_context
from pages.parts.search.passages import COLLAPSED, ExpandedContent, heading_path, passages
from ragkit.results import Contribution, MatchedChunk, Result
from ragkit.types import Level

MOST_CELLS = 160
_INDEX_NAMES = {
    "vector": "semantic",
    "title": "title and headings",
    "phrase": "exact phrase",
    "document": "whole document",
}
_LEVELS = {
    Level.CHUNK: "chunk",
    Level.SECTION: "whole section",
    Level.DOCUMENT: "whole document",
    Level.QUESTION: "question it answers",
}


def card(
    result: Result, number_: int, question: str = "", expanded: ExpandedContent = COLLAPSED
) -> str:
    """Return one result as an article."""
    document = result.document
    label = f"rk-title-{number_}"
    parts = [
        f'<article class="rk-card" id="rk-result-{number_}"',
        attributes(data_document=document.id, data_path=document.path, aria_labelledby=label),
        ">",
        '<header class="rk-card-head">',
        f'<h2 class="rk-title" id="{label}">{open_link(result, question)}</h2>',
        _score(result),
        "</header>",
        _where(result),
        _coverage(result, question),
        _missing(result),
        card_context(expanded.context),
        passages(result, number_, expanded),
        _more(result, number_, expanded),
        _why(result),
        _foot(result, number_, expanded),
        "</article>",
    ]
    return "".join(parts)


def open_link(result: Result, question: str) -> str:
    """Return the title as a link to the best matched chunk on the Document page."""
    return (
        f'<a class="rk-link" target="_self" data-rk="open"'
        f"{_target(result.document.id, result.best_index, question)}>"
        f"<bdi>{name(result.document.title or result.document.path)}</bdi></a>"
    )


def _target(document_id: int, chunk: int, question: str) -> str:
    return attributes(
        href=document_url(document_id, chunk, question),
        data_id=document_id,
        data_chunk=chunk + 1,
    )


def _score(result: Result) -> str:
    best = result.matched_chunks[0] if result.matched_chunks else None
    parts = ", ".join(
        f"{index_name(part.index)} {part.normalised:.2f}"
        for part in (best.contributions if best else ())
    )
    inside = f" ({parts})" if parts else ""
    several = len(result.matched_chunks) > 1
    mean = f"; {result.avg_score:.2f} on average over those that matched" if several else ""
    graded = f"; {_graded(best.grade)}" if best and best.grade is not None else ""
    label = f"{result.score:.2f}: how well the best passage fits{inside}{mean}{graded}"
    return (
        f'<span class="rk-score" tabindex="0" role="note" title="{text(label)}" '
        f'aria-label="Score {text(label)}">{result.score:.2f}</span>'
    )


def _graded(grade: float) -> str:
    """Return the grade of a reranker in words."""
    return f"graded {grade:g} of 10 by the model"


def index_name(index: str) -> str:
    """Return what an index, or another part of a score, is called."""
    return _INDEX_NAMES.get(index, index)


def pages_of(result: Result) -> str:
    """Return ``p. 14`` or ``p. 14–15``: the pages of what matched, or else of what is shown."""
    pages = [page for chunk in result.matched_chunks for page in chunk.pages or ()]
    pages = pages or [passage.page for passage in result.passages if passage.page is not None]
    return page_range(min(pages), max(pages)) if pages else ""


def _headings_of(result: Result) -> tuple[str, ...]:
    """Return the heading path above the best matched chunk."""
    if result.matched_chunks and result.matched_chunks[0].span is not None:
        return result.matched_chunks[0].heading_path
    return next((p.heading_path for p in result.passages if p.heading_path), ())


def _where(result: Result) -> str:
    document = result.document
    parts = [f'<span class="rk-path"><bdi>{name(document.path)}</bdi></span>']
    if pages := pages_of(result):
        parts.append(f'<span class="rk-page">{pages}</span>')
    if document.date:
        parts.append(f"<span>{name(document.date[:10])}</span>")
    heading = _headings_of(result)
    trail = ""
    if heading and list(heading) != [document.title]:
        trail = f'<p class="rk-headings">{heading_path(heading)}</p>'
    also = ""
    if result.also_at:
        places = ", ".join(f"<bdi>{name(place)}</bdi>" for place in result.also_at[:5])
        rest = len(result.also_at) - 5
        more = f" and {rest} more" if rest > 0 else ""
        also = f'<p class="rk-also">The same text is also at {places}{more}</p>'
    return f'<div class="rk-meta">{trail}<p class="rk-where">{" · ".join(parts)}</p></div>{also}'


def _coverage(result: Result, question: str) -> str:
    chips = "".join(
        f'<a class="rk-number" target="_self" data-rk="open"'
        f"{_target(result.document.id, chunk.index, question)}"
        f' title="Chunk {chunk.index + 1} scored {chunk.score:.2f}. Opens it in the document.">'
        f"#{chunk.index + 1} <b>{chunk.score:.2f}</b></a>"
        for chunk in result.matched_chunks
    )
    context = ""
    if result.context_chunks:
        listed = ", ".join(str(index + 1) for index in result.context_chunks[:12])
        tail = " …" if len(result.context_chunks) > 12 else ""
        context = f'<span class="rk-soft">{listed}{tail} as context</span>'
    return (
        f'<div class="rk-cover">{coverage_bar(result, question)}'
        f'<span class="rk-coverage">{text(result.chunk_coverage)}</span>'
        f"{chips}{context}</div>"
    )


def coverage_bar(result: Result, question: str = "") -> str:
    """Return one cell for each chunk: matched (shaded by score), context, or not shown.

    Beyond ``MOST_CELLS`` chunks a cell stands for several, and says so.
    """
    total = max(1, result.document.chunks)
    scores = {chunk.index: chunk.score for chunk in result.matched_chunks}
    context = set(result.context_chunks)
    best = max(scores.values(), default=0.0) or 1.0
    step = -(-total // MOST_CELLS)
    cells = []
    for first in range(0, total, step):
        inside = range(first, min(first + step, total))
        matched = [scores[index] for index in inside if index in scores]
        last = inside[-1]
        names = f"chunk {first + 1}" if step == 1 else f"chunks {first + 1}–{last + 1}"
        if matched:
            kind = f"rk-hit rk-shade-{max(1, min(4, round(4 * max(matched) / best)))}"
            title = f"{names}: matched, {max(matched):.2f}"
        elif context.intersection(inside):
            kind, title = "rk-near", f"{names}: shown as context"
        else:
            kind, title = "rk-none", f"{names}: not shown"
        where = _target(result.document.id, first, question)
        cells.append(
            f'<a class="rk-cell {kind}" target="_self" data-rk="open" tabindex="-1" '
            f'aria-hidden="true" title="{title}"{where}></a>'
        )
    return (
        f'<span class="rk-bar" role="img" aria-label="{text(result.chunk_coverage)}" '
        f'style="--cells:{len(cells)}">{"".join(cells)}</span>'
    )


def _missing(result: Result) -> str:
    if not result.missing:
        return ""
    return (
        '<p class="rk-notice rk-warn">The file is no longer where it was. '
        "This is the text as it was last read.</p>"
    )


def _more(result: Result, number_: int, expanded: ExpandedContent) -> str:
    if not result.more or not expanded.more:
        return ""
    items = "".join(
        f'<li><a class="rk-number" target="_self" data-rk="open"'
        f"{_target(result.document.id, chunk.index, '')}>"
        f"#{chunk.index + 1} <b>{chunk.score:.2f}</b></a> "
        f'<span dir="auto">{excerpt(expanded.more[chunk.index], (), 240)}</span></li>'
        for chunk in result.more
        if chunk.index in expanded.more
    )
    return f'<ul class="rk-more" id="rk-more-{number_}">{items}</ul>'


def _why(result: Result) -> str:
    if not result.matched_chunks:
        return ""
    lines = "".join(f"<li>{why_line(chunk)}</li>" for chunk in result.matched_chunks)
    graded = any(chunk.grade is not None for chunk in result.matched_chunks)
    grades = " Grades decide before scores." if graded else ""
    return (
        f'<details class="rk-why"><summary>Why here</summary><ul>{lines}</ul>'
        '<p class="rk-soft">Each index gives its best hits a rank and a score between 0 and 1. '
        "Semantic compares vectors; keyword compares words (BM25). Score × weight, added up, "
        f"is the total.{grades}</p></details>"
    )


def why_line(chunk: MatchedChunk) -> str:
    """Return how the parts of a chunk's score add up."""
    level = "" if chunk.level is Level.CHUNK else f" · found as a {_LEVELS[chunk.level]}"
    if chunk.grade is not None:
        level += f" · {_graded(chunk.grade)}"
    terms = f"({', '.join(name(term) for term in chunk.terms[:12])})" if chunk.terms else ""
    if not chunk.contributions:
        body = " ".join(filter(None, (f"score {chunk.score:.2f}", terms)))
        return f"<b>#{chunk.index + 1}</b> {body}{level}"
    soft = f' <span class="rk-soft">{terms}</span>' if terms else ""
    parts = " + ".join(_part(part) for part in chunk.contributions)
    return f"<b>#{chunk.index + 1}</b> {parts}{soft} = <b>{chunk.score:.2f}</b>{level}"


def _part(part: Contribution) -> str:
    title = f"raw score {part.raw:.4g}, brought to {part.normalised:.4f}; adds {part.value:.4f}"
    rank = f" rank {part.rank}" if part.rank else ""
    return (
        f'<span title="{text(title)}">{text(index_name(part.index))}{rank}, '
        f"{part.normalised:.2f} × {part.weight:.2f}</span>"
    )


def _foot(result: Result, number_: int, expanded: ExpandedContent) -> str:
    document = result.document
    target = _target(document.id, result.best_index, "")
    parts = [f'<a class="rk-act" target="_self" data-rk="open"{target}>Open</a>']
    if expanded.opens and not result.missing:
        parts.append(
            action(
                "launch",
                expanded.opens,
                data_id=document.id,
                title="Opens the file itself, on this machine, in the program it belongs to.",
            )
        )
    parts.append(action("copy-passage", "Copy passage", data_result=number_))
    parts.append(action("copy-path", "Copy path", data_text=document.file or document.path))
    also = f"{document_url(document.id)}#also-see"
    parts.append(
        f'<a class="rk-act" target="_self"{attributes(href=also)} '
        'title="The documents most like this one.">Also see</a>'
    )
    parts.append(expanded.judge)
    if result.more:
        count = len(result.more)
        shown = bool(expanded.more)
        parts.append(
            action(
                "more",
                f"Hide {count} more" if shown else f"+{count} more in this document",
                style="rk-act rk-end",
                data_id=document.id,
                aria_expanded=str(shown).lower(),
            )
        )
    return f'<footer class="rk-foot">{"".join(parts)}</footer>'
