from __future__ import annotations

import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest

from pages.parts.common import open_in_os
from ragkit.errors import SourceError
from ragkit.library import Library
from ragkit.reading.formats import DOCUMENT_SUFFIXES

RUN_SOMEWHERE = """
    .terminal .tool .fileloc .inetloc .webloc .settingcontent-ms .appref-ms .application .library-ms
    .search-ms .theme .jnlp .diagcab .chm .wsc .sct .inf .gadget .rdp .run .ksh .fish .lua .php
    .action .app .appimage .bat .command .desktop .exe .hta .jar .js .lnk .msi .pif .pl .ps1 .py
    .pyw .rb .reg .scr .sh .svg .ts .url .vbs .workflow .wsf .xml .zsh .docm .xlsm .pptm .unheard-of
"""


def made(folder: Path, name: str, mode: int = 0o644) -> Path:
    file = folder / name
    file.write_bytes(b"words\n")
    file.chmod(mode)
    return file


@pytest.mark.parametrize("suffix", RUN_SOMEWHERE.split())
def test_only_listed_kinds_of_files_are_opened(tmp_path: Path, suffix: str):
    for name in (f"tool{suffix}", f"TOOL{suffix.upper()}"):
        file = made(tmp_path, name)
        assert not open_in_os.may_open(file)
        assert open_in_os.command_for(file, "/usr/bin/xdg-open") == [
            "/usr/bin/xdg-open", str(tmp_path)
        ]  # fmt: skip


def test_documents_are_opened(tmp_path: Path):
    for suffix in DOCUMENT_SUFFIXES:
        expected = suffix not in (
            ".canvas",
            ".prc",
            ".hwp",
            ".hwpx",
            ".mm",
            ".xmind",
            ".docm",
            ".pptm",
            ".dotx",
            ".ppsx",
            ".potx",
            ".xltx",
            ".ott",
            ".fodt",
            ".ots",
            ".fods",
            ".otp",
            ".odg",
            ".pages",
            ".numbers",
            ".key",
            ".otg",
            ".fodg",
            ".vsdx",
            ".vsdm",
            ".vstx",
            ".fodp",
            ".xlsm",
            ".xlsb",
            ".odt",
            ".ods",
            ".odp",
            ".mht",
            ".mhtml",
            ".msg",
            ".doc",
            ".dot",
            ".xls",
            ".xlt",
            ".ppt",
            ".pps",
            ".ics",
            ".vcf",
            ".enex",
            ".emlx",
            ".webarchive",
            ".rss",
            ".atom",
            ".dbk",
            ".docbook",
            ".dita",
            ".tei",
            ".ttml",
            ".nxml",
            ".qif",
            ".ofx",
            ".qfx",
            ".mt940",
            ".sta",
        )
        assert open_in_os.may_open(made(tmp_path, f"notes{suffix}")) is expected, suffix
    assert open_in_os.may_open(made(tmp_path, "Picture.PNG"))
    file = made(tmp_path, "notes.pdf")
    assert open_in_os.command_for(file, "open") == ["open", str(file)]
    assert open_in_os.command_for(file, "startfile") == []


def test_executables_and_files_without_a_suffix_are_not_opened(tmp_path: Path):
    assert not open_in_os.may_open(made(tmp_path, "script", 0o755))
    assert not open_in_os.may_open(made(tmp_path, "README"))
    assert not open_in_os.may_open(made(tmp_path, ".txt"))
    for mode in (0o755, 0o744, 0o654, 0o645):
        assert not open_in_os.may_open(made(tmp_path, "notes.txt", mode)), oct(mode)
    assert not open_in_os.may_open(tmp_path / "gone.txt")


def test_a_link_is_opened_only_if_what_it_leads_to_may_be(tmp_path: Path):
    (tmp_path / "a.txt").symlink_to(made(tmp_path, "tool.desktop"))
    (tmp_path / "b.desktop").symlink_to(made(tmp_path, "notes.txt"))
    (tmp_path / "c.txt").symlink_to(made(tmp_path, "script.txt", 0o755))
    (tmp_path / "d.txt").symlink_to(tmp_path / "notes.txt")
    allowed = [name for name in "abcd" if open_in_os.may_open(next(tmp_path.glob(f"{name}.*")))]
    assert allowed == ["d"]


def test_a_folder_that_would_run_is_shown_and_not_opened(tmp_path: Path):
    folder = tmp_path / "Notes.app"
    folder.mkdir()
    file = made(folder, "tool.sh")
    assert open_in_os.command_for(file, "open") == ["open", "-R", str(file)]
    assert open_in_os.command_for(file, "startfile") == ["explorer", f"/select,{file}"]


def test_a_file_is_handed_to_the_program_of_the_desktop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    opener, opened = tmp_path / "xdg-open", tmp_path / "opened"
    opener.write_text(f'#!/bin/sh\necho "$1" >> {opened}\n')
    opener.chmod(0o700)
    monkeypatch.setattr(open_in_os.sys, "platform", "linux")
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    monkeypatch.setenv("DISPLAY", ":9")
    started = []
    popen = subprocess.Popen
    monkeypatch.setattr(
        subprocess, "Popen", lambda *args, **more: started.append(popen(*args, **more))
    )
    notes, tool = made(tmp_path, "notes.txt"), made(tmp_path, "tool.lua")
    for file in (notes, tool):
        open_in_os.open_file(file)
        assert started.pop().wait(timeout=20) == 0
    assert opened.read_text().splitlines() == [str(notes), str(tmp_path)]
    assert open_in_os.label_for(str(notes)) == "Open in its program"
    assert open_in_os.label_for(str(tool)) == "Show in its folder"
    # Nor would a person at another machine see a window that opens here.
    monkeypatch.setattr(open_in_os.st, "context", SimpleNamespace(ip_address="192.168.1.7"))
    assert open_in_os.label_for(str(notes)) == ""


def test_what_cannot_be_opened_is_said(tmp_path: Path):
    assert open_in_os.opener("darwin", {}) == "open"
    assert open_in_os.opener("linux", {}) == ""
    with pytest.raises(SourceError, match="no longer where it was"):
        open_in_os.open_file(tmp_path / "gone.pdf")


def test_a_file_that_is_gone_is_named_as_it_is(
    library: Library, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    file = made(tmp_path, "plan _final_ of $5.txt")
    with file.open("rb") as stream:
        library.uploads.add(file.name, stream)
    library.jobs.wait(library.sources.sync(library.sources.uploads()))
    (record,) = library.documents.list()
    Path(record.root, record.path).unlink()
    said: list[str] = []
    monkeypatch.setattr(open_in_os.st, "toast", said.append)
    open_in_os.launch(library, record.id)
    # A toast is read as Markdown.
    assert said == [r"plan \_final\_ of \$5\.txt is no longer where it was\. Sync its folder\."]
