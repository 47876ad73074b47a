"""docs/integrations.md: its examples run as they stand, and ask the network for nothing."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import network_watch
import pytest
from small_library import HANDBOOK, write_files

import ragkit

_ROOT = Path(__file__).resolve().parents[2]
_TEXT = (_ROOT / "docs" / "integrations.md").read_text("utf-8")
_EXAMPLES = re.findall(r"^```python\n(.*?)^```$", _TEXT, re.DOTALL | re.M)


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A directory with a library of two documents, in which the built-in model is not needed."""
    files = {name: HANDBOOK[name] for name in ("handbook/refunds.md", "notes/garten.txt")}
    write_files(tmp_path / "documents", files)
    monkeypatch.setenv("RAGKIT_MODELS__EMBEDDER", "hash")
    for name in ("LANGSMITH_TRACING", "LANGCHAIN_TRACING_V2"):
        monkeypatch.delenv(name, raising=False)
    with ragkit.open(tmp_path / "library", create=True, reading={"processes": 1}) as library:
        source = library.sources.add_folder(tmp_path / "documents")
        library.jobs.wait(library.sources.sync(source))
    return tmp_path


def test_the_examples_run_and_nothing_leaves_the_machine(place):
    llama_index, lang_chain = _EXAMPLES
    environment = {**os.environ, "PYTHONPATH": str(_ROOT)}
    run = subprocess.run(
        [sys.executable, "-W", "error::ResourceWarning", "-c", f"{llama_index}\n{lang_chain}"],
        env=network_watch.watching(environment, place / "watch"),
        cwd=place,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert run.returncode == 0, run.stderr
    assert run.stderr == ""
    lines = run.stdout.splitlines()
    [scored, *_] = [line.split() for line in lines if line.endswith(" handbook/refunds.md")]
    assert float(scored[0]) > 0.3
    document, start = scored[1].split(":")
    assert f"Refunds {start} {len(_stored_text(place, int(document)))}" in lines
    assert f"{scored[1]} handbook/refunds.md" in lines
    assert network_watch.strangers(place / "watch") == []


def _stored_text(place, document):
    with ragkit.open(place / "library") as library:
        return library.documents.get(document).text
