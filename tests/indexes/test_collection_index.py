from __future__ import annotations

import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from index_rows import DIMENSIONS, after, by_keyword, by_vector, keyword_scores, make_rows, merged

from ragkit.indexes.local import live_rows
from ragkit.indexes.local.collection import CollectionIndex
from ragkit.indexes.protocol import Candidates, EntryFilter
from ragkit.indexes.rows import EntryRows, TokenColumn, join
from ragkit.types import Field, Level

WEIGHTS = {Field.TEXT: 1.0, Field.CONTEXT: 0.5}
QUESTIONS = [[4], [5, 9, 9, 12], [3, 999], [30, 31, 32, 33, 34], []]
VECTORS = np.array(make_rows(range(1000, 1004)).vectors, dtype=np.float32)


def answers(index: CollectionIndex, depth: int = 10, mask=None) -> list[Candidates]:
    return [
        *by_keyword(index, QUESTIONS, WEIGHTS, depth, mask),
        *by_vector(index, VECTORS, depth, mask),
    ]


def plain(found: list[Candidates]) -> list[list[tuple]]:
    return [
        list(
            zip(
                one.entry_ids.tolist(),
                one.document_ids.tolist(),
                one.chunk_indexes.tolist(),
                one.levels.tolist(),
                one.scores.tolist(),
                strict=True,
            )
        )
        for one in found
    ]


def without(rows: EntryRows, gone) -> EntryRows:
    return rows.take(np.flatnonzero(~np.isin(rows.entry_ids, list(gone))))


def test_a_hit_names_its_entry():
    rows = make_rows(range(1, 60))
    found = by_vector(CollectionIndex.build(rows), rows.vectors[3:4].astype(np.float32), 3)
    assert found[0].entry_ids[0] == 4
    assert (found[0].document_ids[0], found[0].chunk_indexes[0], found[0].levels[0]) == (1, 1, 2)
    assert found[0].scores[0] == pytest.approx(1.0, abs=1e-3)
    assert len(found[0].entry_ids) == 3


def test_the_whole_list_is_in_order_with_ties_by_entry():
    index = CollectionIndex.build(make_rows(range(1, 200), shared_vectors=True))
    index = after(index, make_rows(range(300, 340), shared_vectors=True), [5, 9], 2)
    for found in answers(index, 60):
        keys = list(zip((-found.scores).tolist(), found.entry_ids.tolist(), strict=True))
        assert keys == sorted(keys)


@given(
    st.lists(
        st.tuples(st.integers(0, 6), st.lists(st.integers(1, 70), max_size=8)),
        max_size=6,
    ),
    st.booleans(),
)
@settings(max_examples=60, deadline=None)
def test_changes_reach_the_same_entries_and_a_merge_the_same_results(changes, shared):
    make = lambda ids: make_rows(ids, shared_vectors=shared)  # noqa: E731
    rows = make(range(1, 41))
    index = CollectionIndex.build(rows, 0)
    last = 40
    for version, (count, gone) in enumerate(changes, 1):
        added = make(range(last + 1, last + 1 + count))
        last += count
        index = after(index, added, gone, version)
        rows = join([without(rows, gone), added])
    fresh = CollectionIndex.build(rows, len(changes))
    live = set(rows.entry_ids.tolist())
    assert index.entries == len(live) == fresh.entries
    assert index.vector_entries == fresh.vector_entries
    assert index.entry_ids().tolist() == rows.entry_ids.tolist()
    everything = 200
    for mine, theirs in zip(answers(index, everything), answers(fresh, everything), strict=True):
        assert set(mine.entry_ids.tolist()) == set(theirs.entry_ids.tolist()) <= live
    for mine, theirs in zip(
        by_vector(index, VECTORS, 7), by_vector(fresh, VECTORS, 7), strict=True
    ):
        assert plain([mine]) == plain([theirs])
    assert plain(answers(merged(index))) == plain(answers(fresh))
    assert not merged(index).has_changes


def test_statistics_of_the_delta_count_everything_that_is_live():
    everything = make_rows(range(1, 101))
    grown = after(CollectionIndex.build(make_rows(range(1, 61))), make_rows(range(61, 101)), [], 1)
    fresh = CollectionIndex.build(everything)
    mine = by_keyword(grown, [[4, 9]], WEIGHTS, 200)[0]
    theirs = by_keyword(fresh, [[4, 9]], WEIGHTS, 200)[0]
    wanted = dict(zip(theirs.entry_ids.tolist(), theirs.scores.tolist(), strict=True))
    for entry, score in zip(mine.entry_ids.tolist(), mine.scores.tolist(), strict=True):
        # The delta's rows exactly; the segment's but for the average length of its day.
        assert score == pytest.approx(wanted[entry], rel=1e-6 if entry > 60 else 0.1)


