"""Ablations on the Evaluate page: start, progress, figures and downloads."""

from __future__ import annotations

from functools import partial

import streamlit as st

from pages.parts.common import frame, markup
from pages.parts.evaluate import ablation_html as html
from pages.parts.evaluate import charts
from pages.parts.evaluate.evaluation_html import metric_name
from pages.parts.evaluate.running import in_progress, moved_on, task_of
from ragkit.evaluation.ablation_figures import AblationFigures
from ragkit.evaluation.background import BackgroundAblation
from ragkit.library import Library
from ragkit.surfaces import render_ablation as render

_SEEN = "ablation_seen"


def draw(library: Library, collection: str, question_set: str) -> None:
    """Draw the button, the progress, and the figures of the last ablation."""
    title = "<h2>Ablation: what each part contributes</h2>"
    st.html(f'{title}<p class="rk-soft">{html.INTRODUCTION}</p>')
    task = task_of(library, BackgroundAblation)
    st.button(
        "Run ablation", key="ablation-run", disabled=task.status.running,
        on_click=frame.click(task.start),
        args=(collection, partial(library.ablations.run, collection, question_set)),
    )  # fmt: skip
    _live(library, collection)
    figures = library.ablations.kept(collection)
    if figures is not None:
        _figures(figures)


@st.fragment
def _live(library: Library, collection: str) -> None:
    """Draw the progress while the tab is visible; redraw the page when its state changes."""
    task = task_of(library, BackgroundAblation)
    now = task.status
    if now.running:
        in_progress("ablation-live", html.progress_line(now), task, now.cancelled)
    elif now.collection == collection and html.ended(now):
        st.html(html.ended(now))
    if moved_on(_SEEN, (now.round, now.running)):
        st.rerun(scope="app")


def _figures(figures: AblationFigures) -> None:
    """Draw a chart and a table for each part, and the downloads."""
    with st.container(key="ablation-figures"):
        st.html(html.about(figures))
        title = metric_name(figures.metric)
        for number, (part, cells) in enumerate(figures.tables().items()):
            rows = html.chart_rows(cells, figures.metric)
            st.html(f"<h3>{markup.text(part)}</h3>")
            if len(rows) > 1:
                with st.container(key=f"ablation-chart-{number}"):
                    st.altair_chart(charts.parts_chart(rows, title))
            st.html(html.table(part, cells, figures))
        st.html(html.explained(figures))
        with st.container(horizontal=True):
            for label, kind, mime, write in (
                ("Markdown", "md", "text/markdown", render.ablation_as_markdown),
                ("CSV", "csv", "text/csv", render.ablation_as_csv),
                ("SVG", "svg", "image/svg+xml", render.ablation_as_svg),
            ):
                st.download_button(
                    label, data=partial(write, figures), file_name=f"ablation.{kind}", mime=mime,
                    key=f"ablation-{kind}", on_click="ignore",
                )  # fmt: skip
