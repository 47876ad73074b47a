"""What reading processes prepare, its way between processes, and what goes wrong on it."""

from __future__ import annotations

import json
from array import array
from dataclasses import replace
from importlib import import_module

import pytest
from small_library import HANDBOOK, add, open_library, write_files

from ragkit.chunking import divide, structural_context
from ragkit.chunking.sizes import ChunkSizes
from ragkit.errors import ReadingError
from ragkit.indexes.tokenizer import index_tokens
from ragkit.indexing.preparation import pack, prepare, unpack
from ragkit.reading import PostProcessor, ReaderPool, ReadTask
from ragkit.reading.wire import cutting_seconds
from ragkit.settings import ChunkingSettings, ReadingSettings
from ragkit.types import Markup, Page, Reading

_TEXT = "# Refunds\n\n" + "Money comes back in five days. " * 40 + "\n\n## Größe 表\n\ncafé\n"
_READING = Reading(
    _TEXT, "Handbook", "markdown", Markup.MARKDOWN, pages=(Page(1, "iv", 0, len(_TEXT)),)
)
_SIZES = ChunkSizes(words=60, overlap=10, min_words=0)
_MODULE = """
import os, time

def maker(options):
    def make(reading, name):
        deed = options.get(name, "")
        if deed == "raise":
            raise KeyError(name)
        if deed == "deep":
            def deeper():
                return deeper()
            deeper()
        if deed == "memory":
            kept = [bytearray(50_000_000) for _ in range(200)]
        if deed == "exit":
            os._exit(3)
        if deed == "sleep":
            time.sleep(60)
        return {"title": reading.title, "text": reading.text}, name.encode()
    return make
"""


def _wire(prepared):
    header, data = pack(prepared)
    return json.loads(json.dumps(header)), data


def _words(prepared, arrays):
    return [[prepared.words.words[place] for place in one] for one in arrays]


def test_the_words_are_those_of_the_chunks_and_of_what_stands_above_them():
    prepared = prepare(_READING, "a.md", divide(_READING, _SIZES))
    chunks = divide(_READING, _SIZES).chunks
    assert prepared.chunks == chunks
    assert len(chunks) > 2
    own = [_TEXT[one.start : one.end] for one in chunks]
    assert _words(prepared, prepared.words.texts) == [index_tokens(text) for text in own]
    above = [structural_context("Handbook", replace(one, pages=None), ()) for one in chunks]
    assert _words(prepared, prepared.words.headings) == [index_tokens(text) for text in above]
    assert len(set(prepared.words.words)) == len(prepared.words.words)


def test_source_code_is_known_by_its_path():
    reading = replace(_READING, markup=Markup.CODE, pages=())
    prepared = prepare(reading, "tools/deploy.py", divide(reading, _SIZES))
    assert _words(prepared, prepared.words.headings)[0][:2] == index_tokens("tools/deploy.py")[:2]


@pytest.mark.parametrize("text", [_TEXT, "word", "\u00a0", "a\u0000b"])
def test_nothing_is_lost_between_processes(text):
    reading = replace(_READING, text=text, pages=())
    prepared = prepare(reading, "a.md", divide(reading, _SIZES))
    header, data = _wire(prepared)
    assert unpack(header, data, reading) == prepared


def _change(key, value):
    return lambda header: header.__setitem__(key, value)


@pytest.mark.parametrize(
    "damage",
    [
        lambda header: header.pop("words"),
        lambda header: header.pop("name"),
        lambda header: header.pop("contexts"),
        lambda header: header["contexts"].pop(),
        lambda header: header["contexts"].__setitem__(0, "long " * 100),
        lambda header: header["words"].pop(),
        lambda header: header["words"].__setitem__(0, 7),
        lambda header: header["chunks"].pop(),
        lambda header: header["chunks"][0].__setitem__(1, 10**6),
        lambda header: header["chunks"][0].__setitem__(2, 99),
        lambda header: header["chunks"][0].__setitem__(3, [1]),
        lambda header: header["sections"][0].__setitem__(0, -1),
        lambda header: header["sections"][0].__setitem__(2, 10**30),
        lambda header: header["sections"][0].__setitem__(1, float("inf")),
        lambda header: header["chunks"][0].__setitem__(4, [1]),
        lambda header: header["texts"].__setitem__(0, header["texts"][0] + 1),
        lambda header: header.update(texts=list(map(float, header["texts"]))),
        lambda header: header["keys"].pop(),
        lambda header: header["keys"][0].__setitem__(2, "00"),
        lambda header: header["keys"][0].__setitem__(2, "no number"),
        _change("texts", None),
        _change("sections", [[]]),
    ],
)
def test_what_makes_no_sense_is_refused(damage):
    header, data = _wire(prepare(_READING, "a.md", divide(_READING, _SIZES)))
    damage(header)
    with pytest.raises(ValueError, match=r"part|number|unpack"):
        unpack(header, data, _READING)