def test_when_all_lengths_are_equal_nothing_at_all_differs_before_the_merge():
    def fixed(ids) -> EntryRows:
        rows = make_rows(ids)
        tokens = [[i % 11, i % 7 + 20, i % 5 + 40] for i in ids]
        return EntryRows(
            rows.entry_ids, rows.document_ids, rows.levels, rows.chunk_indexes,
            rows.content_keys, rows.vectors, rows.has_vector, {Field.TEXT: TokenColumn.of(tokens)},
        )  # fmt: skip

    changed = after(
        CollectionIndex.build(fixed(range(1, 80))), fixed(range(80, 120)), range(10, 30), 1
    )
    rows = fixed([*range(1, 10), *range(30, 120)])
    questions = [[3, 22, 41], [0], [40, 3]]
    mine = by_keyword(changed, questions, {Field.TEXT: 1.0}, 99)
    theirs = by_keyword(CollectionIndex.build(rows), questions, {Field.TEXT: 1.0}, 99)
    for one, other in zip(mine, theirs, strict=True):
        by_id, by_other = np.argsort(one.entry_ids), np.argsort(other.entry_ids)
        assert np.array_equal(one.entry_ids[by_id], other.entry_ids[by_other])
        assert one.scores[by_id] == pytest.approx(other.scores[by_other], rel=1e-6)


def test_an_old_value_stays_whole_while_new_ones_are_made():
    index = CollectionIndex.build(make_rows(range(1, 50)))
    first = after(index, make_rows(range(50, 60)), [1, 2], 1)
    before = plain(answers(index)), plain(answers(first))
    second = after(first, make_rows(range(60, 90)), range(3, 55), 2)
    assert (plain(answers(index)), plain(answers(first))) == before
    assert (index.entries, first.entries, second.entries) == (49, 57, 35)
    assert [one.version.number for one in (index, first, second)] == [0, 1, 2]


def test_an_entry_added_again_is_replaced():
    index = CollectionIndex.build(make_rows(range(1, 20)))
    other = make_rows([5], seed=99)
    again = after(index, other, [], 1)
    assert again.entries == 19
    found = by_vector(again, other.vectors.astype(np.float32), 1)[0]
    assert found.entry_ids.tolist() == [5]
    assert found.scores[0] == pytest.approx(1.0, abs=1e-3)
    rows = join([without(make_rows(range(1, 20)), [5]), other])
    assert plain(answers(merged(again))) == plain(answers(CollectionIndex.build(rows)))


def test_late_entries_of_lower_ids_find_their_place():
    index = CollectionIndex.build(make_rows(range(1, 10)))
    index = after(after(index, make_rows([30, 31]), [], 1), make_rows([20]), [30], 2)
    fresh = CollectionIndex.build(make_rows([*range(1, 10), 20, 31]))
    assert index.entry_ids().tolist() == [*range(1, 10), 20, 31]
    assert plain(answers(merged(index))) == plain(answers(fresh))
    for mine, theirs in zip(answers(index, 99), answers(fresh, 99), strict=True):
        assert sorted(mine.entry_ids.tolist()) == sorted(theirs.entry_ids.tolist())


@pytest.mark.parametrize("gone", [3, 900, 1100])
def test_removed_entries_never_come_back_few_or_many(gone: int):
    rows = make_rows(range(1, 1501))
    best = by_vector(CollectionIndex.build(rows), VECTORS[:1], gone)[0].entry_ids
    index = after(CollectionIndex.build(rows), EntryRows.empty(DIMENSIONS), best, 1)
    fresh = CollectionIndex.build(without(rows, best))
    assert len(index.tombstones.rows) == len(best) == gone
    found = plain(by_vector(index, VECTORS, 20))
    assert found == plain(by_vector(fresh, VECTORS, 20))
    assert len(found[0]) == 20


def test_from_nothing_and_back_to_nothing():
    index = CollectionIndex.build(EntryRows.empty(DIMENSIONS))
    assert [len(found.entry_ids) for found in answers(index)] == [0] * 9
    index = after(index, make_rows(range(1, 30)), [], 1)
    fresh = CollectionIndex.build(make_rows(range(1, 30)))
    assert plain(answers(index)) == plain(answers(fresh))
    index = after(index, EntryRows.empty(DIMENSIONS), range(1, 30), 2)
    assert (index.entries, len(index.delta)) == (0, 0)
    assert [len(found.entry_ids) for found in answers(index)] == [0] * 9
    gone = after(fresh, EntryRows.empty(DIMENSIONS), range(1, 30), 2)
    assert [len(found.entry_ids) for found in answers(gone)] == [0] * 9
    assert merged(gone).entries == 0


