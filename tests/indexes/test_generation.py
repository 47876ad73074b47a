from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from index_rows import DIMENSIONS, by_keyword, by_vector, make_rows

from ragkit.errors import IndexCorruptError
from ragkit.indexes.bm25 import Bm25Parameters
from ragkit.indexes.local import packed
from ragkit.indexes.local.files import generations, is_current
from ragkit.indexes.local.generation import Generation, open_newest, prune, write_generation
from ragkit.indexes.rows import EntryRows, RowSlices, TokenColumn
from ragkit.types import LEVEL_CODES, Field, Level, Version

NAMES = {"fingerprint": "hash-1", "tokenizer_version": "1"}


@pytest.fixture(autouse=True, params=[1, 2], ids=["in one file", "in many"])
def _form(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every test, with a segment in one file as a small one is, and in a file for each array."""
    if request.param > 1:
        monkeypatch.setattr(packed, "MOST_ROWS", 0)


def write(folder: Path, count: int = 40, version: int = 7, **more) -> Path:
    return write_generation(
        folder,
        RowSlices.of(make_rows(range(1, count + 1))),
        version=Version(version),
        **NAMES,
        **more,
    )


def opened(folder: Path, **more) -> Generation:
    generation = open_newest(folder, **{**NAMES, **more})
    assert generation is not None
    return generation


def files_of(path: Path) -> list[str]:
    return sorted(file.relative_to(path).as_posix() for file in path.rglob("*") if file.is_file())


def test_what_was_written_comes_back(tmp_path: Path):
    rows = make_rows(range(1, 41))
    write(tmp_path)
    generation = opened(tmp_path)
    assert generation.manifest.entries == 40
    assert generation.manifest.max_entry_id == 40
    assert generation.manifest.collection_version == generation.index().version.number == 7
    back = generation.segment.rows()
    for name in (
        "entry_ids",
        "document_ids",
        "levels",
        "chunk_indexes",
        "content_keys",
        "has_vector",
    ):
        assert np.array_equal(getattr(back, name), getattr(rows, name))
    assert np.array_equal(back.vectors[rows.has_vector], rows.vectors[rows.has_vector])
    for field, column in rows.tokens.items():
        assert np.array_equal(back.tokens[field].flat, column.flat)
        assert np.array_equal(back.tokens[field].offsets, column.offsets)


def test_rows_in_any_slices_give_the_same_bytes(tmp_path: Path):
    rows = make_rows(range(1, 200))
    rows.levels[1::2] = LEVEL_CODES[Level.CONTEXT]
    late = TokenColumn.of([()] * 150 + [(5, 6, 5)] * 49)
    rows = replace(rows, tokens={**rows.tokens, Field.TITLE: late})
    written = []
    for number, bounds in enumerate(([0, 199], [0, 1, 150, 151, 199], [*range(0, 199, 10), 199])):
        parts = (rows.take(np.arange(*bound)) for bound in pairwise(bounds))
        slices = RowSlices(199, DIMENSIONS, iter(parts))
        path = write_generation(tmp_path / str(number), slices, version=Version(7), **NAMES)
        written.append({name: (path / name).read_bytes() for name in files_of(path)})
    assert written[0] == written[1] == written[2]
    assert opened(tmp_path / "2").segment.document_ids.tolist() == rows.document_ids.tolist()


def test_no_generation_is_none_and_the_newest_wins(tmp_path: Path):
    assert open_newest(tmp_path / "absent") is None
    assert open_newest(tmp_path) is None
    for count in range(1, 12):
        write(tmp_path, count)
    assert opened(tmp_path).manifest.entries == 11
    assert prune(tmp_path, keep=2) == 9
    assert [opened(tmp_path).manifest.entries, len(generations(tmp_path))] == [11, 2]


def test_an_empty_collection_can_be_kept(tmp_path: Path):
    rows = EntryRows.empty(DIMENSIONS, [Field.TEXT])
    write_generation(tmp_path, RowSlices.of(rows), version=Version(0), **NAMES)
    index = opened(tmp_path).index()
    assert index.entries == 0
    assert len(by_keyword(index, [[3]], {Field.TEXT: 1.0}, 5)[0].entry_ids) == 0
    assert len(by_vector(index, np.ones((1, DIMENSIONS), np.float32), 5)[0].entry_ids) == 0


def test_damage_to_any_file_is_named(tmp_path: Path):
    path = write(tmp_path)
    for name in files_of(path):
        file = path / name
        whole = file.read_bytes()
        middle = len(whole) // 2
        damages = [None, whole[:-1], b"", whole + b"x"]
        damages.append(whole[:middle] + bytes([whole[middle] ^ 0x55]) + whole[middle + 1 :])
        for damage in damages:
            if damage is None:
                file.unlink()
            else:
                file.write_bytes(damage)
            with pytest.raises(IndexCorruptError) as caught:
                # A JSON file may still be JSON after one changed byte, but never this one.
                opened(tmp_path, parameters=Bm25Parameters())
            assert path.name in str(caught.value)
            file.write_bytes(whole)
    assert opened(tmp_path).manifest.entries == 40


def test_an_index_of_another_embedder_is_named(tmp_path: Path):
    write(tmp_path)
    with pytest.raises(IndexCorruptError, match="the embedder is hash-1, not other") as caught:
        opened(tmp_path, fingerprint="other")
    assert caught.value.cure


@pytest.mark.parametrize(
    "expected", [{"tokenizer_version": "2"}, {"parameters": Bm25Parameters(k1=1.5)}]
)
def test_one_of_other_tokens_or_weights_is_of_an_older_version(tmp_path: Path, expected: dict):
    write(tmp_path)
    assert open_newest(tmp_path, **{**NAMES, **expected}) is None


@pytest.mark.parametrize("key", ["entries", "vectors", "tokens", "max_entry_id", "format_version"])
def test_counts_must_agree_with_the_manifest(tmp_path: Path, key: str):
    manifest = write(tmp_path) / "manifest.json"
    content = json.loads(manifest.read_text())
    content[key] += 1
    manifest.write_text(json.dumps(content))
    with pytest.raises(IndexCorruptError):
        opened(tmp_path)


def test_one_of_an_older_layout_is_none_and_not_current(tmp_path: Path):
    manifest = write(tmp_path) / "manifest.json"
    current = {**NAMES, "version": Version(7)}
    assert is_current(tmp_path, **current)
    content = json.loads(manifest.read_text())
    manifest.write_text(json.dumps({**content, "format_version": 4}))
    assert open_newest(tmp_path, **NAMES) is None
    assert not is_current(tmp_path, **current)


@pytest.mark.parametrize("content", ["", "[]", "{}", "null", '{"files": 3}', "\x00\x01"])
def test_a_manifest_of_nonsense_is_refused(tmp_path: Path, content: str):
    (write(tmp_path) / "manifest.json").write_text(content)
    with pytest.raises(IndexCorruptError, match="manifest"):
        opened(tmp_path)


def test_what_a_dead_writer_left_is_ignored_and_cleared(tmp_path: Path):
    write(tmp_path)
    left = tmp_path / ".making-abc" / "content"
    left.mkdir(parents=True)
    (left / "entry_ids.npy").write_bytes(b"half")
    assert opened(tmp_path).manifest.entries == 40
    assert prune(tmp_path) == 0
    assert [path.name for path in tmp_path.iterdir()] == ["generation-0000000001"]


def test_a_failed_write_leaves_what_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    write(tmp_path)

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        write(tmp_path, 50)
    monkeypatch.undo()
    assert opened(tmp_path).manifest.entries == 40
    assert len(list(tmp_path.iterdir())) == 1


def test_an_open_generation_outlives_its_files(tmp_path: Path):
    write(tmp_path)
    index = opened(tmp_path).index()
    before = by_keyword(index, [[4, 5]], {Field.TEXT: 1.0}, 9)[0].entry_ids.tolist()
    prune(tmp_path, keep=0)
    assert generations(tmp_path) == []
    after = by_keyword(index, [[4, 5]], {Field.TEXT: 1.0}, 9)[0].entry_ids.tolist()
    assert before == after != []


KILLED = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from index_rows import by_keyword, by_vector, make_rows
from ragkit.indexes.local.generation import write_generation
from ragkit.indexes.rows import RowSlices
from ragkit.types import Version
count = 1
while True:
    count += 1
    rows = RowSlices.of(make_rows(range(1, count)))
    write_generation(Path(sys.argv[1]), rows, fingerprint="hash-1",
                     tokenizer_version="1", version=Version(count))
    print("written", flush=True)
"""


def test_killed_at_any_instant_there_is_a_whole_one(tmp_path: Path):
    write(tmp_path, 1, version=1)
    last = 1
    for attempt in range(4):
        process = subprocess.Popen(
            [sys.executable, "-c", KILLED, str(tmp_path), str(Path(__file__).parent)],
            stdout=subprocess.PIPE,
        )
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(0.05 + 0.07 * attempt)
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
        manifest = opened(tmp_path).manifest
        assert manifest.entries == max(1, manifest.collection_version - 1)
        last = manifest.collection_version
        prune(tmp_path)
    assert last > 1


def test_a_small_segment_is_one_file_beside_its_manifest(tmp_path: Path, monkeypatch):
    monkeypatch.setattr(packed, "MOST_ROWS", 40)
    assert files_of(write(tmp_path)) == ["manifest.json", "rows.npz"]
    assert len(files_of(write(tmp_path, 41))) > 15


def test_both_forms_score_alike(tmp_path: Path, monkeypatch):
    found = []
    for most in (0, 40):
        monkeypatch.setattr(packed, "MOST_ROWS", most)
        write(tmp_path, parameters=Bm25Parameters(k1=0.9, b=0.4))
        index = opened(tmp_path).index()
        assert index.base.parameters == Bm25Parameters(k1=0.9, b=0.4)
        queries = np.array(make_rows(range(900, 904)).vectors, np.float32)
        each = [*by_keyword(index, [[3, 4]], {Field.TEXT: 1}, 20), *by_vector(index, queries, 20)]
        found.append([(one.entry_ids.tolist(), one.scores.tolist()) for one in each])
    assert found[0] == found[1]
