"""The pages lie beside the package, not in it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import streamlit as st
from small_library import add, write_files

from ragkit.library import Library
from ragkit.settings import load_settings
from ragkit.surfaces.http.server import scan_no_packages

ROOT = Path(__file__).resolve().parents[2]
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))


@pytest.fixture(scope="session", autouse=True)
def _no_packages_scanned() -> None:
    """As on the server: Streamlit's ``AppTest`` would scan at each run, a third of it."""
    scan_no_packages()


@pytest.fixture(autouse=True)
def _fresh_caches() -> Iterator[None]:
    yield
    st.cache_resource.clear()
    st.cache_data.clear()


@pytest.fixture
def library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Library]:
    """An empty library whose lock is held, so that no worker is started."""
    monkeypatch.setenv("RAGKIT_LIBRARY", str(tmp_path / "library"))
    opened = Library.open(load_settings(), create=True)
    yield opened
    opened.close()


@pytest.fixture
def filled(library: Library, tmp_path: Path) -> Library:
    """The library with one document, on coral reefs."""
    reefs = "# Coral reefs\n\nReefs grow slowly in warm water.\n"
    add(library, write_files(tmp_path / "papers", {"reefs.md": reefs}))
    return library
