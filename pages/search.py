"""Search: one box, then the passages that answer."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext, suppress
from dataclasses import replace

import streamlit as st

from pages.parts.common import (
    address,
    browser,
    collection_picker,
    frame,
    judging,
    markup,
    open_in_os,
    option_controls,
    state,
)
from pages.parts.common import question as question_box
from pages.parts.search import (
    answer_html,
    answering,
    cards,
    controls,
    follow_ups,
    gone,
    home,
    summary,
    thread_list,
    web,
)
from pages.parts.search.passages import ExpandedContent, expand
from ragkit.catalog.context_records import ContextRecord
from ragkit.catalog.judgments import Origin
from ragkit.catalog.records import Counts
from ragkit.errors import NotFoundError, RagkitError
from ragkit.formatting import plural
from ragkit.library import DocumentDetail, Library
from ragkit.option_codec import parse_option
from ragkit.options import Contexts, Phrasings, Rerank, SearchOptions
from ragkit.results import Answer, Result

# Fewer documents are indexed before anybody has read that they are.
_MANY = 20
_NEW = "answer_is_new"
_OPENED = (
    state.OPENED_GAPS, state.OPENED_MORE, state.OPENED_SIMILAR, state.OPENED_PASSAGES,
)  # fmt: skip
_TOGGLES = {
    "more": state.OPENED_MORE,
    "similar": state.OPENED_SIMILAR,
    "passages": state.OPENED_PASSAGES,
}


def draw() -> None:
    """Draw the whole page."""
    library = frame.begin()
    state.start(**{state.ASKED: "", **{opened: set() for opened in _OPENED}})
    browser.listen(lambda values: act(library, values))
    with st.container(key="page-narrow"):
        question_and_answer()


@frame.part
def question_and_answer() -> None:
    """Draw the box, the controls under it, and the answer; a home where nothing is asked.

    No element is sent without need: each is a message, and each message work for the browser.
    """
    library = frame.open_library()
    follow_ups.take(library)
    counts = library.documents.counts(controls.chosen_collection(library))
    among = plural(counts.indexed, "document") + " " if counts.indexed else ""
    question = question_box.box(library, "Search your documents", f"Ask or search {among}…")
    any_documents = counts.documents or library.documents.counts().documents
    # Those of a last collection that is being deleted can still be kept, but not searched.
    if not any_documents or not library.collections.count():
        home.draw(library, (), Counts())
        return
    choices = controls.controls(library, question)
    if gone_collection := address.gone_collection(library):
        st.html(markup.notices([gone_collection]))
    if choices.problem:
        st.html(markup.problem(choices.problem.message, choices.problem.cure))
    elif question.strip():
        results(library, question, choices)
    else:
        home.draw(library, choices.options.collections, counts)


def results(library: Library, question: str, choices: controls.Controls) -> None:
    """Search, and draw what was found, or why nothing was."""
    options = collection_picker.everywhere(library, choices.options)
    before = st.session_state[state.ASKED]
    # More results of the same question are no new answer.
    if not before or (question, options) != (before[0], replace(before[1], limit=options.limit)):
        for opened in _OPENED:
            st.session_state[opened] = set()
        st.session_state[_NEW] = True
    st.session_state[state.ASKED] = (question, options)
    # It stays new until a run comes to its end: others are broken off.
    is_new = bool(st.session_state.get(_NEW))
    # A spinner is an element of its own, and shifts the others: only for what takes seconds.
    asks_model = options.rerank is not Rerank.NONE or options.phrasings is not Phrasings.NONE
    waiting = st.spinner("Searching …") if asks_model else nullcontext()
    try:
        with waiting:
            answer = library.search(question, options)
    except RagkitError as error:
        st.html(markup.problem(error.message, error.cure))
        return
    if is_new:
        library.contexts.note_hits(answer)
    controls.offer_export(choices.export, answer)
    quick = library.answers.quick(answer)
    asked = follow_ups.Asked(question, answer, quick, options.collections, is_new)
    stand = answering.stand(library, asked)
    show(library, asked, options, stand)
    thread_list.settle()
    home.note(library, question, answer, options, is_new=is_new)
    st.session_state[_NEW] = False
    web.draw(library, answer, stand.turn, stand.before)


def show(
    library: Library,
    asked: follow_ups.Asked,
    options: SearchOptions,
    stand: answering.Stand,
) -> None:
    """Draw the answer, and the results under it."""
    answer = asked.answer
    chips = summary.chips(asked.question, library.documents.field_names(options.collections))
    above = [
        summary.filter_chips(chips),
        summary.reading_chips(answer),
        answer_html.earlier(stand.before),
        answer_html.asked_as(stand.turn),
        answer_html.quick(asked.quick, answer.corrected or answer.query, answer.forms),
    ]
    tools = answer_html.offers(
        can_write=bool(stand.offered) and not stand.written and not answer.listed,
        follows=bool(asked.quick) and stand.turn is None,
    )
    below = [summary.head(answer, options, tools), indexing(library)]
    if answer.results:
        below += [result_list(library, answer, options), summary.more(answer, options)]
    else:
        below.append(summary.nothing_found(answer, chips, options))
    # The results have a place of their own: they stay while an answer begins above them.
    with st.container(key="answer-area"):
        writes = stand.turn is not None or follow_ups.is_open()
        if writes:
            follow_ups.draw_change(stand.turn)
        if any(above):
            st.html("".join(above))
        if writes:
            answering.draw(stand)
            follow_ups.draw()
    st.html("".join(below))
    if stand.offered is None:
        browser.pulse("offer-pulse", 1)


def indexing(library: Library) -> str:
    """Return a notice that results may be incomplete while many documents are being indexed."""
    now = library.jobs.progress()
    if now is None or now[1].total < _MANY or now[1].done >= now[1].total:
        return ""
    job, progress = now
    far = markup.figure(job.id, progress.done, progress.total, progress.seconds_left)
    return f'<p class="rk-notice">Still indexing {far}. Results may be incomplete.</p>'


def result_list(library: Library, answer: Answer, options: SearchOptions) -> str:
    """Return the cards of an answer, with the ratings given to them."""
    question = answer.corrected or answer.query
    names = sorted({result.document.collection for result in answer.results})
    # A rating is of the question as it was typed.
    grades = {each: library.judgments.grades(each, answer.query) for each in names}
    parts = []
    if len(names) == 1 and grades[names[0]].placed:
        parts.append(judging.counted(library, names[0], grades[names[0]]))
    contexts = best_contexts(library, answer, options)
    excerpts = library.answers.excerpts(question, answer.results)
    folders = gone.gone_folders(answer.results)
    parts.append(gone.notice(folders))
    drawn = []
    for place, result in enumerate(answer.results):
        span = result.best_span
        grade = grades[result.document.collection].of(result.document.id, span)
        expanded = replace(
            expanded_content(library, result),
            judge=judging.buttons(result, span, grade),
            context=contexts.get((result.document.id, result.best_index)),
            excerpt=excerpts[place],
            known_missing=answer.missing_terms,
            folder_gone=result.document.id in folders,
        )
        drawn.append(cards.card(result, place, question, expanded))
    parts.append(cards.with_less_related(drawn, answer.results, question))
    return "".join(parts)


def best_contexts(
    library: Library, answer: Answer, options: SearchOptions
) -> dict[tuple[int, int], ContextRecord]:
    """Return the written contexts of the best chunks; none when contexts were not searched."""
    if options.contexts is Contexts.STRUCTURAL:
        return {}
    return library.contexts.at((result.document.id, result.best_index) for result in answer.results)


def expanded_content(library: Library, result: Result) -> ExpandedContent:
    """Return the content that the person expanded in a card."""
    gaps, more, similar, passages = (st.session_state[opened] for opened in _OPENED)
    document_id = result.document.id
    detail: DocumentDetail | None = None
    if document_id in more or any(gap[0] == document_id for gap in gaps):
        with suppress(NotFoundError):
            detail = library.documents.get(document_id)
    expanded = expand(result, detail, gaps, more, open_in_os.label_for(result.document.file))
    expanded = replace(expanded, passages=document_id in passages)
    if document_id in similar:
        with suppress(NotFoundError):
            expanded = replace(expanded, similar=library.documents.similar(document_id))
    return expanded


def act(library: Library, values: Mapping[str, str]) -> None:
    """Handle a click on a button or link of a card."""
    verb = values.get("rk", "")
    question = st.session_state.get(state.QUESTION) or ""
    if home.act(library, values) or judging.act(library, values, question, Origin.SEARCH):
        return
    if answering.act(library, values):
        return
    if verb == "gap":
        gap = (int(values["id"]), int(values["first"]), int(values["last"]))
        st.session_state[state.OPENED_GAPS].add(gap)
    elif verb in _TOGGLES:
        st.session_state[_TOGGLES[verb]] ^= {int(values["id"])}
    elif verb == "drop":
        fields = library.documents.field_names()
        question_box.put(summary.without_filter(question, values["token"], fields))
    elif verb == "filter":
        fields = library.documents.field_names()
        question_box.put(summary.toggle_filter(question, values["token"], fields))
    elif verb == "option":
        option = option_controls.of_search(library.options())[values["name"]]
        option.place(parse_option(values["name"], values["value"]))
    elif verb == "as_typed":
        st.session_state[state.AS_TYPED] = typed = values.get("question") or question
        question_box.put(typed)
    elif verb == "launch":
        open_in_os.launch(library, int(values["id"]))


draw()
