"""The address of a logged search: the page that asks it again, with its options."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any
from urllib.parse import urlencode

from pages.parts.common import option_controls
from pages.parts.common.option_controls import Control
from ragkit.errors import SettingsError
from ragkit.library import Library
from ragkit.library.search_log import LoggedSearch
from ragkit.option_codec import apply_options, option_text, parse_chunked_option
from ragkit.options import CHUNKED_OPTIONS, ChunkedOptions, Filters, SearchOptions
from ragkit.retrieval.filter_syntax import format_filters

_EVERYWHERE = "*"


def url(library: Library, search: LoggedSearch) -> str:
    """Return the address that asks a search again; empty where that is not possible.

    It is not where only the beginning of the text was kept, or a collection is gone.
    """
    known = set(library.collections.names())
    if search.cut or not search.collections or not known.issuperset(search.collections):
        return ""
    if search.chunked is None:
        return _of_search(library, search, known)
    return _of_conversation(library, search, known)


def options_of(search: LoggedSearch) -> tuple[SearchOptions, ChunkedOptions]:
    """Return the options of a search; what this version does not know has its default."""
    chunked = ChunkedOptions()
    for name, value in (search.chunked or {}).items():
        with suppress(SettingsError, KeyError):
            known, parsed = parse_chunked_option(CHUNKED_OPTIONS[name].setting, value)
            chunked = replace(chunked, **{known: parsed})
    return apply_options(SearchOptions(), search.options), chunked


def _of_search(library: Library, search: LoggedSearch, known: set[str]) -> str:
    question, where = f"{search.question} {search.filters}".rstrip(), _EVERYWHERE
    if len(search.collections) == 1:
        where = search.collections[0]
    elif known != {*search.collections}:
        question += f" {format_filters(Filters(), search.collections)}"
    usual = library.options(collections=_opened_with(search.collections, known))
    query = {"q": question}
    if where != library.settings.collection:
        query["collection"] = where
    controls = option_controls.of_search
    query |= _different(controls(usual), controls(options_of(search)[0]))
    return f"./?{urlencode(query)}"


def _of_conversation(library: Library, search: LoggedSearch, known: set[str]) -> str:
    if len(search.collections) > 1 and known != {*search.collections}:
        return ""
    query = {"text": search.question}
    if len(search.collections) == 1 and len(known) > 1:
        query["collection"] = search.collections[0]
    options, chunked = options_of(search)
    usual = library.options(collections=_opened_with(search.collections, known))
    controls = option_controls.of_conversation
    query |= _different(controls(library.chunked_options(), usual), controls(chunked, options))
    return f"conversation?{urlencode(query)}"


def _opened_with(collections: Sequence[str], known: set[str]) -> tuple[str, ...]:
    """Return the collections whose usual options the page has when it is opened."""
    return tuple(collections) if len(collections) == 1 else tuple(sorted(known))


def _different(usual: Mapping[str, Control], chosen: Mapping[str, Control]) -> dict[str, Any]:
    return {
        name: option_text(control.start)
        for name, control in chosen.items()
        if control.start != usual[name].start
    }
