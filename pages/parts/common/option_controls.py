"""The controls of search options, drawn from the table of options."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import streamlit as st

from pages.parts.common import state
from ragkit.option_table import Choice, Option
from ragkit.options import (
    CHUNKED_OPTIONS,
    SEARCH_OPTIONS,
    ChunkedOptions,
    SearchOptions,
)

_BALANCE = replace(
    SEARCH_OPTIONS["keyword_weight"],
    help="Left: only semantic scores count. Right: only keyword scores count.",
    bounds=(0, 1),
)
_FIRST = (
    "mode", "per_document", "chunk_aware", "expansion", "granularity", "contexts", "limit", "sort",
    "fusion", _BALANCE.name, "rerank", "phrasings", "min_score", "near_duplicates",
    "semantic_threshold", "mmr_lambda", "read_filters",
)  # fmt: skip
_OFFERED = {
    name: _BALANCE if name == _BALANCE.name else option
    for name, option in SEARCH_OPTIONS.items()
    if option.label
}
USUAL = tuple(dict.fromkeys((*_FIRST, *(n for n, option in _OFFERED.items() if not option.group))))
"""The options that are shown at once, in their order; the others wait under *More settings*."""

APART: Mapping[str, Sequence[str]] = {
    group: [name for name, option in _OFFERED.items() if option.group == group]
    for group in dict.fromkeys(option.group for option in _OFFERED.values() if option.group)
}
"""The options under *More settings*, by their headings."""

FOR_ALL_TOPICS = ("min_score", "near_duplicates", "semantic_threshold", "mmr_lambda")
"""The options of a search that act on what all topics of a long text find together."""

PREFIX, LONG_PREFIX = "option_", "long_option_"
"""How the keys begin that the controls of Search and of Conversation have."""


@dataclass(frozen=True, slots=True)
class Control:
    """The control of an option: where it keeps its state, and the value that it starts at.

    The start, or a value from an address, is returned unchanged until the person uses the control,
    even if the control cannot show it: a switch has only two positions.
    """

    option: Option
    start: Any
    key: str

    def read(self) -> Any:
        """Return the value as it is, drawn or not."""
        option, now = self.option, st.session_state
        if _is_switch(option):
            placed = now.get(f"{self.key}_placed", self.start)
            is_on = now.get(self.key, self._is_on(placed))
            if option.nullable and is_on:
                return now.get(f"{self.key}_value", self._slider_start)
            if is_on == self._is_on(placed):
                return placed
            off, on = _positions(option)
            return on if is_on else off
        value = now.get(self.key, self.start)
        return option.type(value) if issubclass(option.type, Choice) else value

    def place(self, value: Any) -> None:
        """Set the control to ``value``."""
        option, now = self.option, st.session_state
        if _is_switch(option):
            now[self.key], now[f"{self.key}_placed"] = self._is_on(value), value
            if option.nullable and value is not None:
                now[f"{self.key}_value"] = value
        else:
            now[self.key] = value.value if isinstance(value, Choice) else value

    def draw(self, **widget: Any) -> Any:
        """Draw the control, and return its value; ``widget`` are arguments of its widget."""
        option, key, value = self.option, self.key, self.start
        if _is_switch(option):
            state.start(**{key: self._is_on(value)})
            is_on = st.toggle(option.label, key=key, help=option.help, **widget)
            if option.nullable and is_on:
                _slider(option, self._slider_start, f"{key}_value", option.slider_label, **widget)
        elif issubclass(option.type, Choice):
            choices = {choice.value: choice for choice in option.type}
            state.start(**{key: value.value})
            st.selectbox(
                option.label,
                list(choices),
                format_func=lambda name: choices[name].label,
                key=key,
                help=option.help,
                **widget,
            )
        elif option.slider:
            _slider(option, value, key, help=option.help, **widget)
        else:
            _field(option, value, key, **widget)
        return self.read()

    def _is_on(self, value: Any) -> bool:
        off, on = _positions(self.option)
        return value not in (None, off) if self.option.nullable else bool(value == on)

    @property
    def _slider_start(self) -> Any:
        return self.option.start if self.start is None else self.start


def _is_switch(option: Option) -> bool:
    return bool(option.switch) or option.nullable or option.type is bool


def _positions(option: Option) -> tuple[Any, Any]:
    """Return the values that a switch stands for when it is off and when it is on."""
    return option.switch or (None if option.nullable else False, True)


def control(option: Option, value: Any, key: str, **widget: Any) -> Any:
    """Draw the control of an option that starts at ``value``, and return its value."""
    return Control(option, value, key).draw(**widget)


def of_search(options: SearchOptions, prefix: str = PREFIX) -> dict[str, Control]:
    """Return the controls of search options by name, which start at ``options``.

    Their keys begin with ``prefix``. Both weights are one control, ``keyword_weight``: the balance.
    """
    own = {_BALANCE.name: f"{prefix}balance"}
    if prefix == PREFIX:
        own["mode"] = state.MODE
    controls = {
        name: Control(option, getattr(options, name), own.get(name, prefix + name))
        for name, option in _OFFERED.items()
    }
    controls[_BALANCE.name] = replace(controls[_BALANCE.name], start=_balance_of(options))
    return controls


def of_conversation(chunked: ChunkedOptions, options: SearchOptions) -> dict[str, Control]:
    """Return the controls of the Conversation page by name, which start at these options.

    Of the search options, these are ``FOR_ALL_TOPICS``.
    """
    offered: list[tuple[Option, ChunkedOptions | SearchOptions]]
    offered = [(option, chunked) for option in CHUNKED_OPTIONS.values()]
    offered += [(SEARCH_OPTIONS[name], options) for name in FOR_ALL_TOPICS]
    return {
        option.name: Control(option, getattr(start, option.name), LONG_PREFIX + option.name)
        for option, start in offered
    }


def changed(options: SearchOptions, prefix: str = PREFIX) -> SearchOptions:
    """Return the options with the changes made in their controls, whether drawn or not."""
    values = {name: each.read() for name, each in of_search(options, prefix).items()}
    return replace(options, **values | _weights(options, values[_BALANCE.name]))


def search_controls(
    options: SearchOptions, prefix: str = PREFIX, drawn: Collection[str] = ()
) -> SearchOptions:
    """Draw all search options but those that are ``drawn`` elsewhere; return them as chosen.

    Rarely needed ones are created only while *More settings* is open.
    """
    controls = of_search(options, prefix)
    for name in USUAL:
        if name not in drawn:
            controls[name].draw(persist_state="session")
    more = st.expander("More settings", key=f"{prefix}more", on_change="rerun")
    if more.open:
        with more:
            for group, names in APART.items():
                st.caption(group)
                for name in names:
                    controls[name].draw(persist_state="session")
    return changed(options, prefix)


def _slider(option: Option, value: Any, key: str, label: str = "", **widget: Any) -> Any:
    """Draw a number as a slider, which reaches as far as the value does, and return it."""
    low, high, step = _range(option)
    state.start(**{key: value})
    now = st.session_state[key]
    return st.slider(
        label or option.label, min(low, now), max(high, now), step=step, key=key, **widget
    )


def _field(option: Option, value: Any, key: str, **widget: Any) -> None:
    """Draw a number as a field, within its bounds."""
    low, high = option.bounds or (None, None)
    state.start(**{key: value})
    st.number_input(option.label, low, high, step=1, key=key, help=option.help, **widget)


def _range(option: Option) -> tuple[float, float, float]:
    """Return the lowest and the highest number of an option's slider, and its step."""
    if option.slider is None:
        raise ValueError(f"{option.name} has no slider")
    return option.slider


def _balance_of(options: SearchOptions) -> float:
    """Return the share of the keyword scores, as far as the slider can show it."""
    step = _range(_BALANCE)[2]
    total = options.vector_weight + options.keyword_weight or 1.0
    return round(round(options.keyword_weight / total / step) * step, 2)


def _weights(options: SearchOptions, keyword: float) -> dict[str, float]:
    """Return both weights for a share of the keyword scores; unchanged if they have this share."""
    if keyword == _balance_of(options):
        return {"keyword_weight": options.keyword_weight, "vector_weight": options.vector_weight}
    return {"keyword_weight": keyword, "vector_weight": round(1 - keyword, 2)}
