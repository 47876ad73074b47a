"""Search configurations, described for people, and as text in addresses and votes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ragkit.errors import SettingsError
from ragkit.option_codec import dump_options, option_text, parse_option
from ragkit.option_table import Option
from ragkit.options import SEARCH_OPTIONS, SearchOptions

FEWEST, MOST = 2, 4
"""The numbers of configurations that can be compared."""

_DEFAULTS = SearchOptions()
_CHUNKED = Option(
    "Splits a long question into its topics and merges what each finds.",
    label="Search each topic separately",
    phrase=lambda on: "topics searched separately" if on else "searched as a whole",
    name="chunked", type=bool, default=False,
)  # fmt: skip
_EMBEDDER = Option(
    "An embedder that has vectors of all texts. Others are chosen on the Library page.",
    label="Embedder",
    phrase=lambda name: f"embedded by {name}" if name else "the current embedder",
    name="embedder", type=str, default="",
)  # fmt: skip
CONFIG_OPTIONS: Mapping[str, Option] = {
    **SEARCH_OPTIONS, _EMBEDDER.name: _EMBEDDER, _CHUNKED.name: _CHUNKED
}  # fmt: skip
"""The search options, the embedder, and whether each topic is searched separately."""

_LONGEST = 2000


@dataclass(frozen=True, slots=True)
class SearchConfig:
    """How to search. ``chunked``: search each topic of the question separately.

    ``embedder`` names an embedder with vectors of all texts; empty: the active one.
    """

    options: SearchOptions = _DEFAULTS
    chunked: bool = False
    embedder: str = ""


def names(configs: Sequence[SearchConfig]) -> list[str]:
    """Describe each configuration by its mode and by the options in which they differ."""
    values = [_values(config) for config in configs]
    differing = [
        option
        for name, option in CONFIG_OPTIONS.items()
        if name != "mode" and any(of[name] != values[0][name] for of in values)
    ]
    return [
        ", ".join([of["mode"].label, *(option.describe(of[option.name]) for option in differing)])
        for of in values
    ]


def as_text(config: SearchConfig) -> str:
    """Return a configuration as an address writes it: ``mode:keyword,near_duplicates:true``."""
    values = {"mode": config.options.mode.value, **dump_options(config.options, _DEFAULTS)}
    if config.chunked:
        values[_CHUNKED.name] = True
    if config.embedder:
        values[_EMBEDDER.name] = config.embedder
    return ",".join(f"{name}:{option_text(value)}" for name, value in values.items())


def from_text(text: str, base: SearchOptions = _DEFAULTS) -> tuple[SearchConfig, tuple[str, ...]]:
    """Parse the output of :func:`as_text`; also return the parts that are not understood.

    Collections and filters are taken from ``base``; options not named have their defaults.
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
    return SearchConfig(replace(plain, **changes), chunked, embedder), tuple(unknown)


def _values(config: SearchConfig) -> dict[str, Any]:
    """Return the value of each of ``CONFIG_OPTIONS``."""
    values = {name: getattr(config.options, name) for name in SEARCH_OPTIONS}
    return {**values, _EMBEDDER.name: config.embedder, _CHUNKED.name: config.chunked}
