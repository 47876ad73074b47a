"""Evaluate: how well questions with known answers are answered, and what changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import streamlit as st

from pages.parts.common import browser, collection_picker, frame, markup
from pages.parts.evaluate import ablation_part, charts, from_searches, set_forms
from pages.parts.evaluate import evaluation_html as evaluating
from pages.parts.evaluate.running import in_progress, moved_on, task_of
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
_COMPARED, _METRIC = "cmp_columns", "eval_metric"
_SECOND = "mode:keyword"


def draw() -> None:
    """Draw the page."""
    library = frame.begin()
    with st.container(key="page-wide"):
        st.html("<h1>Evaluate</h1>")
        collection = collection_picker.choose(library, _COLLECTION, width=240)
        browser.listen(lambda values: from_searches.act(library, collection, values))
        sets = library.judgments.sets(collection)
        chosen = None
        if not library.documents.any():
            st.html(markup.state("Nothing to measure yet", "Add documents to the library first."))
            st.page_link("pages/library.py", label="Add documents")
        else:
            chosen = controls(library, collection, sets)
            set_forms.writing_live(library, collection)
        if chosen is not None:
            live(library)
            results(library, collection, chosen)
            ablation_part.draw(library, collection, chosen)


def nothing_rated() -> None:
    """Say what to do before there is anything to measure."""
    st.html(
        markup.state(
            "How good are the answers?",
            "To measure that, ragkit runs questions whose relevant documents are known. Rate "
            "results on the Search and Compare pages with the keys 1, 2 and 3: each rated question "
            "joins a set. You can also rate what you searched for before, import a set, or have a "
            "model on this machine write one.",
        )
    )
    with st.container(horizontal=True):
        st.page_link("pages/compare.py", label="Rate on Compare")
        st.page_link("pages/search.py", label="Rate on Search")


# -- choosing ------------------------------------------------------------------------------------


def controls(library: Library, collection: str, sets: Mapping[str, tuple[int, int]]) -> str | None:
    """Draw the question sets, ways to new ones, and what to run; return the chosen set, if any.

    Each part has the same place with and without sets. One that moved would be on the page twice
    until the run ends, and would be drawn closed again.
    """
    with st.container():
        if not sets:
            nothing_rated()
    left, right = st.columns([2, 3] if sets else [3, 2], gap="large")
    with left:
        with st.container():
            chosen = choose_set(library, collection, sets) if sets else None
        set_forms.draw(library, collection, first=not sets)
    if chosen is not None:
        with right, st.container(key="evaluate-controls"):
            run_settings(library, collection)
    return chosen


def choose_set(library: Library, collection: str, sets: Mapping[str, tuple[int, int]]) -> str:
    """Draw the choice of a question set, and return the chosen one."""
    origins = library.judgments.origins(collection)
    writers = library.judgments.writers(collection)
    names = list(sets)
    new = st.session_state.pop(from_searches.NEW_SET, None)
    if new in names:
        st.session_state[_SET] = new
    if st.session_state.get(_SET) not in names:
        st.session_state[_SET] = names[0]
    captions = [
        evaluating.set_caption(sets[name], origins.get(name, frozenset()), writers.get(name, ()))
        for name in names
    ]
    return str(
        st.radio(
            "Question set", names, key=_SET, format_func=evaluating.set_title, captions=captions
        )
    )


def run_settings(library: Library, collection: str) -> None:
    """Draw the settings to test, and the button that runs the chosen set with them."""
    configs = choices(library, collection)
    if _CONFIGS not in st.session_state:
        st.session_state[_CONFIGS] = list(dict.fromkeys([next(iter(configs)), _SECOND]))
    st.session_state[_CONFIGS] = [
        address for address in st.session_state[_CONFIGS] if address in configs
    ]
    picked = st.multiselect(
        "Settings to test", list(configs), key=_CONFIGS, format_func=configs.__getitem__
    )
    busy = task_of(library, BackgroundRuns).status.running
    st.button("Run", key="evaluate-run", type="primary", disabled=busy or not picked,
              on_click=frame.click(start), args=(library, collection))  # fmt: skip


def choices(library: Library, collection: str) -> dict[str, str]:
    """Return the settings to choose from, keyed by address: current, presets, those on Compare."""
    own = SearchConfig(library.options(collections=(collection,)))
    labels = {as_text(own): f"Current settings ({in_words(own)})"}
    for address, label in evaluating.SETTINGS.items():
        labels.setdefault(address, label)
    for address in st.session_state.get(_COMPARED) or ():
        labels.setdefault(address, f"Compared: {in_words(from_text(address)[0])}")
    return labels


def start(library: Library, collection: str) -> None:
    """Start the runs of what is chosen in the background."""
    base = SearchOptions(collections=(collection,))
    configs = [from_text(address, base)[0] for address in st.session_state[_CONFIGS]]
    task_of(library, BackgroundRuns).start(
        partial(library.experiment, collection, str(st.session_state[_SET])),
        configs,
        partial(library.runs.keep, collection=collection),
    )


# -- results ------------------------------------------------------------------------------------


@st.fragment
def live(library: Library) -> None:
    """Draw the run's progress while the tab is visible; redraw the page when its state changes."""
    runs = task_of(library, BackgroundRuns)
    now = runs.status
    if now.running:
        in_progress("evaluate-live", evaluating.progress_line(now), runs)
    elif evaluating.ended(now):
        st.html(evaluating.ended(now))
    if moved_on(_SEEN, (now.round, now.running, len(now.kept))):
        st.rerun(scope="app")


