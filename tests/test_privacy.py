"""Files of a library are its owner's alone."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from network_watch import asked, watching

from ragkit.health.findings import Depth
from ragkit.library import Library
from ragkit.paths import LibraryPaths
from ragkit.settings import Settings


def modes(folder: Path) -> dict[str, int]:
    """The permissions of a folder and all below it, by relative path."""
    found = {".": stat.S_IMODE(folder.stat().st_mode)}
    for path in folder.rglob("*"):
        found[path.relative_to(folder).as_posix()] = stat.S_IMODE(path.lstat().st_mode)
    return found


def open_to_others(folder: Path) -> dict[str, str]:
    return {name: oct(mode) for name, mode in modes(folder).items() if mode & 0o077}


def opened(root: Path) -> Library:
    return Library.open(Settings(library=root, models={"embedder": "hash"}), create=True)


def ragkit(
    library: Path, *arguments: str, env: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    own = {"RAGKIT_LIBRARY": str(library), "RAGKIT_MODELS__EMBEDDER": "hash"}
    return subprocess.run(
        [sys.executable, "-m", "ragkit", *arguments],
        env={**os.environ, **own, **(env or {})}, stdin=subprocess.DEVNULL,
        capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip


def test_a_folder_that_was_open_to_others_is_closed_with_a_notice(tmp_path):
    root, files = tmp_path / "library", tmp_path / "files"
    root.mkdir(mode=0o755)
    files.mkdir()
    (files / "a.md").write_text("# Heron\n\nA heron wades in the river.\n")
    upload = tmp_path / "note.txt"
    upload.write_text("A note.\n")
    done = ragkit(root, "add", str(files), str(upload))
    assert done.returncode == 0, done.stderr
    assert f"{root} was open to other users; it is yours alone now." in done.stderr
    exported = tmp_path / "export.zip"
    exported.write_text("old")
    assert ragkit(root, "export", str(exported), "--force").returncode == 0
    found = ragkit(root, "search", "heron")
    assert "heron" in found.stdout
    assert "open to other users" not in found.stderr
    assert open_to_others(root) == {}
    assert modes(root)["catalog.sqlite"] == 0o600
    assert modes(root)["."] == 0o700
    assert oct(exported.stat().st_mode & 0o777) == "0o600"
    # What people gave stays as it was.
    assert files.stat().st_mode & 0o077
    assert upload.stat().st_mode & 0o077


def test_a_library_that_was_open_is_closed_when_it_is_opened_to_write(tmp_path):
    root = tmp_path / "library"
    opened(root).close()
    for path in (root, *root.rglob("*")):
        path.chmod(0o777 if path.is_dir() else 0o666)
    library = opened(root)
    assert library.notices == (f"{root} was open to other users; it is yours alone now.",)
    library.close()
    assert open_to_others(root) == {}
    again = opened(root)
    assert again.notices == ()
    again.close()


def test_a_library_made_by_a_program_is_private(tmp_path):
    library = opened(tmp_path / "library")
    library.close()
    assert library.notices == ()
    assert {name: oct(modes(tmp_path / "library")[name]) for name in ("catalog.sqlite", ".")} == {
        "catalog.sqlite": "0o600",
        ".": "0o700",
    }
    assert open_to_others(tmp_path / "library") == {}


def test_links_are_not_followed(tmp_path):
    root, elsewhere = tmp_path / "library", tmp_path / "elsewhere"
    opened(root).close()
    elsewhere.mkdir(mode=0o755)
    (elsewhere / "mine.txt").write_text("open")
    (root / "uploads" / "file.txt").symlink_to(elsewhere / "mine.txt")
    (root / "uploads" / "folder").symlink_to(elsewhere)
    (root / "backups").symlink_to(elsewhere)
    root.chmod(0o755)
    opened(root).close()
    assert modes(elsewhere) == {".": 0o755, "mine.txt": 0o644}
    assert modes(root)["."] == 0o700


def test_only_what_belongs_to_the_library_is_closed(tmp_path, monkeypatch):
    home = tmp_path / "home"
    home.mkdir(mode=0o755)
    (home / "letter.txt").write_text("open")
    monkeypatch.setenv("HOME", str(home))
    opened(home).close()
    found = open_to_others(home)
    assert {".", "letter.txt"} <= set(found)
    assert modes(home)["catalog.sqlite"] == 0o600
    assert modes(home)["uploads"] == 0o700
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o1777)
    opened(shared).close()
    assert oct(stat.S_IMODE(shared.stat().st_mode)) == "0o1777"
    assert set(open_to_others(shared)) == {"."}


def test_a_library_behind_a_link_is_closed(tmp_path):
    (tmp_path / "real").mkdir(mode=0o755)
    (tmp_path / "link").symlink_to(tmp_path / "real")
    opened(tmp_path / "link").close()
    assert open_to_others(tmp_path / "real") == {}
    assert LibraryPaths(tmp_path / "link").open_to_others() == []


def test_doctor_says_what_others_can_open_and_mends_it(tmp_path):
    root = tmp_path / "library"
    library = opened(root)
    root.chmod(0o755)
    library.paths.catalog.chmod(0o644)

    def privacy():
        return next(one for one in library.health.check(Depth.CHECK) if one.name == "privacy")

    finding = privacy()
    assert (finding.ok, finding.fix, finding.count) == (False, "make_private", 2)
    assert finding.sentence == "Other users of this machine can open 2 files of the library."
    job = library.jobs.wait(library.health.fix("make_private"))
    # The lock of the job itself is among them.
    assert job.message.endswith("files made private.")
    assert privacy().ok
    assert open_to_others(root) == {}
    library.close()


TAKE_LOCK = """
import fcntl, sys
with open(sys.argv[1], "r+b") as file:
    # SQLite locks this byte as long as it maps the file; whoever gets it may cut the file off.
    fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, 128)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such locks")
