"""One-time links, and the browsers that used one."""

from __future__ import annotations

import json
import os
import stat
from concurrent.futures import ThreadPoolExecutor

import pytest

from ragkit.errors import LibraryError
from ragkit.surfaces.http import access as module
from ragkit.surfaces.http.access import Access, RunningServer, write_private
from ragkit.surfaces.http.place import Place


@pytest.fixture
def file(tmp_path):
    return tmp_path / "access.json"


@pytest.fixture
def now(monkeypatch):
    """A clock that stands, and may be moved."""

    class Clock:
        time = 1_000_000.0

    monkeypatch.setattr(module.time, "time", lambda: Clock.time)
    return Clock


def test_a_link_works_once(file):
    access = Access(file)
    secret = access.mint()
    session = access.enter(secret)
    assert session is not None
    assert access.admits(session)
    assert access.enter(secret) is None
    assert not access.admits(secret)
    assert access.enter(session) is None


def test_a_new_link_ends_the_one_before(file):
    access = Access(file)
    before, now = access.mint(), access.mint()
    assert access.enter(before) is None
    assert access.enter(now) is not None


def test_a_link_works_in_another_process_and_after_a_restart(file):
    session = Access(file).enter(Access(file).mint())
    assert session is not None
    assert Access(file).admits(session)


def test_links_and_sessions_end(file, now):
    access = Access(file)
    session = access.enter(access.mint())
    late = access.mint()
    now.time += module.LINK_SECONDS + 1
    assert access.enter(late) is None
    assert access.admits(session)
    now.time += module.SESSION_SECONDS
    assert not access.admits(session)


def test_of_very_many_sessions_the_oldest_end(file, now):
    access = Access(file)
    sessions = []
    for _ in range(51):
        now.time += 1
        sessions.append(access.enter(access.mint()))
    assert not access.admits(sessions[0])
    assert all(access.admits(session) for session in sessions[1:])


def test_no_secret_stands_in_the_file_and_only_its_owner_reads_it(file):
    access = Access(file)
    link = access.mint()
    session = access.enter(access.mint())
    assert link not in file.read_text()
    assert session not in file.read_text()
    assert len(link) == len(session) == 43  # 32 random bytes
    modes = {one.name: stat.S_IMODE(one.stat().st_mode) for one in file.parent.iterdir()}
    assert modes == {"access.json": 0o600, "access.lock": 0o600}


def test_of_many_who_use_a_link_at_once_one_gets_in(file):
    secret = Access(file).mint()
    with ThreadPoolExecutor(8) as pool:
        sessions = list(pool.map(lambda _: Access(file).enter(secret), range(8)))
    assert sum(session is not None for session in sessions) == 1


def test_a_file_that_others_can_write_lets_nobody_in(file):
    access = Access(file)
    session = access.enter(access.mint())
    file.chmod(0o622)
    assert not Access(file).admits(session)
    file.chmod(0o600)
    assert Access(file).admits(session)


def test_a_link_to_another_file_lets_nobody_in(file, tmp_path):
    session = Access(file).enter(Access(file).mint())
    elsewhere = tmp_path / "elsewhere.json"
    elsewhere.symlink_to(file)
    assert not Access(elsewhere).admits(session)


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"[]", b"null", b"\xff", b'{"links": {}}', b"[" * 100_000,
     b'{"links": {"a": "x"}, "sessions": {}, "server": {}}',
     b'{"links": [], "sessions": {}, "server": {}}'],
)  # fmt: skip
@pytest.mark.usefixtures("nothing_collected")
def test_a_damaged_file_lets_nobody_in_and_is_replaced(file, content):
    session = Access(file).enter(Access(file).mint())
    file.write_bytes(content)
    access = Access(file)
    assert (access.admits(session), access.server()) == (False, None)
    assert access.admits(access.enter(access.mint()))


def test_a_file_that_cannot_be_written_is_an_error_with_a_cure(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(LibraryError, match=r"access\.json cannot be written"):
        Access(tmp_path / "file" / "access.json").mint()
    with pytest.raises(FileNotFoundError):
        write_private(tmp_path / "gone" / "open.html", "text")


def test_a_private_file_is_never_written_through_a_link(tmp_path):
    others = tmp_path / "others"
    others.write_text("theirs")
    (tmp_path / "mine").symlink_to(others)
    write_private(tmp_path / "mine", "mine")
    assert (others.read_text(), (tmp_path / "mine").read_text()) == ("theirs", "mine")


def test_the_server_is_known_as_long_as_it_runs(file):
    access = Access(file)
    assert access.server() is None
    access.note_server(Place(8501), locked=True)
    session = access.enter(access.mint())
    assert Access(file).server() == RunningServer(Place(8501), locked=True)
    noted = json.loads(file.read_text())
    assert noted["server"]["pid"] == os.getpid()
    noted["server"]["started"] -= 1
    file.write_text(json.dumps(noted))
    assert Access(file).server() is None
    assert Access(file).admits(session)


def test_a_code_works_as_a_link_does_and_beside_one(file, now):
    access = Access(file)
    link, code, other = access.mint(), access.mint_code(), access.mint_code()
    assert len(code) == 8
    assert access.admits(access.enter(code))
    assert access.enter(code) is None
    assert access.admits(access.enter(link))
    now.time += module.LINK_SECONDS + 1
    assert access.enter(other) is None


def test_forgetting_signs_everybody_out(file):
    access = Access(file)
    session, link = access.enter(access.mint()), access.mint()
    access.note_server(Place(8501), locked=True)
    access.forget()
    assert not access.admits(session)
    assert access.enter(link) is None
    assert access.server() == RunningServer(Place(8501), locked=True)
