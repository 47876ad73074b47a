"""What is wrong with a setting or an option, in ragkit's words instead of pydantic's."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

    from pydantic import BaseModel, ValidationError
    from pydantic_core import ErrorDetails

RULES = {
    "extra_forbidden": "there is no such setting",
    "greater_than": "must be more than {gt}",
    "greater_than_equal": "must be at least {ge}",
    "less_than_equal": "must be at most {le}",
    "enum": "must be {expected}",
    "literal_error": "must be {expected}",
    "string_too_short": "must not be empty",
    "finite_number": "must be a finite number",
    "int_parsing": "must be a whole number",
    "int_type": "must be a whole number",
    "int_from_float": "must be a whole number",
    "float_parsing": "must be a number",
    "float_type": "must be a number",
    "bool_parsing": "must be true or false",
    "bool_type": "must be true or false",
    "string_type": "must be text",
    "path_type": "must be a path",
    "tuple_type": "must be a list",
    "model_type": "must be a table of settings",
    "value_error": "{error}",
}
"""What is wrong with a value, by the type of pydantic's error."""

_SECRET = (("web", "key"), ("backend",))


def sentence(error: ValidationError) -> str:
    """Return a sentence that names every wrong setting and what is wrong with it."""
    faults = [
        ": ".join(filter(None, (".".join(map(str, fault["loc"])), rule(fault))))
        for fault in error.errors()
    ]
    return f"Wrong settings: {'; '.join(faults)}."


def rule(fault: ErrorDetails) -> str:
    """Return the rule that a value breaks, with the value unless it is secret."""
    template = RULES.get(fault["type"], "has an invalid value")
    broken = template.format_map(fault.get("ctx", {}))
    value = fault["input"]
    shown = broken.startswith("must be") and isinstance(value, str | int | float)
    return f"{broken}, not {value!r}" if shown and fault["loc"] not in _SECRET else broken


def cure(error: ValidationError, settings: type[BaseModel], path: Path, given: Any) -> str:
    """Return which settings exist, if one is unknown, and where to look for the mistake.

    ``given`` are the values that were passed by name, besides those of the file and variables.
    """
    fault = error.errors()[0]
    *groups, name = fault["loc"] or ("",)
    group: Any = settings
    for each in groups:
        given = given.get(each) if isinstance(given, dict) else None
        if fault["type"] == "extra_forbidden":
            group = group.model_fields[each].annotation
    by_name = isinstance(given, dict) and name in given
    where = "what was given by name" if by_name else f"{path} and the RAGKIT_* variables"
    if fault["type"] == "extra_forbidden":
        return f"There are {', '.join(group.model_fields)}. Check {where}."
    return f"Check {where}."


def unparsed(error: Exception, prefix: str) -> str:
    """Return a sentence that names the variable of a table or list that is not valid JSON."""
    field = re.search(r'field "([^"]+)"', str(error))
    name = f"{prefix}{field[1].upper()}" if field else f"A {prefix}* variable"
    return f"{name}, or a list below it, is not valid JSON."
