from __future__ import annotations

import dataclasses
import re
import tomllib
from pathlib import Path

import pytest
from pydantic import ValidationError

from ragkit.errors import SettingsError
from ragkit.settings import AnswerSettings, Settings, load_settings, settings_file


@pytest.fixture
def config(tmp_path, monkeypatch):
    """Write the settings file that RAGKIT_CONFIG names."""
    path = tmp_path / "ragkit.toml"

    def write(content: str | bytes) -> Path:
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        monkeypatch.setenv("RAGKIT_CONFIG", str(path))
        return path

    return write


def test_without_anything_the_defaults_hold(home):
    found = load_settings()
    assert found == Settings()
    assert (found.search.limit, found.chunking.words, found.collection) == (10, 320, "default")
    assert found.library.is_relative_to(home)
    assert settings_file().is_relative_to(home)
    assert not list(home.iterdir())


def test_each_layer_wins_over_the_one_below(config, monkeypatch):
    config("[search]\nlimit = 20\ncandidates = 21\nrrf_k = 22\n")
    monkeypatch.setenv("RAGKIT_SEARCH__CANDIDATES", "31")
    monkeypatch.setenv("RAGKIT_SEARCH__RRF_K", "32")
    found = load_settings(search={"rrf_k": 42}).search
    assert (found.limit, found.candidates, found.rrf_k) == (20, 31, 42)
    assert found.mode == "hybrid"


def test_how_vectors_are_searched_can_be_set(config):
    config('[search]\nindex = "ann"\nnprobe = 32\noverfetch = 2\n[index]\nann_rows = 5\n')
    found = load_settings()
    assert (found.search.index, found.search.nprobe, found.search.overfetch) == ("ann", 32, 2)
    assert found.index.ann_rows == 5
    assert found.chunked.mode == "auto"


def test_what_the_command_line_leaves_out_is_not_given(config):
    config('collection = "mine"\n[search]\nlimit = 7\n')
    found = load_settings(collection=None, search={"limit": None, "rrf_k": 9})
    assert (found.collection, found.search.limit, found.search.rrf_k) == ("mine", 7, 9)


def test_a_file_given_by_name_wins_over_the_environment(config, tmp_path):
    config("[search]\nlimit = 7\n")
    other = tmp_path / "other.toml"
    other.write_text("[search]\nlimit = 8\n")
    assert load_settings(other).search.limit == 8


def test_the_file_in_its_usual_place_is_read():
    path = settings_file()
    path.parent.mkdir(parents=True)
    path.write_text('collection = "usual"\n')
    assert load_settings().collection == "usual"


def test_nested_variables_and_lists(monkeypatch):
    monkeypatch.setenv("RAGKIT_SOURCES__GITIGNORE", "no")
    monkeypatch.setenv("RAGKIT_SOURCES__ALLOWED_ROOTS", '["/a", "/b"]')
    monkeypatch.setenv("RAGKIT_SEARCH", '{"limit": 3}')
    monkeypatch.setenv("RAGKIT_SEARCH__RRF_K", "4")
    found = load_settings()
    assert found.sources.gitignore is False
    assert found.sources.allowed_roots == (Path("/a"), Path("/b"))
    assert (found.search.limit, found.search.rrf_k) == (3, 4)


def test_an_empty_variable_counts_as_none(monkeypatch):
    monkeypatch.setenv("RAGKIT_LIBRARY", "")
    monkeypatch.setenv("RAGKIT_CONFIG", "")
    assert load_settings() == Settings()


def test_the_home_folder_may_be_written_as_a_tilde(config, home, monkeypatch):
    config('library = "~/lib"\n[sources]\nallowed_roots = ["~/docs", "/x"]\n')
    found = load_settings()
    assert found.library == home / "lib"
    assert found.sources.allowed_roots == (home / "docs", Path("/x"))
    monkeypatch.setenv("RAGKIT_LIBRARY", "~/other")
    assert load_settings().library == home / "other"


def test_settings_are_frozen_and_can_key_a_cache(config):
    one, two = load_settings(), load_settings()
    assert one == two
    assert hash(one) == hash(two)
    assert type(one) is Settings
    config("[search]\nlimit = 11\n[sources]\nallowed_roots = ['/a']\n")
    three = load_settings()
    assert {one: "a", two: "b", three: "c"} == {one: "b", three: "c"}
    with pytest.raises(ValidationError):
        one.collection = "x"
    with pytest.raises(ValidationError):
        one.search.limit = 5
    assert not dataclasses.is_dataclass(one)


_WRONG = {
    "nope = 1": "nope: there is no such setting",
    "[chunking]\nwordz = 3": "chunking.wordz: there is no such setting",
    "[nogroup]\na = 3": "nogroup: there is no such setting",
    "[chunking]\nwords = 100\noverlap = 51": "chunking: overlap must be at most half of words",
    "[chunking]\nwords = 'x'": "chunking.words: must be a whole number, not 'x'",
    "[chunking]\nwords = 3": "chunking.words: must be at least 20, not 3",
    "[search]\nlimit = 999": "search.limit: must be at most 200, not 999",
    "[search]\nlimit = 2.5": "search.limit: must be a whole number, not 2.5",
    "[reading]\ntimeout_seconds = 0": "reading.timeout_seconds: must be more than 0",
    "[search]\nvector_weight = nan": "search.vector_weight: must be a finite number",
    "[search]\nvector_weight = 'a'": "search.vector_weight: must be a number, not 'a'",
    "[search]\nmode = 'foo'": "search.mode: must be 'hybrid', 'keyword' or 'vector', not 'foo'",
    "[sources]\ngitignore = 'maybe'": "sources.gitignore: must be true or false, not 'maybe'",
    "[sources]\nallowed_roots = '/x'": "sources.allowed_roots: must be a list, not '/x'",
    "[sources]\nallowed_roots = ['b']": "allowed_roots: needs absolute paths of folders, not 'b'",
    "[sources]\nshared_roots = ['']": "shared_roots: needs absolute paths of folders, not '.'",
    "collection = ''": "collection: must not be empty",
    "collection = 5": "collection: must be text, not 5",
    "library = 5": "library: must be a path, not 5",
    "library = '~nobody-at-all/x'": "library: there is no home folder for ~nobody-at-all/x",
    "[models]\nembedder = 'folder:x'": 'models.embedder: "folder:" needs the absolute path',
    "[models]\nrerank_model = 'folder:https://a/b'": 'models.rerank_model: "folder:" needs',
    "chunking = 3": "chunking: must be a table of settings, not 3",
    "nope = 1\n[search]\nlimit = 0": "; search.limit: must be at least 1, not 0",
}
_JARGON = ("pydantic", "validation", "value error", "extra inputs", "input should", "_FromFile")