def results(library: Library, collection: str, question_set: str) -> None:
    """Draw the tables and charts of the set's runs, and how two of them differ."""
    name = question_set or "judged"
    records = [
        record for record in library.runs.list(collection) if record.run.question_set == name
    ]
    if not records and task_of(library, BackgroundRuns).status.running:
        return
    if not records:
        st.html(
            markup.state(
                "This set has not been run yet",
                "Choose one or more settings and press Run. Each run is kept, so that later ones "
                "can be compared with it.",
            )
        )
        return
    shown = evaluating.latest(records)
    metric = choose_metric(shown)
    types = library.judgments.question_types(collection, question_set)
    figures = {
        record.id: library.runs.by_type(record.id, types, metric)
        for record in (shown if any(types.values()) else ())
    }
    st.html(
        markup.notices(cautions(library, collection, question_set, shown))
        + evaluating.runs_table(shown)
        + evaluating.unused_html(shown[0])
        + evaluating.types_table(shown, figures, metric)
    )
    overview(shown, metric)
    changes(library, collection, records, metric)


def choose_metric(shown: Sequence[RunRecord]) -> str:
    """Draw the choice of the metric that charts show, and return it."""
    metrics = [metric for metric in HEADLINES if metric in shown[0].run.means]
    usual = main_metric(metrics)
    if len(metrics) < 2:
        return usual
    if st.session_state.get(_METRIC) not in metrics:
        st.session_state[_METRIC] = usual
    chosen = st.segmented_control(
        "Metric", metrics, key=_METRIC, format_func=evaluating.metric_name, required=True
    )
    return str(chosen or usual)


def cautions(
    library: Library, collection: str, question_set: str, shown: Sequence[RunRecord]
) -> list[str]:
    """Return warnings about figures that are less reliable than they look."""
    rated = library.judgments.sets(collection).get(question_set, (0, 0))[0]
    writers = library.judgments.writers(collection).get(question_set)
    notices = evaluating.cautions(shown, rated, self_made=not question_set)
    return [*notices, *([optimism_notice(writers)] if writers else [])]


def overview(shown: Sequence[RunRecord], metric: str) -> None:
    """Draw the metric and the times of each setting, side by side."""
    left, right = st.columns(2, gap="large")
    with left, st.container(key="evaluate-metric"):
        title = evaluating.metric_name(metric)
        st.html(f"<h2>{markup.text(title)} by setting</h2>")
        st.altair_chart(charts.metric_chart(charts.metric_rows(shown, metric), title))
    times = charts.latency_rows(shown)
    if times:
        with right, st.container(key="evaluate-latency"):
            st.html("<h2>Time of a search (median and 95th percentile)</h2>")
            st.altair_chart(charts.latency_chart(times))


def changes(library: Library, collection: str, kept: Sequence[RunRecord], metric: str) -> None:
    """Draw two kept runs to choose, and the questions that got better and worse."""
    st.html("<h2>What changed</h2>")
    if len(kept) < 2:
        st.html('<p class="rk-soft">Run the set with other settings to compare the two.</p>')
        return
    labels = {record.id: evaluating.run_label(record) for record in kept}
    ids = list(labels)
    newest = ids[0]
    left, right = st.columns(2, gap="large")
    after = left.selectbox(
        "Run", ids, index=0, format_func=labels.__getitem__, key=f"eval-after-{newest}"
    )
    others = [run_id for run_id in ids if run_id != after]
    before = right.selectbox(
        "Baseline", others, index=0, format_func=labels.__getitem__,
        key=f"eval-before-{newest}-{after}",
    )  # fmt: skip
    try:
        difference = library.runs.compare(int(before), int(after), metric)
    except RagkitError as error:
        st.html(markup.notices([str(error)]))
        return
    rows = charts.difference_rows(difference)
    with left, st.container(key="evaluate-change"):
        st.html(evaluating.difference_table(difference) + markup.notices(difference.notices))
    if rows:
        with right, st.container(key="evaluate-bars"):
            st.altair_chart(charts.difference_chart(rows, evaluating.metric_name(metric)))
    st.html(evaluating.moved_html(difference, collection))


draw()
