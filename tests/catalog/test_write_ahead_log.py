from __future__ import annotations

import random
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from ragkit.catalog.write_ahead_log import log_is_damaged


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """The write-ahead log of twenty small commits, as a killed process leaves it."""
    with closing(sqlite3.connect(tmp_path / "a.sqlite")) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA wal_autocheckpoint = 0")
        connection.execute("CREATE TABLE t (a)")
        for number in range(20):
            connection.execute("INSERT INTO t VALUES (?)", (str(number) * 500,))
            connection.commit()
        data = Path(f"{connection_file(connection)}-wal").read_bytes()
    kept = tmp_path / "kept-wal"
    kept.write_bytes(data)
    return kept


def connection_file(connection: sqlite3.Connection) -> str:
    return str(connection.execute("PRAGMA database_list").fetchone()[2])


def test_a_sound_log_and_one_cut_anywhere_are_not_damaged(log):
    data = log.read_bytes()
    assert not log_is_damaged(log)
    for length in range(0, len(data), 997):
        log.write_bytes(data[:length])
        assert not log_is_damaged(log), length
    assert not log_is_damaged(log.with_name("none"))


def test_a_flipped_bit_before_the_last_frame_is_damage(log):
    data, chance = log.read_bytes(), random.Random(1)
    for _ in range(300):
        place = chance.randrange(len(data) - 4120)
        flipped = bytearray(data)
        flipped[place] ^= 1 << chance.randrange(8)
        log.write_bytes(flipped)
        assert log_is_damaged(log), place


@pytest.mark.parametrize("start", [0, 32, 4096, 9000])
def test_zeros_before_the_last_frames_are_damage(log, start):
    data = bytearray(log.read_bytes())
    data[start : start + 4096] = bytes(4096)
    log.write_bytes(data)
    assert log_is_damaged(log)


def test_a_torn_last_frame_is_what_a_crash_leaves(log):
    data = bytearray(log.read_bytes())
    data[-100:] = bytes(100)
    log.write_bytes(data)
    assert not log_is_damaged(log)


def test_a_frame_written_anew_in_a_transaction_that_was_cut_off_is_no_damage(tmp_path):
    """SQLite changes such a frame in place, and its checksum only when it commits."""
    file = tmp_path / "a.sqlite"
    with closing(sqlite3.connect(file, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA cache_size = 5")
        connection.execute("CREATE TABLE t (a)")
        connection.execute("BEGIN")
        rows = (("x" * 3000,) for _ in range(60))
        connection.executemany("INSERT INTO t VALUES (?)", rows)
        data = bytearray(Path(f"{file}-wal").read_bytes())
        connection.execute("ROLLBACK")
    frames = range(32, len(data), 4096 + 24)
    [first, *others] = [at for at in frames if not any(data[at + 4 : at + 8])][2:]
    assert len(others) > 10
    data[first + 24 + 2000] ^= 1
    cut = tmp_path / "cut-wal"
    cut.write_bytes(data)
    assert not log_is_damaged(cut)


def test_frames_of_an_earlier_round_are_no_damage(tmp_path):
    file = tmp_path / "a.sqlite"
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("CREATE TABLE t (a)")
        for number in range(40):
            if number == 30:
                connection.execute("PRAGMA wal_checkpoint(RESTART)")
            connection.execute("INSERT INTO t VALUES (?)", (str(number) * 500,))
            connection.commit()
        assert not log_is_damaged(Path(f"{file}-wal"))
