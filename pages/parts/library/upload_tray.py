"""The outcome of each dropped file: one line a file, until the person dismisses them."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from pages.parts.common import frame
from pages.parts.common.markup import document_link, name, number, text
from ragkit.formatting import plural
from ragkit.library import Library
from ragkit.library.uploads import UploadLine, UploadState

_MOST_SHOWN, _TALLEST = 300, 370
_WORDS = {
    UploadState.FAILED: ("\u2715", "Failed"),
    UploadState.SKIPPED: ("!", "Skipped"),
    UploadState.WAITING: ("\u2026", "Stored, not indexed yet"),
    UploadState.KNOWN: ("=", "Already in the library"),
    UploadState.INDEXED: ("\u2713", "Indexed"),
}
_COUNTED = {
    UploadState.INDEXED: "indexed",
    UploadState.WAITING: "waiting",
    UploadState.KNOWN: "already in the library",
    UploadState.SKIPPED: "skipped",
    UploadState.FAILED: "failed",
}


def draw(library: Library, collection: str) -> None:
    """Draw the lines of a collection, and a way to dismiss them; nothing when there are none."""
    lines = library.uploads.lines(collection)
    if not lines:
        return
    # Its height is known before its text is there, so that what is below does not move.
    with st.container(key="tray", gap="small", height=min(_TALLEST, 66 + 29 * len(lines))):
        st.html(tray(lines))
        st.button(
            "Dismiss", key="dismiss-uploads", type="tertiary",
            on_click=frame.click(library.uploads.dismiss), args=(collection,),
        )  # fmt: skip


def tray(lines: Sequence[UploadLine]) -> str:
    """Return the uploads as HTML: how many of each, then those with a problem first."""
    order = list(_WORDS)
    ranked = sorted(lines, key=lambda line: order.index(line.state))
    counts = [
        f"{number(count)} {word}"
        for state, word in _COUNTED.items()
        if (count := sum(line.state is state for line in lines))
    ]
    items = "".join(map(_line, ranked[:_MOST_SHOWN]))
    rest = len(lines) - _MOST_SHOWN
    more = f'<p class="rk-soft">and {number(rest)} more</p>' if rest > 0 else ""
    return (
        '<section class="rk-tray" aria-label="Uploads"><p role="status">'
        f"<b>{plural(len(lines), 'file')}</b> · {text(' · '.join(counts))}</p>"
        f'<ul tabindex="0" aria-label="Uploaded files">{items}</ul>{more}</section>'
    )


def _line(line: UploadLine) -> str:
    sign, word = _WORDS[line.state]
    title = f"<bdi>{name(line.name)}</bdi>"
    if line.document_id and line.state is UploadState.INDEXED:
        title = document_link(line.document_id, 0, "", title)
    status = text(word)
    if line.state is UploadState.KNOWN:
        place = f"<bdi>{name(line.reason)}</bdi>"
        if line.document_id:
            place = document_link(line.document_id, 0, "", place)
        status = f"{status}, as {place}"
    elif line.reason:
        status = f"{status}: {name(line.reason)}"
    return (
        f'<li class="rk-upload rk-{line.state}"><span class="rk-sign" aria-hidden="true">{sign}'
        f'</span><span>{title} <span class="rk-soft">· {status}</span></span></li>'
    )
