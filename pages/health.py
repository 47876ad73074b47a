"""Health: one line that says how things are, and what is wrong with a way to fix it."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from pages.parts.common import browser, frame, markup
from pages.parts.health import context_panel, health_view
from pages.parts.library import source_tables as tables
from pages.parts.searches import search_lists
from ragkit.errors import RagkitError
from ragkit.formatting import plural
from ragkit.health.findings import Depth, Finding, Severity
from ragkit.library import Library
from ragkit.library.search_figures import figures

_VERIFIED, _SEEN = "health_verified", "health_seen"
_JOBS, _MOST_CONCERNS = 100, 20
_SEARCH_DAYS = 30


def draw() -> None:
    """Draw the whole page."""
    library = frame.begin()
    with st.container(key="page-wide"):
        with st.container(key="health-head"):
            st.html("<h1>Health</h1>")
        live(library)
        left, right = st.columns([6, 5], gap="large")
        with left, st.container(key="findings"):
            offered = glance(library)
            closer(library)
            searches(library)
        with right:
            context_panel.draw(library, retry="retry_contexts" not in offered)
            with st.container(key="jobs"):
                jobs(library)


@st.fragment
def live(library: Library) -> None:
    """Draw what runs now, while visible; the page reruns when it has changed something."""
    now = library.jobs.progress()
    # What a short job did is known by its outcome: no draw may have seen the job itself.
    seen = now[0].id if now else (library.sources.unsettled(), library.documents.counts())
    before = st.session_state.get(_SEEN, seen)
    st.session_state[_SEEN] = seen
    if now is not None:
        job, progress = now
        with st.container(horizontal=True, vertical_alignment="center", key="health-live"):
            st.html(tables.progress_line(job, progress, len(library.jobs.open())))
            st.button(
                "Cancel", key="health-cancel", type="tertiary",
                on_click=frame.click(library.jobs.cancel), args=(job.id,),
            )  # fmt: skip
    browser.pulse("health-pulse", 1 if now else 4)
    if before != seen:
        st.session_state.pop(_VERIFIED, None)
        st.rerun(scope="app")


def glance(library: Library) -> set[str]:
    """Draw the quick checks; return the fixes that are offered."""
    findings = library.health.check(Depth.GLANCE)
    offered = show(library, findings, "now")
    if not library.sources.any():
        st.html(markup.state("The library is empty", "Add a folder on the Library page."))
    st.html(health_view.readers(library.settings.server))
    return offered


def closer(library: Library) -> None:
    """Draw the checks that take longer, only on request."""
    with st.container(horizontal=True, vertical_alignment="center", key="verify-row"):
        st.button(
            "Verify everything", key="verify",
            help="Reads the whole library: every text, vector and word.",
            on_click=lambda: st.session_state.update({_VERIFIED: []}),
        )  # fmt: skip
        st.button("Compact", key="compact-now", type="tertiary",
                  on_click=ask, args=(library, "compact"))  # fmt: skip
        # What lies on a server is copied there.
        if not library.health.server:
            st.button("Back up now", key="backup-now", type="tertiary",
                      on_click=ask, args=(library, "backup"))  # fmt: skip
    if not library.health.server:
        st.html(health_view.backups_list(library.health.backups()))
    verified: list[Finding] | None = st.session_state.get(_VERIFIED)
    if verified is None:
        return
    if not verified:
        # The list is filled, not replaced: what was found stays when another click breaks this off.
        with st.spinner("Reading the whole library …"):
            verified.extend(library.health.verify())
    show(library, verified, "verified")


def searches(library: Library) -> None:
    """Draw how the searches of the last days went, and the way to their log."""
    history = library.searches
    try:
        search_figures = figures(history.log(_SEARCH_DAYS))
    except RagkitError as error:
        st.html(markup.notices([str(error)]))
        return
    st.html(search_lists.on_health(search_figures, kept=history.kept, allowed=history.allowed))


def show(library: Library, findings: Sequence[Finding], key: str) -> set[str]:
    """Draw a headline, then the findings that need attention; return the fixes that are offered.

    The other findings are folded away.
    """
    rest = [finding for finding in findings if finding.severity is Severity.OK]
    concerns = health_view.concerns(findings)
    offered: set[str] = set()
    with st.container(
        horizontal=True, vertical_alignment="center", key=f"headline-{key}", gap="small"
    ):
        headline = health_view.headline(findings, verified=key == "verified")
        st.html(headline, width="content")
        for finding in concerns[:1]:
            _fix(library, finding, key, offered)
    for finding in concerns[:_MOST_CONCERNS]:
        st.html(health_view.line(finding))
        _fix(library, finding, key, offered)
    more = len(concerns) - _MOST_CONCERNS
    if more > 0:
        st.html(f'<p class="rk-soft">and {plural(more, "other")}</p>')
    st.html(health_view.folded(rest))
    return offered


def _fix(library: Library, finding: Finding, key: str, offered: set[str]) -> None:
    """Draw the fix of a finding as a button, once."""
    label = health_view.FIX_LABELS.get(finding.fix)
    if label is None or finding.fix in offered:
        return
    offered.add(finding.fix)
    st.button(label, key=f"mend-{key}-{finding.fix}", on_click=ask, args=(library, finding.fix))


def ask(library: Library, mend: str) -> None:
    """Queue a fix, and say why when that is not possible."""
    try:
        library.health.fix(mend)
        library.worker.ensure_running()
    except (RagkitError, OSError) as error:
        # The page is drawn anew whenever a job ends: a sentence in it would be gone at once.
        st.toast(markup.as_label(str(error)))
        return
    st.session_state.pop(_VERIFIED, None)


def jobs(library: Library) -> None:
    """Draw the recent jobs."""
    st.html("<h2>Recent jobs</h2>")
    recent = library.jobs.recent(_JOBS)
    if recent:
        st.html(health_view.jobs_table(recent))
    else:
        st.html('<p class="rk-soft">No jobs yet.</p>')


draw()
