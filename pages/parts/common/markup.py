"""Text of any origin as HTML that is only ever text, and figures in words. Pure functions."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Sequence
from html import escape
from urllib.parse import urlencode

from ragkit.formatting import plural
from ragkit.retrieval.highlight import best_window
from ragkit.surfaces.addresses import document_url

_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ufdd0-\ufdef\ufffe\uffff]")
_TRICKS = re.compile(r"[\x00-\x1f\x7f-\x9f\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff]")
_SPACES = re.compile(r"[^\S\n]+")
_BREAKS = re.compile(r"[ \t]*\n\s*")
_MARKDOWN = re.compile(r"[\\`*_{}\[\]()#+\-.!|<>~:$&^=]")
_SURROGATES = re.compile(r"[\ud800-\udfff]")

Spans = Sequence[tuple[int, int]]


def text(value: str) -> str:
    """Escape text for HTML; invisible control characters become a replacement mark."""
    return escape(_SURROGATES.sub("\ufffd", _CONTROLS.sub("\ufffd", value)), quote=True)


def name(value: str, most: int | None = None) -> str:
    """Escape a title or path; invisible and direction-changing characters are replaced too.

    One that has more than ``most`` characters is cut, and ends in an ellipsis.
    """
    if most is not None and len(value) > most:
        value = f"{value[: most - 1].rstrip()}…"
    return text(_TRICKS.sub("\ufffd", value))


def path(value: str) -> str:
    """Escape a path as ``name`` does, for text that may break after each folder."""
    return name(value).replace("/", "/<wbr>").replace("\\", "\\<wbr>")


def attributes(**values: object) -> str:
    """Return HTML attributes; ``data_id`` becomes ``data-id`` and ``None`` is left out."""
    return "".join(
        f' {key.rstrip("_").replace("_", "-")}="{text(str(value))}"'
        for key, value in values.items()
        if value is not None
    )


def action(verb: str, label: str, *, style: str = "rk-act", **values: object) -> str:
    """Return a button that the action component listens to. ``label`` is plain text."""
    data = attributes(data_rk=verb, **values)
    return f'<button type="button" class="{style}"{data}>{text(label)}</button>'


def document_link(
    document_id: int, chunk: int | None, question: str, inner: str, **values: object
) -> str:
    """Return a link to a document or a chunk, which opens it there; ``inner`` is HTML."""
    data = attributes(
        **values,
        target="_self",
        data_rk="open",
        href=document_url(document_id, chunk, question),
        data_id=document_id,
        data_chunk=None if chunk is None else chunk + 1,
    )
    return f"<a{data}>{inner}</a>"


def as_label(value: str) -> str:
    """Escape a name for the label of a Streamlit widget, which is read as Markdown."""
    return _MARKDOWN.sub(r"\\\g<0>", value)


def meter(label: str, done: float, total: float) -> str:
    """Return a bar of how much of a total is done; empty while the total is unknown."""
    share = 100 * done / total if total else 0
    return (
        f'<div class="rk-meter" role="progressbar" aria-label="{text(label)}" '
        f'aria-valuemin="0" aria-valuemax="100" aria-valuenow="{share:.0f}">'
        f'<i style="width:{share:.1f}%"></i></div>'
    )


def back_link(question: str) -> str:
    """Return a link back to the results that a document was opened from, as they were left."""
    data = attributes(data_rk="back", href=f"./?{urlencode({'q': question})}", target="_self")
    return f'<a class="rk-act"{data}>Back to the results</a>'


def merged(spans: Iterable[tuple[int, int]], start: int, end: int) -> list[tuple[int, int]]:
    """Clip spans to ``[start, end)``, sort them and merge those that touch or overlap."""
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
    """Collapse runs of blank lines and spaces of escaped text, for an excerpt."""
    return _BREAKS.sub("\n", _SPACES.sub(" ", html)).strip()


def excerpt(value: str, size: int) -> str:
    """Return the beginning of a text as escaped HTML, with an ellipsis where it is cut."""
    start, end = best_window(value, (), size)
    return f"{folded(text(value[start:end]))}{' …' if end < len(value) else ''}"


def number(count: int) -> str:
    """Return a count with commas between thousands."""
    return f"{count:,}"


def took(ms: float) -> str:
    """Return milliseconds in words: ``14 ms``, ``1.2 s``."""
    if ms < 1:
        return "under 1 ms"
    return f"{ms:.0f} ms" if ms < 1000 else f"{ms / 1000:.1f} s"


def ago(then: float | None, now: float | None = None) -> str:
    """Return ``4 minutes ago``; times in seconds since the epoch."""
    if then is None:
        return "never"
    seconds = (time.time() if now is None else now) - then
    if seconds < 90:
        return "just now"
    for limit, unit, word in ((5400, 60, "minute"), (129600, 3600, "hour")):
        if seconds < limit:
            return f"{plural(max(1, round(seconds / unit)), word)} ago"
    return f"{plural(round(seconds / 86400), 'day')} ago"


def left(seconds: float | None) -> str:
    """Return ``about 40 s left``; empty while it is unknown."""
    if seconds is None:
        return ""
    if seconds < 90:
        return f"about {max(1, round(seconds))} s left"
    if seconds < 5400:
        return f"about {round(seconds / 60)} min left"
    return f"about {round(seconds / 3600)} h left"


def figure(job: int, done: int, total: int, seconds_left: float | None) -> str:
    """Return ``1,081 of 2,798 · about 1 min left`` for a job; empty for fewer than two steps.

    ``pulse.js`` shows the newest figure of a job wherever the page has one.
    """
    if total < 2:
        return ""
    words = " · ".join(filter(None, (f"{number(done)} of {number(total)}", left(seconds_left))))
    return f'<span class="rk-figure"{attributes(data_job=job, data_at=time.time())}>{words}</span>'


def notices(sentences: Sequence[str]) -> str:
    """Return each sentence as a notice."""
    return "".join(f'<p class="rk-notice">{text(sentence)}</p>' for sentence in sentences)


def problem(message: str, cure: str) -> str:
    """Return an error: what went wrong, and how to fix it."""
    advice = f"<p>{text(cure)}</p>" if cure else ""
    return (
        '<section class="rk-state rk-error" role="alert">'
        f"<h2>{text(message)}</h2>{advice}</section>"
    )


def state(title: str, body: str) -> str:
    """Return an empty state: what is the case, and what to do next."""
    return f'<section class="rk-state"><h2>{text(title)}</h2><p>{text(body)}</p></section>'
