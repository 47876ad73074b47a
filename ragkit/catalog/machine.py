"""The folder that each machine has for a library whose catalog is on a server.

It has caches, logs and uploaded files, and ``server.json``, which says for which library and as
which machine. Without uploads it may be deleted at any time.
"""

from __future__ import annotations

import json
import uuid
from dataclasses import asdict, dataclass

from ragkit.errors import LibraryError
from ragkit.paths import LibraryPaths, write_private


@dataclass(frozen=True, slots=True)
class Machine:
    """The contents of ``server.json``.

    ``library`` is the identity of the catalog; ``id`` that of the machine, in whose name jobs and
    folders are claimed; ``server`` is the address without the password.
    """

    library: str
    id: str
    server: str


def read_machine(paths: LibraryPaths) -> Machine | None:
    """Return the contents of a folder's ``server.json``, or ``None`` if it cannot be read."""
    try:
        return Machine(**json.loads(paths.server.read_text("utf-8")))
    except (OSError, ValueError, TypeError):
        return None


def refuse_other_place(paths: LibraryPaths, *, on_server: bool) -> None:
    """Raise if a folder is that of a library on a server but should not be, or the reverse.

    Raises:
        LibraryError: it has a library in a file, or belongs to one on a server.
    """
    if on_server and paths.catalog.exists():
        raise LibraryError(
            f"{paths.root} holds a library of its own.",
            "Choose another folder for the one on the server: --library DIR.",
        )
    machine = None if on_server or paths.catalog.exists() else read_machine(paths)
    if machine is not None:
        raise LibraryError(
            f"{paths.root} belongs to the library at {machine.server}.",
            "Name its address with --backend, or choose another folder with --library.",
        )


def machine_of(paths: LibraryPaths, library: str, server: str) -> str:
    """Return the machine's id of a folder for a library, after making one if it has none.

    Raises:
        LibraryError: the folder has files uploaded to another library, or cannot be written.
    """
    machine = read_machine(paths)
    if machine is not None and machine.library == library:
        return machine.id
    if machine is not None and any(file.is_file() for file in paths.uploads.rglob("*")):
        raise LibraryError(
            f"{paths.root} holds files that were uploaded to another library ({machine.server}).",
            "Choose another folder for this one: --library DIR.",
        )
    machine = Machine(library, uuid.uuid4().hex, server)
    try:
        write_private(paths.server, json.dumps(asdict(machine), indent=1))
    except OSError as error:
        raise LibraryError(
            f"{paths.server} cannot be written: {error.strerror or error}.",
            "Check the folder's permissions and the free disk space.",
        ) from error
    return machine.id
