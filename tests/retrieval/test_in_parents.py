"""The parents of what was found: the context of answers."""

from __future__ import annotations

import pytest
from small_library import add, open_library, write_files

from ragkit.retrieval.parents import in_parents

FILES = {
    "pier.md": (
        f"# Pier\n\n{'It is old. ' * 90}\n\n## Gate\n\n{'The lock gate opens at 7. ' * 45}\n\n"
        f"## Crane\n\n{'The crane lifts ten tons. ' * 50}\n\n"
        f"# Boats\n\n{'They float in the rain. ' * 60}\n\n## Zebra\n\n"
        f"{'The zebra is a boat. ' * 60}\n"
    ),
    "gate.md": "# Notes\n\nThe lock gate was painted.\n",
}


@pytest.fixture(scope="module")
def library(_isolated_session, tmp_path_factory):
    place = tmp_path_factory.mktemp("parents")
    with open_library(place / "library") as opened:
        add(opened, write_files(place / "files", FILES))
        yield opened


def test_the_best_parents_are_shown_whole_and_once(library):
    results = library.search("lock gate").results
    assert {one.document.path for one in results} == {"pier.md", "gate.md"}
    text = FILES["pier.md"]
    shown = {one.document.path: one.passages for one in in_parents(library.catalog, results, 5)}
    (note,), (pier, *others) = shown["gate.md"], shown["pier.md"]
    assert note.text.strip() == FILES["gate.md"].strip()
    assert pier.start == 0
    assert pier.text == text[: text.index("# Boats")].rstrip()
    assert [path for _, path in pier.headings] == [
        ("Pier",), ("Pier", "Gate"), ("Pier", "Crane"),
    ]  # fmt: skip
    marked = {pier.text[start:end] for start, end in pier.highlights}
    assert {"lock", "gate"} <= marked <= {"lock", "gate", "Gate"}
    assert len(others) <= 1


def test_as_many_as_are_wanted_are_shown(library):
    results = library.search("lock gate").results
    (only,) = in_parents(library.catalog, results, 1)
    assert only.document == results[0].document
    assert len(only.passages) == 1
    assert in_parents(library.catalog, (), 5) == ()


def test_a_context_is_made_of_parents(library):
    block = library.answers.context(library.search("crane lifts"))
    assert block.startswith("## Related documents\n\n### 1. Pier\n")
    assert block.count("The lock gate opens at 7.") == 45
