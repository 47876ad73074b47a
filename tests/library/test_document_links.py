"""Where links between documents of one folder lead."""

from __future__ import annotations

import unicodedata

import pytest
from small_library import add, open_library, write_files

from ragkit.library.document_links import DocumentLinks, LinkTarget
from ragkit.types import Section

BESIDE = [
    (1, "Trip.md"), (2, "People/Ana Torres.md"), (3, "Packing.md"), (4, "Old/Packing.md"),
    (5, "docs/guide/start.md"), (6, "docs/guide/index.md"), (7, "docs/README.md"),
    (8, "files/Map of Bodø.pdf"), (9, "docs/v1.2.md"), (10, "Old/2024/Trip.md"),
]  # fmt: skip


SECTIONS = {
    1: [Section(0, 0, 90, 1, ("Trip",)), Section(1, 90, 200, 2, ("Trip", "Getting there"))],
    3: [Section(0, 0, 40, 0, ()), Section(1, 40, 90, 1, ("Clothes & shoes?",))],
}


def links(path):
    own = next((number for number, beside in BESIDE if beside == path), 99)
    return DocumentLinks(own, path, lambda: BESIDE, lambda number: SECTIONS.get(number, []))


def document(target):
    return target and target.document


@pytest.mark.parametrize(
    ("path", "url", "expected"),
    [
        ("Trip.md", "Packing.md", 3),
        ("Trip.md", "./Packing.md#clothes", 3),
        ("Trip.md", "People/Ana%20Torres.md", 2),
        ("People/Ana Torres.md", "../Packing.md", 3),
        ("Old/Packing.md", "/Packing.md", 3),
        ("docs/guide/start.md", "../guide/", 6),
        ("docs/guide/start.md", "..", 7),
        ("docs/README.md", "guide/start", 5),
        ("docs/README.md", "v1.2", 9),
        ("Trip.md", "packing.MD?plain=1", 3),
        ("Trip.md", "Missing.md", None),
        ("Trip.md", "../Packing.md", None),
        ("Trip.md", "#clothes", None),
        ("Trip.md", "https://example.org/Packing.md", None),
        ("Trip.md", "//example.org/Packing.md", None),
        ("Trip.md", "javascript:Packing.md", None),
        ("Trip.md", "http://[broken/Packing.md", None),
        ("Trip.md", "", None),
    ],
)
def test_addresses_are_relative_to_the_document_or_its_folder(path, url, expected):
    assert document(links(path).of_address(url)) == expected


@pytest.mark.parametrize(
    ("path", "target", "expected"),
    [
        ("Trip.md", "Packing", 3),
        ("Old/Notes.md", "Packing", 4),
        ("People/Ana Torres.md", "Packing", 3),
        ("Old/2024/Notes.md", "Trip", 10),
        ("Old/Notes.md", "Old/Packing", 4),
        ("Trip.md", "2024/Trip", 10),
        ("Trip.md", "ana torres", 2),
        ("Trip.md", "People/Ana Torres#Phone", 2),
        ("Trip.md", "v1.2", 9),
        ("Trip.md", "Map of Bodø.pdf", 8),
        ("Trip.md", unicodedata.normalize("NFD", "Map of Bodø.pdf"), 8),
        ("Trip.md", "Torres", None),
        ("Trip.md", "Other/Packing", None),
        ("Trip.md", "#Clothes", None),
        ("Trip.md", "../../Packing", None),
    ],
)
def test_notes_are_found_by_name_wherever_they_are(path, target, expected):
    assert document(links(path).of_note(target)) == expected


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("Packing.md#clothes--shoes", LinkTarget(3, 40)),
        ("Packing.md#Clothes%20&%20shoes?", LinkTarget(3, 40)),
        ("Packing.md#hats", LinkTarget(3)),
        ("#getting-there", LinkTarget(1, 90)),
        ("#Getting%20there", LinkTarget(1, 90)),
        ("#nowhere", None),
        ("#", None),
        ("Trip.md", None),
    ],
)
def test_a_heading_is_a_place_in_its_document(written, expected):
    assert links("Trip.md").of_address(written) == expected


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ("Packing#Clothes & shoes?", LinkTarget(3, 40)),
        ("Packing#Things#clothes & shoes", LinkTarget(3, 40)),
        ("#Getting there", LinkTarget(1, 90)),
        ("Packing#^ab12cd", LinkTarget(3)),
        ("#^ab12cd", None),
    ],
)
def test_notes_name_headings_as_they_are_written(target, expected):
    assert links("Trip.md").of_note(target) == expected


def test_the_folder_is_listed_once_and_only_for_a_link():
    asked = []
    found = DocumentLinks(1, "Trip.md", lambda: asked.append(1) or BESIDE, lambda _: [])
    assert found.of_address("#there") is None
    assert asked == []
    assert [found.of_note("Packing"), found.of_address("Packing.md")] == [LinkTarget(3)] * 2
    assert asked == [1]


def test_documents_of_other_folders_are_not_found(tmp_path):
    write_files(tmp_path / "one", {"Trip.md": "See [[Packing]].", "Packing.md": "Boots."})
    write_files(tmp_path / "one", {"map.png": b"\x89PNG\r\n\x1a\n", "none.md": "\n"})
    write_files(tmp_path / "two", {"Boat.md": "Ropes.", "Packing.md": "Oars."})
    with open_library(tmp_path / "library") as library:
        add(library, tmp_path / "one")
        add(library, tmp_path / "two")
        ids = {(record.root, record.path): record.id for record in library.documents.list()}
        found = library.documents.links(ids[str(tmp_path / "one"), "Trip.md"], "Trip.md")
        assert found.of_note("Packing") == LinkTarget(ids[str(tmp_path / "one"), "Packing.md"])
        assert [found.of_note(name) for name in ("Boat", "map.png", "none")] == [None] * 3
