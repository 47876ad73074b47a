"""Open a document's own file on the machine that the server runs on."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import streamlit as st

from pages.parts.common import frame
from ragkit.errors import SourceError
from ragkit.library import Library

_USUAL_UMASK = 0o022
_SHOWN = """
    .md .markdown .mdown .mkd .mdx .qmd .rmd .txt .text .log .rst .rest .org .adoc .asciidoc .html
    .htm .xhtml .pdf .docx .pptx .xlsx .rtf .epub .fb2 .mobi .azw .azw3 .opml .eml .mbox .vtt .srt
    .csv .tsv .ipynb
    .json .jsonl .ndjson .yaml .yml .toml .ini .cfg .conf .properties .bib .tex .ltx .latex .c .cc
    .cpp .css .cxx .h .hh .hpp .java .rs
    .png .jpg .jpeg .gif .bmp .tif .tiff .webp .heic .avif
    .mp3 .m4a .wav .ogg .flac .mp4 .mov .mkv .webm
"""
OPENED = frozenset(_SHOWN.split())
"""Suffixes of the files that are opened: every system shows or plays these, and none runs them.

Documents that may hold macros are not among them, nor are languages with an interpreter.
"""


def may_open(file: Path) -> bool:
    """Return whether a file may be opened; for other files only the folder is shown.

    A symbolic link must pass by its own name and by the name of its target.
    """
    real = file.resolve()
    if not {file.suffix.lower(), real.suffix.lower()} <= OPENED:
        return False
    try:
        # Windows gives this bit to what it runs by its suffix.
        return not real.stat().st_mode & 0o111
    except OSError:
        return False


def opener(platform: str, environment: Mapping[str, str]) -> str:
    """Return the program that opens files here; empty when this machine has no desktop."""
    if platform == "win32":
        return "startfile"
    if platform == "darwin":
        return "open"
    has_screen = environment.get("DISPLAY") or environment.get("WAYLAND_DISPLAY")
    return (shutil.which("xdg-open") or "") if has_screen else ""


def label_for(file: str) -> str:
    """Return the label of the button; empty when nothing can be opened here, or seen from there."""
    # A browser on another machine would open a window that its person never sees.
    if not opener(sys.platform, os.environ) or st.context.ip_address is not None:
        return ""
    return "Open in its program" if may_open(Path(file)) else "Show in its folder"


def launch(library: Library, document_id: int) -> None:
    """Open a document's file, or show in a toast why that is not possible."""
    with frame.toasted():
        detail = library.documents.get(document_id)
        if detail.elsewhere:
            raise SourceError(f"The file is on {detail.elsewhere}.")
        record = detail.record
        open_file(Path(record.root, record.path))


def open_file(file: Path) -> None:
    """Open a file in its program, or show it in its folder when it is not one of ``OPENED``.

    Raises:
        SourceError: when it is gone or this machine cannot open it.
    """
    if not file.is_file():
        raise SourceError(f"{file.name} is no longer where it was.", "Sync its folder.")
    program = opener(sys.platform, os.environ)
    if not program:
        raise SourceError("This machine has no desktop to open files on.", "Copy the path instead.")
    command = command_for(file, program)
    try:
        if command:
            subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
                # What the person saves there is as open as usual, unlike what the server writes.
                umask=_USUAL_UMASK,
            )
        else:
            os.startfile(file)  # type: ignore[attr-defined]  # noqa: S606
    except OSError as error:
        raise SourceError(
            f"{file.name} could not be opened: {(error.strerror or str(error)).lower()}.",
            "Copy its path and open it yourself.",
        ) from error


def command_for(file: Path, program: str) -> list[str]:
    """Return the command that opens a file or shows its folder; empty if ``os.startfile`` does."""
    if may_open(file):
        return [] if program == "startfile" else [program, str(file)]
    # The folder itself is never named where it could be run: "notes.app", or "notes" by notes.exe.
    if program == "startfile":
        return ["explorer", f"/select,{file}"]
    return ["open", "-R", str(file)] if program == "open" else [program, str(file.parent)]
