"""The controls of search options, drawn from the table of options."""

from __future__ import annotations

from collections.abc import Sequence
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

_BALANCE = SEARCH_OPTIONS["keyword_weight"]
PREFIX, LONG_PREFIX = "option_", "long_option_"
"""How the keys begin that the controls of Search and of Conversation have."""


@dataclass(frozen=True, slots=True)
class Control:
    """The control of an option: where it keeps its state, and the value that it starts at.

    The start is returned as it is until the person changes the control, also where the control
    cannot show it: a switch has two positions.
    """

    option: Option
    start: Any
    key: str

    def read(self) -> Any:
        """Return the value as it stands, drawn or not."""
        option, now = self.option, st.session_state
        if _is_switch(option):
            starts_on = self._is_on(self.start)
            is_on = now.get(self.key, starts_on)
            if option.nullable and is_on:
                return now.get(f"{self.key}_value", self._slider_start)
            if is_on == starts_on:
                return self.start
            off, on = _positions(option)
            return on if is_on else off
        value = now.get(self.key, self.start)
        return option.type(value) if issubclass(option.type, Choice) else value

    def place(self, value: Any) -> None:
        """Put the control where it stands for ``value``."""
        option, now = self.option, st.session_state
        if _is_switch(option):
            now[self.key] = self._is_on(value)
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
        else:
            _slider(option, value, key, help=option.help, **widget)
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
    """Return what a switch stands for when it is off, and when it is on."""
    return option.switch or (None if option.nullable else False, True)


def control(option: Option, value: Any, key: str, **widget: Any) -> Any:
    """Draw the control of an option that starts at ``value``, and return its value."""
    return Control(option, value, key).draw(**widget)


def of_search(options: SearchOptions) -> dict[str, Control]:
    """Return the controls of the Search page by name, which start at ``options``.

    Both weights are one control, ``keyword_weight``: their balance.
    """
    keys = {"mode": state.MODE}
    controls = {
        name: Control(option, getattr(options, name), keys.get(name, PREFIX + name))
        for name, option in SEARCH_OPTIONS.items()
        if option.label
    }
    start = _balance_of(options)
    controls[_BALANCE.name] = Control(_BALANCE, start, f"{PREFIX}balance")
    return controls


def of_conversation(options: ChunkedOptions) -> dict[str, Control]:
    """Return the controls of the Conversation page by name, which start at ``options``."""
    return {
        name: Control(option, getattr(options, name), LONG_PREFIX + name)
        for name, option in CHUNKED_OPTIONS.items()
    }


def changed(options: SearchOptions) -> SearchOptions:
    """Return options as the controls of the Search page have changed them, drawn or not."""
    values = {name: each.read() for name, each in of_search(options).items()}
    return replace(options, **values | _weights(options, values[_BALANCE.name]))


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
    help_ = "Left: only semantic scores count. Right: only keyword scores count."
    return _weights(options, _slider(_BALANCE, _balance_of(options), key, help=help_, **widget))


def _balance_of(options: SearchOptions) -> float:
    """Return the share of the keyword scores, as far as the slider can show it."""
    step = _range(_BALANCE)[2]
    total = options.vector_weight + options.keyword_weight or 1.0
    return round(round(options.keyword_weight / total / step) * step, 2)


def _weights(options: SearchOptions, keyword: float) -> dict[str, float]:
    """Return both weights for a share of the keyword scores; as they are when it is theirs."""
    if keyword == _balance_of(options):
        return {"keyword_weight": options.keyword_weight, "vector_weight": options.vector_weight}
    return {"keyword_weight": keyword, "vector_weight": round(1 - keyword, 2)}
