"""Libraries whose embedder or reranker is a model in a folder, which may change, move or vanish."""

from __future__ import annotations

import shutil

import pytest
from model_folders import cross_encoder_folder, embedder_folder, static_folder, token_vectors
from small_library import add, find, paths, write_files

from ragkit.catalog.background_state import BackgroundPhase
from ragkit.errors import ModelFolderError, NotFoundError, SettingsError
from ragkit.health.findings import Depth
from ragkit.library import Library
from ragkit.models.model_folder import ModelKind
from ragkit.options import Mode, Rerank
from ragkit.settings import load_settings

FILES = {
    "boats.md": "# Boats\n\nA customer may return the buoy of a boat.\n",
    "food.md": "# Food\n\nThe cook has a soup of carrots and onions.\n",
}
WORDS_ALONE = "These results are by words alone: "


def opened(tmp_path, embedder="hash"):
    # An address where no Ollama is.
    models = {"embedder": embedder, "ollama_url": "http://127.0.0.1:9", "connect_seconds": 0.5}
    settings = load_settings(library=tmp_path / "library", models=models, reading={"processes": 1})
    return Library.open(settings, create=True)


@pytest.fixture
def library(tmp_path):
    made = opened(tmp_path)
    add(made, write_files(tmp_path / "files", FILES))
    yield made
    made.close()


def again(library):
    """The same library as another process opens it."""
    return Library.open(library.settings)


def move(library, folder):
    library.embedders.choose(f"folder:{folder}")
    assert library.embedders.embed_missing() == ""


def best(library, question):
    found = library.search(question, mode=Mode.VECTOR)
    return paths(found)[:1], found.notices


@pytest.mark.parametrize("make", [embedder_folder, static_folder])
def test_a_library_moves_to_a_folder_and_back(library, tmp_path, make):
    folder = make(tmp_path / "tiny")
    move(library, folder)

    assert library.embedder.name == f"folder:{folder}"
    assert library.embedder.dimensions == 16
    assert best(library, "onions carrots") == (["food.md"], ())
    more = write_files(tmp_path / "more", {"storm.md": "# Storm\n\nThe harbour has a storm.\n"})
    add(library, more)
    assert library.embedders.embed_missing() == ""
    assert best(library, "storm harbour")[0] == ["storm.md"]
    assert [one.sentence for one in library.health.verify() if not one.ok] == []

    library.embedders.revert()
    assert library.embedder.name == "hash"


def test_a_folder_that_vanishes_leaves_words_and_comes_back(library, tmp_path):
    folder = embedder_folder(tmp_path / "drive" / "tiny")
    move(library, folder)
    (tmp_path / "drive").rename(tmp_path / "away")

    with again(library) as other:
        found = find(other, "onions carrots")
        assert paths(found) == ["food.md"]
        (notice,) = found.notices
        assert notice.startswith(f"{WORDS_ALONE}There is no folder {folder}. Mount its drive")
        more = write_files(tmp_path / "more", {"storm.md": "# Storm\n\nThe harbour has a storm.\n"})
        add(other, more)
        assert paths(find(other, "harbour")) == ["storm.md"]
        assert "There is no folder" in other.embedders.embed_missing()
        assert other.embedders.status().phase is BackgroundPhase.OFF
        problems = [one for one in other.health.check(Depth.GLANCE) if not one.ok]
        assert sum("There is no folder" in one.sentence for one in problems) == 1
        (tmp_path / "away").rename(tmp_path / "drive")
        assert other.embedders.embed_missing() == ""
        assert best(other, "storm harbour") == (["storm.md"], ())
        assert all(one.ok for one in other.health.verify())


def test_a_folder_that_moves_costs_no_vector(library, tmp_path):
    folder = embedder_folder(tmp_path / "tiny")
    move(library, folder)
    vectors = library.catalog.integrity.space()
    with again(library) as reader:
        folder.rename(tmp_path / "moved")
        assert best(reader, "soup")[1] != ()

        sentence = library.embedders.choose(f"folder:{tmp_path / 'moved'}")

        assert (
            sentence == f"folder:{tmp_path / 'moved'} is the embedding model already, and stays it."
        )
        assert best(reader, "soup") == (["food.md"], ())
        assert best(library, "onions")[0] == ["food.md"]
        assert library.embedders.status().active == f"folder:{tmp_path / 'moved'}"
        assert library.catalog.integrity.space() == vectors


