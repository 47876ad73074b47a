"""The text of a card: its excerpt, the whole passages on demand, gaps between. Pure functions."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from pages.parts.common.markup import action, document_link, folded, marked, name
from pages.parts.rendering import Kind, blocks, kind_of, row_snippet
from ragkit.answering.excerpts import Excerpt, ExcerptKind, by_words
from ragkit.answers import EXCERPT_WIDTH
from ragkit.catalog.context_records import ContextRecord
from ragkit.formatting import page_range, plural
from ragkit.library import DocumentDetail
from ragkit.results import MatchedChunk, Passage, Result
from ragkit.retrieval.highlight import highlight_question, whole_identifiers
from ragkit.retrieval.similar import SimilarDocuments
from ragkit.types import BlockKind, Level

LONGEST_PASSAGE = 12_000
_BLOCKS = {BlockKind.TABLE: "table", BlockKind.LIST: "list", BlockKind.CODE: "code"}


@dataclass(frozen=True, slots=True)
class ExpandedContent:
    """What a card shows beyond its result: what the person expanded, and what the page adds.

    ``gaps`` maps (first, last) chunk indexes to the text between; ``more`` maps the index of a
    further matched chunk to its text. ``opens`` is the label of the button that opens the file,
    or empty. ``judge`` is the HTML of the buttons that judge the result. ``context`` is the
    written context of the best chunk. ``excerpt`` is what the card shows at once. ``similar`` are
    the documents most like it, ``None`` while they are not asked for; ``passages`` says whether
    the whole passages are. ``known_missing`` are words that are said to be missing elsewhere,
    and ``folder_gone`` says that it is said elsewhere that the file is not there.
    """

    gaps: Mapping[tuple[int, int], str] = field(default_factory=dict)
    more: Mapping[int, str] = field(default_factory=dict)
    opens: str = ""
    judge: str = ""
    context: ContextRecord | None = None
    excerpt: Excerpt | None = None
    similar: SimilarDocuments | None = None
    passages: bool = False
    known_missing: Sequence[str] = ()
    folder_gone: bool = False


COLLAPSED = ExpandedContent()


def expand(
    result: Result,
    detail: DocumentDetail | None,
    gaps: Collection[tuple[int, int, int]],
    more: Collection[int],
    opens: str,
) -> ExpandedContent:
    """Collect the expanded parts of a result from its stored document.

    ``gaps`` are (document, first, last); ``more`` are ids of documents whose further matches are
    shown. ``detail`` is ``None`` when nothing is expanded or the document is gone.
    """
    if detail is None:
        return ExpandedContent(opens=opens)
    document_id = result.document.id
    chunks = {record.chunk.index: record.chunk for record in detail.chunks}
    further = result.more if document_id in more else ()
    return ExpandedContent(
        {gap: gap_text(result, detail, gap) for gap in result.gaps if (document_id, *gap) in gaps},
        {
            match.index: detail.text[chunks[match.index].start : chunks[match.index].end]
            for match in further
            if match.index in chunks
        },
        opens,
    )


def gap_text(result: Result, detail: DocumentDetail, gap: tuple[int, int]) -> str:
    """Return the stored text of a gap: what lies between the passages around it."""
    first, last = gap
    before = [passage.end for passage in result.passages if passage.chunks[1] < first]
    after = [passage.start for passage in result.passages if passage.chunks[0] > last]
    chunks = [record.chunk for record in detail.chunks if first <= record.chunk.index <= last]
    if not chunks:
        return ""
    start = max(before, default=chunks[0].start)
    end = min(after, default=chunks[-1].end)
    return detail.text[start:end]


def heading_path(path: Sequence[str]) -> str:
    """Return ``Guide › Auth › OAuth`` as HTML."""
    return " › ".join(f"<bdi>{name(title, 120)}</bdi>" for title in path)


def passages(result: Result, number_: int, expanded: ExpandedContent, question: str = "") -> str:
    """Return the button that shows the whole passages of a result, and them once it was used."""
    if not any(passage.text for passage in result.passages):
        return ""
    words = sum(len(passage.text.split()) for passage in result.passages)
    what = "full passages" if len(result.passages) > 1 else "full passage"
    shown = expanded.passages
    button = action(
        "passages",
        f"Hide {what}" if shown else f"Show {what} ({plural(words, 'word')})",
        data_id=result.document.id,
        aria_expanded=str(shown).lower(),
    )
    return f"<div>{button}</div>{_whole(result, number_, expanded, question) if shown else ''}"


def excerpt_html(result: Result, question: str, chosen: Excerpt | None = None) -> str:
    """Return the excerpt of a result, ``chosen`` or else by words; empty without one."""
    if chosen is None:
        (chosen,) = by_words(question, [result], EXCERPT_WIDTH)
        if chosen is None:
            return ""
    value, start, end = chosen.passage.text, chosen.start, chosen.end
    near = chosen.passage.highlights
    if chosen.kind is not ExcerptKind.ROW:  # of which names of columns may be marked
        near = [mark for mark in near if mark[1] > start and mark[0] < end]
    marks = whole_identifiers(value, near)
    # A mark that was cut at the signs of an identifier is one again.
    header = chosen.passage.header
    named = highlight_question(header, question, result.forms)
    body = row_snippet(value, (start, end), marks, kind(result), header, named)
    body = body.replace("</mark><mark>", "")
    if not body:
        # Nothing but markup: better as it is written than an empty card.
        body = folded(marked(value, marks, start, end))
    style = "rk-excerpt rk-code" if chosen.kind is ExcerptKind.CODE else "rk-excerpt"
    cut = end < len(value.rstrip()) and value[end - 1].isalnum() and value[end] != "\n"
    return f'<div class="{style}" dir="auto">{body}{" …" if cut else ""}</div>'


def kind(result: Result) -> Kind:
    """Return how the document of a result is drawn."""
    return kind_of(result.document.format, result.document.path, result.document.markup)


def _whole(result: Result, number_: int, expanded: ExpandedContent, question: str) -> str:
    """Return all passages in reading order, with the gaps between them."""
    gaps = {first: (first, last) for first, last in result.gaps}
    parts: list[str] = []
    previous = -1
    for passage in result.passages:
        due = [first for first in sorted(gaps) if previous < first <= passage.chunks[0]]
        parts += [_gap(result, number_, gaps.pop(first), expanded) for first in due]
        previous = passage.chunks[0]
        if passage.shortens is not None:
            parts.append(_shortened(result, passage, question))
            continue
        page = ""
        if passage.page:
            pages = page_range(passage.page, passage.page, result.document.format)
            page = f'<span class="rk-page">{pages}</span>'
        trail = heading_path(passage.heading_path)
        if (trail or page) and len(result.passages) > 1:
            parts.append(f'<p class="rk-headings">{" · ".join(filter(None, (trail, page)))}</p>')
        parts.append(_passage(passage, kind(result), _framed(result, passage)))
    parts += [_gap(result, number_, gap, expanded) for _, gap in sorted(gaps.items())]
    return f'<div class="rk-whole">{"".join(parts)}</div>'


def _shortened(result: Result, passage: Passage, question: str) -> str:
    """Return the sentence that stands for a weak chunk, and the way to all of it."""
    marks = whole_identifiers(passage.text, passage.highlights)
    body = blocks(passage.text, (0, len(passage.text)), marks, kind(result))
    chunk = passage.chunks[0]
    link = document_link(
        result.document.id, chunk, question, "see all of it", class_="rk-link",
        aria_label=f"See all of chunk {chunk + 1} in the document",
    )  # fmt: skip
    return (
        f'<div class="rk-passage rk-shortened">{body}</div>'
        f'<p class="rk-gap">… chunk {chunk + 1} shortened … {link}</p>'
    )


def _framed(result: Result, passage: Passage) -> MatchedChunk | None:
    """Return the best table, list or code block that was found by itself in a passage."""
    for chunk in result.matched_chunks:
        within = chunk.span is not None and passage.start <= chunk.span.start < passage.end
        if within and chunk.level is Level.BLOCK:
            return chunk
    return None


def _passage(passage: Passage, kind_: Kind, framed: MatchedChunk | None) -> str:
    shown = min(len(passage.text), LONGEST_PASSAGE)
    marks = whole_identifiers(passage.text, passage.highlights)
    cut = ""
    if passage.cut or len(passage.text) > shown:
        cut = '<p class="rk-soft">… cut here; open the document for the rest.</p>'
    chunks = f"{passage.chunks[0] + 1}-{passage.chunks[1] + 1}"
    if framed is None or framed.span is None:
        body, note = blocks(passage.text, (0, shown), marks, kind_), ""
    else:
        frame = (framed.span.start - passage.start, framed.span.end - passage.start)
        body = blocks(passage.text, (0, shown), marks, kind_, passage=frame, named=False)
        note = f'<p class="rk-soft">The framed {block_name(framed)} matched by itself.</p>'
    return f'{note}<div class="rk-passage" data-chunks="{chunks}">{body}</div>{cut}'


def block_name(chunk: MatchedChunk) -> str:
    """Return the name of a block."""
    return "block" if chunk.block is None else _BLOCKS.get(chunk.block, "block")


def gap_words(first: int, last: int) -> str:
    """Return ``chunks 4–7 omitted``, counted from 1."""
    return (
        f"chunk {first + 1} omitted" if first == last else f"chunks {first + 1}–{last + 1} omitted"
    )


def _gap(result: Result, number_: int, gap: tuple[int, int], expanded: ExpandedContent) -> str:
    first, last = gap
    if gap in expanded.gaps:
        between = expanded.gaps[gap]
        body = blocks(between, (0, min(len(between), LONGEST_PASSAGE)), (), kind(result))
        return f'<div class="rk-passage rk-filled">{body}</div>'
    button = action(
        "gap", "show", style="rk-inline", data_id=result.document.id, data_result=number_,
        data_first=first, data_last=last, aria_label=f"Show {gap_words(first, last)[:-8]}",
    )  # fmt: skip
    return f'<p class="rk-gap">… {gap_words(first, last)} … {button}</p>'
