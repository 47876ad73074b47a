"""Filters as SQL against the same filters in plain Python, on random documents."""

from __future__ import annotations

import json
import tempfile
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support import Shelf

from ragkit.catalog import Catalog
from ragkit.catalog.filters import FilterQueries
from ragkit.options import Filters
from ragkit.paths import LibraryPaths
from ragkit.types import FileState, Status

_WORDS = st.sampled_from(["notes", "Notes", "plan", "été", "ETE", "a", "b%", "_", "x'y", "日本"])
_DATES = st.sampled_from(
    ["", "2024", "2024-05", "2024-05-01", "2025-01-31", "2025-01-31T10:00:00", "2026-12-31"]
)
_LIMITS = st.sampled_from(["", "2024", "2024-05", "2025-01-31", "2025-02", "2027"])
_METADATA = st.fixed_dictionaries(
    {},
    optional={
        "tags": st.lists(_WORDS, max_size=3),
        "language": st.sampled_from(["en", "De", "fr"]),
        "owner": _WORDS,
        "n": st.integers(0, 3),
        "done": st.booleans(),
        "people": st.lists(_WORDS, max_size=2),
    },
)
_DOCUMENTS = st.fixed_dictionaries(
    {
        "parts": st.lists(_WORDS, min_size=1, max_size=3),
        "suffix": st.sampled_from([".md", ".MD", ".txt", ""]),
        "title": st.lists(_WORDS, max_size=3).map(" ".join),
        "format": st.sampled_from(["markdown", "text", "pdf"]),
        "language": st.sampled_from(["", "en", "de"]),
        "date": _DATES,
        "day": st.integers(0, 2000),
        "metadata": _METADATA,
    }
)
_FEW = {"max_size": 2}
_FILTERS = st.fixed_dictionaries(
    {},
    optional={
        "types": st.lists(st.sampled_from(["md", "markdown", "TXT", "pdf", "no"]), **_FEW),
        "paths": st.lists(
            st.sampled_from(["notes/", "Notes", "/a/", "été", "%", "_", "'"]), **_FEW
        ),
        "titles": st.lists(st.sampled_from(["plan", "ÉTÉ", "%", "日"]), **_FEW),
        "languages": st.lists(st.sampled_from(["en", "DE", "fr"]), **_FEW),
        "tags": st.lists(_WORDS, **_FEW),
        "documents": st.lists(st.integers(1, 6), **_FEW),
        "after": _LIMITS,
        "before": _LIMITS,
        "fields": st.lists(
            st.tuples(
                st.sampled_from(["owner", "n", "done", "people", "absent"]),
                st.sampled_from(["notes", "été", "1", "true", "FALSE", "a"]),
            ),
            max_size=3,
        ),
    },
).map(lambda parts: Filters(**{k: v if isinstance(v, str) else tuple(v) for k, v in parts.items()}))


def _plain(value: object) -> str:
    """Text as the catalog compares it."""
    import unicodedata

    text = json.dumps(value) if isinstance(value, bool) else str(value)
    return unicodedata.normalize("NFKC", text).casefold()


def _passes(number: int, one: dict, path: str, filters: Filters) -> bool:
    lowered, metadata = _plain(path), one["metadata"]
    day = datetime.fromtimestamp(one["day"] * 86400, UTC).date().isoformat()
    date = one["date"][:10] or day
    suffix = _plain(PurePosixPath(path).suffix.lstrip("."))
    tags = {_plain(tag) for tag in metadata.get("tags", [])}

    def in_path(wanted: str) -> bool:
        wanted = _plain(wanted)
        return (
            f"/{wanted.lstrip('/')}" in f"/{lowered}"
            if wanted.endswith("/")
            else (wanted in f"/{lowered}")
        )

    def field(name: str) -> bool:
        allowed = {_plain(value) for key, value in filters.fields if key == name}
        value = metadata.get(name, [])
        return bool(allowed & {_plain(v) for v in (value if isinstance(value, list) else [value])})

    alternatives = [
        (filters.types, lambda v: _plain(v) in (one["format"], suffix)),
        (filters.paths, in_path),
        (filters.titles, lambda v: _plain(v) in _plain(one["title"])),
        (filters.languages, lambda v: _plain(v) == _plain(one["language"])),
        (filters.tags, lambda v: _plain(v) in tags),
        (filters.documents, lambda v: v == number),
    ]
    return (
        all(not values or any(map(test, values)) for values, test in alternatives)
        and (not filters.after or date >= filters.after)
        and (not filters.before or date < filters.before)
        and all(field(name) for name, _ in filters.fields)
    )