def test_half_a_number_is_refused():
    header, data = _wire(prepare(_READING, "a.md", divide(_READING, _SIZES)))
    with pytest.raises(ValueError, match="multiple"):
        unpack(header, data[:-1], _READING)
    with pytest.raises(ValueError, match="fit"):
        unpack(header, data[:-4] + array("I", [2**31]).tobytes(), _READING)


@pytest.fixture
def making(tmp_path, monkeypatch):
    (tmp_path / "making_for_tests.py").write_text(_MODULE)
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "files").mkdir()

    def run(options, names, text="text of NAME", **limits):
        tasks = []
        for key, name in enumerate(names):
            path = tmp_path / "files" / name
            path.write_text(text.replace("NAME", name))
            tasks.append(ReadTask(key, path, name))
        settings = ReadingSettings(**{"processes": 1, "timeout_seconds": 20, **limits})
        with ReaderPool(
            settings, PostProcessor(import_module("making_for_tests").maker, options)
        ) as pool:
            return [one for _, one in sorted((o.key, o) for o in pool.read(tasks))]

    return run


def test_each_reading_comes_with_what_was_made_of_it(making):
    found = making({}, ["a.md", "b.md"])
    assert [one.result.reading.text for one in found] == ["text of a.md", "text of b.md"]
    assert [one.result.made["title"] for one in found] == ["a", "b"]
    assert [one.result.data for one in found] == [b"a.md", b"b.md"]


@pytest.mark.parametrize(
    ("deed", "sentence"),
    [
        ("raise", "could not be cut into sections"),
        ("deep", "nested too deeply"),
        ("memory", "more than 300 MB of memory"),
        ("exit", "crashed on this file"),
    ],
)
def test_a_text_that_cannot_be_cut_fails_alone(making, deed, sentence):
    first, second, third = making({"b.md": deed}, ["a.md", "b.md", "c.md"], memory_mb=300)
    assert first.result.made["title"] == "a"
    assert isinstance(second.result, ReadingError)
    assert sentence in str(second.result)
    assert third.result.made["title"] == "c"


def test_what_is_made_is_made_of_the_text_that_arrives(making):
    cell = r'{"cell_type": "markdown", "metadata": {}, "source": ["half \ud800 é"]}'
    notebook = f'{{"cells": [{cell}], "metadata": {{}}, "nbformat": 4, "nbformat_minor": 5}}'
    (found,) = making({}, ["a.ipynb"], text=notebook)
    assert found.result.reading.text == "half \N{REPLACEMENT CHARACTER} é"
    assert found.result.made["text"] == found.result.reading.text


def test_a_long_text_has_more_time_to_be_cut():
    assert cutting_seconds(1000, timeout_seconds=10) == 10
    assert cutting_seconds(40_000_000, timeout_seconds=10) == 100


def test_cutting_has_a_time_limit(making, monkeypatch):
    monkeypatch.setattr("ragkit.reading.limits._LONGEST_WAIT", 1)
    first, second = making({"a.md": "sleep"}, ["a.md", "b.md"], timeout_seconds=1)
    assert "not finished after 1 s" in str(first.result)
    assert second.result.made["title"] == "b"


def test_nonsense_from_a_reading_process_is_a_reason_and_no_crash(tmp_path, monkeypatch):
    from ragkit.indexing import ingest

    write_files(tmp_path / "files", HANDBOOK)
    spoilt = "refund"
    real = ingest.unpack

    def unpacked(made, data, *of):
        if any(spoilt in str(word) for word in made["words"]):
            made["texts"] = [1]
        return real(made, data, *of)

    monkeypatch.setattr(ingest, "unpack", unpacked)
    library = open_library(tmp_path / "library")
    add(library, tmp_path / "files")
    failed = [one for one in library.documents.list() if one.reason]
    indexed = [one for one in library.documents.list() if not one.reason]
    library.close()
    assert failed
    assert indexed
    assert {one.reason.split(".")[0] for one in failed} == {
        "The file's text could not be cut into sections"
    }


def test_the_sizes_of_the_settings_are_those_of_the_reading_process():
    assert ChunkSizes(**ChunkingSettings().model_dump()) == ChunkSizes(320, 80, 200)
