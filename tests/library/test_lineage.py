"""Index files, and what a process has in memory, answer for no other history of the catalog."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from small_library import add, do, find, open_library, paths, sync, write_files
from support import Shelf

from ragkit.catalog import Catalog
from ragkit.catalog.salvage import salvage
from ragkit.errors import CatalogError
from ragkit.library import Library

HERONS = {
    f"heron{number}.md": f"# Heron {number}\n\nHerons wade slowly in the river {number}.\n"
    for number in range(5)
}
ENGINES = {
    f"engine{number}.md": f"# Engine {number}\n\nPistons and gears of engine {number} turning.\n"
    for number in range(5)
}
WALRUS = {"walrus.md": "# Walrus\n\nA walrus rests upon the ice.\n"}
AIRSHIP = {"airship.md": "# Airship\n\nAn airship zooms over a yellow zoo in summer.\n"}


@pytest.fixture
def place(tmp_path):
    return tmp_path / "library"


@pytest.fixture
def folder(tmp_path):
    return write_files(tmp_path / "files", HERONS)


def catalog_files(place: Path) -> list[Path]:
    return sorted(place.glob("catalog.sqlite*"))


def copy_into(source: Path, target: Path) -> None:
    """Copy a catalog with all that its log holds into another, as SQLite does it."""
    with closing(sqlite3.connect(source)) as one, closing(sqlite3.connect(target)) as other:
        one.backup(other)


def back_up(place: Path, target: Path) -> Path:
    """Copy the catalog with all that its log holds to one file."""
    copy_into(place / "catalog.sqlite", target)
    return target


def restore(place: Path, backup: Path) -> None:
    """Put a copy in the catalog's place, as if no marker spoke of another."""
    (place / "library.json").unlink(missing_ok=True)
    for path in catalog_files(place):
        path.unlink()
    shutil.copy(backup, place / "catalog.sqlite")


def back_up_and_go_on(library: Library, folder: Path, target: Path) -> Path:
    """Index the herons, copy the catalog, and index a walrus after that."""
    add(library, folder)
    backup = back_up(library.paths.root, target)
    write_files(folder, WALRUS)
    sync(library)
    return backup


def replace_walrus_by_airship(folder: Path) -> None:
    (folder / "walrus.md").unlink()
    write_files(folder, AIRSHIP)


@pytest.fixture
def of_engines(tmp_path):
    """A copy of another library's catalog."""
    with open_library(tmp_path / "other") as other:
        add(other, write_files(tmp_path / "engines", ENGINES))
    return back_up(tmp_path / "other", tmp_path / "backup")


def assert_answers(library: Library, present: dict[str, str], absent: dict[str, str]) -> None:
    """Each present file is the first that its own words find; no absent file is found."""
    assert set(paths(find(library, "a", mode="vector", limit=50))) <= set(present)
    for path, text in present.items():
        words = text.partition("\n\n")[2].strip()
        for mode in ("keyword", "vector"):
            results = find(library, words, mode=mode, limit=50).results
            found = paths(results)
            assert found[0] == path, (mode, words, found)
            assert results[0].score > 0.5, (mode, words, results[0].score)
            assert set(found) <= set(present)
            assert results[0].passages[0].text.strip().endswith(words)
        for word in words.strip(".").split():
            if len(word) > 4:
                assert path in paths(find(library, word, mode="keyword", limit=50)), word
    for text in absent.values():
        rare = text.split()[1]
        assert paths(find(library, rare, mode="keyword")) == []


def test_index_files_of_another_catalog_are_not_believed(place, folder, of_engines):
    with open_library(place) as library:
        add(library, folder)
        assert_answers(library, HERONS, {})
    restore(place, of_engines)
    with open_library(place) as library:
        assert_answers(library, ENGINES, {"h": "# Herons"})
    with open_library(place) as library:
        assert_answers(library, ENGINES, {"h": "# Herons"})


@pytest.mark.parametrize("compacted", [False, True])
def test_a_restored_catalog_is_not_answered_from_its_other_future(
    place, folder, tmp_path, compacted
):
    with open_library(place) as library:
        backup = back_up_and_go_on(library, folder, tmp_path / "backup")
        assert_answers(library, {**HERONS, **WALRUS}, {})
    restore(place, backup)
    replace_walrus_by_airship(folder)
    with open_library(place) as library:
        sync(library)
        if compacted:
            do(library, "compact")
        assert_answers(library, {**HERONS, **AIRSHIP}, WALRUS)
    with open_library(place) as library:
        assert_answers(library, {**HERONS, **AIRSHIP}, WALRUS)


def test_index_files_of_a_future_that_was_given_up_are_not_believed(place, folder, tmp_path):
    with open_library(place) as library:
        backup = back_up_and_go_on(library, folder, tmp_path / "backup")
    indexes = tmp_path / "indexes"
    shutil.copytree(place / "indexes", indexes)
    restore(place, backup)
    replace_walrus_by_airship(folder)
    with open_library(place) as library:
        sync(library)
    shutil.rmtree(place / "indexes")
    shutil.copytree(indexes, place / "indexes")
    with open_library(place) as library:
        assert_answers(library, {**HERONS, **AIRSHIP}, WALRUS)


