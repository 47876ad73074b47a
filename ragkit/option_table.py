"""How an option is declared once: choices with their labels, and fields with their metadata."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from enum import StrEnum
from types import MappingProxyType
from typing import Any, Self, TypeVar, get_args

_T = TypeVar("_T")


class Choice(StrEnum):
    """A value that can be chosen.

    ``label`` is its name in a list of choices, ``phrase`` in the heading of a compared column.
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
    """An option as every surface reads it; ``name``, ``type`` and ``default`` are its field's.

    ``help`` describes it in a sentence, ``bounds`` are the lowest and the highest number, and
    ``setting`` is its name in the settings file. On a page it is called ``label``, and ``group`` is
    the heading above it where a page keeps it apart. A number has a field there, or a slider,
    ``slider`` = (lowest, highest, step); ``switch`` = (off, on) makes an option a toggle between
    two values. One that may be ``None`` is a toggle with a slider below it, which is called
    ``slider_label`` and starts at ``start``. ``phrase`` turns a value into words for the heading of
    a compared column.
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
        """True when the option may be ``None``, which switches it off."""
        return type(None) in get_args(self.type)

    def describe(self, value: Any) -> str:
        """Return a value in words, for the heading of a compared column."""
        if isinstance(value, Choice):
            return value.phrase
        return self.phrase(value) if self.phrase else f"{self.name.replace('_', ' ')} {value:g}"


def option(default: _T, help: str | Option, **details: Any) -> _T:  # noqa: A002
    """Declare a field as an option, like another one or with ``details``, fields of ``Option``."""
    if isinstance(help, Option):
        declared = replace(help, **{"setting": "", **details})
    else:
        declared = Option(help, **details)
    return field(default=default, metadata={"option": declared})


def table(options: type) -> Mapping[str, Option]:
    """Return the options that a dataclass declares, by name, in the order of its fields.

    Its module keeps annotations as types: taking them apart as text takes longer than the rest.
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
