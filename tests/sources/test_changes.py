from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ragkit.sources.scan import Changes, FoundFile, Scan, find_changes


def scan_of(files: dict[str, tuple[int, int]], *unreadable: str) -> Scan:
    """A scan that saw those files."""
    return Scan({path: FoundFile(path, *seen) for path, seen in files.items()}, unreadable)


def test_each_kind_of_change_is_told_apart_and_sorted():
    scan = scan_of({"z": (1, 1), "new": (1, 1), "size": (2, 1), "time": (1, 2), "a": (1, 1)})
    known = {"z": (1, 1), "size": (1, 1), "time": (1, 1), "gone": (1, 1), "also": (1, 1)}
    changes = find_changes(scan, known)
    assert changes == Changes(("a", "new"), ("size", "time"), ("also", "gone"), 1)
    assert not changes.nothing


def test_the_same_again_is_nothing():
    changes = find_changes(scan_of({"a": (1, 1)}), {"a": (1, 1)})
    assert changes == Changes((), (), (), 1)
    assert changes.nothing
    assert find_changes(scan_of({}), {}).nothing


def test_an_older_time_is_a_change_too():
    assert find_changes(scan_of({"a": (1, 1)}), {"a": (1, 5)}).changed == ("a",)


def test_stale_files_count_as_changed_but_only_if_they_are_there():
    scan = scan_of({"a": (1, 1), "b": (1, 1)})
    changes = find_changes(scan, {"a": (1, 1), "c": (1, 1)}, stale=frozenset({"a", "b", "c", "d"}))
    assert changes == Changes(("b",), ("a",), ("c",), 0)


def test_what_lies_in_an_unreadable_folder_is_not_gone():
    known = dict.fromkeys(["a/x", "a/b/y", "ab/z", "a", "c"], (1, 1))
    assert find_changes(scan_of({}, "a"), known).gone == ("a", "ab/z", "c")
    assert find_changes(scan_of({}, "a/b", "c"), known).gone == ("a", "a/x", "ab/z", "c")


def test_when_the_root_itself_was_unreadable_nothing_is_gone():
    assert find_changes(scan_of({}, ""), {"a": (1, 1), "b/c": (1, 1)}).gone == ()


_SEEN = st.dictionaries(
    st.text("ab/", min_size=1, max_size=4), st.tuples(st.integers(0, 2), st.integers(0, 2))
)


@given(seen=_SEEN, known=_SEEN, stale=st.frozensets(st.text("ab/", min_size=1, max_size=4)))
def test_every_path_ends_in_exactly_one_place(seen, known, stale):
    changes = find_changes(scan_of(seen), known, stale=stale)
    assert set(changes.new) == set(seen) - set(known)
    assert set(changes.gone) == set(known) - set(seen)
    both = set(seen) & set(known)
    assert set(changes.changed) == {p for p in both if seen[p] != known[p] or p in stale}
    assert changes.unchanged == len(both) - len(changes.changed)
    assert changes.nothing == (not (changes.new or changes.changed or changes.gone))
