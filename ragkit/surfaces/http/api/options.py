"""The options of a search as a request gives them: made from the one table, and checked by it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, create_model

from ragkit.option_table import Choice, Option
from ragkit.options import CHUNKED_OPTIONS, SEARCH_OPTIONS


class Strict(BaseModel):
    """What a request holds: no other fields, and no text where a number is meant."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)


def _whole(value: Any) -> Any:
    """Return 5 for 5.0: JSON has one kind of number."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


Whole = Annotated[int, BeforeValidator(_whole)]
"""A whole number, however JSON writes it."""


def _from_table(options: Mapping[str, Option]) -> type[Strict]:
    fields: dict[str, Any] = {}
    for each in options.values():
        low, high = each.bounds or (None, None)
        # A choice comes as its text.
        strict = not (isinstance(each.type, type) and issubclass(each.type, Choice))
        fields[each.name] = (
            Whole if each.type is int else each.type,
            Field(each.default, ge=low, le=high, description=each.help, strict=strict),
        )
    return create_model("_Options", __base__=Strict, **fields)


class SearchChanges(_from_table(SEARCH_OPTIONS)):  # type: ignore[misc]
    """Options of a search. Those not given are as the collection, or else the settings, have them;
    the defaults named here are those of new settings.
    """  # noqa: D205


class LongSearchChanges(_from_table(CHUNKED_OPTIONS)):  # type: ignore[misc]
    """Options of a search with a long text: how it is cut, and how the results are merged. Those
    not given are as the settings have them.
    """  # noqa: D205


def given(changes: Strict) -> dict[str, Any]:
    """Return the options that a request names, with their values."""
    return {name: getattr(changes, name) for name in changes.model_fields_set}
