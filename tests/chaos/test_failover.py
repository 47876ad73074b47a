"""The primary of a library on a server is killed while workers index and searches run.

What was acknowledged is on the replica, which takes over: nothing is lost, and nothing there twice.
Then one of the workers is killed, and the others do what it had claimed.
``make chaos`` does it with more files.
"""

from __future__ import annotations

import os
import threading
import time

from postgres_server import ReplicatedServer, need_postgres
from several_machines import held, is_done, until, workers, write_notes

import ragkit
from ragkit.errors import RagkitError

FOLDERS = 3
FILES = 20 if "RAGKIT_CHAOS_KILLS" not in os.environ else 400


class Searches:
    """Searches one after another in a thread, and notes how long each took, and what failed."""

    def __init__(self, library):
        self.library = library
        self.ended: list[tuple[float, float]] = []
        self.failed: list[tuple[float, str]] = []
        self.over = threading.Event()
        self.thread = threading.Thread(target=self.run)

    def run(self):
        while not self.over.is_set():
            begun = time.monotonic()
            try:
                self.library.search("how many hours does the whale sleep")
                self.ended.append((begun, time.monotonic()))
            except RagkitError as error:
                self.failed.append((time.monotonic(), str(error)))
            self.over.wait(0.02)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.thread.join(60)


def _indexed(library):
    rows = library.catalog.connections.rows(
        "SELECT s.root, d.path, d.hash FROM documents d JOIN sources s ON s.id = d.source_id "
        "WHERE d.status = 'indexed'"
    )
    return set(map(tuple, rows))


def test_no_acknowledged_document_is_lost_with_the_primary(tmp_path):
    need_postgres()
    folders = write_notes(tmp_path, FOLDERS, FILES)
    with ragkit.open(tmp_path / "file", create=True) as library:
        for folder in folders:
            library.sources.add_folder(folder)
        library.jobs.wait(library.sources.sync())
        expected = held(library)
    shared = {"sources": {"shared_roots": [str(tmp_path / "documents")]}}
    with ReplicatedServer() as servers:
        address = servers.new_database()
        with ragkit.open(tmp_path / "reader", create=True, backend=address, **shared) as library:
            # A search of a collection that is not there yet would be refused, and rightly.
            added = [library.sources.add_folder(folder) for folder in folders]
            with workers(tmp_path, address, 3) as started, Searches(library) as searches:
                for source in added:
                    library.sources.sync(source)
                until(lambda: len(_indexed(library)) >= FOLDERS * FILES // 4)
                acknowledged = _indexed(library)
                servers.primary.kill()
                killed = time.monotonic()
                servers.promote()
                until(lambda: any(begun > killed for begun, _ended in searches.ended))
                assert acknowledged <= _indexed(library)
                was_in_the_middle = len(_indexed(library)) < FOLDERS * FILES
                # A worker dies as well, with whatever it had claimed: another stands in for it.
                started[0].kill()
                until(lambda: is_done(library, FOLDERS * FILES), 300)
        resumed = min(ended for _begun, ended in searches.ended if ended > killed) - killed
        longest = max(ended - begun for begun, ended in searches.ended)
        with ragkit.open(tmp_path / "another", backend=address) as library:
            assert held(library) == expected
            states = {job.state for job in library.jobs.recent(500)}
        assert states == {"done"}
        assert searches.failed == []
        assert resumed < 15
    print(
        f"{len(acknowledged)} documents acknowledged before the kill, all kept; searches resumed "
        f"after {resumed:.1f} s (longest {longest:.1f} s, none of "
        f"{len(searches.ended)} refused); "
        f"{'indexing went on' if was_in_the_middle else 'indexing had ended'}"
    )
