"""The opened library, shared by all sessions of this server."""

from __future__ import annotations

import streamlit as st

from ragkit.library import Library
from ragkit.settings import Settings, load_settings


def settings() -> Settings:
    """The settings as this server was started with them."""
    return load_settings()


def open_library() -> Library:
    """The library that the settings name, opened once and made where there is none.

    Raises:
        SettingsError: when a setting makes no sense.
        LibraryError: when the library cannot be used.
    """
    return _opened(settings())


@st.cache_resource(
    show_spinner="Opening the library …",
    hash_funcs={Settings: lambda one: one.model_dump_json()},
    on_release=lambda library: library.close(),
    max_entries=4,
)
def _opened(chosen: Settings) -> Library:
    library = Library.open(chosen, create=True)
    library.worker.ensure_running()
    return library
