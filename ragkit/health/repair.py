"""The writer's jobs that tidy up and repair a library.

These are kept on purpose:

* Records of removed entries since the oldest index generation on disk, and of the newest
  ``KEPT_VERSIONS`` changes. A process with an older index in memory notices that it has more
  entries than the catalog, and rebuilds its index: slower, but never wrong.
* Words that no entry uses. SQLite might give their ids to other words, while index generations and
  running processes still know the old ones. They take little space.
* Vectors of other embedders for existing texts, which make switching back free.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ragkit.catalog.records import CollectionRecord
from ragkit.errors import CatalogError, IndexCorruptError, LibraryError
from ragkit.formatting import plural
from ragkit.health.checks import documents_to_read_again, leftovers
from ragkit.health.findings import Parts
from ragkit.indexes.local.files import generations
from ragkit.indexes.local.generation import open_newest, prune
from ragkit.indexing.progress import Reporter
from ragkit.indexing.sync import sync_source
from ragkit.indexing.writer import Writer
from ragkit.types import INDEXED_LEVELS, Level

KEPT_VERSIONS = 1000
"""Records of removals are kept for this many of a collection's newest changes."""

_UNFINISHED_SECONDS = 3600.0
_SPARE_BYTES = 8_000_000
_SPARE_SHARE = 0.2


def compact(writer: Writer, arguments: Mapping[str, Any], reporter: Reporter) -> str:
    """Merge indexes, delete unneeded data, and return unused space to the disk."""
    collections = _chosen(writer, arguments)
    before = writer.catalog.integrity.space()[0]
    reporter.start("Merging the indexes", len(collections))
    needed: list[int] = []
    for collection in collections:
        writer.indexes.save(collection, always=True)
        for level in INDEXED_LEVELS:
            _prune(writer, collection, level)
        needed += _forget_removals(writer, collection)
        _drop_other_indexes(writer, collection)
        reporter.step(collection.name)
    if len(collections) == len(writer.catalog.collections.all()):
        writer.catalog.collections.forget_changes(needed)
    reporter.start("Tidying up", 4)
    vectors = writer.catalog.vectors.prune()
    reporter.step("vectors")
    contexts = writer.catalog.contexts.prune() + writer.catalog.summaries.prune()
    reporter.step("contexts")
    files = remove_leftovers(writer)
    reporter.step("files")
    note = _shrink(writer)
    reporter.step("catalog")
    freed = max(0, before - writer.catalog.integrity.space()[0])
    return (
        f"Merged {plural(len(collections), 'collection')}; dropped {plural(vectors, 'vector')}, "
        f"{plural(contexts, 'old context')} and {plural(files, 'unfinished file')}; "
        f"{freed / 1e6:.1f} MB freed.{note}"
    )


def rebuild_indexes(writer: Writer, arguments: Mapping[str, Any], reporter: Reporter) -> str:
    """Rebuild every index from the catalog; the old indexes serve until the new ones are complete.

    Raises:
        LibraryError: an index could not be written.
    """
    writer.catalog.integrity.count_entries()
    collections = _chosen(writer, arguments)
    reporter.start("Building the indexes", len(collections) * len(INDEXED_LEVELS))
    entries = 0
    for collection in collections:
        folders = {level: _folder(writer, collection, level) for level in INDEXED_LEVELS}
        before = {level: generations(folder)[-1:] for level, folder in folders.items()}
        writer.indexes.rebuild(collection)
        for level, folder in folders.items():
            count = _prune(writer, collection, level)
            in_files = not writer.settings.index.server
            if count and in_files and generations(folder)[-1:] == before[level]:
                raise LibraryError(
                    f'The index of "{collection.name}" could not be written.',
                    "Check the free disk space and the log.",
                )
            entries += count
        writer.indexes.forget(collection.id)
        reporter.step(collection.name, done=len(INDEXED_LEVELS))
    built = plural(len(collections), "collection")
    return f"Built the indexes of {built}: {plural(entries, 'entry')}."


def reread(writer: Writer, _arguments: Mapping[str, Any], reporter: Reporter) -> str:
    """Read the files of all damaged documents again."""
    catalog = writer.catalog
    reporter.start("Looking for damaged documents", 0)
    catalog.integrity.drop_misshapen_vectors()
    parts = Parts(writer.settings, writer.paths, catalog, writer.embedder)
    torn = catalog.documents.get_many(documents_to_read_again(parts))
    catalog.files.forget_attempt(sorted(torn))
    sources = [
        catalog.collections.source(number)
        for number in sorted({document.source_id for document in torn.values()})
    ]
    here = [source for source in sources if writer.reads(source)]
    for source in sources:
        if source not in here:
            catalog.jobs.add("sync", source_id=source.id)
    reports = {source.id: sync_source(writer, source, reporter) for source in here}
    catalog.integrity.count_entries()
    for name in sorted({source.collection for source in sources}):
        writer.indexes.save(catalog.collections.get(name))
    seen = {number for number, report in reports.items() if not report.offline}
    read = sum(document.source_id in seen for document in torn.values())
    sentences = [f"Re-indexed {plural(read, 'damaged document')}."] if read or not torn else []
    if read < len(torn):
        sentences.append(f"{plural(len(torn) - read, 'damaged document')} cannot be read now.")
    sentences += (report.offline for report in reports.values() if report.offline)
    return " ".join(sentences)


