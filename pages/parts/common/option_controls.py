"""The controls of search options, drawn from the table of options."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import streamlit as st

from pages.parts.common import state
from ragkit.option_table import Choice, Option
from ragkit.options import SEARCH_OPTIONS, SearchOptions

_BALANCE = SEARCH_OPTIONS["keyword_weight"]


def control(option: Option, value: Any, key: str, **widget: Any) -> Any:
    """Draw an option as a switch, a choice or a slider, and return its value.

    The control keeps its state under ``key`` and starts at ``value``, which is returned as it is
    until the person changes the control. ``widget`` are further arguments of the Streamlit widget.
    """
    if option.switch or option.nullable or option.type is bool:
        off, on = option.switch or (None if option.nullable else False, True)
        starts_on = value not in (None, off) if option.nullable else value == on
        state.start(**{key: starts_on})
        is_on = st.toggle(option.label, key=key, help=option.help, **widget)
        if option.nullable and is_on:
            start = option.start if value is None else value
            return _slider(option, start, f"{key}_value", option.slider_label, **widget)
        if is_on == starts_on:
            return value
        return on if is_on else off
    if issubclass(option.type, Choice):
        choices = {choice.value: choice for choice in option.type}
        state.start(**{key: value.value})
        chosen = st.selectbox(
            option.label,
            list(choices),
            format_func=lambda name: choices[name].label,
            key=key,
            help=option.help,
            **widget,
        )
        return choices[chosen]
    return _slider(option, value, key, help=option.help, **widget)


def search_controls(
    options: SearchOptions, names: Sequence[str], prefix: str, **widget: Any
) -> dict[str, Any]:
    """Draw search options, with their weights below the fusion; return the values by name."""
    values: dict[str, Any] = {}
    for name in names:
        values[name] = control(
            SEARCH_OPTIONS[name], getattr(options, name), f"{prefix}{name}", **widget
        )
        if name == "fusion":
            values |= _balance(options, f"{prefix}balance", **widget)
    return values


def _slider(option: Option, value: Any, key: str, label: str = "", **widget: Any) -> Any:
    """Draw a number as a slider, which reaches as far as the value does, and return it."""
    low, high, step = _range(option)
    state.start(**{key: value})
    now = st.session_state[key]
    return st.slider(
        label or option.label, min(low, now), max(high, now), step=step, key=key, **widget
    )


def _range(option: Option) -> tuple[float, float, float]:
    """Return the lowest and the highest number of an option's slider, and its step."""
    if option.slider is None:
        raise ValueError(f"{option.name} has no slider")
    return option.slider


def _balance(options: SearchOptions, key: str, **widget: Any) -> dict[str, float]:
    """Draw the weights of both indexes as one slider; return them once the person moves it."""
    step = _range(_BALANCE)[2]
    total = options.vector_weight + options.keyword_weight or 1.0
    start = round(round(options.keyword_weight / total / step) * step, 2)
    help_ = "Left: only semantic scores count. Right: only keyword scores count."
    keyword = _slider(_BALANCE, start, key, help=help_, **widget)
    if keyword == start:
        return {}
    return {"keyword_weight": keyword, "vector_weight": round(1 - keyword, 2)}
