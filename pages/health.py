"""Health: what runs, what waits, what failed, what disagrees, each with what mends it."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from pages.parts.common import browser, frame, markup, state
from pages.parts.health import context_panel
from pages.parts.health import health_view as wellness
from pages.parts.library import source_tables as tables
from ragkit.errors import RagkitError
from ragkit.health.checks import Depth, Finding
from ragkit.library import Library

_VERIFIED, _SEEN = "health_verified", "health_seen"
_JOBS = 15


def draw() -> None:
    """The whole page."""
    frame.required()
    state.follow()
    library = frame.open_library()
    with st.container(key="page-wide"):
        st.html("<h1>Health</h1>")
        live(library)
        left, right = st.columns([6, 5], gap="large")
        with left, st.container(key="findings"):
            glance(library)
            closer(library)
        with right:
            context_panel.draw(library)
            with st.container(key="jobs"):
                jobs(library)


@st.fragment
def live(library: Library) -> None:
    """What runs now, asked for only while in sight; the page follows when it ends."""
    now = library.jobs.progress()
    seen = now[0].id if now else None
    before = st.session_state.get(_SEEN, seen)
    st.session_state[_SEEN] = seen
    if now is not None:
        job, progress = now
        with st.container(horizontal=True, vertical_alignment="center", key="health-live"):
            st.html(tables.progress_line(job, progress, len(library.jobs.open())))
            st.button(
                "Cancel", key="health-cancel", type="tertiary",
                on_click=library.jobs.cancel, args=(job.id,),
            )  # fmt: skip
    browser.pulse("health-pulse", 1 if now else 4)
    if before != seen:
        st.session_state.pop(_VERIFIED, None)
        st.rerun(scope="app")


def glance(library: Library) -> None:
    """What can be seen in a moment."""
    findings = library.health.check(Depth.GLANCE)
    st.html(wellness.headline(findings))
    if not library.sources.list():
        st.html(
            markup.state(
                "The library is empty", "Add a folder on the Library page; nothing can be ill yet."
            )
        )
    show(library, findings, "now")


def closer(library: Library) -> None:
    """What takes longer, only when asked for."""
    with st.container(horizontal=True, vertical_alignment="center", key="verify-row"):
        asked = st.button("Verify everything", key="verify")
        compact = st.button("Compact", key="compact-now", type="tertiary")
    if compact:
        ask(library, "compact")
    if asked:
        with st.spinner("Reading the whole library …"):
            st.session_state[_VERIFIED] = library.health.verify()
    verified: Sequence[Finding] | None = st.session_state.get(_VERIFIED)
    if verified is not None:
        st.html(wellness.headline(verified))
        show(library, verified, "verified")


def show(library: Library, findings: Sequence[Finding], key: str) -> None:
    """Each finding with its mend as a button; what is not well comes first."""
    offered: set[str] = set()
    for place, one in enumerate(sorted(findings, key=lambda one: one.ok)):
        st.html(wellness.line(one))
        label = wellness.FIX_LABELS.get(one.fix)
        if label is None or one.fix in offered:
            continue
        offered.add(one.fix)
        if st.button(
            label,
            key=f"mend-{key}-{place}-{one.fix}",
            type="tertiary" if one.ok else "secondary",
        ):
            ask(library, one.fix)


def ask(library: Library, mend: str) -> None:
    """Do a mend, and say why when that cannot be."""
    try:
        library.health.fix(mend)
        library.worker.ensure_running()
    except (RagkitError, OSError) as error:
        st.html(markup.notices([str(error)]))
        return
    st.session_state.pop(_VERIFIED, None)
    st.rerun()


def jobs(library: Library) -> None:
    """What was asked for lately."""
    st.html("<h2>Last jobs</h2>")
    recent = library.jobs.recent(_JOBS)
    if recent:
        st.html(wellness.jobs_table(recent))
    else:
        st.html('<p class="rk-soft">Nothing was asked for yet.</p>')


draw()
