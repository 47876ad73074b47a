"""The collections of a library: isolated search scopes with settings of their own."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragkit.catalog import Catalog
from ragkit.catalog.collections import stored_name
from ragkit.catalog.records import CollectionContents, CollectionRecord, JobState
from ragkit.errors import SettingsError
from ragkit.formatting import is_seen

if TYPE_CHECKING:
    from ragkit.settings import ChunkingSettings, Settings

_LONGEST_NAME = 80
_DELETION = "remove_collection"
_CHOOSE = "Choose another name."
_RESERVED = "all collections"
"""A name that would be mistaken for all collections together."""


@dataclass(frozen=True, slots=True)
class Leaving:
    """A collection that is being deleted: by which job, and for how long that can be undone."""

    job_id: int
    name: str
    seconds_left: float


class CollectionService:
    """Makes, renames, configures and deletes collections.

    Everything in a collection is stored under its number, so renaming loses nothing. Methods raise
    a NotFoundError if there is no collection of that name.
    """

    def __init__(self, settings: Settings, catalog: Catalog) -> None:
        self._settings = settings
        self._catalog = catalog
        self._collections = catalog.collections

    def list(self) -> list[CollectionRecord]:
        """Return the collections by name, without those that are being deleted."""
        leaving = {collection.name for collection in self.leaving()}
        return [record for record in self._collections.all() if record.name not in leaving]

    def names(self, containing: str = "", limit: int = -1) -> Sequence[str]:
        """Return the names of collections in order, without those that are being deleted.

        ``containing`` selects the names that contain a text, ignoring case.
        """
        leaving = {collection.name for collection in self.leaving()}
        names = self._collections.names(containing, limit + len(leaving) if limit >= 0 else limit)
        return [name for name in names if name not in leaving][: limit if limit >= 0 else None]

    def count(self) -> int:
        """Count the collections, without those that are being deleted."""
        return self._collections.count() - len(self.leaving())

    def has(self, *names: str) -> bool:
        """Return whether all these collections exist and none is being deleted."""
        # No query can contain a lone surrogate, and no name does.
        clean = {name.encode(errors="ignore").decode() for name in names}
        there = {record.name for record in self._collections.named(clean)}
        if clean != set(names) or len(there) < len(clean):
            return False
        return there.isdisjoint(collection.name for collection in self.leaving())

    def get(self, name: str) -> CollectionRecord:
        """Return the collection of that name."""
        return self._collections.get(name)

    def find(self, name: str) -> CollectionRecord | None:
        """Return the collection of that name, or ``None``."""
        return self._collections.find(name)

    def add(self, name: str) -> CollectionRecord:
        """Make a new, empty collection.

        Raises:
            SettingsError: no collection can have this name, or one has it already.
        """
        return self._collections.ensure(self._free(name))

    def rename(self, name: str, new: str) -> CollectionRecord:
        """Rename a collection; everything in it stays.

        Raises:
            SettingsError: no collection can have the new name, or another has it already.
        """
        record = self.get(name)
        if new.strip() != name:
            self._collections.rename(record.id, self._free(new, record.id))
        return self._collections.of_id(record.id)

    def contents(self, name: str) -> CollectionContents:
        """Count what would be lost by deleting a collection, with uploads that are not read yet."""
        record = self.get(name)
        counted = self._collections.contents(record.id)
        stored = {upload.path for upload in self._catalog.uploads.all(record.id) if upload.path}
        for source in self._collections.sources(record.id) if stored else ():
            if source.kind == "uploads":
                stored -= self._catalog.uploads.at(source.id, sorted(stored)).keys()
                waiting = sum(Path(source.root, path).is_file() for path in stored)
                counted = replace(counted, uploads=counted.uploads + waiting)
        return counted

    def leaving(self) -> tuple[Leaving, ...]:
        """Return the collections that are being deleted."""
        now = time.time()
        return tuple(
            Leaving(
                job.id,
                str(job.arguments["collection"]),
                max(0.0, job.arguments.get("not_before", now) - now)
                if job.state is JobState.PENDING
                else 0.0,
            )
            for job in self._catalog.jobs.unfinished(_DELETION)
        )

    def keep(self, job_id: int) -> bool:
        """Undo a deletion that has not begun; return whether it was in time."""
        job = self._catalog.jobs.get(job_id)
        if job is None or job.kind != _DELETION or not self._catalog.jobs.withdraw(job_id):
            return False
        # The deletion has cancelled jobs that were reading files for it.
        self._catalog.jobs.add("sync", collection=job.arguments["collection"])
        return True

    def delete(self, name: str, *, after_seconds: float = 0.0) -> int:
        """Queue the deletion of a collection with everything in it; return the job's number.

        Files in folders stay on disk, uploads are deleted. Jobs that read files for it are
        cancelled at once. ``keep`` can undo it during the first ``after_seconds``.
        """
        record = self.get(name)
        sources = {source.id for source in self._collections.sources(record.id)}
        for job in self._catalog.jobs.open():
            arguments = job.arguments
            if arguments.get("source_id") in sources or arguments.get("collection") == record.name:
                self._catalog.jobs.cancel(job.id)
        wait = {"not_before": time.time() + after_seconds} if after_seconds else {}
        return self._catalog.jobs.add(_DELETION, collection=record.name, **wait)

    def set_search(self, name: str, options: Mapping[str, Any]) -> CollectionRecord:
        """Replace a collection's own search options; return its record from before.

        ``options`` are by name; values may be those of ``SearchOptions``, text or JSON.

        Raises:
            SettingsError: there is no such option, or it cannot have this value.
        """
        from ragkit.option_codec import as_json_value, parse_option

        values = {key: as_json_value(parse_option(key, value)) for key, value in options.items()}
        return self._set(name, "search", values)

    def chunking(self, name: str) -> ChunkingSettings:
        """Return the chunk sizes of a collection in words: its own, or the library's."""
        from ragkit.indexing.writer import chunk_settings

        record = self.find(name)
        return chunk_settings(self._settings, record) if record else self._settings.chunking

    def set_chunking(self, name: str, sizes: Mapping[str, int]) -> int | None:
        """Set chunk sizes by name, and queue the documents to be indexed again.

        Returns the job's number, or ``None`` if nothing has changed.

        Raises:
            SettingsError: the sizes are not possible.
        """
        from ragkit.settings import parse_chunking

        before = self.chunking(name)
        chunking = parse_chunking({**before.model_dump(), **sizes})
        if chunking == before:
            return None
        is_usual = chunking == self._settings.chunking
        record = self._set(name, "chunking", {} if is_usual else chunking.model_dump())
        return self._catalog.jobs.add("sync", collection=record.name)

    def _set(self, name: str, group: str, values: Mapping[str, Any]) -> CollectionRecord:
        """Replace one group of a collection's settings; return its record from before."""
        record = self.get(name)
        self._collections.set_group(record, group, values)
        return record

    def _free(self, name: str, own: int | None = None) -> str:
        """Return a name in the form in which it is stored, if no other collection has it.

        Raises:
            SettingsError: no collection can have it, or one has it already.
        """
        name = valid_name(name)
        taken = name if name.casefold() == _RESERVED else self._collections.like(name, besides=own)
        if taken is not None:
            raise SettingsError(f'There is already a collection "{taken}".', _CHOOSE)
        return name


def valid_name(name: str) -> str:
    """Return the name of a new collection in the form in which it is stored.

    Raises:
        SettingsError: it is empty, too long, or not the same in an address.
    """
    name = stored_name(name)
    if not 0 < len(name) <= _LONGEST_NAME or not all(map(is_seen, name)):
        raise SettingsError(
            f"A collection's name has 1 to {_LONGEST_NAME} characters on one line.", _CHOOSE
        )
    # Clients resolve these parts of an address before they send it.
    if not {".", ".."}.isdisjoint(name.split("/")):
        raise SettingsError('A collection\'s name has no part "." or "..".', _CHOOSE)
    return name
