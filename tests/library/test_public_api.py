"""The public API: what ``import ragkit`` offers, what docs/api.md shows, what README.md names."""

from __future__ import annotations

import doctest
import importlib
import json
import os
import re
import subprocess
import sys
from functools import cached_property
from pathlib import Path

import pytest
from small_library import HANDBOOK, write_files

import ragkit
from ragkit.errors import LibraryError, NotFoundError, QueryError, SettingsError
from ragkit.options import CutMethod, Mode
from ragkit.retrieval.similar import Similar, SimilarDocuments

_ROOT = Path(__file__).resolve().parents[2]
_API = (_ROOT / "docs" / "api.md").read_text("utf-8")
_README = (_ROOT / "README.md").read_text("utf-8")


def _code(text: str, language: str) -> str:
    return "\n".join(re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL))


_COMMANDS = sorted(set(re.findall(r"^ragkit ((?:judgments )?[a-z]+)", _code(_README, "sh"), re.M)))


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A directory with two documents, in which the built-in model is not needed."""
    garden = "# Garden\n\nTomatoes need water every day in summer, and much sun.\n"
    files = {"handbook/refunds.md": HANDBOOK["handbook/refunds.md"], "notes/garden.md": garden}
    write_files(tmp_path / "documents", files)
    monkeypatch.setenv("RAGKIT_MODELS__EMBEDDER", "hash")
    monkeypatch.chdir(tmp_path)
    return tmp_path


# -- docs/api.md -------------------------------------------------------------------------------


def test_the_first_example_of_the_documentation_is_short():
    first = re.findall(r"```python\n(.*?)```", _API, re.DOTALL)[0]
    assert len(first.strip().splitlines()) <= 20


def test_the_examples_of_the_documentation_run(place, capsys):
    exec(compile(_code(_API, "python"), "docs/api.md", "exec"), {})
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "2 indexed."
    assert lines[1].startswith("handbook/refunds.md ")
    assert "('Refunds',) " in "\n".join(lines)
    assert "A customer may ask for a refund within thirty days." in "\n".join(lines)
    for line in (
        "Garden 65 characters",
        "mode hybrid Which indexes are searched.",
        "2 topics: 2 segments → 3 hits → 2 documents → 2 shown",
        "handbook/refunds.md answers ['refunds paid']",
        "handbook/refunds.md 0",
        "True",
        "(0, 0) ('Refunds',) 142",
        "2 notes/garden.md indexed ",
        "done 1",
        "['garden.md']",
        "ferries.md The ferry to Texel sails every half hour.",
        "Add a folder first: ragkit add FOLDER, or in Python: ragkit.open(path, create=True).",
    ):
        assert line in lines


@pytest.mark.parametrize(
    "module",
    ["ragkit.retrieval.merge", "ragkit.retrieval.context_block",
     "ragkit.reading.conversations.message_rows"],
)  # fmt: skip
def test_the_examples_of_the_functions_for_rows_run(module):
    tried = doctest.testmod(importlib.import_module(module), optionflags=doctest.FAIL_FAST)
    assert tried.attempted > 0
    assert tried.failed == 0


def test_the_examples_for_rows_of_the_documentation_run():
    written = re.findall(r"^(````?)pycon\n(.*?)^\1$", _API, re.DOTALL | re.M)
    examples = "\n".join(code for _fence, code in written)
    code = doctest.DocTestParser().get_doctest(examples, {}, "docs/api.md", None, 0)
    tried = doctest.DocTestRunner().run(code)
    assert tried.attempted == 7
    assert tried.failed == 0


def test_the_documentation_lists_the_methods_of_every_service(place):
    rows = re.findall(r"^\| `library\.(\w+)` \| (.*) \|$", _API, re.M)
    with ragkit.open("library", create=True) as library:
        made_late = {
            name
            for name, value in vars(type(library)).items()
            if isinstance(value, cached_property)
            and value.func.__annotations__["return"].endswith(("Service", "History"))
        }
        services = {name for name in vars(library) if not name.startswith("_")} | made_late
        assert services - {"settings", "paths", "catalog"} == {name for name, _ in rows}
        for name, methods in rows:
            public = {one for one in dir(getattr(library, name)) if not one.startswith("_")}
            assert set(re.findall(r"`(\w+)`", methods)) == public, name


# -- ragkit.__all__ ----------------------------------------------------------------------------


@pytest.mark.parametrize("name", ragkit.__all__)
def test_every_public_name_can_be_imported_and_is_documented(name):
    value = getattr(ragkit, name)
    assert name in dir(ragkit)
    if name.endswith("_OPTIONS"):
        assert all(option.help for option in value.values())
    elif name != "__version__":
        assert value.__doc__
        assert value.__name__ == name


def test_other_names_are_refused():
    with pytest.raises(AttributeError, match="has no attribute 'nonsense'"):
        ragkit.nonsense  # noqa: B018


def test_importing_the_package_imports_nothing_else():
    code = (
        "import sys\nbefore = set(sys.modules)\nimport ragkit\n"
        "new = set(sys.modules) - before\n"
        "print([name for name in new if name.split('.')[0] not in sys.stdlib_module_names])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=_ROOT)
    assert run.stdout == "['ragkit']\n", run.stderr


# -- ragkit.open -------------------------------------------------------------------------------


def test_open_makes_no_library_unless_it_is_told_to(place):
    with pytest.raises(LibraryError, match="There is no library") as missing:
        ragkit.open(place / "library")
    assert "ragkit.open(path, create=True)" in missing.value.cure
    assert not (place / "library").exists()
    with ragkit.open(place / "library", create=True, collection="work") as library:
        assert library.settings.collection == "work"
        assert library.documents.list() == []
    with pytest.raises(LibraryError, match="The library is closed"):
        library.documents.list()
    ragkit.open(str(place / "library")).close()
    with ragkit.open(create=True) as usual:
        assert usual.paths.root == ragkit.load_settings().library
        assert usual.paths.root.is_relative_to(Path.home())


def test_a_wrong_setting_says_which_there_are_and_where_it_was_given(place):
    with pytest.raises(SettingsError) as unknown:
        ragkit.open("library", limit=3)
    assert unknown.value.message == "Wrong settings: limit: there is no such setting."
    assert unknown.value.cure.startswith("There are library, collection, ")
    assert unknown.value.cure.endswith(" web. Check what was given by name.")
    with pytest.raises(SettingsError, match=r"There are method, .*top_k"):
        ragkit.open("library", chunked={"limit": 3})
    with pytest.raises(SettingsError) as wrong:
        ragkit.open("library", search={"limit": 0})
    assert str(wrong.value) == (
        "Wrong settings: search.limit: must be at least 1, not 0. Check what was given by name."
    )
    (place / "ragkit.toml").write_text("[search]\nlimit = 0\n")
    with pytest.raises(SettingsError) as filed:
        ragkit.load_settings(place / "ragkit.toml", search={"mode": "keyword"})
    assert filed.value.cure == f"Check {place / 'ragkit.toml'} and the RAGKIT_* variables."


def test_options_are_given_by_name_or_as_a_whole(place):
    with ragkit.open("library", create=True) as library:
        library.jobs.wait(library.sources.sync(library.sources.add_folder("documents")))
        options = library.options(mode="keyword", limit=1, collections="default")
        assert (options.mode, options.limit) == (Mode.KEYWORD, 1)
        assert options.collections == ("default",)
        answer = library.search("refund", options=options)
        assert answer.results == library.search("refund", mode="keyword", limit=1).results != ()
        with pytest.raises(TypeError, match="not both"):
            library.search("refund", options, limit=1)
        with pytest.raises(SettingsError, match="mode"):
            library.search("refund", mode="guess")
        with pytest.raises(SettingsError, match="limit must be at least 1, not 0"):
            library.search("refund", limit=0)
        with pytest.raises(TypeError, match=r"filters must be a ragkit\.Filters"):
            library.search("refund", filters={"types": "md"})
        for value in (1, "one"):
            with pytest.raises(TypeError, match=r"nonsense\. The options are mode, "):
                library.search("refund", nonsense=value)


def test_options_of_a_long_text_are_given_as_those_of_a_search(place):
    with ragkit.open("library", create=True) as library:
        chunked = library.chunked_options(method="fixed", limit="3", dedup=None)
        assert (chunked.method, chunked.limit, chunked.dedup) == (CutMethod.FIXED, 3, "document")
        with pytest.raises(SettingsError, match="limit must be at least 1, not 0"):
            library.chunked_options(limit=0)
        with pytest.raises(TypeError, match="There is no option top_k"):
            library.chunked_options(top_k=3)


def test_the_parts_of_filters_may_be_lists_or_single_values():
    given = ragkit.Filters(
        types=["md", "pdf"], paths="notes/", documents=3, fields={"framework": "legal"}
    )
    assert given == ragkit.Filters(
        types=("md", "pdf"), paths=("notes/",), documents=(3,), fields=(("framework", "legal"),)
    )
    assert hash(given)


@pytest.mark.parametrize("part", ["after", "before"])
def test_a_filter_by_date_is_a_period_of_the_calendar(part):
    for value in ("2025", "2025-01", "2025-01-31", ""):
        assert getattr(ragkit.Filters(**{part: value}), part) == value
    for value in ("not a date", "20255", "2025-1", "2025-02-30", "2025-01-31T10:00", "0000"):
        with pytest.raises(QueryError, match=f'{part}: "{value}" is no date'):
            ragkit.Filters(**{part: value})
    with pytest.raises(TypeError, match=f"{part} must be a text"):
        ragkit.Filters(**{part: 2025})


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"paths": 5}, "paths must be texts, not 5"),
        ({"paths": ("a", 5)}, "paths must be texts, not 5"),
        ({"types": None}, "types must be texts, not None"),
        ({"documents": "12"}, "documents must be whole numbers, not '12'"),
        ({"documents": (1, 2.5)}, "documents must be whole numbers, not 2.5"),
        ({"fields": ("framework", "vue")}, r"fields must be \(name, value\) pairs .*'framework'"),
        ({"fields": "framework"}, r"fields must be \(name, value\) pairs .*'framework'"),
        ({"fields": {"framework": 5}}, r"fields must be \(name, value\) pairs .*"),
    ],
)
def test_a_part_of_filters_that_cannot_be_is_named(given, said):
    with pytest.raises(TypeError, match=said):
        ragkit.Filters(**given)


def test_what_no_library_can_be_asked_is_refused(place):
    with ragkit.open("library", create=True) as library:
        library.jobs.wait(library.sources.sync(library.sources.add_folder("documents")))
        with pytest.raises(QueryError, match="No collection is named"):
            library.search("refund", collections=())
        with pytest.raises(QueryError, match="No collection is named"):
            library.search_chunked("refund", library.options(collections=()))
        with pytest.raises(TypeError, match="'str' object cannot be interpreted as an integer"):
            library.documents.get("1")
        with pytest.raises(QueryError, match="no status 'typo'"):
            library.documents.list("default", status="typo")
        assert len(library.documents.list("default", status="indexed")) == 2
        assert len(library.documents.list("default", limit=-1)) == 2
        for part in ({"limit": -2}, {"offset": -1}):
            with pytest.raises(QueryError, match="cannot be negative"):
                library.documents.list("default", **part)
        with pytest.raises(NotFoundError, match="no job 999"):
            library.jobs.wait(999)
        with pytest.raises(QueryError, match='no job of the kind "nope"'):
            library.jobs.add("nope")
        assert library.jobs.open() == []


def test_values_become_the_json_that_commands_print(place):
    with ragkit.open("library", create=True) as library:
        library.jobs.wait(library.sources.sync(library.sources.add_folder("documents")))
        answer = library.search("refund")
        [result, *_] = answer.results
        document = result.document.id
        [printed] = _printed("search", "refund")
        value = json.loads(json.dumps(ragkit.as_json(answer), allow_nan=False))
        assert value.keys() == printed.keys()
        assert [one["document"] for one in value["results"]] == [
            one["document"] for one in printed["results"]
        ]
        assert ragkit.as_json(result) == value["results"][0]
        passage = library.documents.passage(document, 0, 10)
        assert ragkit.as_json(passage)["text"] == passage.text
        listed = [ragkit.as_json(record) for record in library.documents.list()]
        assert listed == _printed("list")
        assert ragkit.as_json(library.documents.similar(document))["copies"] == []
        alike = Similar(library.documents.list()[0], 0.7, "similar")
        value = ragkit.as_json(SimilarDocuments((alike,)))
        assert value["documents"] == [ragkit.as_json(alike)]
        assert ragkit.as_json(alike)["cosine"] == 0.7
        assert ragkit.as_json(library.search_chunked("refund"))["metrics"]["shown"] >= 1
        asked = library.search("When may a customer ask for a refund?")
        quick = tuple(library.answers.quick(asked))
        written = ragkit.WrittenAnswer("refund", "m", sources=quick)
        thread = library.threads.begin("refund", ("default",))
        library.threads.add(thread.id, ragkit.Turn("refund", "refund", quick, written))
        kept = library.threads.get(thread.id)
        turn = ragkit.as_json(kept.turns[0])
        assert [ragkit.as_json(source) for source in quick] == turn["quick"] != []
        assert ragkit.as_json(kept.turns[0].written)["sources"][0]["number"] == 1
        assert ragkit.as_json(kept)["turns"] == [ragkit.as_json(kept.turns[0])]
    with pytest.raises(TypeError, match="A str has no JSON form"):
        ragkit.as_json("refund")


def _printed(*command):
    """The JSON values of each line that a command prints."""
    words = [sys.executable, "-m", "ragkit", *command, "--library", "library", "--json"]
    environment = {**os.environ, "PYTHONPATH": str(_ROOT)}
    run = subprocess.run(words, capture_output=True, check=True, env=environment)
    return [json.loads(line) for line in run.stdout.splitlines()]


def test_a_library_says_where_it_is(place):
    with ragkit.open("library", create=True) as library:
        assert repr(library) == f"Library({str(place / 'library')!r})"


# -- README.md ---------------------------------------------------------------------------------


def test_the_readme_names_commands():
    assert {"add", "search", "serve", "judgments write"} <= set(_COMMANDS)


@pytest.mark.parametrize("command", _COMMANDS)
def test_each_command_of_the_readme_says_how_it_is_used(command, in_process):
    run = in_process(*command.split(), "--help")
    assert run.returncode == 0, run.stderr
    assert f"ragkit {command}" in run.stdout
