"""All of very many collections: those that are opened have what all together have."""

from __future__ import annotations

import threading

import pytest
from small_library import add, open_library, write_files

from ragkit.errors import QueryError
from ragkit.indexes.local import together
from ragkit.options import Granularity, Mode
from ragkit.retrieval import everywhere
from ragkit.retrieval.everywhere import Everywhere

_WORDS = [
    "apple", "banana", "cherry", "damson", "elder", "fig", "grape", "hazel", "iris", "juniper",
    "kiwi", "lemon",
]  # fmt: skip


def _texts(number: int) -> dict[str, str]:
    words = _WORDS[number % 7 :] + _WORDS[: number % 7]
    return {
        f"{words[place]}/note{place}.md": (
            f"---\ntags: [{words[place]}]\n---\n# {words[place].title()} of orchard {number}\n\n"
            f"The {words[place]} and the {words[place + 1]} grow beside the {words[place + 2]} "
            f"in orchard {number}. {' '.join(words[: place + 2] * (number % 3 + 1))}\n"
        )
        for place in range(1 + number % 4)
    }


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    place = tmp_path_factory.mktemp("everywhere")
    opened = open_library(place / "library")
    for number in range(12):
        name = f"orchard {number}"
        add(opened, write_files(place / str(number), _texts(number)), name)
    yield opened
    opened.close()


def _found(library, question, **changes):
    changes.setdefault("collections", tuple(library.collections.names()))
    answer, _ = library.engine.answer(question, library.options(**changes))
    return (
        [(result.document.id, result.score, result.fit) for result in answer.results],
        answer.total_documents,
        answer.missing_terms,
        answer.corrected,
        answer.listed,
    )


@pytest.fixture
def many(monkeypatch):
    """Make more than four collections very many."""

    def make(opened: int = 100) -> None:
        monkeypatch.setattr(everywhere, "MOST_NAMED", 4)
        monkeypatch.setattr(everywhere, "MOST_OPENED", opened)

    return make


@pytest.mark.parametrize(
    "question",
    [
        "banana beside the cherry",
        "orchard 7 damson",
        "which lemon grows where",
        "zebra fig",
        "bananna",
        "fig tag:grape",
        "tag:grape",
        '"the elder and the fig"',
        "iris -juniper",
        "in:hazel kiwi",
        "path:fig",
        'collection:"orchard 3" elder',
        "and the",
    ],
)
def test_all_of_many_collections_find_what_each_of_them_has(library, many, question):
    options = [{"mode": mode} for mode in Mode] + [{"granularity": Granularity.DOCUMENT}]
    each = [_found(library, question, **one) for one in options]
    many()
    assert [_found(library, question, **one) for one in options] == each


def test_only_the_nearest_are_opened(library, many, monkeypatch):
    best, *_ = _found(library, "quince in orchard 11")
    many(4)
    asked = []
    current = Everywhere.current

    def noted(self, collection, *level):
        asked.append(collection.name)
        return current(self, collection, *level)

    monkeypatch.setattr(Everywhere, "current", noted)
    found, *_ = _found(library, "quince in orchard 11")
    assert found[0] == best[0]
    assert 0 < len(set(asked) - {"all collections"}) <= 4


def test_it_is_looked_deeper_where_the_nearest_are_of_few_collections(library, many, monkeypatch):
    many()

    def opened(*depths):
        monkeypatch.setattr(everywhere, "_DEPTHS", depths)
        names = tuple(library.collections.names())
        options = library.options(collections=names, candidates=1, limit=1)
        stages = library.engine.answer("elder", options)[0].trace.stages
        return next(one.count_out for one in stages if one.name == "collections")

    assert opened(1) <= 2
    assert opened(1, 1000) == 12
    monkeypatch.setattr(everywhere, "_ENOUGH", 1)
    assert opened(1, 1000) <= 2


def test_changes_of_any_collection_are_seen(tmp_path, many):
    many()
    with open_library(tmp_path / "library") as library:
        for number in range(6):
            add(library, write_files(tmp_path / str(number), _texts(number)), f"orchard {number}")
        assert _found(library, "quince", mode=Mode.KEYWORD)[1] == 0
        write_files(tmp_path / "5", {"quince.md": "# Quince\n\nThe quince is ripe.\n"})
        add(library, tmp_path / "5", "orchard 5")
        found, total, *_ = _found(library, "quince", mode=Mode.KEYWORD)
        assert total == 1
        (tmp_path / "5" / "quince.md").unlink()
        add(library, tmp_path / "5", "orchard 5")
        assert _found(library, "quince", mode=Mode.KEYWORD)[1] == 0
        library.catalog.collections.delete(library.catalog.collections.get("orchard 4").id)
        names = tuple(library.collections.names())
        found, *_ = _found(library, "banana beside the cherry")
        gone = {library.catalog.documents.get(document).collection for document, *_ in found}
        assert gone <= set(names)


def test_long_texts_ask_all_collections(library, many):
    text = "Where does the banana grow beside the cherry?\n\nWhich orchard has the lemon and iris?"
    options = library.options(collections=tuple(library.collections.names()))
    before = library.search_chunked(text, options)
    many()
    after = library.search_chunked(text, options)
    ids = [[one.result.document.id for one in answer.results] for answer in (before, after)]
    assert ids[0] == ids[1]
    assert ids[0]


def test_what_cannot_be_searched_at_once_is_said(library, many, monkeypatch):
    many()
    names = tuple(library.collections.names())
    with pytest.raises(QueryError, match=r"^6 collections were chosen\. Choose up to 4, or all"):
        _found(library, "fig", collections=names[:6])
    monkeypatch.setattr(together, "MOST_ENTRIES", 3)
    fresh = type(library.engine)(library.catalog, library.indexes, library.embedder)
    with pytest.raises(QueryError, match="too many to be searched at once: 30 entries where 3"):
        fresh.answer("fig", library.options(collections=names))
    monkeypatch.setattr(together, "MOST_ENTRIES", 300)
    read, whole = threading.Event(), together.Together._whole
    monkeypatch.setattr(together.Together, "_whole", lambda self: read.wait(60.0) and whole(self))
    monkeypatch.setattr(everywhere, "PATIENCE", 0.0)
    with pytest.raises(QueryError, match="are being made ready"):
        fresh.answer("fig", library.options(collections=names))
    monkeypatch.setattr(everywhere, "PATIENCE", 60.0)
    read.set()
    assert fresh.answer("fig", library.options(collections=names))[0].results
