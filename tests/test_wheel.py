"""The wheel carries the app, and nothing but the ragkit package goes into site-packages."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def names(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)],
        cwd=ROOT,
        check=True,
        capture_output=True,
    )
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        return archive.namelist()


def test_only_the_package_and_its_metadata_are_at_the_top(names: list[str]) -> None:
    tops = {name.split("/", 1)[0] for name in names}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"ragkit"}


def test_the_app_its_pages_its_theme_and_the_sample_are_inside(names: list[str]) -> None:
    for name in (
        "app.py",
        "pages/search.py",
        "pages/library.py",
        "pages/parts/common/theme.css",
        ".streamlit/config.toml",
        "sample_data/library/handbook/refund-policy.md",
        "sample_data/contexts.jsonl",
    ):
        assert f"ragkit/_app/{name}" in names


def test_the_command_is_installed(names: list[str]) -> None:
    assert any(name.endswith(".dist-info/entry_points.txt") for name in names)
