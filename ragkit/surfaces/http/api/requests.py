"""Types of values in requests, checked before the library sees them."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, TypeAlias

from fastapi import Path, Query, Request
from pydantic import Field

from ragkit.library import Library
from ragkit.options import SearchOptions
from ragkit.surfaces.http.api.options import SearchChanges, Strict, given, whole

LARGEST = 2**53 - 1
"""The largest integer that every JSON parser keeps exactly."""

MOST_NAMES = 100
"""The most collections of one search."""

_NO_NUL = r"^[^\x00]*$"
# Spelled out, since regular expression engines differ in what counts as a space.
_SAYS_SOMETHING = r"^[^\x00]*[^\x00-\x20\x7f-\xa0][^\x00]*$"

Text = Annotated[str, Field(pattern=_NO_NUL)]
Said = Annotated[str, Field(pattern=_SAYS_SOMETHING)]
"""A text that is not blank."""

Number: TypeAlias = whole(1, LARGEST)  # type: ignore[valid-type]
Offset: TypeAlias = whole(0, LARGEST)  # type: ignore[valid-type]

NumberInPath = Annotated[int, Path(ge=1, le=LARGEST)]
OffsetInPath = Annotated[int, Path(ge=0, le=LARGEST)]
NameInPath = Annotated[str, Path(pattern=_SAYS_SOMETHING)]
TextInQuery = Annotated[str, Query(pattern=_NO_NUL)]
LimitInQuery = Annotated[int, Query(ge=1, le=500)]
OffsetInQuery = Annotated[int, Query(ge=0, le=LARGEST)]
AnyCollection = Annotated[
    str | None,
    Query(pattern=_SAYS_SOMETHING, description="The name of a collection; by default all."),
]
OneCollection = Annotated[
    str | None,
    Query(pattern=_SAYS_SOMETHING, description="A collection; by default that of the settings."),
]


class Where(Strict):
    """Which documents are searched, and how."""

    options: SearchChanges = Field(default_factory=SearchChanges)
    filters: Text = Field(default="", description='In the query language: "type:md after:2025".')
    collections: Annotated[list[Said], Field(min_length=1, max_length=MOST_NAMES)] | None = Field(
        None, description="The collections to search; by default that of the settings."
    )

    def search_options(self, library: Library) -> SearchOptions:
        """Return the search options of the request.

        Raises:
            QueryError: the filters cannot be understood.
        """
        where = {"filters": self.filters or None, "collections": self.collections}
        # Given options apply even if they are None, which switches an option off.
        return replace(library.options(**where), **given(self.options))


def library_of(request: Request) -> Library:
    """Return the library.

    Raises:
        RagkitError: it cannot be opened.
    """
    library: Library = request.app.state.library.get()
    return library


def collection_of(library: Library, name: str | None) -> str:
    """Return the collection that a request names, or by default that of the settings.

    Raises:
        NotFoundError: there is no such collection.
    """
    return library.collections.get(library.settings.collection if name is None else name).name
