from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import bm25s
import numpy as np
import pytest

from ragkit.indexes.bm25 import Bm25Parameters
from ragkit.indexes.local import keyword
from ragkit.indexes.local.keyword import KeywordIndex
from ragkit.indexes.rows import TokenColumn

ONE = np.ones(1, np.float32)


def corpus(n: int = 300, seed: int = 5) -> list[list[int]]:
    random = np.random.default_rng(seed)
    return [(random.zipf(1.3, int(random.integers(1, 40))) % 90).tolist() for _ in range(n)]


@pytest.mark.parametrize(("k1", "b"), [(1.5, 0.75), (0.9, 0.4), (2.0, 0.0)])
def test_scores_are_those_of_bm25s(k1: float, b: float):
    texts = corpus()
    theirs = bm25s.BM25(method="lucene", k1=k1, b=b)
    words = [[str(token) for token in text] for text in texts]
    theirs.index(words, show_progress=False)
    # Ids far apart and in another order: a library's vocabulary is shared by its collections.
    ours = KeywordIndex.build(
        TokenColumn.of([[5_000_000 - 7 * token for token in text] for text in texts]),
        Bm25Parameters(k1, b),
    )
    for token in range(90):
        wanted = theirs.get_scores([str(token)])
        found = ours.scores(np.array([5_000_000 - 7 * token]), ONE)
        assert np.abs(wanted - found).max() < 5e-7


def test_weights_of_one_change_no_bit():
    index = KeywordIndex.build(TokenColumn.of(corpus()))
    ids = np.array([3, 4, 5])
    assert np.array_equal(index.scores(ids), index.scores(ids, np.ones(3, np.float32)))


def test_importing_bm25s_for_an_index_imports_neither_scipy_nor_tqdm_and_stays_quiet():
    code = (
        "import logging, sys\n"
        "from ragkit.indexes.local.keyword import KeywordIndex\n"
        "from ragkit.indexes.rows import TokenColumn\n"
        "KeywordIndex.build(TokenColumn.of([[1], [2]]))\n"
        "print(sorted({'bm25s', 'scipy', 'tqdm'} & set(sys.modules)))\n"
        "print(logging.getLogger('bm25s').isEnabledFor(logging.INFO))\n"
        "import scipy.sparse, tqdm"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split("\n") == ["['bm25s']", "False", ""]
    assert done.stderr == ""


def test_a_score_worked_out_by_hand():
    index = KeywordIndex.build(TokenColumn.of([[1, 1, 2], [2], [3, 3]]))
    idf = np.log(1 + (3 - 1 + 0.5) / 1.5)
    expected = idf * 2 / (2 + 1.2 * (0.25 + 0.75 * 3 / 2))
    assert index.scores(np.array([1]), ONE).tolist() == pytest.approx([expected, 0, 0], abs=1e-6)


def test_rows_without_tokens_do_not_count():
    texts = corpus(50)
    full = KeywordIndex.build(TokenColumn.of(texts))
    sparse = KeywordIndex.build(TokenColumn.of([x for text in texts for x in (text, [])]))
    scores = sparse.scores(np.array([3, 7]), np.ones(2, np.float32))
    assert np.array_equal(scores[::2], full.scores(np.array([3, 7]), np.ones(2, np.float32)))
    assert not scores[1::2].any()


def test_weights_multiply_and_unknown_tokens_are_nothing():
    index = KeywordIndex.build(TokenColumn.of(corpus()))
    known = index.scores(np.array([3]), np.array([2.0], np.float32))
    mixed = index.scores(np.array([0xFFFFFFF0, 3]), np.array([9.0, 2.0], np.float32))
    assert np.array_equal(known, mixed)
    assert known == pytest.approx(2 * index.scores(np.array([3]), ONE))
    assert not index.scores(np.array([99_999]), ONE).any()


@pytest.mark.parametrize("texts", [[], [[]], [[], []]])
def test_an_empty_corpus_scores_nothing(texts: list[list[int]], tmp_path: Path):
    index = KeywordIndex.build(TokenColumn.of(texts))
    index.save(tmp_path / "saved")
    for one in (index, KeywordIndex.load(tmp_path / "saved")):
        assert one.scores(np.array([1, 2]), np.ones(2, np.float32)).tolist() == [0.0] * len(texts)
        assert one.document_frequencies(np.array([1, 2])).tolist() == [0, 0]


def test_saved_files_give_the_same_index_and_are_the_same_bytes(tmp_path: Path):
    for name in ("one", "two"):
        KeywordIndex.build(TokenColumn.of(corpus())).save(tmp_path / name)
    for file in (tmp_path / "one").iterdir():
        assert file.read_bytes() == (tmp_path / "two" / file.name).read_bytes()
    loaded = KeywordIndex.load(tmp_path / "one")
    built = KeywordIndex.build(TokenColumn.of(corpus()))
    ids, weights = np.arange(90), np.ones(90, np.float32)
    assert np.array_equal(loaded.scores(ids, weights), built.scores(ids, weights))


def test_bm25s_opens_the_saved_files(tmp_path: Path):
    index = KeywordIndex.build(TokenColumn.of(corpus()))
    index.save(tmp_path / "saved")
    theirs = bm25s.BM25.load(tmp_path / "saved", load_vocab=False, mmap=True)
    assert np.array_equal(theirs.get_scores_from_ids([2]), index.scores(np.array([2]), ONE))


def test_sorting_a_part_of_the_rows_at_a_time_gives_the_same_bytes(tmp_path: Path, monkeypatch):
    chooser = np.random.default_rng(8)
    rows = [chooser.zipf(1.3, chooser.integers(0, 60)).astype(np.uint32) for _ in range(500)]
    column = TokenColumn.of([row.tolist() for row in rows])
    KeywordIndex.build(column).save(tmp_path / "whole")
    assert len(column.flat) > 5000
    for block in (1, 64, 1000, len(column.flat) - 1, len(column.flat)):
        monkeypatch.setattr(keyword, "_BLOCK", block)
        KeywordIndex.build(column).save(tmp_path / str(block))
        for file in (tmp_path / "whole").iterdir():
            assert file.read_bytes() == (tmp_path / str(block) / file.name).read_bytes()
