"""Choosing a folder as in a person's own system: places, breadcrumb, Up, and what is inside."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import psutil
import streamlit as st

from pages.parts.common import dialog
from pages.parts.common.markup import as_label, number
from ragkit.errors import RagkitError, SourceError
from ragkit.formatting import plural
from ragkit.sources.allowed import check_folder

_AT = "browse_at"
_MOST_SHOWN, _MOST_COUNTED, _MOST_RECENT = 300, 1000, 4
_ICONS = {"Home": "home", "Computer": "computer"}
_MOUNTS = ("/media", "/mnt", "/run/media", "/Volumes")


@dataclass(frozen=True, slots=True)
class Subfolder:
    """A folder in the chosen one; ``files`` counts those directly in it, ``None`` if unreadable."""

    path: Path
    files: int | None

    @property
    def label(self) -> str:
        """Its name with the number of its files, as text of a Streamlit label."""
        name = as_label(self.path.name[:80])
        if self.files is None:
            return f"{name} · no access"
        more = "+" if self.files >= _MOST_COUNTED else ""
        return f"{name} · {number(self.files)}{more} {'file' if self.files == 1 else 'files'}"


def typed_folder(text: str) -> Path:
    """Return the folder that a person typed, with ``~`` for the home.

    Raises:
        SourceError: nothing was typed, or no whole path: it would be taken from wherever the
            server was started.
    """
    typed = text.strip().strip("\"'")
    try:
        folder = Path(typed).expanduser()
    except RuntimeError:
        folder = Path(typed)
    if not folder.is_absolute():
        raise SourceError(f"Type the whole path, like {Path.home() / 'notes'}.", "")
    return folder


def roots(allowed: Sequence[Path]) -> tuple[Path, ...]:
    """Return where the chooser may look: the allowed folders, or else the whole machine.

    That is the home, the mounted volumes, and what they lie in.
    """
    folders = [folder.expanduser().resolve() for folder in allowed]
    if not folders:
        home = Path.home().resolve()
        folders = [home, *volumes(), Path(home.anchor)]
    return tuple(dict.fromkeys(folder for folder in folders if folder.is_dir()))


def volumes() -> list[Path]:
    """Return the drives and mounted volumes of this machine that may hold documents."""
    try:
        mounted = [Path(each.mountpoint) for each in psutil.disk_partitions(all=False)]
    except OSError:
        return []
    if os.name == "nt":
        return mounted
    return [place for place in mounted if any(place.is_relative_to(mount) for mount in _MOUNTS)]


def recent(folders: Sequence[str], allowed: Sequence[Path]) -> list[Path]:
    """Return the folders that those added last lie in, the newest first."""
    above = dict.fromkeys(Path(folder).parent for folder in reversed(folders))
    home = Path.home().resolve()
    return [place for place in above if place != home and inside(place, allowed)][:_MOST_RECENT]


def inside(folder: Path, allowed: Sequence[Path]) -> bool:
    """Return whether a folder, links followed, lies under one of the roots."""
    real = folder.resolve()
    return any(real.is_relative_to(root) for root in allowed)


def may_add(folder: Path, allowed: Sequence[Path]) -> bool:
    """Return whether a folder, links followed, may be a source."""
    try:
        check_folder(folder.resolve(), allowed, confirmed=True)
    except (RagkitError, OSError):
        return False
    return True


def may_open(folder: Path, allowed: Sequence[Path]) -> bool:
    """Return whether the chooser shows a folder: it may be added, or one in it may be."""
    if not inside(folder, allowed):
        return False
    if may_add(folder, allowed):
        return True
    try:
        with os.scandir(folder) as entries:
            within = [
                Path(entry.path)
                for entry in islice(entries, _MOST_SHOWN)
                if entry.is_dir(follow_symlinks=False)
            ]
    except OSError:
        return False
    return any(may_add(each, allowed) for each in within)


def subfolders(folder: Path, allowed: Sequence[Path]) -> list[Subfolder]:
    """Return the folders in a folder that may be opened, by name, without hidden ones."""
    folders = []
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.name.startswith(".") or not entry.is_dir():
                    continue
                if may_open(Path(entry.path), allowed):
                    folders.append(Path(entry.path))
    except OSError:
        return []
    folders.sort(key=lambda each: (each.name.casefold(), each.name))
    return [Subfolder(each, files_in(each)) for each in folders[:_MOST_SHOWN]]


def parent(folder: Path, allowed: Sequence[Path]) -> Path | None:
    """Return the folder above, or ``None`` where the chooser may not look."""
    above = folder.parent
    return above if above != folder and may_open(above, allowed) else None


def trail(folder: Path, allowed: Sequence[Path]) -> list[Path]:
    """Return the folders from a root down to this one."""
    steps = [folder]
    while (above := parent(steps[0], allowed)) is not None:
        steps.insert(0, above)
    return steps


def files_in(folder: Path) -> int | None:
    """Count the files directly in a folder, up to a thousand; ``None`` if it cannot be opened."""
    count = 0
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                count += entry.is_file() and not entry.name.startswith(".")
                if count >= _MOST_COUNTED:
                    break
    except OSError:
        return None
    return count


def label_of(root: Path) -> str:
    """Return the label of a folder."""
    if root == Path.home().resolve():
        return "Home"
    return root.name or ("Computer" if os.name == "posix" else str(root))


def forget() -> None:
    """Begin at the home again next time."""
    st.session_state.pop(_AT, None)


def begin_at(typed: str, allowed: Sequence[Path]) -> None:
    """Begin at the folder that a person typed, or at that of a file, if it may be shown."""
    with suppress(SourceError, OSError):
        folder = typed_folder(typed)
        folder = folder.parent if folder.is_file() else folder
        if folder.is_dir() and may_open(folder, allowed):
            _look_at(folder.resolve())


def draw(allowed: Sequence[Path], sources: Sequence[str]) -> Path | None:
    """Draw the chooser; return the folder it shows, or ``None`` when there is none to show."""
    if not allowed:
        st.write("None of the allowed folders is there.")
        return None
    current = Path(st.session_state.get(_AT) or allowed[0])
    if not may_open(current, allowed) or not current.is_dir():
        current = allowed[0]
    _places(allowed, recent(sources, allowed))
    steps = trail(current, allowed)
    with st.container(horizontal=True, gap="small", key="browse-trail"):
        st.button("Up", key="browse-up", icon=":material/arrow_upward:", type="tertiary",
                  disabled=len(steps) < 2, on_click=_look_at, args=(current.parent,))  # fmt: skip
        for place, step in enumerate(steps):
            word = label_of(step) if place == 0 else step.name
            st.button(as_label(word[:40]), key=f"trail-{place}", type="tertiary",
                      disabled=step == current, on_click=_look_at, args=(step,))  # fmt: skip
    with st.container(height=280, key="browse-list"):
        folders = subfolders(current, allowed)
        for place, folder in enumerate(folders):
            st.button(
                folder.label,
                key=f"browse-{place}-{folder.path.name}",
                on_click=_look_at,
                args=(folder.path,),
                type="tertiary",
                icon=":material/folder:",
                disabled=folder.files is None,
            )
        if not folders:
            st.caption("No folders in here.")
    name = label_of(current) if len(steps) == 1 else current.name
    st.caption(f"{plural(files_in(current) or 0, 'file')} directly in {as_label(name)}")
    return current


def _places(allowed: Sequence[Path], lately: Sequence[Path]) -> None:
    """Draw the home, the volumes and the places of folders that were added before."""
    places = [(label_of(root), root) for root in allowed] + [
        (place.name or str(place), place) for place in lately
    ]
    if len(places) < 2:
        return
    with st.container(horizontal=True, gap="small", key="browse-places"):
        for place, (label, folder) in enumerate(places):
            icon = _ICONS.get(label) or ("hard_drive" if folder in allowed else "history")
            st.button(as_label(label[:40]), key=f"place-{place}", icon=f":material/{icon}:",
                      on_click=_look_at, args=(folder,))  # fmt: skip


def _look_at(folder: Path) -> None:
    st.session_state[_AT] = str(folder)
    dialog.go_on()