_CHANGES = st.lists(
    st.tuples(st.sampled_from(["write", "remove", "move", "touch", "fail"]), st.integers(0, 5)),
    max_size=4,
)


@settings(max_examples=35, deadline=None)
@given(
    st.lists(_DOCUMENTS, min_size=1, max_size=6),
    st.lists(_FILTERS, min_size=1, max_size=12),
    _CHANGES,
)
def test_filters_agree_with_plain_python(documents, many_filters, changes):
    with tempfile.TemporaryDirectory() as place:
        paths = LibraryPaths(Path(place))
        paths.create()
        catalog = Catalog.open(paths.catalog, create=True)
        shelf = Shelf(catalog)
        known: dict[int, tuple[dict, str]] = {}

        def put(path, one):
            names = ("title", "format", "language", "date", "metadata")
            mtime = one["day"] * 86400 * 10**9
            document = shelf.put(path, mtime_ns=mtime, **{name: one[name] for name in names})
            known[document] = (one, path)

        def compare():
            for filters in many_filters:
                found = catalog.filters.documents(shelf.collection_id, filters).tolist()
                expected = [
                    n for n, (one, path) in sorted(known.items()) if _passes(n, one, path, filters)
                ]
                assert found == expected, filters
            # What is kept of earlier states says the same as what is read anew.
            records, anew = catalog.collections.all(), FilterQueries(catalog.connections)
            assert catalog.filters.facets(records) == anew.facets(records)
            assert catalog.filters.field_names(records) == anew.field_names(records)

        for number, one in enumerate(documents):
            put(f"{number}/{'/'.join(one['parts'])}{one['suffix']}", one)
        compare()
        for step, (kind, place) in enumerate(changes):
            if place >= len(documents) or place + 1 not in known:
                put(f"new/{step}.md", documents[0])
                continue
            one, path = known.pop(place + 1)
            file = FileState(path, 1, (one["day"] + 400) * 86400 * 10**9, str(step))
            if kind == "write":
                put(path, documents[-1])
            elif kind == "remove":
                catalog.documents.remove([place + 1])
            elif kind == "fail":
                source = (shelf.source_id, shelf.collection_id)
                catalog.files.set_outcome(*source, file, Status.FAILED, "No.")
            elif kind == "move":
                known[place + 1] = (one, f"moved/{path}")
                catalog.documents.rename(place + 1, f"moved/{path}", [])
            else:
                known[place + 1] = ({**one, "day": one["day"] + 400}, path)
                catalog.files.touch(place + 1, file)
            compare()
        catalog.close()


def test_the_oracle_lets_through_and_holds_back():
    one = {
        "parts": ["notes"], "suffix": ".md", "title": "Plan", "format": "markdown",
        "language": "", "date": "2024-05-01", "day": 0, "metadata": {"tags": ["a"]},
    }  # fmt: skip
    assert _passes(1, one, "0/notes.md", Filters(tags=("A",), after="2024", types=("md",)))
    assert not _passes(1, one, "0/notes.md", Filters(before="2024-05-01"))


@pytest.mark.parametrize("value", ["%", "_", "'", '"', "\\", "* ?", ";--", "\x00"])
def test_no_character_has_a_meaning_of_its_own(shelf, value):
    shelf.put("plain.md")
    wanted = shelf.put(f"odd{value}.md".replace("\x00", ""), title=f"odd {value}")
    found = shelf.catalog.filters.documents(shelf.collection_id, Filters(titles=(f"odd {value}",)))
    if value != "\x00":
        assert found.tolist() == [wanted]
