"""What commands say while they wait."""

from __future__ import annotations

import time

from support import until

from ragkit.indexing.progress import Progress
from ragkit.surfaces.cli import console


def test_a_stalling_model_is_said(monkeypatch):
    said = []
    monkeypatch.setattr(console, "say", said.append)
    for name, seconds in (("_LOOK", 0.02), ("_SILENT", 0.3), ("_SILENT_AGAIN", 0.5)):
        monkeypatch.setattr(console, f"{name}_SECONDS", seconds)
    with console.waiting("the model") as note:
        for _ in range(20):
            note(Progress("Writing contexts", 1, 2, "notes/a.md"))
            time.sleep(0.02)
        assert said == []
        until(lambda: len(said) == 2)
    assert said[0].startswith("Waiting for the model for ")
    assert ", at notes/a.md. Ctrl+C stops; finished work is kept." in said[0]
    time.sleep(0.6)
    assert len(said) == 2
