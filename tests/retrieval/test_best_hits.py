"""The order of results, without putting them together."""

from __future__ import annotations

from dataclasses import replace

import pytest
from small_library import HANDBOOK, add, open_library, write_files

from ragkit.options import Expansion, Mode


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    root = tmp_path_factory.mktemp("order")
    opened = open_library(root / "library")
    more = {f"many/{n}.md": f"# Refund {n}\n\nA refund of {n} days.\n" for n in range(40)}
    add(opened, write_files(root / "files", {**HANDBOOK, **more}))
    yield opened
    opened.close()


@pytest.mark.parametrize("mode", [Mode.HYBRID, Mode.KEYWORD, Mode.VECTOR])
@pytest.mark.parametrize(("limit", "candidates"), [(5, 100), (30, 2), (100, 1)])
def test_it_is_that_of_the_search(library, mode, limit, candidates):
    options = library.options(
        mode=mode, limit=limit, candidates=candidates, per_document=0, expansion=Expansion.CHUNK
    )
    answer = library.engine.search("refund of 7 days", options)
    expected = [(one.document.id, one.matched_chunks[0].index) for one in answer.results]
    found = library.engine.best_hits("refund of 7 days", options)
    assert [(hit.document_id, hit.chunk_index) for hit in found] == expected
    assert len(expected) >= 5


def test_what_else_the_candidates_hold_is_listed_for_measurements(library):
    shown = library.options(limit=5, candidates=8, per_document=0, expansion=Expansion.CHUNK)
    judged = replace(shown, judged_depth=100)
    first, more = (
        [hit.entry_id for hit in library.engine.best_hits("refund of 7 days", one)]
        for one in (shown, judged)
    )
    assert len(first) == 5
    assert more[:5] == first
    assert len(more) == 8
    answer = library.engine.search("refund of 7 days", judged)
    assert len(answer.results) == 8
