"""``ragkit compact``."""

from __future__ import annotations

from ragkit.surfaces.cli.options import CollectionOption, LibraryOption, do_job, open_library


def compact(library: LibraryOption = None, collection: CollectionOption = None) -> None:
    """Merge the indexes, delete unused data and free disk space."""
    opened = open_library(library, collection)
    arguments = {"collection": collection} if collection else {}
    if collection:
        opened.collections.get(collection)
    do_job(opened, opened.jobs.add("compact", **arguments))
