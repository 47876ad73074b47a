"""Search options in requests, generated from the tables of options."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, create_model

from ragkit.option_table import Choice, Option
from ragkit.options import CHUNKED_OPTIONS, SEARCH_OPTIONS


class Strict(BaseModel):
    """The base of request bodies: no unknown fields, and no text in place of a number."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)


def _whole(value: Any) -> Any:
    """Return 5 for 5.0, since JSON has only one kind of number."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def whole(low: float | None, high: float | None) -> Any:
    """Return the type of a whole number within bounds, however JSON writes it."""
    return Annotated[int, Field(ge=low, le=high, strict=True), BeforeValidator(_whole)]


def _from_table(options: Mapping[str, Option]) -> type[Strict]:
    fields: dict[str, Any] = {}
    for each in options.values():
        low, high = each.bounds or (None, None)
        default: Any = Field(default=each.default, description=each.help)
        kind: Any = each.type
        if kind is int:
            kind = whole(low, high)
        elif isinstance(kind, type) and issubclass(kind, Choice):
            # In JSON it is a text.
            kind = Annotated[kind, Field(strict=False)]
        elif kind is not bool:
            kind = Annotated[kind, Field(ge=low, le=high)]
        fields[each.name] = (kind, default)
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
    """Return the options that a request has, by name."""
    return {name: getattr(changes, name) for name in changes.model_fields_set}
