"""The PostgreSQL servers of the tests are real, leave nothing behind, and fail over."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
from postgres_server import PostgresServer, ReplicatedServer, need_postgres

_STARTS = """
import sys, time
from postgres_server import PostgresServer
server = PostgresServer()
server.initialise()
server.start()
print(server.folder, server._number(), flush=True)
time.sleep(600)
"""


@pytest.fixture(autouse=True)
def _possible() -> None:
    need_postgres()


def test_a_database_is_empty_and_goes_with_the_test(database: str, postgres: PostgresServer):
    import psycopg

    with psycopg.connect(database) as connection:
        query = "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'"
        assert connection.execute(query).fetchone() == (0,)
        connection.execute("CREATE TABLE kept (id bigint)")
    postgres.drop_database(database)
    name = database.rpartition("/")[2]
    assert not postgres.run_sql(f"SELECT 1 FROM pg_database WHERE datname = '{name}'")


def test_a_server_ends_with_the_process_that_started_it():
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent)}
    process = subprocess.Popen(
        [sys.executable, "-c", _STARTS], stdout=subprocess.PIPE, text=True, env=environment
    )
    assert process.stdout is not None
    folder, number = process.stdout.readline().split()
    server = psutil.Process(int(number))
    process.kill()
    process.wait(10)
    process.stdout.close()
    with contextlib.suppress(psutil.NoSuchProcess):
        server.wait(20)
    until = time.monotonic() + 20
    while Path(folder).exists() and time.monotonic() < until:
        time.sleep(0.05)
    assert not Path(folder).exists()


def test_what_a_killed_primary_acknowledged_is_on_its_replica():
    import psycopg

    with ReplicatedServer() as servers:
        url = servers.new_database()
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("CREATE TABLE kept (id bigint)")
            connection.execute("INSERT INTO kept SELECT generate_series(1, 1000)")
        servers.primary.kill()
        servers.promote()
        with psycopg.connect(url) as connection:
            assert connection.execute("SELECT count(*) FROM kept").fetchone() == (1000,)
