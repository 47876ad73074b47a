"""What the address of each page holds: the name, the text and the usual value of each part."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import streamlit as st

from pages.parts.common import kept_texts, state
from ragkit.library import Library
from ragkit.types import Status

_LONGEST = 1500
EVERYWHERE = "*"

Read = Callable[[Library, str], Any]
Write = Callable[[Any], str]


@dataclass(frozen=True, slots=True)
class Part:
    """A value of the session state that an address holds under ``name``, unless it is the default.

    ``read`` makes the value of its text, and raises ``ValueError`` for a text without meaning;
    ``write`` makes the text. Where there are ``many`` values, they are a tuple. ``default`` may be
    a function of the library. A part without a ``key`` is read from the address by its page.
    """

    name: str
    key: str = ""
    default: Any = ""
    read: Read = lambda _library, text: text
    write: Write = str
    many: bool = False

    def usual(self, library: Library) -> Any:
        """Return the default value, which the address leaves out."""
        return self.default(library) if callable(self.default) else self.default


def _usual_collection(library: Library) -> str:
    usual = library.settings.collection
    return usual if library.collections.has(usual) else two_names(library)[0]


def _usual_scope(library: Library) -> str:
    """Return the usual collection; all where the one of the settings was renamed or deleted."""
    usual = _usual_collection(library)
    is_set = usual == library.settings.collection
    return usual if is_set or library.collections.count() == 1 else state.ALL


def _as_typed_before(_library: Library) -> str:
    """Return the question to search as typed, unless another question has been asked since."""
    question = str(st.session_state.get(state.AS_TYPED) or "")
    return "" if question == st.session_state.get(state.QUESTION) else question


def two_names(library: Library) -> list[str]:
    """Return the first collections, as many as tell whether there is more than one."""
    return [*library.collections.names(limit=2)] or [library.settings.collection]


def _collection(library: Library, text: str) -> str:
    if not library.collections.has(text) and text != _usual_collection(library):
        raise ValueError(text)
    return text


def _collection_or_all(library: Library, text: str) -> str:
    return state.ALL if text == EVERYWHERE else _collection(library, text)


def _all_or_collection(name: str) -> str:
    return EVERYWHERE if name == state.ALL else name


def _number(_library: Library, text: str) -> int:
    return int(text)


def _page_number(_library: Library, text: str) -> int:
    return max(1, int(text))


def _status(_library: Library, text: str) -> str:
    return Status(text).value


def _listed_searches(_library: Library, text: str) -> str:
    if text not in state.SEARCH_LISTS:
        raise ValueError(text)
    return text


def _days(_library: Library, text: str) -> int:
    if int(text) not in state.SEARCH_DAYS:
        raise ValueError(text)
    return int(text)


def _view(_library: Library, text: str) -> str:
    if text != state.AS_TEXT:
        raise ValueError(text)
    return text


def _long_text(_library: Library, text: str) -> str:
    """Return the text itself, or the long text that the server keeps under this name."""
    if not text.startswith(kept_texts.MARK):
        return text
    kept_text = kept_texts.find(text)
    if kept_text is None:
        raise ValueError(text)
    return kept_text


def name_of_long_text(text: str) -> str:
    """Return a short text itself; have the server keep a longer one, and return its name."""
    if len(text) <= _LONGEST and not text.startswith(kept_texts.MARK):
        return text
    return kept_texts.keep(text)


QUESTION = Part("q", state.QUESTION, "", _long_text, name_of_long_text)

PARTS: Mapping[str, tuple[Part, ...]] = {
    "search": (
        QUESTION,
        Part(
            "collection", state.COLLECTION, _usual_scope,
            _collection_or_all, _all_or_collection,
        ),
        Part("thread", state.THREAD, None, _number),
        Part("as_typed", state.AS_TYPED, _as_typed_before, _long_text, name_of_long_text),
    ),
    "compare": (
        QUESTION,
        Part("collection", "cmp_collection", _usual_collection, _collection),
        Part("c", "cmp_columns", ("mode:keyword", "mode:vector"), many=True),
    ),
    "conversation": (
        Part(
            "collection", "long_option_collection", state.ALL,
            _collection_or_all, _all_or_collection,
        ),
        Part("text", "long_text", "", _long_text, name_of_long_text),
        Part("without", "long_left_out", (), _number, many=True),
        Part("topic", "long_topic", None, _number),
    ),
    "evaluate": (
        Part("collection", "eval_collection", _usual_collection, _collection),
        Part("set", "eval_set", None),
    ),
    "searches": (
        Part("show", state.SEARCHES_SHOWN, "all", _listed_searches),
        Part("days", state.SEARCHES_DAYS, 30, _days),
        Part("page", state.SEARCHES_PAGE, 1, _page_number),
        Part("open", state.SEARCHES_OPEN),
    ),
    "library": (
        Part("collection", "library_collection", _usual_collection, _collection),
        Part("find", "table_text"),
        Part("status", "library_status", state.EVERY_STATUS, _status),
        Part("page", "library_page", 1, _page_number),
    ),
    "document": (
        Part("id"),
        Part("chunk"),
        Part("find"),
        Part("at"),
        Part("span"),
        Part("said"),
        Part("sheet"),
        Part("view", "document_view", state.RENDERED, _view),
    ),
}  # fmt: skip
"""What the address of each page holds, besides the options of a search."""
