"""Tools and their calls, and parameters that several tools take."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ragkit.options import SEARCH_OPTIONS
from ragkit.surfaces.mcp.parameters import Parameter

if TYPE_CHECKING:
    from ragkit.library import Library
    from ragkit.settings import Settings

FURTHEST = 10**12
"""More than any id, offset or number of a document."""

Found = tuple[Iterable[str], dict[str, Any]]
"""What a tool returns: lines for a model, and the same as a JSON value."""


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a tool: ``say`` reports progress, and ``cancelled`` is set to end it."""

    library: Library
    arguments: Mapping[str, Any]
    say: Callable[[str], None] = lambda _: None
    cancelled: threading.Event = field(default_factory=threading.Event)

    def __getitem__(self, name: str) -> Any:
        """Return the argument of that name; ``None`` if it was not given."""
        return self.arguments[name]

    @property
    def tokens(self) -> int:
        """The most tokens that the tool may return."""
        return self.library.settings.answers.context_tokens


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool; ``returns`` maps the members of its value to their JSON types."""

    name: str
    title: str
    description: str
    parameters: Sequence[Parameter]
    returns: Mapping[str, str]
    run: Callable[[Call], Found]

    def output_schema(self) -> dict[str, Any]:
        """Return the JSON schema of its value."""
        return {
            "type": "object",
            "properties": {name: {"type": kind} for name, kind in self.returns.items()},
            "required": list(self.returns),
        }


def search_options(settings: Settings, *names: str) -> list[Parameter]:
    """Return search options as parameters, with the values of the settings as defaults."""
    options = settings.search.options()
    return [Parameter.of(SEARCH_OPTIONS[name], getattr(options, name)) for name in names]


def filters(name: str = "filters", what: str = "") -> Parameter:
    """Return the parameter for filters in the query language, with ``what`` as its description."""
    default = 'Which documents are searched, such as "type:pdf after:2025"; see rag_search.'
    return Parameter(name, "string", what or default, "", bounds=(0, 2000))


def collection(settings: Settings, what: str = "The collection that is searched") -> Parameter:
    """Return the parameter for a collection."""
    return Parameter(
        "collection", "string", f"{what}; list_collections names them.", settings.collection
    )


def document_id() -> Parameter:
    """Return the parameter for a document."""
    return Parameter("id", "integer", "The id of the document, as searches name it.",
                     bounds=(1, FURTHEST))  # fmt: skip
