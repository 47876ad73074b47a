"""Turning text of any origin into HTML that is only ever text. Pure functions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from html import escape
from urllib.parse import urlencode

from ragkit import formatting
from ragkit.retrieval.highlight import best_window

_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ufdd0-\ufdef\ufffe\uffff]")
_TRICKS = re.compile(r"[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]")
_SPACES = re.compile(r"[^\S\n]+")
_BREAKS = re.compile(r"[ \t]*\n\s*")
_MARKDOWN = re.compile(r"[\\`*_{}\[\]()#+\-.!|<>~:$&^=]")
_SURROGATES = re.compile(r"[\ud800-\udfff]")

Spans = Sequence[tuple[int, int]]


def text(value: str) -> str:
    """Escape text for HTML; control characters that no reader can see become a mark."""
    return escape(_SURROGATES.sub("\ufffd", _CONTROLS.sub("\ufffd", value)), quote=True)


def name(value: str) -> str:
    """Escape a title or path, in which invisible and direction-turning characters are tricks."""
    return text(_TRICKS.sub("\ufffd", value))


def attributes(**values: object) -> str:
    """Write HTML attributes; ``data_id`` becomes ``data-id`` and ``None`` is left out."""
    return "".join(
        f' {key.rstrip("_").replace("_", "-")}="{text(str(value))}"'
        for key, value in values.items()
        if value is not None
    )


def action(verb: str, label: str, *, style: str = "rk-act", **values: object) -> str:
    """Write a button that the action component listens to. ``label`` is plain text."""
    data = attributes(data_rk=verb, **values)
    return f'<button type="button" class="{style}"{data}>{text(label)}</button>'


def as_label(value: str) -> str:
    """A name as the label of a Streamlit widget, which would otherwise be read as Markdown."""
    return _MARKDOWN.sub(r"\\\g<0>", value)


def meter(label: str, done: float, total: float) -> str:
    """A bar that shows how much of a total is done; empty while the total is unknown."""
    share = 100 * done / total if total else 0
    return (
        f'<div class="rk-meter" role="progressbar" aria-label="{text(label)}" '
        f'aria-valuemin="0" aria-valuemax="100" aria-valuenow="{share:.0f}">'
        f'<i style="width:{share:.1f}%"></i></div>'
    )


def document_url(document_id: int, chunk: int | None = None, question: str = "") -> str:
    """Where the Document page shows a document; ``chunk`` counts from 0, the page from 1."""
    query: dict[str, str | int] = {"id": document_id}
    if chunk is not None:
        query["chunk"] = chunk + 1
    if question:
        query["find"] = question[:300]
    return f"document?{urlencode(query)}"


def merged(spans: Iterable[tuple[int, int]], start: int, end: int) -> list[tuple[int, int]]:
    """Clip spans to ``[start, end)``, sort them and join those that touch or overlap."""
    joined: list[tuple[int, int]] = []
    for first, last in sorted((max(a, start), min(b, end)) for a, b in spans):
        if first >= last:
            continue
        if joined and first <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(joined[-1][1], last))
        else:
            joined.append((first, last))
    return joined


def marked(value: str, spans: Spans, start: int = 0, end: int | None = None) -> str:
    """Escape ``value[start:end]`` with the given spans of ``value`` as ``<mark>``."""
    stop = len(value) if end is None else min(end, len(value))
    parts, position = [], start
    for first, last in merged(spans, start, stop):
        parts += [text(value[position:first]), "<mark>", text(value[first:last]), "</mark>"]
        position = last
    parts.append(text(value[position:stop]))
    return "".join(parts)


def folded(html: str) -> str:
    """Fold runs of blank lines and spaces of escaped text, for an excerpt."""
    return _BREAKS.sub("\n", _SPACES.sub(" ", html)).strip()


def excerpt(value: str, spans: Spans, size: int) -> str:
    """Give the most telling part of a text as marked HTML, with an ellipsis where it is cut."""
    start, end = best_window(value, merged(spans, 0, len(value)), size)
    inner = folded(marked(value, spans, start, end))
    return f"{'… ' if start else ''}{inner}{' …' if end < len(value) else ''}"


def number(count: int) -> str:
    """A count with thin spaces between thousands."""
    return f"{count:,}".replace(",", "\u202f")


def plural(count: int, word: str) -> str:
    """Return ``1 document``, ``2 documents``."""
    return formatting.plural(count, word, number(count))
