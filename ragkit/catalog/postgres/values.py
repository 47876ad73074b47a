"""Values between Python and PostgreSQL as SQLite has them: truth is 0 or 1, counts are numbers."""

from __future__ import annotations

from typing import Any

from psycopg import Connection
from psycopg.abc import Buffer
from psycopg.adapt import Loader
from psycopg.types.numeric import Int8Dumper
from psycopg.types.string import StrDumperUnknown


class _Text(StrDumperUnknown):
    """PostgreSQL takes no NUL: U+FFFD stands for it, so that every offset stays what it was."""

    def dump(self, obj: str) -> Buffer | None:
        return super().dump(obj.replace("\0", "\ufffd") if "\0" in obj else obj)


class _Truth(Int8Dumper):
    def dump(self, obj: Any) -> Buffer | None:
        return b"1" if obj else b"0"


class _TruthLoader(Loader):
    def load(self, data: Buffer) -> int:
        return int(bytes(data) == b"t")


class _NumberLoader(Loader):
    def load(self, data: Buffer) -> int | float:
        text = bytes(data)
        return float(text) if b"." in text or b"N" in text else int(text)


def adapt(connection: Connection[Any]) -> None:
    """Have a connection take and give values as SQLite's connections do."""
    adapters = connection.adapters
    adapters.register_dumper(str, _Text)
    adapters.register_dumper(int, Int8Dumper)
    adapters.register_dumper(bool, _Truth)
    adapters.register_loader("bool", _TruthLoader)
    adapters.register_loader("numeric", _NumberLoader)
