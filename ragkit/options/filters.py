"""Which documents a search considers."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from datetime import date
from numbers import Integral
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias

from ragkit.errors import QueryError

Texts: TypeAlias = "str | Iterable[str]"
Pairs: TypeAlias = "Mapping[str, str] | Iterable[tuple[str, str]]"

_PERIOD = re.compile(r"[0-9]{4}(?:-[0-9]{2}){0,2}")


@dataclass(frozen=True, slots=True)
class Filters:
    """Restricts a search to some documents; empty parts do not restrict it.

    The values of one part are alternatives, and all parts must hold. Parts may be given as any
    sequence or a single value, and ``fields`` as a mapping.

    ``after`` and ``before`` are ISO dates ("2025", "2025-01", "2025-01-31") for the document's own
    date or else its file's, and in conversations for the days of messages. ``languages`` are codes
    of natural languages ("de"). ``speakers`` are names of people in a conversation, or words of
    them. ``senders`` (which include speakers), ``recipients``, ``copies`` and ``blind_copies`` are
    parts of names or addresses in a mail. ``has`` is "attachment" or, for single chunks, "decision"
    or "action". ``topics`` are words of a chunk's topic and ``sentiments`` its tone ("positive",
    "neutral", "negative" or "mixed"), as contexts note them.

    ``fields`` are (name, value) pairs of front matter. If there are words to search for,
    ``framework`` and ``language`` (of programming) let documents without the field pass, unless a
    value begins with ``=``.

    Raises:
        QueryError: ``after`` or ``before`` is no date.
        TypeError: a part has something else than what it takes.
    """

    types: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    titles: tuple[str, ...] = ()
    headings: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    documents: tuple[int, ...] = ()
    after: str = ""
    before: str = ""
    fields: tuple[tuple[str, str], ...] = ()
    speakers: tuple[str, ...] = ()
    senders: tuple[str, ...] = ()
    recipients: tuple[str, ...] = ()
    has: tuple[str, ...] = ()
    copies: tuple[str, ...] = ()
    blind_copies: tuple[str, ...] = ()
    topics: tuple[str, ...] = ()
    sentiments: tuple[str, ...] = ()

    if TYPE_CHECKING:
        # What may be given, and is converted: type checkers know only the fields otherwise.
        def __init__(
            self,
            types: Texts = (),
            paths: Texts = (),
            titles: Texts = (),
            headings: Texts = (),
            languages: Texts = (),
            tags: Texts = (),
            sources: Texts = (),
            documents: int | Iterable[int] = (),
            after: str = "",
            before: str = "",
            fields: Pairs = (),
            speakers: Texts = (),
            senders: Texts = (),
            recipients: Texts = (),
            has: Texts = (),
            copies: Texts = (),
            blind_copies: Texts = (),
            topics: Texts = (),
            sentiments: Texts = (),
        ) -> None: ...

    def __post_init__(self) -> None:
        """Convert all parts to tuples, and check what they hold."""
        for name in _PARTS:
            value = getattr(self, name)
            if type(value) is not tuple:
                value = _as_tuple(name, value)
                object.__setattr__(self, name, value)
            if value:
                _check_part(name, value)
        for name in _DATES:
            if (value := getattr(self, name)) != "":
                _check_date(name, value)

    @property
    def of_chunks(self) -> bool:
        """Whether they depend on what contexts note about single chunks."""
        return bool(self.topics or self.sentiments or self.has)


_DATES = ("after", "before")
_PARTS = tuple(each.name for each in fields(Filters) if each.name not in _DATES)
_TAKES = {"documents": "whole numbers", "fields": "(name, value) pairs of texts or a mapping"}


def _as_tuple(part: str, value: Any) -> tuple[Any, ...]:
    """Return the values of a part that were given in another form."""
    if isinstance(value, Mapping) and part == "fields":
        return tuple(value.items())
    if isinstance(value, str | int):
        return (value,)
    if not isinstance(value, Iterable):
        _refuse(part, value)
    return tuple(tuple(each) if isinstance(each, list) else each for each in value)


def _check_part(part: str, values: tuple[Any, ...]) -> None:
    for value in values:
        if part == "documents":
            fits = isinstance(value, Integral)
        elif part == "fields":
            fits = isinstance(value, tuple) and [isinstance(each, str) for each in value] == [
                True,
                True,
            ]
        else:
            fits = isinstance(value, str)
        if not fits:
            _refuse(part, value)


def _check_date(part: str, value: Any) -> None:
    if not isinstance(value, str):
        raise TypeError(f'Filters: {part} must be a text such as "2025-01", not {value!r}.')
    try:
        if not _PERIOD.fullmatch(value):
            raise ValueError(value)
        date.fromisoformat(value + "-01-01"[len(value) - 4 :])
    except ValueError as error:
        raise QueryError(
            f'{part}: "{value}" is no date.',
            "Write a year, a month or a day: 2025, 2025-03 or 2025-03-01.",
        ) from error


def _refuse(part: str, value: object) -> NoReturn:
    raise TypeError(f"Filters: {part} must be {_TAKES.get(part, 'texts')}, not {value!r}.")


NO_FILTERS = Filters()
