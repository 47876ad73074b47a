"""Folders of one collection that lie in each other: no file is listed twice."""

from __future__ import annotations

from pathlib import Path

from ragkit.catalog import Catalog
from ragkit.catalog.records import CollectionRecord
from ragkit.errors import SourceError


def take_over(catalog: Catalog, collection: CollectionRecord, root: Path, machine: str) -> None:
    """Let the folder that lies in a new one become it: its files are then moved, not read.

    Raises:
        SourceError: the new one is inside a folder of the collection, or contains several.
    """
    here = [
        source
        for source in catalog.collections.sources(collection.id)
        if source.kind == "folder" and source.machine in ("", machine)
    ]
    if any(Path(source.root) == root for source in here):
        return
    for source in here:
        if root.is_relative_to(source.root):
            raise SourceError(
                f"{root} is inside {source.root}, which is already in this collection.",
                "Nothing needs to be added.",
            )
    inner = [source for source in here if Path(source.root).is_relative_to(root)]
    if len(inner) > 1:
        names = ", ".join(source.root for source in inner)
        raise SourceError(
            f"{root} contains folders that are already in this collection: {names}.",
            "Remove all but one of them first; that one then becomes the whole folder.",
        )
    for source in inner:
        # The paths lead to the same files, but no scan names them so: the sync finds each moved,
        # and takes none for another of the same name.
        inside = f"{Path(source.root).relative_to(root).as_posix()}/./"
        catalog.collections.set_source_place(source.id, str(root), source.machine, inside)
