"""Judging on the pages: three buttons under a result, and the handling of their clicks."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from pages.parts.common import frame
from pages.parts.common.markup import action, number
from ragkit.catalog.judgments import Origin
from ragkit.evaluation.judging import GRADES, Grades
from ragkit.evaluation.question_sets import COLLECTED
from ragkit.formatting import plural
from ragkit.library import Library
from ragkit.results import Result
from ragkit.types import Span

_KEYS = {2: "1", 1: "2", 0: "3"}
_MEANINGS = {2: "answers the question", 1: "answers it in part", 0: "does not answer it"}


def buttons(result: Result, span: Span | None, grade: int | None) -> str:
    """Return ``Relevant · Partly · Not relevant`` as HTML, with the current grade pressed."""
    return place_buttons(result.document.id, result.document.collection, span, grade)


def place_buttons(document_id: int, collection: str, span: Span | None, grade: int | None) -> str:
    """Return the buttons of a place, or of a whole document."""
    place = "" if span is None else f"{span.start}-{span.end}"
    parts = [
        action(
            "judge",
            label,
            style="rk-act rk-grade",
            data_grade=grade_,
            data_id=document_id,
            data_place=place,
            data_collection=collection,
            aria_pressed=str(grade == grade_).lower(),
            title=f"This passage {_MEANINGS[grade_]}. Key {_KEYS[grade_]}.",
        )
        for grade_, label in GRADES.items()
    ]
    dot = '<span aria-hidden="true">·</span>'
    inner = dot.join(parts)
    return f'<span class="rk-judge" role="group" aria-label="Rate this result">{inner}</span>'


def act(
    library: Library,
    values: Mapping[str, str],
    question: str,
    origin: Origin,
    *,
    question_set: str = COLLECTED,
    filter_: str = "",
) -> bool:
    """Handle a click that judges or undoes; return whether it was one."""
    verb = values.get("rk", "")
    if verb not in ("judge", "unjudge"):
        return False
    with frame.toasted():
        collection = values["collection"]
        if verb == "judge":
            start, _, end = values["place"].partition("-")
            span = Span(int(start), int(end)) if start and end else None
            library.judgments.add(
                collection, question, int(values["id"]), int(values["grade"]),
                span=span, origin=origin, question_set=question_set, filter_=filter_,
            )  # fmt: skip
        elif library.judgments.undo(collection, question_set=question_set) is None:
            st.toast("Nothing to undo.")
    return True


def counted(library: Library, collection: str, grades: Grades) -> str:
    """Return ``3 ratings here · 12 in total``; before the first rating, the keys that rate."""
    if library.collections.find(collection) is None:
        return ""
    _questions, places = library.judgments.sets(collection).get("", (0, 0))
    if not places:
        return (
            '<p class="rk-soft rk-judged">Rate results: <kbd>1</kbd> relevant, <kbd>2</kbd> '
            "partly, <kbd>3</kbd> not relevant; <kbd>j</kbd> and <kbd>k</kbd> move.</p>"
        )
    undo = action("unjudge", "Undo", data_collection=collection, title="Key u")
    return (
        f'<p class="rk-soft rk-judged" role="status">{plural(len(grades.placed), "rating")} here '
        f"· {number(places)} in total {undo}</p>"
    )
