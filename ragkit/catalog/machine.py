"""Libraries on a server, which holds the truth; each machine has a folder of its own as well.

The folder holds caches, logs and uploaded files. It serves one library, as one machine, and says so
in ``server.json``; without uploads it may be deleted at any time.
"""

from __future__ import annotations

import json
import uuid
from dataclasses import asdict, dataclass

from ragkit.errors import LibraryError
from ragkit.paths import LibraryPaths, write_private


@dataclass(frozen=True, slots=True)
class Machine:
    """A folder of a library on a server. ``library`` is the identity that its catalog has.

    ``id`` is the machine's, for what it claims and which folders it alone reads; ``server`` is the
    address as it may be shown.
    """

    library: str
    id: str
    server: str


def read_machine(paths: LibraryPaths) -> Machine | None:
    """Return what a folder serves; ``None``: no library on a server, as far as is known."""
    try:
        return Machine(**json.loads(paths.server.read_text("utf-8")))
    except (OSError, ValueError, TypeError):
        return None


def refuse_other_place(paths: LibraryPaths, *, on_server: bool) -> None:
    """Raise if a folder cannot be that of a library on a server, or of one in a file.

    Raises:
        LibraryError: it holds a library of its own, or serves one on a server.
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
    """Return the id under which a folder serves a library; the folder is given one if need be.

    Raises:
        LibraryError: the folder holds files that were uploaded to another library.
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
