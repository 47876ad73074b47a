"""Search: one box, then the passages that answer."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace

import streamlit as st

from pages.parts.common import browser, frame, judging, markup, open_in_os, state
from pages.parts.common.markup import number, plural
from pages.parts.search import cards, controls, summary
from pages.parts.search.passages import ExpandedContent, expand
from ragkit.catalog.judgments import Origin
from ragkit.catalog.records import ContextRecord
from ragkit.errors import NotFoundError, RagkitError
from ragkit.library import DocumentDetail, Library
from ragkit.options import Contexts, SearchOptions
from ragkit.results import Answer, Result


def draw() -> None:
    """Draw the whole page."""
    library = frame.begin()
    state.start(**{state.OPENED_GAPS: set(), state.OPENED_MORE: set(), state.ASKED: ""})
    browser.listen("actions", lambda values: act(library, values))
    browser.judging_keys("search-keys")
    with st.container(key="page-narrow"):
        counts = library.documents.counts()
        with st.container(key="search-head"):
            question = box(counts.indexed)
            choices = controls.controls(library, question)
        with st.container(key="results"):
            if choices.problem:
                st.html(markup.problem(choices.problem.message, choices.problem.cure))
            elif not counts.documents:
                empty_library(library)
            elif question.strip():
                results(library, question, choices)
            else:
                st.html(welcome(counts.indexed, counts.chunks))


def box(documents: int) -> str:
    """Draw the search box; return the question, which the address keeps as ``?q=``."""
    hint = f"Ask or search {plural(documents, 'document')} …" if documents else "Ask or search …"
    question = st.text_input(
        "Search your documents",
        type="search",
        key=state.QUESTION,
        bind="query-params",
        persist_state="session",
        label_visibility="collapsed",
        placeholder=hint,
        help=None,
    )
    return question or ""


def results(library: Library, question: str, choices: controls.Controls) -> None:
    """Draw the answer to a question, or why there is none."""
    options = choices.options
    is_new = st.session_state[state.ASKED] != (question, options)
    if is_new:
        st.session_state[state.ASKED] = (question, options)
        st.session_state[state.OPENED_GAPS] = set()
        st.session_state[state.OPENED_MORE] = set()
    try:
        with st.spinner("Searching …"):
            answer = library.search(question, options)
    except RagkitError as error:
        st.html(markup.problem(error.message, error.cure))
        return
    if is_new:
        library.contexts.note_hits(answer)
    controls.offer_export(choices.export, answer)
    chips = summary.chips(question, library.documents.field_names(options.collections))
    st.html(
        summary.filter_chips(chips) + summary.summary_line(answer) + markup.notices(answer.notices)
    )
    if not answer.results:
        st.html(summary.nothing_found(question, chips, options.mode.value))
    names = sorted({result.document.collection for result in answer.results})
    grades = {collection: library.judgments.grades(collection, question) for collection in names}
    if len(names) == 1 and grades[names[0]].placed:
        st.html(judging.counted(library, names[0], grades[names[0]]))
    contexts = best_contexts(library, answer, options)
    for place, result in enumerate(answer.results):
        span = judging.span_of(result)
        grade = grades[result.document.collection].of(result.document.id, span)
        expanded = replace(
            expanded_content(library, result),
            judge=judging.buttons(result, span, grade),
            context=contexts.get((result.document.id, result.best_index)),
        )
        st.html(cards.card(result, place, question, expanded))


def best_contexts(
    library: Library, answer: Answer, options: SearchOptions
) -> dict[tuple[int, int], ContextRecord]:
    """Return the written contexts of the best chunks; none when contexts were not searched."""
    if options.contexts is Contexts.STRUCTURAL:
        return {}
    return library.contexts.at((result.document.id, result.best_index) for result in answer.results)


def expanded_content(library: Library, result: Result) -> ExpandedContent:
    """Return what the person expanded in a card."""
    gaps, more = st.session_state[state.OPENED_GAPS], st.session_state[state.OPENED_MORE]
    document_id = result.document.id
    detail: DocumentDetail | None = None
    if document_id in more or any(gap[0] == document_id for gap in gaps):
        with suppress(NotFoundError):
            detail = library.documents.get(document_id)
    return expand(result, detail, gaps, more, open_in_os.label_for(result.document.file))


def act(library: Library, values: Mapping[str, str]) -> None:
    """Handle a click on a button or link of a card."""
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
        open_in_os.launch(library, int(values["id"]))


def empty_library(library: Library) -> None:
    """Draw what to do next when nothing is indexed yet."""
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
            controls.add_sample(library)
            st.rerun()


def welcome(documents: int, chunks: int) -> str:
    """Return what can be asked, shown before the first question."""
    return (
        '<section class="rk-state rk-welcome"><p>'
        f"{plural(documents, 'document')}, {number(chunks)} passages. Ask in your own words, or "
        "search for an exact name or number.</p><p>Filters go in the box too: "
        "<code>type:pdf</code> <code>path:notes/</code> <code>in:&quot;Set up&quot;</code> "
        "<code>after:2025-01</code> <code>tag:travel</code></p></section>"
    )


draw()
