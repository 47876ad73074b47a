"""The options of a search: those of the settings, of the collection and of the caller."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ragkit.catalog import Catalog
from ragkit.errors import QueryError
from ragkit.option_codec import apply_options, checked_options
from ragkit.options import Filters, SearchOptions
from ragkit.retrieval.query.parser import parse_filters
from ragkit.settings import Settings

FieldNames = Callable[[Sequence[str]], Sequence[str]]
"""Returns the names of front-matter fields in collections."""


def changed_options(
    options: SearchOptions,
    changes: Mapping[str, Any],
    settings: Settings,
    catalog: Catalog,
    field_names: FieldNames,
) -> SearchOptions:
    """Return ``options`` with the collection's own, if only one is searched, and then ``changes``.

    Errors are those of ``Library.options``.
    """
    changes = checked_options(changes)
    named = changes.get("collections", ())
    named = (named,) if isinstance(named, str) else tuple(named)
    if "filters" in changes:
        changes["filters"] = _filters(changes["filters"], named, field_names)
    collections = named if "collections" in changes else (settings.collection,)
    changes["collections"] = collections
    record = catalog.collections.find(collections[0]) if len(collections) == 1 else None
    if record is not None and record.settings.get("search"):
        options = apply_options(options, record.settings["search"])
    unchanged = changes == {"collections": options.collections}
    return options if unchanged else replace(options, **changes)


def _filters(value: Filters | str, collections: Sequence[str], field_names: FieldNames) -> Filters:
    if isinstance(value, str):
        return parse_filters(value, field_names(collections))
    if not isinstance(value, Filters):
        raise TypeError("filters must be a ragkit.Filters or text, such as 'type:pdf'.")
    return value


def refuse_no_collection(options: SearchOptions, catalog: Catalog) -> None:
    """Refuse to search in no collection, unless there is none.

    Raises:
        QueryError: the options name no collection.
    """
    if not options.collections and catalog.collections.names(limit=1):
        raise QueryError("No collection is named.", "Name those to search.")
