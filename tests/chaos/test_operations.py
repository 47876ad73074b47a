"""Random work in a folder, looked at now and then: rows are the files, answers a fresh index's."""

from __future__ import annotations

import errno
import os
import random
import shutil
import subprocess
import time
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from chaos_parts import WORDS, answers_of, faults, rows_of

from ragkit.library import Library
from ragkit.settings import load_settings

OPERATIONS = int(os.environ.get("RAGKIT_CHAOS_OPERATIONS", "200"))
SEED = int(os.environ.get("RAGKIT_CHAOS_SEED", "7"))
# Whether a drive comes and goes as well; only root may mount.
MOUNTS = os.environ.get("RAGKIT_CHAOS_MOUNTS") == "1"
BETWEEN_LOOKS = 100
BETWEEN_COMPARISONS = 1000
MOST_FILES = 60
_FOLDERS = ("", "a", "b", "a/x", "b/y", "c")
_YEAR_2300 = 10_413_792_000 * 10**9
_MODES = (0o000, 0o400, 0o644, 0o755)


class Tree:
    """A folder in which random things happen."""

    def __init__(self, root: Path, chance: random.Random) -> None:
        self.root, self.outside = root, root.with_name("outside")
        self._chance, self._folders = chance, _FOLDERS
        often = [self.write] * 8 + [self.copy] * 2 + [self.edit_unseen] * 3
        self._acts: list[Callable[[], object]] = [
            *often, self.append, self.save_as_editors_do, self.swap_files, self.swap_folders,
            self.delete, self.move, self.link, self.link_hard, self.touch, self.date_strangely,
            self.protect, self.put_pipe, self.rename_folder, self.unplug, self.plug_in,
            self.plug_in, self.replace_by_folder,
        ]  # fmt: skip
        self._rarely = [self.delete_folder, self.unplug_nearly_all]
        self.drive = root / "drive"
        places = [root, self.outside]
        if MOUNTS:
            self._acts += [self.mount, self.unmount]
            self._folders = (*_FOLDERS, "drive", "drive/x")
            places.append(self.drive)
        for place in places:
            place.mkdir()

    def close(self) -> None:
        """Leave no drive mounted."""
        self.unmount()

    def act(self) -> str:
        """Do one thing; gives its name."""
        rarely = self._chance.random() < 0.002
        act = self._chance.choice(self._rarely if rarely else self._acts)
        try:
            act()
        except OSError as error:
            # Nothing is renamed or linked from one drive to another.
            if not MOUNTS or error.errno != errno.EXDEV:
                raise
        return act.__name__

    def files(self) -> list[Path]:
        """Regular files that are no links, in a fixed order."""
        found = sorted(self.root.rglob("*.md"))
        return [path for path in found if path.is_file() and not path.is_symlink()]

    def _text(self) -> str:
        return " ".join(self._chance.choices(WORDS, k=self._chance.randint(1, 40)))

    def _some(self) -> Path:
        present = self.files()
        if present:
            return self._chance.choice(present)
        self._put(self.root / "only.md", self._text())
        return self.root / "only.md"

    def _new(self) -> Path:
        present = self.files()
        if len(present) >= MOST_FILES:
            return self._chance.choice(present)
        folder = self.root / self._chance.choice(self._folders)
        folder.mkdir(parents=True, exist_ok=True)
        place = folder / f"f{self._chance.randint(0, 15)}.md"
        return self._some() if place.is_dir() or place.is_fifo() else place

    def _folder(self) -> Path | None:
        folders = [path for path in sorted(self.root.rglob("*")) if path.is_dir()]
        folders = [path for path in folders if path.suffix != ".md" and path != self.drive]
        return self._chance.choice(folders) if folders else None

    def _put(self, place: Path, text: str) -> None:
        if place.is_dir() and not place.is_symlink():
            shutil.rmtree(place)
        elif os.path.lexists(place) and (place.is_symlink() or not place.is_file()):
            place.unlink()
        elif place.exists():
            place.chmod(0o644)
        place.write_text(text, "utf-8")

    def write(self) -> None:
        self._put(self._new(), self._text())

    def append(self) -> None:
        place = self._some()
        self._put(place, _read(place) + " " + self._text())

    def save_as_editors_do(self) -> None:
        scratch = self.root / ".saving.tmp"
        scratch.write_text(self._text(), "utf-8")
        scratch.replace(self._some())

    def edit_unseen(self) -> None:
        """Other words of the same length, and the same time."""
        place = self._some()
        state, words = place.stat(), _read(place).split()
        self._chance.shuffle(words)
        self._put(place, " ".join(words))
        os.utime(place, ns=(state.st_atime_ns, state.st_mtime_ns))

    def swap_files(self) -> None:
        _swap(self._some(), self._some(), self.outside)

    def swap_folders(self) -> None:
        one, other = self._folder(), self._folder()
        if one and other and not one.is_relative_to(other) and not other.is_relative_to(one):
            _swap(one, other, self.outside)

    def delete(self) -> None:
        self._some().unlink()

    def move(self) -> None:
        self._some().replace(self._new())

    def copy(self) -> None:
        text = _read(self._some())
        self._put(self._new(), text)

    def link(self) -> None:
        place = self._new().with_name(f"link{self._chance.randint(0, 9)}.md")
        if not os.path.lexists(place):
            place.symlink_to(self._some())

    def link_hard(self) -> None:
        place = self._new()
        if not os.path.lexists(place):
            place.hardlink_to(self._some())

    def touch(self) -> None:
        self._some().touch()

    def date_strangely(self) -> None:
        moment = self._chance.choice((0, -(10**18), _YEAR_2300))
        os.utime(self._some(), ns=(moment, moment))

    def protect(self) -> None:
        self._some().chmod(self._chance.choice(_MODES))

    def open_all(self) -> None:
        for path in self.files():
            if not os.access(path, os.R_OK):
                path.chmod(0o644)

    def put_pipe(self) -> None:
        place = self._some()
        place.unlink()
        os.mkfifo(place)

    def rename_folder(self) -> None:
        folder = self._folder()
        if folder and len(folder.name) < 20:
            target = folder.with_name(folder.name + self._chance.choice("pqr"))
            if not target.exists():
                folder.rename(target)

    def delete_folder(self) -> None:
        folder = self._folder()
        if folder:
            shutil.rmtree(folder)

    def unplug(self) -> None:
        """A folder is empty of a sudden, as where a drive was."""
        folder, aside = self._folder(), self.outside / f"drive{self._chance.randint(0, 2)}"
        if folder and not aside.exists():
            folder.rename(aside)
            folder.mkdir()

    def plug_in(self) -> None:
        folder = self._folder()
        for aside in sorted(self.outside.iterdir()):
            if folder and not any(folder.iterdir()):
                folder.rmdir()
                aside.rename(folder)
                return

    def replace_by_folder(self) -> None:
        place = self._some()
        place.unlink()
        place.mkdir()

    def unplug_nearly_all(self) -> None:
        """All folders are empty of a sudden; what lies beside them stays."""
        for number, folder in enumerate(sorted(self.root.iterdir())):
            if folder == self.drive:
                continue
            if folder.is_dir() and not (aside := self.outside / f"all{number}").exists():
                folder.rename(aside)

    def mount(self) -> None:
        """A drive covers a folder and what it held."""
        if not self.drive.is_mount():
            command = ["mount", "-t", "tmpfs", "-o", "size=4m", "ragkit-drive", str(self.drive)]
            subprocess.run(command, check=True)

    def unmount(self) -> None:
        if self.drive.is_mount():
            subprocess.run(["umount", str(self.drive)], check=True)

    def tidy(self) -> None:
        """Make room again for files where pipes and empty folders have their names."""
        for place in sorted(self.root.rglob("*.md"), reverse=True):
            if place.is_fifo():
                place.unlink()
            elif place.is_dir() and not place.is_symlink() and not any(place.iterdir()):
                place.rmdir()


