"""Errors of psycopg as errors that tell a person what to do, without the password."""

from __future__ import annotations

import psycopg
from psycopg import errors

from ragkit.catalog.postgres.address import Address
from ragkit.errors import (
    CatalogError,
    ConnectionLostError,
    LibraryBusyError,
    LibraryError,
    ServerAwayError,
    UnstorableError,
)

_UNSTORABLE = (errors.DataError, errors.ProgramLimitExceeded)
_DAMAGED = (errors.DataCorrupted, errors.IndexCorrupted)
_FULL = (errors.DiskFull, errors.OutOfMemory, errors.InsufficientResources)
_BUSY = (errors.LockNotAvailable, errors.DeadlockDetected, errors.SerializationFailure)
_GONE = (
    errors.AdminShutdown,
    errors.CrashShutdown,
    errors.CannotConnectNow,
    errors.IdleInTransactionSessionTimeout,
)
_REFUSED = (errors.InvalidPassword, errors.InvalidAuthorizationSpecification)


def is_lost(error: Exception, connection: psycopg.Connection[object] | None) -> bool:
    """Return whether the connection was lost, so that another one may succeed."""
    if isinstance(error, _GONE):
        return True
    if not isinstance(error, psycopg.OperationalError | psycopg.InterfaceError):
        return False
    return connection is None or connection.closed or connection.broken


def no_server(address: Address, error: Exception) -> CatalogError:
    """Return the error to raise when connecting failed."""
    text = str(error).lower()
    if isinstance(error, _REFUSED) or "authentication" in text or "password" in text:
        return CatalogError(
            f"The server refuses the name or password for {address.shown}.",
            "Check the address; the password may be in PGPASSWORD or ~/.pgpass.",
        )
    if "unsupported startup parameter" in text:
        return behind_pooler(address)
    if "does not exist" in text:
        return CatalogError(
            f"The server has no such database or user: {address.shown}.",
            "Create the database (createdb NAME), or correct the address.",
        )
    if "read-only" in text or "not read-write" in text or "hot standby" in text:
        return ServerAwayError(
            f"No server of {address.shown} takes changes now.",
            "A replica is about to take over, or none will: ask who runs the servers.",
        )
    if "too many" in text:
        return ServerAwayError(
            f"The server has no connection left for {address.shown}.",
            "Raise max_connections there, or stop some processes of ragkit.",
        )
    return ServerAwayError(
        f"The server does not answer: {address.shown}.",
        "Check that it runs and can be reached; ragkit tries again by itself.",
    )


def behind_pooler(address: Address) -> CatalogError:
    """Return the error for a pooler that drops the options of connections."""
    return CatalogError(
        f"What answers for {address.shown} does not pass on the settings of a connection, as "
        "poolers do (PgBouncer).",
        "Name the server itself: ragkit keeps few connections. Through a pooler that ignores "
        f"options: ALTER ROLE NAME SET search_path = {address.schema}.",
    )


def as_library_error(error: Exception, address: Address) -> LibraryError:
    """Return the error to raise in place of one of psycopg's."""
    if isinstance(error, _UNSTORABLE):
        return UnstorableError(
            f"A value is too large to be stored ({_reason(error)}).",
            "Split the file, or leave it out.",
        )
    if isinstance(error, _DAMAGED):
        return CatalogError(
            f"The database is damaged: {address.shown}.", "Restore it from a copy of the server's."
        )
    if isinstance(error, _FULL):
        return CatalogError("The server is out of disk or memory.", "Free some there.")
    if isinstance(error, _BUSY):
        return LibraryBusyError("The library is busy.", "Try again in a moment.")
    if isinstance(error, errors.ReadOnlySqlTransaction):
        return ServerAwayError(
            f"{address.shown} cannot be written: it is a replica.",
            "Name the primary, or all servers with target_session_attrs=read-write.",
        )
    if isinstance(error, errors.InsufficientPrivilege):
        return CatalogError(
            f"The user may not do this in {address.shown} ({_reason(error)}).",
            "Give it the database: GRANT ALL ON DATABASE, or own schema.",
        )
    if is_lost(error, None):
        return ConnectionLostError(
            f"The connection to {address.shown} was lost.", "Nothing was changed: try again."
        )
    return CatalogError(f"The server reported an error: {_reason(error)}.", "Run ragkit doctor.")


def unsure(address: Address) -> LibraryError:
    """Return the error for a commit that was not confirmed, and may have succeeded."""
    return ServerAwayError(
        f"The connection to {address.shown} was lost while a change was being saved.",
        "Look whether it is there before you make it again.",
    )


def _reason(error: Exception) -> str:
    """Return the first line of what the server said."""
    primary = error.diag.message_primary if isinstance(error, psycopg.Error) else None
    return (primary or str(error).partition("\n")[0]).rstrip(".")