def test_files_that_are_replaced_are_another_embedder(library, tmp_path):
    folder = embedder_folder(tmp_path / "tiny")
    move(library, folder)
    shutil.rmtree(folder)
    embedder_folder(folder, vectors=token_vectors(8))

    with again(library) as other:
        (notice,) = find(other, "onions").notices
        assert notice.startswith(f"{WORDS_ALONE}folder:{folder} is another version")
        said = other.embedders.choose(f"folder:{folder}")
        assert said.startswith(f"Switching to the new version of folder:{folder}")
        assert other.embedders.embed_missing() == ""
        assert best(other, "onions carrots") == (["food.md"], ())


def test_a_folder_without_an_embedder_is_not_chosen(library, tmp_path):
    with pytest.raises(ModelFolderError, match="a cross-encoder, not an embedder"):
        library.embedders.choose(f"folder:{cross_encoder_folder(tmp_path / 'c')}")
    with pytest.raises(ModelFolderError, match="There is no folder"):
        library.embedders.choose("folder:/no/such/folder")
    with pytest.raises(ModelFolderError, match="downloads no models"):
        library.embedders.choose("folder:https://models.example/tiny")
    assert (library.embedder.name, library.embedders.status().target) == ("hash", "")


def test_a_new_library_whose_folder_is_missing_uses_the_built_in_one_until_it_is_there(tmp_path):
    folder = tmp_path / "tiny"
    with opened(tmp_path, f"folder:{folder}") as library:
        add(library, write_files(tmp_path / "files", FILES))
        state = library.embedders.status()
        assert (state.active, state.target) == ("wordllama", f"folder:{folder}")
        embedder_folder(folder)
        assert library.embedders.embed_missing() == ""
        assert library.embedder.name == f"folder:{folder}"
        assert best(library, "onions carrots") == (["food.md"], ())


def test_what_is_added_is_listed_offered_and_used(library, tmp_path):
    embedder = embedder_folder(tmp_path / "e")
    reranker = cross_encoder_folder(tmp_path / "c")
    assert library.models.list() == []
    assert library.models.reranker == ""

    for folder in (embedder, reranker):
        library.models.add(library.models.check(folder))

    listed = {one.model.name: one for one in library.models.list()}
    assert list(listed) == [f"folder:{embedder}", f"folder:{reranker}"]
    assert [one.used for one in listed.values()] == ["", "reranks"]
    assert listed[f"folder:{embedder}"].model.kind == ModelKind.EMBEDDER
    offers = {one.name: one for one in library.embedders.offers().offers}
    assert offers[f"folder:{embedder}"].dimensions == 16
    assert f"folder:{reranker}" not in offers
    found = library.search("return the buoy", rerank=Rerank.MODEL)
    assert next(one.note for one in found.trace.stages if one.name == "reranking").startswith("c: ")

    move(library, embedder)
    with pytest.raises(SettingsError, match="embeds this library"):
        library.models.remove(embedder)
    library.models.remove(reranker)
    assert library.models.reranker == ""
    with pytest.raises(NotFoundError, match="was not added"):
        library.models.remove(reranker)


def test_health_names_what_is_missing_once_and_says_what_to_do(library, tmp_path, monkeypatch):
    folder = cross_encoder_folder(tmp_path / "c")
    library.models.add(library.models.check(folder))

    def findings():
        found = library.health.check(Depth.GLANCE)
        return [(one.ok, one.sentence, one.fix) for one in found if one.name == "models"]

    assert findings() == [(True, f"The model that reranks is in its folder, {folder}.", "")]
    monkeypatch.setattr("ragkit.health.environment.is_installed", lambda: False)
    needs = "The model that reranks needs onnxruntime, which is not installed."
    assert findings() == [(False, needs, "Install it: python -m pip install onnxruntime")]
    (folder / "model.onnx").unlink()
    ((ok, text, fix),) = findings()
    gone = f"There is no model in {folder}."
    assert (ok, text) == (False, f"The model that reranks cannot be used. {gone}")
    assert "tokenizer.json and model.onnx" in fix
    assert library.models.list()[0].trouble == f"{gone} {fix}"
