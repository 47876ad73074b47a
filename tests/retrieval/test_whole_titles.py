"""A title that is typed whole finds its document first."""

from __future__ import annotations

import pytest
from small_library import add, write_files

FILES = {
    "drawing.md": "# Drawing in interactive mode\n\nIn interactive mode, drawing is at once: "
    "interactive mode draws what is typed, and interactive mode ends with quit.\n",
    "interactive-mode.md": "# Interactive mode\n\nA prompt reads one command after the other.\n",
    "keys.md": "# Keys\n\n## Mode of keys that are interactive\n\nKeys are named here.\n",
    "menu.md": "# Choosing colours\n\nThere are nine of them.\n",
    "colours.md": "# Colours\n\nColours are mixed from red, green and blue.\n",
    "plan 2024.txt": "Nothing is decided about it yet, and nobody has asked.\n",
}


@pytest.fixture
def manual(library, tmp_path):
    add(library, write_files(tmp_path / "manual", FILES))
    return library


def first(library, question, **options):
    return library.search(question, **options).results[0].document.path


def parts(library, question, **options):
    """The documents that gain by a whole title, each with how much of its title was typed."""
    return {
        result.document.path: round(part.raw, 3)
        for result in library.search(question, **options).results
        for part in result.lead.contributions
        if part.index == "whole title" and part.value
    }


@pytest.mark.parametrize(
    ("question", "path"),
    [
        ("interactive mode", "interactive-mode.md"),
        ("Interactive Mode", "interactive-mode.md"),
        ("the interactive mode", "interactive-mode.md"),
        ("drawing in interactive mode", "drawing.md"),
        ("colours", "colours.md"),
        ("choosing colours", "menu.md"),
        ("plan 2024", "plan 2024.txt"),
    ],
)
def test_a_title_that_is_typed_finds_its_document_first(manual, question, path):
    assert first(manual, question) == path


def test_it_counts_how_much_of_a_title_was_typed_in_its_order(manual):
    # Stop words are not indexed: "drawing interactive mode" has three words.
    assert parts(manual, "interactive mode") == {"interactive-mode.md": 1.0, "drawing.md": 0.667}
    # A word of the file's name that the title has not stands before it.
    assert parts(manual, "choosing colours") == {"menu.md": 0.667}


@pytest.mark.parametrize(
    "question",
    ["mode interactive", "interactive mode quokka", "what is interactive mode used for", "quit"],
)
def test_what_is_no_title_gains_nothing_by_one(manual, question):
    assert parts(manual, question) == {}


def test_it_can_be_switched_off_and_hides_nothing_of_a_list_by_date(manual):
    assert parts(manual, "interactive mode", title_weight=0) == {}
    assert parts(manual, "interactive mode", sort="newest") == {}


@pytest.mark.parametrize("question", ["keys.md", "Keys.MD", " keys.md "])
def test_the_name_of_a_file_finds_it_before_those_that_speak_of_it(library, tmp_path, question):
    files = {
        "deep/keys.md": "# Signs\n\nNothing is said here of what the file is about.\n",
        "how.md": "# keys.md\n\nThe file keys.md names keys. Write keys.md, then md of keys.\n",
        "x_keys.md": "# Other keys in md\n\nkeys and md, md and keys.\n",
    }
    add(library, write_files(tmp_path / "signs", files))
    found = [result.document.path for result in library.search(question).results]
    assert found[0] == "deep/keys.md"
    assert set(found) == set(files)
