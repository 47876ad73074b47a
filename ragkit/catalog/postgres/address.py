"""The address of a library on a server, for psycopg and for messages."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import parse_qsl, quote, urlencode, urlsplit, urlunsplit

from ragkit.errors import LibraryError, SettingsError

SCHEMA = "ragkit"
"""The default schema."""

_SCHEMA_NAME = re.compile(r"[a-z_][a-z0-9_]{0,62}")
_DEFAULTS = {
    "application_name": "ragkit",
    "connect_timeout": "5",
    "keepalives_idle": "15",
    "keepalives_interval": "5",
    "keepalives_count": "3",
    "tcp_user_timeout": "30000",
    "client_encoding": "UTF8",
}
_SESSION = {
    "jit": "off",
    "enable_partitionwise_join": "on",
    # The server must notice that a machine with a lock has gone.
    "tcp_keepalives_idle": "15",
    "tcp_keepalives_interval": "5",
    "tcp_keepalives_count": "3",
}


@dataclass(frozen=True, slots=True)
class Address:
    """The address of a library; ``shown`` is without the password."""

    conninfo: str
    schema: str
    shown: str

    def __repr__(self) -> str:
        return f"Address({self.shown})"


def is_server(address: str) -> bool:
    """Return whether an address is that of a PostgreSQL server."""
    return address.startswith(("postgresql://", "postgres://"))


def parse_address(url: str) -> Address:
    """Parse ``postgresql://user@host:port/database?schema=NAME``, with any options of libpq.

    With several hosts, the one that accepts writes is used.

    Raises:
        SettingsError: it is not such an address.
        LibraryError: psycopg is not installed.
    """
    try:
        from psycopg import Error
        from psycopg.conninfo import conninfo_to_dict, make_conninfo
    except ImportError as error:
        raise LibraryError(
            "A library on a server needs psycopg, which is not installed.",
            'Install it: pip install "ragkit-search[postgres]".',
        ) from error
    invalid = SettingsError(
        "The address of the server cannot be read.",
        "It looks like postgresql://user@host:5432/database?schema=ragkit.",
    )
    if not is_server(url):
        raise invalid
    try:
        parts = urlsplit(url)
        options = dict(parse_qsl(parts.query, keep_blank_values=True))
        schema = options.pop("schema", SCHEMA)
        plain = urlunsplit(parts._replace(query=urlencode(options, quote_via=quote)))
        given = conninfo_to_dict(plain)
    except (Error, ValueError):
        raise invalid from None  # psycopg's message quotes the address, with its password.
    if not _SCHEMA_NAME.fullmatch(schema):
        raise SettingsError(
            "The schema's name in the address of the server has other than a-z, 0-9 and _.",
            "Choose another: ?schema=ragkit.",
        )
    if "," in str(given.get("host") or "") and "target_session_attrs" not in given:
        given["target_session_attrs"] = "read-write"
    session = {"search_path": schema, **_SESSION}
    settings = " ".join(f"-c {name}={value}" for name, value in session.items())
    given["options"] = f"{given.get('options') or ''} {settings}".strip()
    shown = f"postgresql://{given.get('host') or 'localhost'}/{given.get('dbname') or ''}"
    if schema != SCHEMA:
        shown += f"?schema={schema}"
    conninfo = make_conninfo("", **{**_DEFAULTS, **given})
    return Address(conninfo, schema, shown)
