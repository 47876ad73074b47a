"""Parameters of tools: their JSON schema, and checks that explain what is wrong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, get_args

from ragkit.errors import QueryError
from ragkit.option_table import Choice, Option

REQUIRED = object()
"""The default of a parameter that has none."""

_KINDS: Mapping[type, str] = {bool: "boolean", int: "integer", float: "number", str: "string"}
_NAMES = {
    "boolean": "true or false",
    "integer": "a whole number",
    "number": "a number",
    "string": "a text",
}


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a tool; ``kind`` is its JSON type.

    ``bounds`` are the lowest and highest value of a number, or length of a text.
    """

    name: str
    kind: str
    help: str
    default: Any = REQUIRED
    choices: Sequence[str] = ()
    bounds: tuple[float, float] | None = None

    @classmethod
    def of(cls, declared: Option, default: Any) -> Parameter:
        """Return a search option as a parameter; ``default`` is the value in the settings."""
        types = (declared.type, *get_args(declared.type))
        kind = next(type_ for type_ in types if type_ in _KINDS or issubclass(type_, Choice))
        chosen = issubclass(kind, Choice)
        return cls(
            declared.name,
            "string" if chosen else _KINDS[kind],
            declared.help,
            str(default) if chosen else default,
            tuple(map(str, kind)) if chosen else (),
            declared.bounds,
        )

    def schema(self) -> dict[str, Any]:
        """Return the parameter as JSON Schema."""
        schema: dict[str, Any] = {"type": self.kind, "description": self.help}
        if self.choices:
            schema["enum"] = list(self.choices)
        if self.bounds is not None:
            low, high = ("minLength", "maxLength") if self.kind == "string" else _LIMITS
            schema |= {low: self.bounds[0], high: self.bounds[1]}
        if self.default is not REQUIRED and self.default is not None:
            schema["default"] = self.default
        return schema

    def checked(self, value: Any) -> Any:
        """Return a value in the right type: models also write numbers and booleans as texts.

        Raises:
            QueryError: it has another type, or is out of bounds.
        """
        value = self._meant(value)
        if self.choices and value not in self.choices:
            near = get_close_matches(value, self.choices, 1)
            hint = f" Perhaps {near[0]} is meant." if near else ""
            raise QueryError(
                f"{self.name} cannot be {_shown(value)}.",
                f"Choose one of {', '.join(self.choices)}.{hint}",
            )
        if self.bounds is not None:
            low, high = self.bounds
            size = len(value) if isinstance(value, str) else value
            if not low <= size <= high:
                what = "characters" if isinstance(value, str) else ""
                raise QueryError(
                    f"{self.name} {'has' if what else 'is'} {_number(size)} {what}".rstrip() + ".",
                    f"Choose from {_number(low)} to {_number(high)} {what}".rstrip() + ".",
                )
        return value

    def _meant(self, value: Any) -> Any:
        if self.kind == "boolean" and value in ("true", "false"):
            return value == "true"
        if self.kind in ("integer", "number") and not isinstance(value, bool):
            try:
                number = float(value)
                if self.kind == "number" or number.is_integer():
                    return number if self.kind == "number" else int(number)
            except (TypeError, ValueError, OverflowError):
                pass
        elif self.kind == "string" and isinstance(value, str):
            return _whole(self.name, value)
        elif self.kind == "boolean" and isinstance(value, bool):
            return value
        raise QueryError(
            f"{self.name} cannot be {_shown(value)}.", f"It takes {_NAMES[self.kind]}."
        )


_LIMITS = ("minimum", "maximum")


def input_schema(parameters: Sequence[Parameter]) -> dict[str, Any]:
    """Return the JSON schema of a tool's arguments."""
    return {
        "type": "object",
        "properties": {parameter.name: parameter.schema() for parameter in parameters},
        "required": [parameter.name for parameter in parameters if parameter.default is REQUIRED],
        "additionalProperties": False,
    }


def checked_arguments(
    tool: str, parameters: Sequence[Parameter], given: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the checked arguments of a call; those left out, or null, are ``None``.

    Raises:
        QueryError: one is missing, unknown or not valid.
    """
    declared = {parameter.name: parameter for parameter in parameters}
    unknown = [name for name in given if name not in declared]
    if unknown:
        takes = ", ".join(declared) or "nothing"
        near = get_close_matches(unknown[0], list(declared), 1)
        hint = f" Perhaps {near[0]} is meant." if near else ""
        raise QueryError(
            f"{tool} has no parameter {_shown(unknown[0])}.", f"It takes {takes}.{hint}"
        )
    values: dict[str, Any] = {}
    for name, parameter in declared.items():
        value = given.get(name)
        if value is None and parameter.default is REQUIRED:
            raise QueryError(f"{tool} needs {name}.", parameter.help)
        values[name] = None if value is None else parameter.checked(value)
    return values


def _number(value: float) -> str:
    return f"{int(value):,}" if float(value).is_integer() else f"{value:g}"


def _shown(value: Any) -> str:
    shown = repr(value)
    return shown if len(shown) <= 60 else f"{shown[:57]}..."


def _whole(name: str, text: str) -> str:
    """Return a text without lone surrogates, which nothing can store or send.

    Raises:
        QueryError: it has one.
    """
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise QueryError(
            f"{name} has a lone surrogate at {error.start}.", "Send valid Unicode text."
        ) from error
    return text
