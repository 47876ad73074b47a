"""The documents most like a document."""

from __future__ import annotations

import pytest
from small_library import add, open_library, write_files

from ragkit.errors import NotFoundError
from ragkit.library import Library
from ragkit.retrieval import similar
from ragkit.retrieval.similar import _LEAST, _in_words
from ragkit.settings import load_settings


@pytest.fixture
def library(tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    bread = (
        "# Bread\n\nKnead dough of flour and water with a spoon of salt, let it rise, then bake. "
        "Wholemeal flour takes more water than white flour, and its dough rises slowly. A loaf of "
        "rye wants sour dough, a warm kitchen and most of a day. Bake it hot at first and then for "
        "half an hour at a lower heat, until it sounds hollow when you knock on its crust. Let it "
        "cool on a grid before you cut it. Old bread makes dumplings, croutons and crumbs, and "
        "what is left over still feeds the hens behind the mill, who wait for it each morning.\n"
    )
    (folder / "bread.md").write_text(bread)
    (folder / "copy.md").write_text(bread)
    (folder / "edited.md").write_text(bread.replace("let it rise", "let it rest"))
    (folder / "rolls.md").write_text("# Rolls\n\nBake rolls of flour dough with salt and butter.")
    (folder / "train.md").write_text("# Timetable\n\nThe night train leaves the station late.")
    opened = Library.open(load_settings(library=tmp_path / "library"), create=True)
    opened.jobs.wait(opened.sources.sync(opened.sources.add_folder(folder)))
    yield opened
    opened.close()


_KITCHEN = (
    "Der Koch rührt das Mehl langsam in die warme Butter.",
    "Man lässt die Suppe eine Stunde lang auf dem Herd kochen.",
    "Zum Schluss kommen Salz, Pfeffer und etwas Petersilie in den Topf.",
    "Der Teig muss im Kühlschrank ruhen, bevor man ihn ausrollt.",
    "Die Zwiebeln werden in feine Würfel geschnitten und angebraten.",
    "Im Ofen wird der Braten bei kleiner Hitze besonders zart.",
    "Für die Soße nimmt man den Saft aus der Pfanne und Sahne.",
    "Das Gemüse soll noch bissfest sein, wenn es auf den Teller kommt.",
)
_HARBOUR = (
    "Das Segelboot liegt im Winter in der Halle am Hafen.",
    "Bei starkem Wind setzt die Mannschaft ein kleineres Segel.",
    "Der Steuermann hält den Kurs und achtet auf die Strömung.",
    "Vor dem Auslaufen werden Anker, Leinen und Rettungswesten geprüft.",
    "Die Fähre fährt bei Ebbe nicht, weil die Rinne zu flach ist.",
    "Am Leuchtturm wechselt die Tiefe, dort hilft eine Seekarte.",
    "Der Motor braucht Diesel und jedes Jahr einen neuen Filter.",
    "Im Hafenamt bezahlt man den Liegeplatz für die Nacht.",
)


def test_texts_that_are_alike_by_their_language_alone_are_distant(tmp_path):
    texts = {
        f"{name}{number}.txt": " ".join(lines[(number + step) % 8] for step in (0, 1, 2, 4))
        for name, lines in (("koch", _KITCHEN), ("hafen", _HARBOUR))
        for number in range(8)
    }
    with open_library(tmp_path / "library", models={"embedder": "wordllama"}) as library:
        add(library, write_files(tmp_path / "files", texts))
        own = {one.path: one.id for one in library.documents.list()}["koch0.txt"]
        found = library.documents.similar(own, limit=15)
    assert len(found.documents) == 15
    near = [one.record.path[:4] for one in found.close]
    assert near
    assert set(near) == {"koch"}
    assert {one.record.path[:5] for one in found.documents[-5:]} == {"hafen"}


def test_the_nearest_come_first_without_the_document_and_its_copies(library):
    ids = {one.path: one.id for one in library.documents.list()}
    found = library.documents.similar(ids["bread.md"])
    assert [one.record.path for one in found.documents] == ["rolls.md", "train.md"]
    assert sorted(one.path for one in found.copies) == ["copy.md", "edited.md"]
    first, second = found.documents
    assert 1 > first.score > second.score
    assert first.likeness == f"{first.words}, {first.score:.2f}"
    # A timetable is nothing like bread.
    assert (second.words, found.close) == ("distant", (first,))
    (only,) = library.documents.similar(ids["bread.md"], limit=1).documents
    assert only.record.path == "rolls.md"


def test_short_pages_of_one_pattern_are_no_copies(tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    for kind in ("area", "line"):
        (folder / f"{kind}.md").write_text(
            f"# Charts\n\nThe function draws a chart of {kind} kind."
        )
    opened = Library.open(load_settings(library=tmp_path / "library"), create=True)
    opened.jobs.wait(opened.sources.sync(opened.sources.add_folder(folder)))
    (area, _) = opened.documents.list()
    found = opened.documents.similar(area.id)
    assert ([one.record.path for one in found.documents], found.copies) == (["line.md"], ())
    opened.close()


def test_copies_of_what_is_similar_are_one_entry(library):
    ids = {one.path: one.id for one in library.documents.list()}
    found = library.documents.similar(ids["rolls.md"], limit=2)
    # Which of the three is the nearest is nothing to rely on.
    bread, train = found.documents
    copies = {bread.record.path, *(one.path for one in bread.copies)}
    assert copies == {"bread.md", "copy.md", "edited.md"}
    assert (train.record.path, train.copies) == ("train.md", ())
    assert found.copies == ()


def test_of_an_embedder_whose_cosines_have_no_words_none_is_distant(library, monkeypatch):
    monkeypatch.setattr(similar, "is_brought", lambda _name: True)
    ids = {one.path: one.id for one in library.documents.list()}
    found = library.documents.similar(ids["bread.md"])
    assert found.close == found.documents
    assert len(found.documents) == 2


@pytest.mark.parametrize(
    ("cosine", "words"),
    [(1.0, "very similar"), (0.85, "very similar"), (0.84, "similar"), (0.65, "similar"),
     (0.5, "somewhat similar"), (0.2, "distant"), (-1.0, "distant")],
)  # fmt: skip
def test_how_alike_is_said_in_words(cosine, words):
    assert _in_words(cosine, _LEAST) == words


def test_a_document_that_is_gone_is_said(library):
    with pytest.raises(NotFoundError, match="There is no document 99"):
        library.documents.similar(99)
