"""Answers do not depend on the order in which files arrived: ranking is pure."""

from __future__ import annotations

from itertools import permutations

import pytest
from small_library import add, comparable, do, find, open_library, sync, write_files

COPIES = {
    "z/n.md": "# Herons\n\nHerons wade slowly in the river, and herons wait.\n",
    "a.md": "# Herons\n\nHerons wade slowly in the river, and herons wait.\n",
    "m/n.md": "# Herons\n\nHerons wade slowly in the river, and herons wait.\n",
    "other.md": "# Engines\n\nPistons of an engine in the river turn slowly.\n",
}
OPTIONS = [
    {},
    {"mode": "keyword"},
    {"mode": "vector"},
    {"fusion": "rrf"},
    {"granularity": "document"},
    {"granularity": "auto"},
    {"candidates": 2},
]


def answers(place, folder, order):
    with open_library(place) as library:
        first, *others = order
        add(library, write_files(folder, {first: COPIES[first]}))
        for name in others:
            write_files(folder, {name: COPIES[name]})
            sync(library)
        do(library, "compact")
        return [
            comparable(find(library, question, **options))
            for question in ("herons in the river", "pistons", "slowly")
            for options in OPTIONS
        ]


@pytest.fixture(scope="module")
def in_order(tmp_path_factory):
    place = tmp_path_factory.mktemp("in_order")
    return answers(place / "library", place / "files", list(COPIES))


@pytest.mark.parametrize("order", list(permutations(COPIES))[5::6])
def test_answers_do_not_depend_on_the_order_of_arrival(tmp_path, in_order, order):
    assert answers(tmp_path / "library", tmp_path / "files", order) == in_order


def test_of_equal_files_the_first_by_path_is_shown(tmp_path):
    with open_library(tmp_path / "library") as library:
        folder = write_files(tmp_path / "files", {"z/n.md": COPIES["z/n.md"]})
        add(library, folder)
        write_files(folder, COPIES)
        sync(library)
        result = find(library, "herons in the river").results[0]
        assert (result.document.path, result.also_at) == ("a.md", ("m/n.md", "z/n.md"))
