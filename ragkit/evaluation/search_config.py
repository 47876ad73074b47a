"""The settings of a compared column: in words for people, as text for addresses and votes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ragkit.errors import SettingsError
from ragkit.option_table import Option
from ragkit.options import SEARCH_OPTIONS, SearchOptions
from ragkit.settings import dump_options, parse_option

FEWEST, MOST = 2, 4
"""How many columns are compared."""

_DEFAULTS = SearchOptions()
_CHUNKED = Option(
    "Splits a long question into its topics and merges what each finds.",
    label="Search each topic separately",
    phrase=lambda on: "topics searched separately" if on else "searched as a whole",
    name="chunked", type=bool, default=False,
)  # fmt: skip
_EMBEDDER = Option(
    "An embedder that has a vector of every text. Others are chosen on the Library page.",
    label="Embedder",
    phrase=lambda name: f"embedded by {name}" if name else "the current embedder",
    name="embedder", type=str, default="",
)  # fmt: skip
COLUMN_OPTIONS: Mapping[str, Option] = {
    **SEARCH_OPTIONS, _EMBEDDER.name: _EMBEDDER, _CHUNKED.name: _CHUNKED
}  # fmt: skip
"""What a column may set: the search options, which embedder, and topics one by one."""

_LONGEST = 2000


@dataclass(frozen=True, slots=True)
class ColumnSettings:
    """How one column searches. ``chunked`` searches the question's topics one by one.

    ``embedder`` names one whose vectors are kept; empty is the one that answers now.
    """

    options: SearchOptions = _DEFAULTS
    chunked: bool = False
    embedder: str = ""


def names(columns: Sequence[ColumnSettings]) -> list[str]:
    """Return each column's settings in words: its mode, and whatever else the columns differ in."""
    values = [_values(column) for column in columns]
    differing = [
        option
        for name, option in COLUMN_OPTIONS.items()
        if name != "mode" and any(of[name] != values[0][name] for of in values)
    ]
    return [
        ", ".join([of["mode"].label, *(option.describe(of[option.name]) for option in differing)])
        for of in values
    ]


def as_text(column: ColumnSettings) -> str:
    """Write a column for an address: ``mode:keyword,near_duplicates:true``."""
    values = {"mode": column.options.mode.value, **dump_options(column.options, _DEFAULTS)}
    if column.chunked:
        values[_CHUNKED.name] = True
    if column.embedder:
        values[_EMBEDDER.name] = column.embedder
    return ",".join(f"{name}:{_plain(value)}" for name, value in values.items())


def from_text(text: str, base: SearchOptions = _DEFAULTS) -> tuple[ColumnSettings, tuple[str, ...]]:
    """Read what :func:`as_text` wrote, and name the parts of it that are not understood.

    Collections and filters are those of ``base``; all else has its default unless it is named.
    """
    changes: dict[str, Any] = {}
    chunked, embedder, unknown = False, "", []
    for part in text[:_LONGEST].split(","):
        name, _, value = part.strip().partition(":")
        if not name:
            continue
        if name == _CHUNKED.name and value in ("true", "false"):
            chunked = value == "true"
            continue
        if name == _EMBEDDER.name:
            embedder = value
            continue
        try:
            changes[name] = parse_option(name, value)
        except SettingsError:
            unknown.append(part.strip()[:80])
    plain = replace(_DEFAULTS, collections=base.collections, filters=base.filters)
    return ColumnSettings(replace(plain, **changes), chunked, embedder), tuple(unknown)


def _values(column: ColumnSettings) -> dict[str, Any]:
    """Return the value of each of ``COLUMN_OPTIONS``."""
    values = {name: getattr(column.options, name) for name in SEARCH_OPTIONS}
    return {**values, _EMBEDDER.name: column.embedder, _CHUNKED.name: column.chunked}


def _plain(value: object) -> str:
    if value is None:
        return ""
    return str(value).lower() if isinstance(value, bool) else f"{value}"
