"""Evaluate: how well questions with known answers are answered, and what changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import streamlit as st

from pages.parts.common import browser, frame, markup, state
from pages.parts.evaluate import evaluation_html as evaluating
from pages.parts.evaluate import set_writing
from ragkit.catalog.runs import RunRecord
from ragkit.errors import RagkitError
from ragkit.evaluation.background import BackgroundRuns
from ragkit.evaluation.metrics import HEADLINES, main_metric
from ragkit.evaluation.question_sets import optimism_notice
from ragkit.evaluation.runs import in_words
from ragkit.evaluation.search_config import SearchConfig, as_text, from_text
from ragkit.library import Library
from ragkit.options import SearchOptions

_SET, _CONFIGS, _SEEN, _COLLECTION = "eval_set", "eval_ways", "eval_seen", "eval_collection"
_COMPARED = "cmp_columns"
_SECOND = "mode:keyword"


def draw() -> None:
    """Draw the page."""
    library = frame.begin()
    browser.listen("evaluate-actions", act)
    with st.container(key="page-wide"):
        st.html("<h1>Evaluate</h1>")
        collection = choose_collection(library)
        sets = library.judgments.sets(collection)
        if not library.documents.counts().documents:
            st.html(markup.state("Nothing to measure yet", "Add documents first."))
            st.page_link("pages/library.py", label="Library")
        elif not sets:
            nothing_judged()
            set_writing.form(library, collection, expanded=True)
            set_writing.live(library, collection)
        else:
            chosen = controls(library, collection, sets)
            set_writing.live(library, collection)
            live(library)
            results(library, collection, chosen)


def act(values: Mapping[str, str]) -> None:
    """Follow a question to its results."""
    if values.get("rk") == "ask":
        collection = values.get("collection", "")
        if collection:
            st.session_state[state.ACTIVE] = collection
        st.session_state[state.QUESTION] = values["question"]
        state.go("pages/search.py", q=values["question"])


def nothing_judged() -> None:
    """Say what to do before there is anything to measure."""
    st.html(
        markup.state(
            "How good are the answers?",
            "Judge some results first: keys 1, 2 and 3 on the Search and Compare pages say right, "
            "partly and no. Each judged question joins a set that can be asked again in any way. "
            "Sets of questions from elsewhere are imported with: ragkit judgments import FILE. "
            "A model on this machine can write one as well.",
        )
    )
    with st.container(horizontal=True):
        st.page_link("pages/compare.py", label="Compare and judge")
        st.page_link("pages/search.py", label="Search and judge")


@st.cache_resource(max_entries=8)
def background(_root: str) -> BackgroundRuns:
    """Return the background runs of a library."""
    return BackgroundRuns()


def runs_of(library: Library) -> BackgroundRuns:
    """Return the background runs of this library."""
    return background(str(library.paths.root))


# -- choosing ------------------------------------------------------------------------------------


def choose_collection(library: Library) -> str:
    """Return the collection to measure; a choice is drawn only where there are several."""
    names = [record.name for record in library.collections.list()] or [library.settings.collection]
    if len(names) == 1:
        return names[0]
    active = st.session_state.get(state.COLLECTION, library.settings.collection)
    return frame.collection_picker(names, _COLLECTION, active, names[0], width=240)


def controls(library: Library, collection: str, sets: Mapping[str, tuple[int, int]]) -> str:
    """Draw the question sets, the settings to run, and the button; return the chosen set."""
    origins = library.judgments.origins(collection)
    writers = library.judgments.writers(collection)
    names = list(sets)
    written = set_writing.pop_finished()
    if written in names:
        st.session_state[_SET] = written
    if st.session_state.get(_SET) not in names:
        st.session_state[_SET] = names[0]
    configs = choices(library, collection)
    if _CONFIGS not in st.session_state:
        st.session_state[_CONFIGS] = list(dict.fromkeys([next(iter(configs)), _SECOND]))
    st.session_state[_CONFIGS] = [
        address for address in st.session_state[_CONFIGS] if address in configs
    ]
    left, right = st.columns([2, 3], gap="large")
    with left:
        chosen = st.radio(
            "Question set",
            names,
            key=_SET,
            format_func=evaluating.set_title,
            captions=[
                evaluating.set_caption(
                    sets[name], origins.get(name, frozenset()), writers.get(name, ())
                )
                for name in names
            ],
        )
        set_writing.form(library, collection)
    with right, st.container(key="evaluate-controls"):
        picked = st.multiselect(
            "Settings to ask it with", list(configs), key=_CONFIGS, format_func=configs.__getitem__
        )
        busy = runs_of(library).status.running
        if st.button("Run", key="evaluate-run", type="primary", disabled=busy or not picked):
            start(library, collection, str(chosen), picked)
    return str(chosen)


def choices(library: Library, collection: str) -> dict[str, str]:
    """Return the settings to choose from, by address: the collection's, usual ones, Compare's."""
    own = SearchConfig(library.options(collections=(collection,)))
    labels = {as_text(own): f"As searches of {collection} are made ({in_words(own)})"}
    for address, label in evaluating.SETTINGS.items():
        labels.setdefault(address, label)
    for address in st.session_state.get(_COMPARED) or ():
        labels.setdefault(address, f"Compared: {in_words(from_text(address)[0])}")
    return labels


def start(library: Library, collection: str, question_set: str, addresses: Sequence[str]) -> None:
    """Start the runs in the background."""
    base = SearchOptions(collections=(collection,))
    configs = [from_text(address, base)[0] for address in addresses]
    runs_of(library).start(
        partial(library.experiment, collection, question_set),
        configs,
        partial(library.runs.keep, collection=collection),
    )
    st.rerun()


# -- results ------------------------------------------------------------------------------------


@st.fragment
def live(library: Library) -> None:
    """Draw how far the run is, polled only while in sight; the page is redrawn when it moves on."""
    runs = runs_of(library)
    now = runs.status
    seen = (now.round, now.running, len(now.kept))
    before = st.session_state.get(_SEEN, seen)
    st.session_state[_SEEN] = seen
    if now.running:
        with st.container(horizontal=True, vertical_alignment="center", key="evaluate-live"):
            st.html(evaluating.progress_line(now))
            st.button("Cancel", key="evaluate-cancel", type="tertiary", on_click=runs.cancel)
        browser.pulse("evaluate-pulse", 1)
    elif evaluating.ended(now):
        st.html(evaluating.ended(now))
    if before != seen:
        st.rerun(scope="app")


def results(library: Library, collection: str, question_set: str) -> None:
    """Draw the table and the chart of the set's runs, and how two of them differ."""
    name = question_set or "judged"
    kept = [record for record in library.runs.list(collection) if record.run.question_set == name]
    if not kept and runs_of(library).status.running:
        return
    if not kept:
        st.html(
            markup.state(
                "This set has not been asked yet",
                "Choose one or more settings and press Run. Each run is kept, so that later ones "
                "can be compared with it.",
            )
        )
        return
    shown = evaluating.latest(kept)
    writers = library.judgments.writers(collection).get(question_set)
    st.html(
        evaluating.runs_table(shown) + markup.notices([optimism_notice(writers)] if writers else [])
    )
    metric = main_metric([metric for metric in HEADLINES if metric in shown[0].run.means])
    types = library.judgments.question_types(collection, question_set)
    figures = {
        record.id: library.runs.by_type(record.id, types, metric)
        for record in (shown if any(types.values()) else ())
    }
    by_type = evaluating.types_table(shown, figures, metric)
    if by_type:
        st.html(by_type)
    drawn = evaluating.points(shown, metric)
    left, right = st.columns([1, 1], gap="large")
    with left, st.container(key="evaluate-chart"):
        if drawn:
            st.html(f"<h2>Quality against time ({metric})</h2>")
            st.altair_chart(evaluating.chart(drawn, metric))
    with right, st.container(key="evaluate-change"):
        changes(library, collection, kept)


def changes(library: Library, collection: str, kept: Sequence[RunRecord]) -> None:
    """Draw two kept runs to choose, and the questions that got better and worse."""
    st.html("<h2>What changed</h2>")
    if len(kept) < 2:
        st.html('<p class="rk-soft">A second run can be compared with this one.</p>')
        return
    labels = {record.id: evaluating.run_label(record) for record in kept}
    ids = list(labels)
    newest = ids[0]
    after = st.selectbox(
        "Run", ids, index=0, format_func=labels.__getitem__, key=f"eval-after-{newest}"
    )
    others = [run_id for run_id in ids if run_id != after]
    before = st.selectbox(
        "Compared with", others, index=0, format_func=labels.__getitem__,
        key=f"eval-before-{newest}-{after}",
    )  # fmt: skip
    try:
        difference = library.runs.compare(int(before), int(after))
    except RagkitError as error:
        st.html(markup.notices([str(error)]))
        return
    st.html(evaluating.difference_html(difference, collection) + markup.notices(difference.notices))


draw()
