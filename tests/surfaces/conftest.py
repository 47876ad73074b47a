"""The command line, run in the test's own process where that makes no difference."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable

import pytest

from ragkit.surfaces.cli import app as cli


@pytest.fixture
def in_process(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run ``ragkit`` with arguments; its exit code and what it said."""
    monkeypatch.setenv("RAGKIT_MODELS__EMBEDDER", "hash")

    def run(*arguments: object) -> subprocess.CompletedProcess[str]:
        given = ["ragkit", *map(str, arguments)]
        monkeypatch.setattr(sys, "argv", given)
        code = 0
        try:
            cli.main()
        except SystemExit as stop:
            code = stop.code or 0
        told = capsys.readouterr()
        return subprocess.CompletedProcess(given, code, told.out, told.err)

    return run
