"""Search options as text or JSON values, as addresses, files, commands and requests have them."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any, TypeVar

from pydantic import ValidationError

from ragkit import setting_faults
from ragkit.errors import SettingsError
from ragkit.option_table import Choice, Option
from ragkit.options import CHUNKED_OPTIONS, SEARCH_OPTIONS, ChunkedOptions, SearchOptions
from ragkit.settings import ChunkedSettings, SearchSettings

logger = logging.getLogger(__name__)

_Options = TypeVar("_Options", SearchOptions, ChunkedOptions)


def parse_option(name: str, value: object) -> Any:
    """Parse the value of a search option, from JSON or text; empty text may become ``None``.

    Raises:
        SettingsError: when there is no such option, or it cannot have this value.
    """
    return _parsed(name, value, SearchSettings, SEARCH_OPTIONS)


def parse_chunked_option(setting: str, value: object) -> tuple[str, Any]:
    """Return the name and the parsed value of the chunked option that a setting stands for.

    Raises:
        SettingsError: when there is no such setting, or it cannot have this value.
    """
    by_setting = {each.setting: each for each in CHUNKED_OPTIONS.values()}
    parsed = _parsed(setting, value, ChunkedSettings, by_setting)
    return by_setting[setting].name, parsed


def checked_options(changes: Mapping[str, Any]) -> dict[str, Any]:
    """Parse options of a search by name; those that are ``None`` are left out.

    Raises:
        TypeError: there is no such option.
        SettingsError: an option cannot have this value.
    """
    return _checked(changes, SearchOptions, SearchSettings, SEARCH_OPTIONS)


def checked_chunked_options(changes: Mapping[str, Any]) -> dict[str, Any]:
    """Do the same for the options of a long text."""
    return _checked(changes, ChunkedOptions, ChunkedSettings, CHUNKED_OPTIONS)


def valid_options(options: _Options) -> _Options:
    """Return options that a caller made, with choices given as text parsed.

    Raises:
        SettingsError: an option cannot have its value.
    """
    group: Any = ChunkedSettings
    declared: Mapping[str, Option] = CHUNKED_OPTIONS
    if isinstance(options, SearchOptions):
        group, declared = SearchSettings, SEARCH_OPTIONS
    changes = {
        name: _parsed(name, value, group, declared)
        for name, each in declared.items()
        if not each.accepts(value := getattr(options, name))
    }
    return replace(options, **changes) if changes else options


def _checked(
    changes: Mapping[str, Any], kind: type, group: Any, options: Mapping[str, Option]
) -> dict[str, Any]:
    names = [each.name for each in fields(kind)]
    values = {name: value for name, value in changes.items() if value is not None}
    for name, value in values.items():
        if name not in names:
            raise TypeError(f"There is no option {name}. The options are {', '.join(names)}.")
        if name in options:
            values[name] = _parsed(name, value, group, options)
    return values


def option_text(value: object) -> str:
    """Return the value of an option as text, from which :func:`parse_option` gets it back."""
    if value is None:
        return ""
    return str(value).lower() if isinstance(value, bool) else str(value)


def as_json_value(value: Any) -> Any:
    """Return the parsed value of an option as JSON has it."""
    return str(value) if isinstance(value, Choice) else value


def _parsed(name: str, value: object, group: Any, options: Mapping[str, Option]) -> Any:
    declared = options.get(name)
    if declared is None:
        raise SettingsError(
            f'There is no search option "{name}".', f"The options are {', '.join(options)}."
        )
    if declared.nullable and value in (None, ""):
        return None
    if isinstance(value, bool) and declared.type is not bool:
        value = str(value).lower()
    try:
        return getattr(group.model_validate({declared.setting: value}), declared.setting)
    except ValidationError as error:
        rule = setting_faults.rule(error.errors()[0])
        raise SettingsError(f"The search option {name} {rule}.") from error


def apply_options(base: SearchOptions, values: Mapping[str, Any]) -> SearchOptions:
    """Return ``base`` with values of :func:`dump_options`; invalid ones are logged and skipped."""
    changes: dict[str, Any] = {}
    for name, value in values.items():
        try:
            changes[name] = parse_option(name, value)
        except SettingsError as error:
            logger.warning("a search option was ignored: %s", error.message)
    return replace(base, **changes)


def dump_options(options: SearchOptions, base: SearchOptions) -> dict[str, Any]:
    """Return the options that differ from those of ``base``, as JSON values by name."""
    return {
        name: as_json_value(value)
        for name in SEARCH_OPTIONS
        if (value := getattr(options, name)) != getattr(base, name)
    }
