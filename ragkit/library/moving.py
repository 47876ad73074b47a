"""Copying a whole library to a server, or from one to a folder; the original stays."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path

from pydantic import SecretStr

from ragkit.catalog import Catalog, transfer
from ragkit.catalog.machine import refuse_other_place
from ragkit.catalog.records import SourceRecord
from ragkit.errors import LibraryError
from ragkit.formatting import plural
from ragkit.indexing.progress import Progress
from ragkit.indexing.writer import writer_lock
from ragkit.library import Library
from ragkit.paths import LibraryPaths
from ragkit.settings import Settings, load_settings

Watch = Callable[[Progress], object]


@dataclass(frozen=True, slots=True)
class Moved:
    """What was copied: rows by table and the number of uploads; and the folder of the copy.

    ``notes`` are sentences for the person.
    """

    rows: Mapping[str, int]
    uploads: int
    folder: Path
    notes: tuple[str, ...] = ()


@dataclass
class _Steps:
    """Reports the rows that were copied, or compared."""

    watch: Watch
    total: int
    phase: str = "Copying"
    done: int = 0
    rows: dict[str, int] = field(default_factory=dict)

    def __call__(self, table: str, rows: int) -> None:
        self.done += rows
        self.rows[table] = self.rows.get(table, 0) + rows
        self.watch(Progress(self.phase, min(self.done, self.total), self.total, table))


def settings_of_copy(settings: Settings, to: str, folder: Path | None) -> Settings:
    """Return the settings of the copy.

    ``to`` is the address of a server, with a ``folder`` for this machine that is by default beside
    the library's; or it is the folder of the copy.

    Raises:
        SettingsError: it is an address, but not of a supported server.
        LibraryError: it is a folder, and ``folder`` was given too.
    """
    if "://" in to:
        root = settings.library.expanduser().absolute()
        beside = folder or root.with_name(f"{root.name}-server")
        checked = load_settings(backend=to)
        return settings.model_copy(update={"backend": checked.backend, "library": beside})
    if folder is not None:
        raise LibraryError("--folder goes with the address of a server.", "Leave it out.")
    place = Path(to).expanduser().absolute()
    return settings.model_copy(update={"backend": SecretStr(""), "library": place})


def move_library(
    settings: Settings, copy: Settings, *, restart: bool = False, watch: Watch = lambda _: None
) -> Moved:
    """Copy the library of some settings to that of others, then compare every table.

    An interrupted copy is continued, or begun again with ``restart``. Nothing may write meanwhile.

    Raises:
        LibraryError: the target is not empty, or the two differ at the end.
        LibraryBusyError: a worker is running.
    """
    with ExitStack() as stack:
        library = stack.enter_context(Library.open(settings))
        _refuse_workers(library.catalog)
        paths, target = _open_target(copy)
        stack.callback(target.close)
        for each in (library.paths, paths):
            stack.enter_context(writer_lock(each.lock, "move"))
        identity = library.catalog.identity()
        transfer.begin(target, identity, restart=restart)
        source = library.catalog.connections
        with source.read():
            total = sum(table.count(source) for table in transfer.tables())
            transfer.copy(source, target.connections, _Steps(watch, total))
            compared = _Steps(watch, total, "Comparing")
            wrong = transfer.differing(source, target.connections, compared)
        if wrong:
            raise LibraryError(
                f"The copy is not the same yet ({', '.join(wrong)}): something was changed "
                "between two attempts.",
                "Run it again with --restart.",
            )
        files, notes = _settle_sources(library, paths, target, copy)
        transfer.finish(target)
        target.mark()
        return Moved(compared.rows, files, paths.root, notes)


def _refuse_workers(catalog: Catalog) -> None:
    for other in catalog.jobs.others():
        if other.works:
            raise LibraryError(
                f"A worker runs on another machine ({other.notes.get('host')}).", "Stop it first."
            )


def _open_target(copy: Settings) -> tuple[LibraryPaths, Catalog]:
    paths = LibraryPaths(copy.library.expanduser().absolute())
    address = copy.backend.get_secret_value()
    refuse_other_place(paths, on_server=bool(address))
    paths.create()
    if not address:
        return paths, Catalog.open(paths.catalog, create=True)
    target = Catalog.open_server(address, create=True)
    try:
        return replace(paths, machine=target.settle_machine(paths)), target
    except BaseException:
        target.close()
        raise


def _settle_sources(
    library: Library, paths: LibraryPaths, target: Catalog, copy: Settings
) -> tuple[int, tuple[str, ...]]:
    """Copy uploaded files and set each source's folder and machine in the copy.

    Returns the number of uploads, and notes for the person.
    """
    files, left = 0, 0
    writer = library.writer()
    with library.catalog.connections.read():
        sources = library.catalog.collections.sources()
    for source in sources:
        root, machine = source.root, _reader(source, paths, copy)
        if source.kind == "uploads" and writer.reads(source):
            root = str(paths.collection_uploads(source.collection_id))
            files += _copy_files(Path(source.root), Path(root))
        elif source.kind == "uploads":
            left += source.documents
        target.collections.set_source_place(source.id, root, machine)
    note = f"{plural(left, 'uploaded file')} of other machines stayed there; their text is here."
    return files, (note,) if left else ()


def _reader(source: SourceRecord, paths: LibraryPaths, copy: Settings) -> str:
    """Return the machine that reads a source of the copy; empty if any may."""
    shared = source.kind == "folder" and copy.sources.shares(Path(source.root))
    return "" if shared else paths.machine


def _copy_files(folder: Path, place: Path) -> int:
    """Copy the files that are missing in ``place``; return how many there are in all."""
    count = 0
    for file in sorted(folder.rglob("*")):
        if not file.is_file():
            continue
        target = place / file.relative_to(folder)
        count += 1
        if target.exists() and target.stat().st_size == file.stat().st_size:
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        partial = target.with_name(f".{target.name}.moving")
        shutil.copy2(file, partial)
        partial.replace(target)
    return count