def _read(path: Path) -> str:
    if not os.access(path, os.R_OK):
        path.chmod(0o644)
    return path.read_text("utf-8")


def _swap(one: Path, other: Path, aside: Path) -> None:
    if one != other and one.stat().st_dev == other.stat().st_dev == aside.stat().st_dev:
        one.rename(aside / "swapped")
        other.rename(one)
        (aside / "swapped").rename(other)


def open_at(place: Path) -> Library:
    models = {"embedder": "hash", "contexts": False}
    return Library.open(load_settings(library=place, models=models), create=True)


def look(library: Library, tree: Tree) -> None:
    """What is indexed is what the files hold; a file that cannot be opened is not asked for."""
    found = rows_of(library)
    for path in tree.files():
        if os.access(path, os.R_OK):
            status, text = found.pop(path.relative_to(tree.root).as_posix())
            assert (status, text) == ("indexed", path.read_text("utf-8")), path
    extra = [path for path in found if not os.path.lexists(tree.root / path)]
    assert extra == []


def compare(library: Library, root: Path, fresh: Path) -> None:
    """Rows and answers are those of a library that is made now."""
    shutil.rmtree(fresh, ignore_errors=True)
    with closing(open_at(fresh)) as new:
        new.jobs.wait(new.sources.sync(new.sources.add_folder(root)))
        assert rows_of(library) == rows_of(new)
        assert answers_of(library) == answers_of(new)
    assert faults(library) == []


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="makes pipes")
def test_after_any_work_in_a_folder_rows_and_answers_are_a_fresh_index_s(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    chance = random.Random(SEED)
    tree = Tree(tmp_path / "folder", chance)
    done: Counter[str] = Counter()
    held = 0
    started = time.monotonic()
    with closing(open_at(tmp_path / "library")) as library, closing(tree):
        source = library.sources.add_folder(tree.root)
        for number in range(1, OPERATIONS + 1):
            done[tree.act()] += 1
            if number % BETWEEN_LOOKS and number != OPERATIONS:
                continue
            library.jobs.wait(library.sources.sync(source))
            if library.sources.list()[0].state == "held":
                held += 1
                library.jobs.wait(library.sources.sync(source, accept_removals=True))
            try:
                look(library, tree)
                if number % BETWEEN_COMPARISONS == 0 or number == OPERATIONS:
                    # A file that cannot be read keeps the text that a new library has not.
                    tree.open_all()
                    library.jobs.wait(library.sources.sync(source))
                    compare(library, tree.root, tmp_path / "fresh")
                tree.tidy()
            except BaseException as error:
                error.add_note(f"after operation {number} (seed {SEED})")
                raise
    rate = OPERATIONS / (time.monotonic() - started) * 3600
    with capsys.disabled():
        print(f"\n{OPERATIONS} operations, {rate:.0f} an hour; removals held: {held}; {dict(done)}")