def remove_leftovers(writer: Writer) -> int:
    """Delete what killed writers left behind, except recent files; return how many."""
    removed = 0
    for path in leftovers(writer.catalog, writer.paths):
        try:
            if time.time() - path.lstat().st_mtime < _UNFINISHED_SECONDS:
                continue
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink()
        except OSError:
            continue
        removed += 1
    return removed


def _chosen(writer: Writer, arguments: Mapping[str, Any]) -> list[CollectionRecord]:
    name = arguments.get("collection")
    collections = writer.catalog.collections
    return collections.all() if name is None else [collections.get(str(name))]


def _folder(writer: Writer, collection: CollectionRecord, level: Level) -> Path:
    return writer.paths.index(collection.id, level.value, writer.embedder.fingerprint)


def _prune(writer: Writer, collection: CollectionRecord, level: Level) -> int:
    """Keep only the newest generation, or none without entries; return the number of entries."""
    entries = writer.catalog.entries.count(collection.id, INDEXED_LEVELS[level])
    folder = _folder(writer, collection, level)
    if folder.is_dir():
        prune(folder, keep=1 if entries else 0)
    if not entries:
        writer.indexes.forget(collection.id)
    return entries


def _drop_other_indexes(writer: Writer, collection: CollectionRecord) -> None:
    """Delete the indexes of embedders other than the active, the previous and the target one."""
    choice = writer.catalog.embedders.choice()
    if choice is not None and choice.target:
        return
    records = (choice.active, choice.previous) if choice else ()
    fingerprints = {record.fingerprint for record in records if record is not None}
    kept = {
        writer.paths.index(collection.id, level.value, fingerprint)
        for level in INDEXED_LEVELS
        for fingerprint in {writer.embedder.fingerprint, *fingerprints}
    }
    for folder in writer.paths.collection_indexes(collection.id).glob("*/*"):
        if folder not in kept:
            shutil.rmtree(folder, ignore_errors=True)


def _forget_removals(writer: Writer, collection: CollectionRecord) -> list[int]:
    """Forget removals that no index needs any more; return the versions of the indexes."""
    oldest = writer.catalog.collections.version(collection.id).number - KEPT_VERSIONS
    indexed: list[int] = []
    for level in INDEXED_LEVELS:
        folder = _folder(writer, collection, level)
        if not generations(folder):
            continue
        try:
            # Older generations have just been deleted.
            newest = open_newest(folder, checksums=False)
        except IndexCorruptError:
            return indexed
        if newest is not None:
            indexed.append(newest.manifest.collection_version)
    oldest = min([oldest, *indexed])
    if oldest > 0:
        writer.catalog.entries.forget_removed(collection.id, oldest)
    return indexed


def make_private(writer: Writer, _arguments: Mapping[str, Any], reporter: Reporter) -> str:
    """Deny other users of this machine access to the library's files.

    Raises:
        LibraryError: a file belongs to another user.
    """
    reporter.start("Making files private", 0)
    count = writer.paths.make_private()
    left = writer.paths.open_to_others()
    if left:
        raise LibraryError(
            f"{left[0]} cannot be made private.", "Ask its owner to run: chmod go= PATH."
        )
    return f"{plural(count, 'file')} made private."


def _shrink(writer: Writer) -> str:
    """Return unused space to the disk if that is worthwhile and possible; return a note."""
    integrity = writer.catalog.integrity
    size, spare = integrity.space()
    try:
        if spare < _SPARE_BYTES or spare < _SPARE_SHARE * size:
            integrity.settle()
        elif shutil.disk_usage(writer.paths.root).free < 2 * size:
            return " There is not enough disk space to shrink the catalog."
        else:
            integrity.shrink()
    except CatalogError as error:
        # A reader is active or the disk is full; nothing is lost by not shrinking it.
        return f" The catalog was not shrunk: {error.message}"
    return ""


HANDLERS = {
    "compact": compact,
    "rebuild_indexes": rebuild_indexes,
    "reread": reread,
    "make_private": make_private,
}
"""The jobs of this module, by kind."""