def test_a_restored_catalog_that_did_not_change_answers_as_it_stood(place, folder, tmp_path):
    with open_library(place) as library:
        backup = back_up_and_go_on(library, folder, tmp_path / "backup")
    restore(place, backup)
    with open_library(place) as library:
        assert_answers(library, HERONS, WALRUS)
        notices = find(library, "herons", mode="vector").notices
        assert notices == ()


def test_a_copied_folder_and_its_original_go_their_own_ways(place, folder, tmp_path):
    with open_library(place) as library:
        add(library, folder)
    copied = tmp_path / "copy"
    shutil.copytree(place, copied)
    with open_library(place) as library:
        write_files(folder, WALRUS)
        sync(library)
    with open_library(copied) as library:
        replace_walrus_by_airship(folder)
        sync(library)
    # Index files of the one are put beside the catalog of the other.
    shutil.rmtree(place / "indexes")
    shutil.copytree(copied / "indexes", place / "indexes")
    with open_library(place) as library:
        assert_answers(library, {**HERONS, **WALRUS}, AIRSHIP)


def test_verify_says_when_an_index_is_of_another_history(place, folder, of_engines):
    with open_library(place) as library:
        add(library, folder)
    restore(place, of_engines)
    with open_library(place) as library:
        for findings in (library.health.check(), library.health.verify()):
            said = [one.sentence for one in findings if not one.ok]
            assert any("another history" in text for text in said), said
        do(library, "rebuild_indexes")
        assert not [one for one in library.health.verify() if "history" in one.sentence]
        assert_answers(library, ENGINES, {"h": "# Herons"})


@pytest.mark.parametrize("compacted", [False, True])
def test_a_catalog_that_is_replaced_under_a_running_process_is_noticed(
    place, folder, tmp_path, compacted
):
    with open_library(place) as library:
        backup = back_up_and_go_on(library, folder, tmp_path / "backup")
        assert_answers(library, {**HERONS, **WALRUS}, {})
        restore(place, backup)
        assert_answers(library, HERONS, WALRUS)
        replace_walrus_by_airship(folder)
        sync(library)
        if compacted:
            do(library, "compact")
        assert_answers(library, {**HERONS, **AIRSHIP}, WALRUS)


def test_a_catalog_restored_in_place_under_a_running_process_is_noticed(place, folder, tmp_path):
    with open_library(place) as library:
        backup = back_up_and_go_on(library, folder, tmp_path / "backup")
        assert_answers(library, {**HERONS, **WALRUS}, {})
        copy_into(backup, place / "catalog.sqlite")
        (place / "library.json").unlink(missing_ok=True)
        replace_walrus_by_airship(folder)
        sync(library)
        assert_answers(library, {**HERONS, **AIRSHIP}, WALRUS)


def test_another_catalog_in_the_place_of_the_first_is_used_by_a_running_process(
    place, folder, of_engines
):
    with open_library(place) as library:
        add(library, folder)
        assert_answers(library, HERONS, {})
        restore(place, of_engines)
        assert_answers(library, ENGINES, {})
        assert library.documents.facets("default").values("type") == (("markdown", 5),)


def test_a_catalog_that_is_gone_is_said_and_found_again(place, folder, tmp_path):
    with open_library(place) as library:
        add(library, folder)
        backup = back_up(place, tmp_path / "backup")
        for path in catalog_files(place):
            path.unlink()
        for _attempt in range(2):
            with pytest.raises(CatalogError, match=r"catalog.sqlite is gone"):
                find(library, "herons")
        restore(place, backup)
        assert_answers(library, HERONS, {})


def test_a_folder_that_is_gone_is_said_and_found_again(place, folder, tmp_path):
    with open_library(place) as library:
        add(library, folder)
        place.rename(tmp_path / "elsewhere")
        for _attempt in range(2):
            with pytest.raises(CatalogError, match="folder of this library was moved or deleted"):
                find(library, "herons")
        (tmp_path / "elsewhere").rename(place)
        assert_answers(library, HERONS, {})


def test_a_salvaged_catalog_is_of_no_earlier_history(place, folder, tmp_path):
    with open_library(place) as library:
        add(library, folder)
        before = library.collections.get("default").version
    backup = back_up(place, tmp_path / "backup")
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    salvage(backup, None, tmp_path / "new", scratch)
    restore(place, tmp_path / "new")
    with open_library(place) as library:
        assert not library.catalog.entries.holds(before)
        assert_answers(library, HERONS, {})


def test_ids_of_a_table_that_is_lost_whole_are_not_given_out_again(shelf, tmp_path):
    last = max(shelf.put(f"{number}.md") for number in range(3))
    shelf.catalog.documents.remove([document.id for document in shelf.catalog.documents.list()])
    salvage(shelf.catalog.connections.file, None, tmp_path / "new", tmp_path)
    with closing(Catalog.open(tmp_path / "new")) as saved:
        assert Shelf(saved).put("new.md") > last
