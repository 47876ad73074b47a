"""Missing folders: reported once above the results, and not on each of their cards."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from pages.parts.common.markup import name
from ragkit.results import Result


def gone_folders(results: Iterable[Result]) -> dict[int, str]:
    """Return the missing folder of each missing file, by document id."""
    folders = {
        result.document.id: _topmost(result.document.file, result.document.path)
        for result in results
        if result.missing
    }
    return {document: folder for document, folder in folders.items() if folder}


def _topmost(file: str, path: str) -> str:
    """Return the topmost folder of a file, from its source's on, that is gone; or nothing."""
    inside = list(Path(file).parents[: path.count("/") + 1])
    return next((str(folder) for folder in reversed(inside) if not folder.is_dir()), "")


def notice(folders: Mapping[int, str]) -> str:
    """Return a notice of folders that are gone, each once; empty where none is."""
    notices = [
        f"The folder <bdi>{name(folder)}</bdi> is not there; below is the text as it was last "
        "read. Connect its drive, or put it back."
        for folder in dict.fromkeys(folders.values())
    ]
    return "".join(f'<p class="rk-notice rk-warn">{sentence}</p>' for sentence in notices)
