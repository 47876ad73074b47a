"""What speaks of a catalog is asked of both engines; what speaks of its file, of SQLite alone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from postgres_server import PostgresServer

from ragkit.catalog import Catalog
from ragkit.paths import LibraryPaths

_ONE_ENGINE = {
    *("test_connections", "test_kill", "test_schema", "test_write_ahead_log"),
    "test_postgres",
}


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Have a test run with both engines, unless it names the file or is marked ``sqlite``."""
    own = metafunc.definition._fixtureinfo.argnames
    if (
        "engine" in metafunc.fixturenames
        and "library_paths" not in own
        and metafunc.module.__name__.rpartition(".")[2] not in _ONE_ENGINE
        and metafunc.definition.get_closest_marker("sqlite") is None
    ):
        metafunc.parametrize("engine", ["sqlite", "postgres"], indirect=True)


@pytest.fixture
def engine(request: pytest.FixtureRequest) -> str:
    """Where the catalog of a test lies: "sqlite" or "postgres"."""
    return getattr(request, "param", "sqlite")


@pytest.fixture(scope="session")
def laid(postgres: PostgresServer) -> Iterator[str]:
    """A library on a server, which tests empty before they use it."""
    url = postgres.new_database()
    Catalog.open_server(url, create=True).close()
    yield url
    postgres.drop_database(url)


@pytest.fixture
def address(engine: str, library_paths: LibraryPaths, request: pytest.FixtureRequest) -> str:
    """The file or the address of the test's catalog."""
    return str(library_paths.catalog) if engine == "sqlite" else request.getfixturevalue("laid")


@pytest.fixture
def catalog(engine: str, address: str) -> Iterator[Catalog]:
    """A fresh catalog, in a file or on a server."""
    if engine == "sqlite":
        opened = Catalog.open(Path(address), create=True)
    else:
        opened = Catalog.open_server(address)
        empty(opened)
    yield opened
    opened.close()


def empty(catalog: Catalog) -> None:
    """Delete all rows on a server but what says which version the tables are of."""
    names = "relnamespace = CAST(current_schema AS regnamespace)"
    with catalog.connections.write() as transaction:
        tables = transaction.execute(
            f"SELECT quote_ident(relname) FROM pg_class WHERE relkind IN ('r', 'p') AND {names} "
            "AND NOT relispartition AND relname <> 'meta'"
        ).fetchall()
        counters = transaction.execute(
            f"SELECT quote_ident(relname) FROM pg_class WHERE relkind = 'S' AND {names}"
        ).fetchall()
        for statement in (
            "SET LOCAL session_replication_role = replica",
            *(f"DELETE FROM {table}" for (table,) in tables),
            *(f"ALTER SEQUENCE {counter} RESTART" for (counter,) in counters),
            "DELETE FROM meta WHERE key NOT LIKE 'migration %' AND key <> 'functions'",
        ):
            transaction.execute(statement)