def test_a_mask_acts_before_ranking():
    rows = make_rows(range(1, 301))
    index = after(
        CollectionIndex.build(make_rows(range(1, 251))), make_rows(range(251, 301)), [200], 1
    )
    allowed = np.array([20, 85, 90, 10**9])
    mask = EntryFilter(allowed)
    assert index.search([], mask).passing == 9
    kept = rows.take(np.flatnonzero(np.isin(rows.document_ids, allowed)))
    wanted = set(kept.entry_ids[kept.has_vector].tolist())
    found = by_vector(index, VECTORS[:1], 50, mask)[0]
    assert set(found.entry_ids.tolist()) == wanted
    unmasked = by_keyword(index, [[4]], {Field.TEXT: 1.0}, 500)[0]
    inside = np.isin(unmasked.document_ids, allowed)
    masked = by_keyword(index, [[4]], {Field.TEXT: 1.0}, 500, mask)[0]
    assert masked.entry_ids.tolist() == unmasked.entry_ids[inside].tolist()
    # A word is rarer or more common in what passes: one factor for all scores.
    factors = masked.scores / unmasked.scores[inside]
    np.testing.assert_allclose(factors, factors[0], rtol=1e-5)
    nothing = EntryFilter(np.zeros(0, np.int64))
    assert [len(one.entry_ids) for one in answers(index, 5, nothing)] == [0] * 9


def test_levels_restrict_only_where_there_are_others():
    index = CollectionIndex.build(make_rows(range(1, 10)))
    assert index.at_levels([Level.CHUNK]) is None
    mixed = after(index, make_rows(range(10, 15), level=Level.QUESTION), [], 1)
    mask = EntryFilter(levels=(Level.QUESTION,))
    assert mixed.at_levels(list(Level)) is None
    found = by_vector(mixed, VECTORS[:1], 50, mask)[0]
    assert sorted(found.entry_ids.tolist()) == [10, 11, 12, 13]
    narrowed = EntryFilter(levels=(Level.QUESTION,), entry_ids=np.array([11, 3]))
    assert by_vector(mixed, VECTORS[:1], 5, narrowed)[0].entry_ids.tolist() == [11]


@pytest.mark.parametrize("weights", [{Field.TEXT: 1.5}, {Field.TEXT: 1.5, Field.CONTEXT: 0.5}])
def test_a_word_that_is_asked_twice_counts_twice(weights):
    index = CollectionIndex.build(make_rows(range(1, 100)))
    once, other, both = (
        np.array(keyword_scores(index, query, weights, index.entry_ids()))
        for query in ([7], [4], [7, 4, 7])
    )
    assert once.max() > 0
    assert both.tolist() == pytest.approx((2 * once + other).tolist(), rel=1e-5)


def test_results_do_not_depend_on_how_ids_were_given_out():
    def renamed(rows: EntryRows) -> EntryRows:
        tokens = {
            field: TokenColumn(
                (5000 - column.flat.astype(np.int64)).astype(np.uint32), column.offsets
            )
            for field, column in rows.tokens.items()
        }
        return EntryRows(
            rows.entry_ids, rows.document_ids, rows.levels, rows.chunk_indexes,
            rows.content_keys, rows.vectors, rows.has_vector, tokens,
        )  # fmt: skip

    rows = make_rows(range(1, 100))
    questions = [[3, 5, 4, 9, 30], [12, 8, 3]]
    mine = by_keyword(CollectionIndex.build(rows), questions, WEIGHTS, 50)
    others = [[5000 - token for token in question] for question in questions]
    theirs = by_keyword(CollectionIndex.build(renamed(rows)), others, WEIGHTS, 50)
    assert plain(mine) == plain(theirs)


def test_a_change_costs_what_it_holds():
    rows = make_rows(range(1, 30))
    index = after(CollectionIndex.build(rows), make_rows([40]), [3], 1)
    assert index.base is CollectionIndex.over(index.base).base
    again = after(index, make_rows([41]), [4], 2)
    assert again.base is index.base
    assert not again.worth_merging
    grown = after(again, make_rows(range(100, 1200)), [], 3)
    assert grown.worth_merging


def test_importing_the_indexes_imports_no_heavy_library():
    import subprocess

    code = (
        "import sys, ragkit.indexes.local.generation, ragkit.indexes.tokenizer\n"
        "import ragkit.models.factory\n"
        "print(sorted({'faiss', 'bm25s', 'Stemmer', 'tokenizers', 'llama_index', 'wordllama'}"
        " & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_its_slices_are_all_that_is_live_in_order(monkeypatch):
    """Also where entries of lower ids came later."""
    index = after(CollectionIndex.build(make_rows(range(10, 200, 2))), make_rows([]), [12, 14], 2)
    index = after(index, make_rows([5, 15, 16, 99, 250]), [250], 3)
    whole = index.scan()
    assert len(whole) == index.entries == 97
    for size in (1, 7, 96, 97, 98):
        monkeypatch.setattr(live_rows, "_SLICE", size)
        slices = index.slices()
        parts = list(slices.slices)
        assert slices.count == sum(map(len, parts)) == 97
        assert max(map(len, parts)) <= size
        joined = join(parts)
        for name in ("entry_ids", "document_ids", "levels", "chunk_indexes", "content_keys"):
            assert getattr(joined, name).tolist() == getattr(whole, name).tolist()
        assert joined.has_vector.tolist() == whole.has_vector.tolist()
        assert joined.vectors.tolist() == whole.vectors.tolist()
        for field, column in whole.tokens.items():
            assert joined.tokens[field].flat.tolist() == column.flat.tolist()
            assert joined.tokens[field].offsets.tolist() == column.offsets.tolist()
