"""Search: one box, then the passages that answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import streamlit as st

from pages.parts.common import browser, frame, judging, markup, state
from pages.parts.common import open_in_os as programs
from pages.parts.common.markup import number, plural
from pages.parts.search import cards, summary
from pages.parts.search import controls as searching
from pages.parts.search.passages import ExpandedContent, expand
from ragkit.catalog.judgments import Origin
from ragkit.catalog.records import ContextRecord
from ragkit.errors import NotFoundError, RagkitError
from ragkit.library import DocumentDetail, Library
from ragkit.options import Contexts, SearchOptions
from ragkit.results import Answer, Result


def draw() -> None:
    """The whole page."""
    frame.required()
    state.follow()
    state.start(**{state.OPENED_GAPS: set(), state.OPENED_MORE: set(), state.ASKED: ""})
    library = frame.open_library()
    browser.listen("actions", lambda values: act(library, values))
    browser.judging_keys("search-keys")
    with st.container(key="page-narrow"):
        counts = library.documents.counts()
        with st.container(key="search-head"):
            question = box(counts.indexed)
            controls = searching.controls(library, question)
        with st.container(key="results"):
            if controls.problem:
                st.html(markup.problem(controls.problem.message, controls.problem.cure))
            elif not counts.documents:
                empty_library(library)
            elif question.strip():
                results(library, question, controls)
            else:
                st.html(welcome(counts.indexed, counts.chunks))


def box(documents: int) -> str:
    """The question, kept in the address as ``?q=``."""
    hint = f"Ask or search {plural(documents, 'document')} …" if documents else "Ask or search …"
    asked = st.text_input(
        "Search your documents",
        type="search",
        key=state.QUESTION,
        bind="query-params",
        persist_state="session",
        label_visibility="collapsed",
        placeholder=hint,
        help=None,
    )
    return asked or ""


def results(library: Library, question: str, controls: searching.Controls) -> None:
    """The answer to a question, or why there is none."""
    options = controls.options
    asked = (question, options)
    fresh = st.session_state[state.ASKED] != asked
    if fresh:
        st.session_state[state.ASKED] = asked
        st.session_state[state.OPENED_GAPS] = set()
        st.session_state[state.OPENED_MORE] = set()
    try:
        with st.spinner("Searching …"):
            answer = library.search(question, options)
    except RagkitError as error:
        st.html(markup.problem(error.message, error.cure))
        return
    if fresh:
        library.contexts.note_hits(answer)
    searching.offer_export(controls.export, answer)
    chips = summary.chips(question, library.documents.field_names(options.collections))
    st.html(
        summary.filter_chips(chips) + summary.summary_line(answer) + markup.notices(answer.notices)
    )
    if not answer.results:
        st.html(summary.nothing_found(question, chips, options.mode.value))
    names = sorted({result.document.collection for result in answer.results})
    grades = {one: judging.grades_of(library, question, one) for one in names}
    if len(names) == 1 and grades[names[0]].placed:
        st.html(judging.counted(library, names[0], grades[names[0]]))
    written = best_contexts(library, answer, options)
    for place, result in enumerate(answer.results):
        span = judging.span_of(result)
        grade = grades[result.document.collection].of(result.document.id, span)
        extra = extra_of(library, result)
        buttons = judging.buttons(result, span, grade)
        extra = replace(extra, judge=buttons, context=written.get(best_place(result)))
        st.html(cards.card(result, place, question, extra))


def best_place(result: Result) -> tuple[int, int]:
    """The document and the index of the chunk that a result is best for."""
    best = result.matched_chunks[0].index if result.matched_chunks else 0
    return (result.document.id, best)


def best_contexts(
    library: Library, answer: Answer, options: SearchOptions
) -> dict[tuple[int, int], ContextRecord]:
    """What was written of each result's best chunk; nothing when it was not searched."""
    if options.contexts is Contexts.STRUCTURAL:
        return {}
    return library.contexts.at(best_place(result) for result in answer.results)


def extra_of(library: Library, result: Result) -> ExpandedContent:
    """What the person opened in this card."""
    gaps, more = st.session_state[state.OPENED_GAPS], st.session_state[state.OPENED_MORE]
    identity = result.document.id
    detail: DocumentDetail | None = None
    if identity in more or any(one[0] == identity for one in gaps):
        try:
            detail = library.documents.get(identity)
        except NotFoundError:
            detail = None
    opens = programs.label_for(result.document.file)
    return expand(result, detail, gaps, more, opens)


def act(library: Library, values: Mapping[str, str]) -> None:
    """Do what a button or link in a card asks for."""
    verb = values.get("rk", "")
    question = st.session_state.get(state.QUESTION) or ""
    fields = library.documents.field_names()
    if judging.act(library, values, question, Origin.SEARCH):
        return
    if verb == "open":
        state.go("pages/document.py", id=values["id"], chunk=values.get("chunk", ""), find=question)
    elif verb == "gap":
        gap = (int(values["id"]), int(values["first"]), int(values["last"]))
        st.session_state[state.OPENED_GAPS].add(gap)
    elif verb == "more":
        st.session_state[state.OPENED_MORE] ^= {int(values["id"])}
    elif verb == "drop":
        st.session_state[state.QUESTION] = summary.without_filter(question, values["token"], fields)
    elif verb == "filter":
        st.session_state[state.QUESTION] = summary.toggle_filter(question, values["token"], fields)
    elif verb == "mode":
        st.session_state[state.MODE] = values["mode"]
    elif verb == "launch":
        launch(library, int(values["id"]))


def launch(library: Library, document_id: int) -> None:
    """Open a document's file on this machine."""
    try:
        record = library.documents.get(document_id).record
        programs.open_file(Path(record.root, record.path))
    except RagkitError as error:
        st.toast(str(error))


def empty_library(library: Library) -> None:
    """Nothing is indexed yet: say what to do next."""
    working = library.jobs.progress() is not None
    st.html(
        markup.state(
            "Nothing to search yet",
            "ragkit reads the folders that you name and keeps up with them. "
            "Nothing leaves this machine."
            + (" It is reading now; the first documents can be found in a moment." * working),
        )
    )
    with st.container(horizontal=True):
        if st.button("Add documents", type="primary", key="to-library"):
            st.switch_page("pages/library.py")
        if st.button("Try the sample library", key="add-sample", disabled=working):
            searching.add_sample(library)
            st.rerun()


def welcome(documents: int, chunks: int) -> str:
    """What can be asked, before anything is."""
    return (
        '<section class="rk-state rk-welcome"><p>'
        f"{plural(documents, 'document')}, {number(chunks)} passages. Ask in your own words, or "
        "search for an exact name or number.</p><p>Filters go in the box too: "
        "<code>type:pdf</code> <code>path:notes/</code> <code>in:&quot;Set up&quot;</code> "
        "<code>after:2025-01</code> <code>tag:travel</code></p></section>"
    )


draw()
