"""What is published: one wheel, also when made from the source archive, that works by itself."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
import sysconfig
import tarfile
import urllib.error
import urllib.request
import zipfile
from collections.abc import Iterator
from email.parser import BytesParser
from pathlib import Path

import pytest
from support import until

from ragkit import __version__

ROOT = Path(__file__).resolve().parents[1]
APP = "ragkit/_app/"


def build(tree: Path, folder: Path, *targets: str) -> None:
    kinds = [part for target in targets for part in ("-t", target)]
    command = [sys.executable, "-m", "hatchling", "build", *kinds, "-d", str(folder)]
    subprocess.run(command, cwd=tree, check=True, capture_output=True)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheel and the source archive."""
    folder = tmp_path_factory.mktemp("dist")
    build(ROOT, folder, "wheel", "sdist")
    return folder


def contents(folder: Path) -> dict[str, bytes]:
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


@pytest.fixture(scope="module")
def files(built: Path) -> dict[str, bytes]:
    return contents(built)


def test_only_the_package_and_its_metadata_are_at_the_top(files: dict[str, bytes]) -> None:
    tops = {name.split("/", 1)[0] for name in files}
    assert tops == {"ragkit", f"ragkit_search-{__version__}.dist-info"}


def test_everything_below_the_package_the_pages_and_the_sample_is_inside(
    files: dict[str, bytes],
) -> None:
    """So that a template, a style or a schema that is read at run time needs no entry anywhere."""
    expected = {f"{APP}app.py": ROOT / "app.py"}
    for folder, place in (
        ("ragkit", ""),
        ("pages", APP),
        ("sample_data", APP),
        (".streamlit", APP),
    ):
        for file in (ROOT / folder).rglob("*"):
            if file.is_file() and "__pycache__" not in file.parts and file.name != ".DS_Store":
                expected[place + file.relative_to(ROOT).as_posix()] = file
    inside = {name for name in files if ".dist-info/" not in name}
    assert inside == set(expected)
    assert [name for name, file in expected.items() if files[name] != file.read_bytes()] == []


def test_a_wheel_from_the_source_archive_is_the_same(
    built: Path, files: dict[str, bytes], tmp_path: Path
) -> None:
    (source,) = built.glob("*.tar.gz")
    with tarfile.open(source) as archive:
        for member in archive:
            if file := archive.extractfile(member):
                path = tmp_path / member.name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(file.read())
    build(tmp_path / source.name.removesuffix(".tar.gz"), tmp_path / "again", "wheel")
    assert contents(tmp_path / "again") == files


def test_an_index_takes_both_and_shows_no_link_that_leads_nowhere(
    built: Path, files: dict[str, bytes]
) -> None:
    checked = subprocess.run(
        [sys.executable, "-m", "twine", "--no-color", "check", "--strict", *built.iterdir()],
        capture_output=True,
        text=True,
        env={**os.environ, "COLUMNS": "1000"},
    )
    said = [line.rpartition(": ")[2] for line in checked.stdout.splitlines()]
    assert (checked.returncode, said) == (0, ["PASSED", "PASSED"])
    (name,) = [name for name in files if name.endswith(".dist-info/METADATA")]
    metadata = BytesParser().parsebytes(files[name])
    assert (metadata["Name"], metadata["Version"]) == ("ragkit-search", __version__)
    assert metadata["Description-Content-Type"] == "text/markdown"
    text = metadata.get_payload(decode=True).decode()
    assert text.startswith("# ragkit\n")
    assert re.findall(r"<img|\]\((?!https?://)", text) == []
    assert "[Ollama](https://ollama.com)" in text
    assert "Architecture · decisions and their reasons" in text


@pytest.fixture
def command(built: Path, tmp_path: Path) -> Path:
    """``ragkit``, installed from the wheel into an environment that has the dependencies alone."""
    place = tmp_path / "environment"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", place], check=True)
    programs = place / ("Scripts" if os.name == "nt" else "bin")
    (wheel,) = built.glob("*.whl")
    subprocess.run(
        [sys.executable, "-m", "pip", "--python", programs / "python", "-q", "install", wheel,
         "--disable-pip-version-check", "--no-deps", "--no-index", "--no-compile"],
        check=True,
    )  # fmt: skip
    own = sysconfig.get_path("purelib", vars={"base": str(place), "platbase": str(place)})
    Path(own, "dependencies.pth").write_text(sysconfig.get_path("purelib"))
    return programs / "ragkit"


@pytest.fixture
def served(command: Path, tmp_path: Path) -> Iterator[str]:
    """The address of what the installed command serves."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    serve = subprocess.Popen(
        [command, "serve", "--sample", "--no-browser", "--port", str(port)],
        cwd=tmp_path,
        env={**environment, "RAGKIT_LIBRARY": str(tmp_path / "library")},
        stderr=subprocess.DEVNULL,
    )
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        serve.terminate()
        serve.wait(60)


def test_the_installed_command_serves_the_sample(served: str, tmp_path: Path) -> None:
    def asked() -> bytes:
        try:
            with urllib.request.urlopen(f"{served}/_stcore/health", timeout=5) as answer:
                return answer.read()
        except urllib.error.URLError:
            return b""

    until(lambda: asked() == b"ok", 300.0)
    assert (tmp_path / "library" / "catalog.sqlite").is_file()
