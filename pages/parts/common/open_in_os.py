"""Open a document's own file on the machine that the server runs on."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import streamlit as st

from ragkit.errors import RagkitError, SourceError
from ragkit.library import Library

_RUNS = frozenset(
    (".app", ".appimage", ".bat", ".bash", ".cmd", ".com", ".command", ".cpl", ".csh", ".desktop",
     ".exe", ".hta", ".jar", ".js", ".jse", ".lnk", ".mjs", ".msi", ".msc", ".pif", ".pl", ".ps1",
     ".psm1", ".py", ".pyc", ".pyw", ".pyz", ".rb", ".reg", ".scf", ".scpt", ".scr", ".sh",
     ".tcl", ".url", ".vb", ".vbe", ".vbs", ".workflow", ".wsf", ".wsh", ".zsh")
)  # fmt: skip
"""Suffixes of files that some system would run rather than show."""


def would_run(file: Path) -> bool:
    """Return whether opening a file might run it; then only its folder is shown."""
    return file.suffix.lower() in _RUNS


def opener(platform: str, environment: Mapping[str, str]) -> str:
    """Return the program that opens files here; empty when this machine has no desktop."""
    if platform == "win32":
        return "startfile"
    if platform == "darwin":
        return "open"
    has_screen = environment.get("DISPLAY") or environment.get("WAYLAND_DISPLAY")
    return (shutil.which("xdg-open") or "") if has_screen else ""


def label_for(file: str) -> str:
    """Return the label of the button; empty when nothing can be opened here."""
    if not opener(sys.platform, os.environ):
        return ""
    return "Show in its folder" if would_run(Path(file)) else "Open in its program"


def launch(library: Library, document_id: int) -> None:
    """Open a document's file, or show in a toast why that is not possible."""
    try:
        record = library.documents.get(document_id).record
        open_file(Path(record.root, record.path))
    except RagkitError as error:
        st.toast(str(error))


def open_file(file: Path) -> None:
    """Open a file in its program, or its folder when opening might run it.

    Raises:
        SourceError: when it is gone or this machine cannot open it.
    """
    if not file.is_file():
        raise SourceError(f"{file.name} is no longer where it was.", "Sync its folder.")
    target = file.parent if would_run(file) else file
    program = opener(sys.platform, os.environ)
    if not program:
        raise SourceError("This machine has no desktop to open files on.", "Copy the path instead.")
    try:
        if program == "startfile":
            os.startfile(target)  # type: ignore[attr-defined]  # noqa: S606
        else:
            subprocess.Popen(
                [program, str(target)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
    except OSError as error:
        raise SourceError(
            f"{file.name} could not be opened: {(error.strerror or str(error)).lower()}.",
            "Copy its path and open it yourself.",
        ) from error
