"""The question as text: its filters as chips, added and dropped by rewriting it. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from ragkit.options import Filters
from ragkit.retrieval.query_parser import ParsedQuestion, format_filters, parse_question


@dataclass(frozen=True, slots=True)
class Chip:
    """One value of one filter of a question. ``token`` is how it is written."""

    token: str
    part: str
    value: object


def chips(question: str, known_fields: Sequence[str] = ()) -> tuple[Chip, ...]:
    """The filters of a question, one chip a value.

    Raises:
        QueryError: when a filter makes no sense.
    """
    parsed = parse_question(question, known_fields)
    found = [
        Chip(format_filters(replace(Filters(), **{part: one})), part, one)
        for part, one in _single(parsed.filters)
    ]
    found += [
        Chip(format_filters(Filters(), (name,)), "collection", name) for name in parsed.collections
    ]
    return tuple(found)


def _single(filters: Filters) -> Iterator[tuple[str, Any]]:
    for field in fields(Filters):
        value = getattr(filters, field.name)
        if isinstance(value, tuple):
            for one in value:
                yield field.name, (one,)
        elif value:
            yield field.name, value


def without(question: str, token: str, known_fields: Sequence[str] = ()) -> str:
    """A question without one filter; without any when ``token`` is empty."""
    parsed = parse_question(question, known_fields)
    if not token:
        return parsed.text
    return _written(parsed, [c.token for c in chips(question, known_fields) if c.token != token])


def toggled(question: str, token: str, known_fields: Sequence[str] = ()) -> str:
    """A question with the filter added, or dropped when it has it."""
    if has(question, token, known_fields):
        return without(question, token, known_fields)
    return f"{question.strip()} {token}".strip()


def has(question: str, token: str, known_fields: Sequence[str] = ()) -> bool:
    """Whether a question holds this filter."""
    return any(chip.token == token for chip in chips(question, known_fields))


def token_for(name: str, value: str) -> str:
    """Write a filter by the name that the query language has for it, or a field's."""
    parts: dict[str, str] = {
        "type": "types", "path": "paths", "lang": "languages", "tag": "tags", "source": "sources",
    }  # fmt: skip
    if name in parts:
        given: dict[str, Any] = {parts[name]: (value,)}
        return format_filters(replace(Filters(), **given))
    return format_filters(Filters(fields=((name, value),)))


def _written(parsed: ParsedQuestion, tokens: Sequence[str]) -> str:
    return " ".join([parsed.text, *tokens]).strip()