def test_closing_files_to_others_keeps_the_locks_of_the_catalog(tmp_path):
    library = opened(tmp_path / "library")
    shared = Path(f"{library.paths.catalog}-shm")
    shared.chmod(0o644)
    library.paths.catalog.chmod(0o644)
    library.documents.counts()
    library.paths.make_private()
    assert [stat.S_IMODE(path.stat().st_mode) for path in (shared, library.paths.catalog)] == [
        0o600,
        0o600,
    ]
    taken = subprocess.run(
        [sys.executable, "-c", TAKE_LOCK, str(shared)], capture_output=True, text=True, check=False
    )
    assert "BlockingIOError" in taken.stderr
    library.close()


# -- web search --------------------------------------------------------------------------------

QUESTION = "refund -gift path:merger/ collection:default"


@pytest.fixture
def searched(tmp_path, httpserver):
    """Search with ``--web`` in a watched process: what it said, and what it asked the network."""
    root, files = tmp_path / "library", tmp_path / "files"
    (files / "merger").mkdir(parents=True)
    (files / "merger" / "terms.md").write_text("# Terms\n\nNo refund before the merger.\n")
    library = opened(root)
    library.jobs.wait(library.sources.sync(library.sources.add_folder(files)))
    library.close()
    found = {"title": "Refunds", "url": "https://shop.example/refunds", "content": "In 14 days."}
    httpserver.expect_request("/search").respond_with_json({"results": [found]})
    web = {"RAGKIT_WEB__ENGINE": "searxng", "RAGKIT_WEB__URL": httpserver.url_for("")}

    def search(*arguments: str, on: bool) -> tuple[subprocess.CompletedProcess[str], list]:
        watched = tmp_path / "watched"
        env = watching({**os.environ, **(web if on else {})}, watched)
        done = ragkit(root, "search", *arguments, QUESTION, env=env)
        return done, asked(watched) if (watched / "asked").exists() else []

    return search


@pytest.mark.parametrize("arguments", [(), ("--web", "--yes"), ("--json", "--web", "--yes")])
def test_while_web_search_is_off_nothing_is_asked_of_the_network(searched, httpserver, arguments):
    done, network = searched(*arguments, on=False)
    assert ("Web search is off. To switch it on" in done.stderr) == bool(arguments)
    assert done.returncode == bool(arguments)
    assert network == []
    assert httpserver.log == []


@pytest.mark.parametrize("arguments", [(), ("--web",), ("--json",), ("--json", "--web")])
def test_nothing_is_sent_before_a_person_has_said_yes(searched, httpserver, arguments):
    done, network = searched(*arguments, on=True)
    assert ("Send them? Pass --yes to confirm." in done.stderr) == ("--web" in arguments)
    assert network == []
    assert httpserver.log == []


def test_what_is_sent_is_what_was_shown_and_it_goes_where_was_said(searched, httpserver):
    done, network = searched("--web", "--yes", on=True)
    host = f"localhost:{httpserver.port}"
    assert f"These words leave this machine, for {host} (SearXNG):\n  refund\n" in done.stderr
    assert [
        (request.method, dict(request.args), request.data) for request, _ in httpserver.log
    ] == [("GET", {"q": "refund", "format": "json"}, b"")]
    assert "No refund before the merger." in done.stdout
    web = done.stdout.partition(f"From the web, by {host}:\n")[2]
    assert web.splitlines() == [
        "1. [web] Refunds  1.00", "   https://shop.example/refunds", "     In 14 days.",
    ]  # fmt: skip
    assert {address for event, address in network if event == "socket.connect"} <= {
        "127.0.0.1", "::1",
    }  # fmt: skip
    assert {name for event, name in network if event == "socket.getaddrinfo"} <= {
        "localhost", "127.0.0.1", "::1",
    }  # fmt: skip


def test_as_json_results_of_the_web_stand_apart(searched):
    done, _ = searched("--web", "--yes", "--json", on=True)
    value = json.loads(done.stdout)
    assert [one["document"]["path"] for one in value["results"]] == ["merger/terms.md"]
    assert value["web"]["words"] == "refund"
    (found,) = value["web"]["results"]
    assert (found["url"], found["score"]) == ("https://shop.example/refunds", 1.0)
    assert found["contributions"][1] == {
        "index": "web", "rank": 0, "raw": 1.0, "normalised": 1.0, "weight": 0.2, "value": 0.2,
    }  # fmt: skip
