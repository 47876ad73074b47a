"""Declaring search options: choices with their labels, and dataclass fields with metadata."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from enum import StrEnum
from types import MappingProxyType
from typing import Any, Self, TypeVar, get_args

_T = TypeVar("_T")


class Choice(StrEnum):
    """A value of an option with several choices.

    ``label`` names it in a list of choices, ``phrase`` in the heading of a column on Compare.
    """

    _value_: str
    label: str
    phrase: str

    def __new__(cls, value: str, label: str = "", phrase: str = "") -> Self:
        """Build a member from its value, its label and its phrase (by default the label)."""
        member = str.__new__(cls, value)
        member._value_ = value
        member.label = label
        member.phrase = phrase or label
        return member


@dataclass(frozen=True, slots=True)
class Option:
    """A search option, as every surface reads it.

    ``help`` describes it in a sentence, ``bounds`` are its lowest and highest value, and
    ``setting`` is its name in the settings file. ``name``, ``type`` and ``default`` are those of
    its dataclass field.

    The rest is for pages: its ``label``, and the heading (``group``) of less common options. A
    number gets a field, or a slider if ``slider`` = (lowest, highest, step) is set. ``switch`` =
    (off, on) shows two choices as a toggle. An option that may be ``None`` is a toggle with a
    slider, labelled ``slider_label`` and starting at ``start``. ``phrase`` describes a value in the
    heading of a column on Compare.
    """

    help: str
    bounds: tuple[float, float] | None = None
    label: str = ""
    group: str = ""
    slider: tuple[float, float, float] | None = None
    switch: tuple[Any, Any] | None = None
    slider_label: str = ""
    start: float | None = None
    phrase: Callable[[Any], str] | None = None
    setting: str = ""
    name: str = ""
    type: Any = None
    default: Any = None

    @property
    def nullable(self) -> bool:
        """Whether the option may be ``None``, which switches it off."""
        return type(None) in get_args(self.type)

    def accepts(self, value: Any) -> bool:
        """Return whether a value has the option's type and lies within its bounds."""
        kinds = get_args(self.type) or (self.type,)
        if type(value) not in kinds and not (float in kinds and type(value) is int):
            return False
        return value is None or not self.bounds or self.bounds[0] <= value <= self.bounds[1]

    def describe(self, value: Any) -> str:
        """Describe a value for the heading of a column on Compare."""
        if isinstance(value, Choice):
            return value.phrase
        return self.phrase(value) if self.phrase else f"{self.name.replace('_', ' ')} {value:g}"


def option(default: _T, help: str | Option, **details: Any) -> _T:  # noqa: A002
    """Declare a dataclass field as an option.

    ``help`` is its description, or another option to copy; ``details`` are fields of ``Option``.
    """
    if isinstance(help, Option):
        declared = replace(help, **{"setting": "", **details})
    else:
        declared = Option(help, **details)
    return field(default=default, metadata={"option": declared})


def table(options: type) -> Mapping[str, Option]:
    """Return the options that a dataclass declares, by name, in the order of its fields.

    Its module must not postpone annotations: resolving them would take longer than all the rest.
    """
    return MappingProxyType(
        {
            each.name: replace(
                each.metadata["option"],
                name=each.name,
                type=each.type,
                default=each.default,
                setting=each.metadata["option"].setting or each.name,
            )
            for each in fields(options)
            if "option" in each.metadata
        }
    )