def _check_sentence(error: SettingsError) -> None:
    text = str(error)
    assert not any(word.lower() in text.lower() for word in _JARGON), text
    assert text.endswith(".")
    assert "\n" not in text
    assert error.cure


@pytest.mark.parametrize("content", _WRONG)
def test_each_wrong_setting_is_named_in_a_sentence(config, content):
    path = config(content)
    with pytest.raises(SettingsError) as caught:
        load_settings()
    said = _WRONG[content].removeprefix("; ")
    assert said in caught.value.message.replace("Wrong settings: ", "")
    assert str(path) in caught.value.cure
    _check_sentence(caught.value)


def test_overlap_of_exactly_half_is_allowed(config):
    config("[chunking]\nwords = 100\noverlap = 50\n")
    assert load_settings().chunking.overlap == 50


def test_overlap_is_checked_across_layers(config, monkeypatch):
    config("[chunking]\nwords = 100\noverlap = 40\n")
    monkeypatch.setenv("RAGKIT_CHUNKING__WORDS", "60")
    with pytest.raises(SettingsError, match="overlap must be at most half of words"):
        load_settings()


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("RAGKIT_SEARCH__LIMIT", "many", "search.limit: must be a whole number, not 'many'"),
        ("RAGKIT_SEARCH__LIMITT", "3", "search.limitt: there is no such setting"),
        ("RAGKIT_SEARCH", "{bad", "RAGKIT_SEARCH, or a list below it, is not valid JSON"),
        ("RAGKIT_SOURCES__ALLOWED_ROOTS", "/home", "RAGKIT_SOURCES, or a list below it"),
        ("RAGKIT_SEARCH", "3", "search: must be a table of settings"),
    ],
)
def test_wrong_variables_are_named_in_a_sentence(monkeypatch, name, value, said):
    monkeypatch.setenv(name, value)
    with pytest.raises(SettingsError) as caught:
        load_settings()
    assert said in str(caught.value)
    _check_sentence(caught.value)


def test_wrong_options_of_the_command_line_are_named():
    with pytest.raises(SettingsError, match=r"search\.limit: must be at least 1, not 0"):
        load_settings(search={"limit": 0})
    with pytest.raises(SettingsError, match="bogus: there is no such setting"):
        load_settings(bogus=1)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("a = ", "is not valid TOML"),
        ("[search]\nlimit = 1\n[search]\n", "line 3"),
        ("[search\n", "line 1"),
        (b"\xff\xfe[\x00", "is not UTF-8 text"),
        (b"collection = '\xe9'", "is not UTF-8 text"),
    ],
)
def test_a_file_that_is_no_toml_is_named(config, content, said):
    path = config(content)
    with pytest.raises(SettingsError) as caught:
        load_settings()
    assert str(path) in caught.value.message
    assert said in caught.value.message
    _check_sentence(caught.value)


def test_a_file_with_the_byte_order_mark_of_windows_is_read(config):
    config(b"\xef\xbb\xbf[search]\r\nlimit = 7\r\n")
    assert load_settings().search.limit == 7


def test_a_settings_file_that_was_named_and_is_not_there_is_said(monkeypatch, tmp_path):
    with pytest.raises(SettingsError, match="There is no settings file"):
        load_settings(tmp_path / "none.toml")
    monkeypatch.setenv("RAGKIT_CONFIG", str(tmp_path))
    with pytest.raises(SettingsError, match="There is no settings file") as caught:
        load_settings()
    _check_sentence(caught.value)


def test_a_settings_file_that_cannot_be_opened_is_said(config, monkeypatch):
    path = config("")
    real = Path.open

    def refuse(self, *arguments, **options):
        if self == path:
            raise PermissionError(13, "Permission denied")
        return real(self, *arguments, **options)

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(SettingsError, match="cannot be read: Permission denied") as caught:
        load_settings()
    _check_sentence(caught.value)


def test_the_exit_code_tells_wrong_usage():
    assert SettingsError("x").exit_code == 2


def test_the_readme_has_each_setting_of_answers_with_its_default():
    readme = Path(__file__).resolve().parents[1] / "README.md"
    table = readme.read_text("utf-8").split("| `[answers]` |")[1].split("\n\n")[0]
    rows = re.findall(r"^\| `(\w+)` \| `(.+?)` \|", table, re.M)
    assert {name: tomllib.loads(f"v = {value}")["v"] for name, value in rows} == {
        name: field.default for name, field in AnswerSettings.model_fields.items()
    }


def test_a_folder_with_a_model_is_named_by_its_whole_path(monkeypatch):
    monkeypatch.setenv("HOME", "/home/me")
    models = load_settings(models={"rerank_model": " folder:~/tiny/ "}).models
    assert models.rerank_model == "folder:/home/me/tiny"
