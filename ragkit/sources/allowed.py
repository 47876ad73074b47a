"""Decides which folders may be sources: not those of the system or of other people."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from ragkit.errors import SourceError, UnconfirmedError

_POSIX = (
    "/etc", "/proc", "/sys", "/dev", "/boot", "/root", "/run/secrets", "/run/credentials",
    "/var/lib", "/var/log", "/var/spool",
)  # fmt: skip
_MAC = ("/System", "/Library", "/private/var/db", "/private/var/root", "/cores")
_OWN = "Choose a folder of your own, or allow it with sources.allowed_roots."
_HOMES = ("/home", "/Users")


def check_folder(root: Path, allowed: Sequence[Path], *, confirmed: bool) -> None:
    """Check that a folder (with links resolved) may be a source.

    If the settings name ``allowed`` folders, all others are refused. Otherwise any folder inside
    the home may be a source, and one elsewhere, or the home itself, if it is ``confirmed``.

    Raises:
        UnconfirmedError: it needs a confirmation.
        SourceError: it may not be a source.
    """
    named = [path.expanduser().resolve() for path in allowed]
    if named and not _lies_in(root, named):
        raise SourceError(
            f"{root} is not in an allowed folder ({', '.join(map(str, named))}).",
            "Add it to sources.allowed_roots in the settings file.",
        )
    home = Path.home().resolve()
    owned = [] if home == Path(home.anchor) else [home]
    if root == home and not named and not confirmed:
        raise UnconfirmedError(
            f"{root} is your whole home folder.", "Confirm it, or choose a folder inside."
        )
    if _lies_in(root, owned):
        return
    for folder in _system_folders():
        is_meant = any(path.is_relative_to(folder) for path in named)
        if root.is_relative_to(folder) and not is_meant:
            raise SourceError(f"{root} is a system folder ({folder}).", _OWN)
        if folder.is_relative_to(root):
            raise SourceError(
                f"{root} contains system folders ({folder}).", "Choose a folder inside it."
            )
    other = _home_of_another(root)
    if other and not any(path.is_relative_to(other) for path in named):
        what = "holds the home of" if root == other.parent else "belongs to"
        raise SourceError(f"{root} {what} another person ({other}).", _OWN)
    if not named and not confirmed:
        raise UnconfirmedError(
            f"{root} is not in your home folder ({home}).", "Confirm that it is the right one."
        )


def _lies_in(root: Path, folders: Iterable[Path]) -> bool:
    return any(root.is_relative_to(folder) for folder in folders)


def _system_folders() -> list[Path]:
    """Return the system folders of this machine."""
    if sys.platform == "win32":
        return [Path(os.environ.get("SYSTEMROOT", r"C:\Windows")).resolve()]
    names = (*_POSIX, *_MAC) if sys.platform == "darwin" else _POSIX
    return [folder.resolve() for folder in map(Path, names) if folder.is_dir()]


def _home_of_another(root: Path) -> Path | None:
    """Return the home of another person that contains a folder or lies in it, or ``None``."""
    if sys.platform == "win32":
        homes = [Path.home().parent]
    else:
        homes = [Path(name) for name in _HOMES]
    for place in homes:
        if root.is_relative_to(place):
            names = root.relative_to(place).parts[:1] or (folder.name for folder in place.iterdir())
            return next((place / name for name in names if _is_of_another(place / name)), None)
    return None


def _is_of_another(home: Path) -> bool:
    """Return whether a home is another person's; shared folders belong to root."""
    if sys.platform == "win32":
        return home.name.casefold() not in ("public", Path.home().name.casefold())
    return _owner(home) not in (0, os.getuid())


def _owner(folder: Path) -> int:
    return folder.stat().st_uid
