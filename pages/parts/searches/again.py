"""The address of a logged search: the page that asks it again, with its options."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any
from urllib.parse import urlencode

from pages.parts.common import option_controls
from pages.parts.common.address_parts import EVERYWHERE
from pages.parts.common.option_controls import Control
from ragkit.errors import SettingsError
from ragkit.library import Library
from ragkit.library.search_log import LoggedSearch
from ragkit.option_codec import apply_options, option_text, parse_chunked_option
from ragkit.options import CHUNKED_OPTIONS, ChunkedOptions, Filters, SearchOptions
from ragkit.retrieval.query.filter_syntax import format_filters


def url(library: Library, search: LoggedSearch) -> str:
    """Return the address that asks a search again; empty where that is not possible.

    It is not if only the beginning of the text was kept, or if a collection is gone.
    """
    if search.cut or not (search.everywhere or search.collections):
        return ""
    if not library.collections.has(*search.collections):
        return ""
    if search.chunked is None:
        return _of_search(library, search)
    return _of_conversation(library, search)


def options_of(search: LoggedSearch) -> tuple[SearchOptions, ChunkedOptions]:
    """Return the options of a search; what this version does not know has its default."""
    chunked = ChunkedOptions()
    for name, value in (search.chunked or {}).items():
        with suppress(SettingsError, KeyError):
            option, parsed = parse_chunked_option(CHUNKED_OPTIONS[name].setting, value)
            chunked = replace(chunked, **{option: parsed})
    return apply_options(SearchOptions(), search.options), chunked


def _is_everywhere(library: Library, search: LoggedSearch) -> bool:
    return search.everywhere or len(set(search.collections)) == library.collections.count()


def _of_search(library: Library, search: LoggedSearch) -> str:
    question, where = f"{search.question} {search.filters}".rstrip(), EVERYWHERE
    if len(search.collections) == 1:
        where = search.collections[0]
    elif not _is_everywhere(library, search):
        question += f" {format_filters(Filters(), search.collections)}"
    usual = library.options(collections=search.collections)
    query = {"q": question}
    if where != library.settings.collection:
        query["collection"] = where
    controls = option_controls.of_search
    query |= _different(controls(usual), controls(options_of(search)[0]))
    return f"./?{urlencode(query)}"


def _of_conversation(library: Library, search: LoggedSearch) -> str:
    if len(search.collections) > 1 and not _is_everywhere(library, search):
        return ""
    query = {"text": search.question}
    if len(search.collections) == 1 and library.collections.count() > 1:
        query["collection"] = search.collections[0]
    options, chunked = options_of(search)
    usual = library.options(collections=search.collections)
    controls = option_controls.of_conversation
    query |= _different(controls(library.chunked_options(), usual), controls(chunked, options))
    return f"conversation?{urlencode(query)}"


def _different(usual: Mapping[str, Control], chosen: Mapping[str, Control]) -> dict[str, Any]:
    return {
        name: option_text(control.start)
        for name, control in chosen.items()
        if control.start != usual[name].start
    }
