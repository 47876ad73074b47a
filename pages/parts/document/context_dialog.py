"""Changing contexts on the Document page: the dialogs, and the outcome of the last request."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from pages.parts.common import dialog
from pages.parts.common.markup import name
from ragkit.catalog.records import JobState
from ragkit.errors import RagkitError
from ragkit.library import Library

_JOB = "context_job"
_LONGEST = 2000
_UNDER_WAY = {
    JobState.PENDING: "Queued.",
    JobState.RUNNING: "Working …",
}


def act(library: Library, values: Mapping[str, str], document_id: int | None) -> bool:
    """Handle a click on a button beside a chunk; return whether it was one of these."""
    verb = values.get("rk", "")
    if verb not in ("edit-context", "write-again") or document_id is None:
        return False
    index = int(values["chunk"])
    if verb == "edit-context" or _of_person(library, document_id, index):
        dialog.ask(verb, document_id, index)
    else:
        write_again(library, document_id, index)
    return True


def write_again(library: Library, document_id: int, index: int | None = None) -> None:
    """Have one chunk's context rewritten, or all of the document but those edited by a person."""
    st.session_state[_JOB] = (document_id, library.contexts.regenerate(document_id, index))
    library.worker.ensure_running()


def _of_person(library: Library, document_id: int, index: int) -> bool:
    record = library.contexts.at([(document_id, index)]).get((document_id, index))
    return record is not None and record.answer.by_person


def draw(library: Library, document_id: int) -> None:
    """Draw the dialog that is open for this document, if one is."""
    verb, *about = dialog.current()
    if verb in ("edit-context", "write-again") and about[0] != document_id:
        dialog.close()
    elif verb == "edit-context":
        edit(library, *about)
    elif verb == "write-again":
        replace(library, *about)


@dialog.titled("edit-context", "Edit context")
def edit(library: Library, document_id: int, index: int) -> None:
    """Let the person write a context."""
    record = library.contexts.at([(document_id, index)]).get((document_id, index))
    st.caption(
        f"Chunk {index + 1}. Say in a sentence or two what it is about and where it belongs. "
        "Searches use it, it is marked as yours, and no model changes it."
    )
    key = f"context-text-{document_id}-{index}"
    st.text_area(
        "Context",
        value=record.answer.context if record else "",
        max_chars=_LONGEST,
        height=160,
        key=key,
    )

    def save() -> None:
        written = str(st.session_state[key] or "")
        if not written.strip():
            raise RagkitError("Write something first, or regenerate it.")
        st.session_state[_JOB] = (document_id, library.contexts.edit(document_id, index, written))
        library.worker.ensure_running()

    dialog.answers("Save", "Cancel", "edit-context", save)


@dialog.titled("write-again", "Replace your context?")
def replace(library: Library, document_id: int, index: int) -> None:
    """Ask before a model writes over what a person wrote."""
    st.html(
        f"<p>You wrote the context of chunk {index + 1}. A model will write a new one, "
        "and yours will be lost.</p>"
    )
    dialog.answers(
        "Regenerate", "Keep mine", "replace-context",
        lambda: write_again(library, document_id, index),
    )  # fmt: skip


def outcome(library: Library, document_id: int) -> tuple[str, bool]:
    """Return the outcome of the last request as HTML, and whether it is still pending."""
    of, job_id = st.session_state.get(_JOB, (0, 0))
    job = library.jobs.get(job_id) if of == document_id else None
    if job is None:
        return "", False
    sentence = _UNDER_WAY.get(job.state, job.message)
    style = "rk-error-text" if job.state is JobState.FAILED else "rk-soft"
    html = f'<p class="{style}" id="context-outcome" role="status">{name(sentence)}</p>'
    return html, job.state in _UNDER_WAY
