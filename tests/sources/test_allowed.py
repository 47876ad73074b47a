from __future__ import annotations

import os
from pathlib import Path

import pytest

from ragkit.errors import SourceError, UnconfirmedError
from ragkit.sources import allowed
from ragkit.sources.allowed import check_folder


@pytest.fixture
def home(tmp_path, monkeypatch):
    folder = tmp_path / "home" / "ann"
    (folder / "notes").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("USERPROFILE", str(folder))
    return folder


def test_a_folder_of_the_home_is_allowed_without_being_asked_and_all_of_it_is_not(home):
    check_folder(home / "notes", (), confirmed=False)
    with pytest.raises(UnconfirmedError, match="is your whole home folder"):
        check_folder(home, (), confirmed=False)
    check_folder(home, (), confirmed=True)


def test_a_folder_elsewhere_is_asked_for_once_more(home, tmp_path):
    elsewhere = tmp_path / "drive"
    elsewhere.mkdir()
    with pytest.raises(UnconfirmedError, match="is not in your home folder"):
        check_folder(elsewhere, (), confirmed=False)
    check_folder(elsewhere, (), confirmed=True)


def test_a_home_that_is_the_whole_disk_is_none(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", "/")
    with pytest.raises(UnconfirmedError):
        check_folder(tmp_path, (), confirmed=False)
    with pytest.raises(SourceError, match="is a system folder"):
        check_folder(Path("/etc"), (), confirmed=True)


@pytest.mark.parametrize(
    ("folder", "said"),
    [
        ("/etc", "is a system folder (/etc)"),
        ("/etc/ssl/certs", "is a system folder (/etc)"),
        ("/proc/self", "is a system folder (/proc)"),
        ("/sys/class", "is a system folder (/sys)"),
        ("/dev/shm", "is a system folder (/dev)"),
        ("/boot", "is a system folder (/boot)"),
        ("/root/papers", "is a system folder (/root)"),
        ("/var/log", "is a system folder (/var/log)"),
        ("/var", "contains system folders (/var/lib)"),
        ("/", "contains system folders (/"),
    ],
)
def test_system_folders_are_refused_with_the_reason(home, folder, said, monkeypatch):
    monkeypatch.setattr(Path, "is_dir", lambda _path: True)
    with pytest.raises(SourceError) as caught:
        check_folder(Path(folder), (), confirmed=True)
    assert said in str(caught.value)


def test_other_peoples_homes_are_refused(home, tmp_path, monkeypatch):
    place = tmp_path / "home"
    theirs, shared = place / "bob", place / "shared"
    (theirs / "letters").mkdir(parents=True)
    shared.mkdir()
    monkeypatch.setattr(allowed, "_HOMES", (str(place),))
    owners = {theirs: 4242, shared: 0}
    monkeypatch.setattr(allowed, "_owner", lambda folder: owners.get(folder, os.getuid()))
    for folder, said in (
        (theirs, "belongs to another person"),
        (theirs / "letters", f"letters belongs to another person .{theirs}"),
        (place, f"home holds the home of another person .{theirs}"),
    ):
        with pytest.raises(SourceError, match=said):
            check_folder(folder, (), confirmed=True)
    check_folder(shared, (), confirmed=True)
    check_folder(home / "notes", (), confirmed=False)
    check_folder(theirs / "letters", [theirs], confirmed=False)


def test_allowed_roots_are_binding_and_may_name_a_system_folder(home, tmp_path):
    drive = tmp_path / "drive" / "inner"
    drive.mkdir(parents=True)
    for confirmed in (True, False):
        check_folder(drive, [tmp_path / "drive"], confirmed=confirmed)
        check_folder(Path("/etc/ssl"), [Path("/etc/ssl")], confirmed=confirmed)
        for folder in (home, tmp_path, Path("/etc")):
            with pytest.raises(SourceError, match="is not in an allowed folder"):
                check_folder(folder, [tmp_path / "drive", Path("/etc/ssl")], confirmed=confirmed)
    # Who allows the whole disk has not named the folders of the system.
    with pytest.raises(SourceError, match="is a system folder"):
        check_folder(Path("/etc/ssl"), [Path("/")], confirmed=True)
