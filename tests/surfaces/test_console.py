"""What commands say while they wait."""

from __future__ import annotations

import threading
from types import SimpleNamespace

from support import until

from ragkit.indexing.progress import Progress
from ragkit.surfaces.cli import console


def test_a_stalling_model_is_said(monkeypatch):
    said, looks, now = [], [], [0.0]

    def monotonic() -> float:
        looks.append(now[0])
        return now[0]

    def looked() -> bool:
        """Let the thread that watches look once, and once more for a look that had begun."""
        before = len(looks)
        return until(lambda: len(looks) >= before + 2)

    monkeypatch.setattr(console, "say", said.append)
    monkeypatch.setattr(console, "time", SimpleNamespace(monotonic=monotonic))
    monkeypatch.setattr(console, "_LOOK_SECONDS", 0.005)
    with console.waiting_for_model() as note:
        for _ in range(5):
            note(Progress("Writing contexts", 1, 2, "notes/a.md"))
            now[0] += 14
            assert looked()
        assert said == []
        for later, count in ((1, 1), (59, 1), (1, 2)):
            now[0] += later
            assert looked()
            assert len(said) == count
    stop = "Ctrl+C stops; finished work is kept."
    assert said == [
        f"Waiting for the model for {idle} s, at notes/a.md. {stop}" for idle in (15, 75)
    ]
    until(lambda: "ragkit-waiting" not in [thread.name for thread in threading.enumerate()])
