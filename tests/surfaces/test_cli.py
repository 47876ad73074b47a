"""The command line as a person or a script meets it: through real processes."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from small_library import HANDBOOK, add, open_library, write_files
from typer.main import get_command

from ragkit import __version__
from ragkit.indexing.writer import writer_lock
from ragkit.options import CHUNKED_OPTIONS, SEARCH_OPTIONS
from ragkit.paths import LibraryPaths
from ragkit.surfaces.cli import app as cli
from ragkit.surfaces.cli import console

HOSTILE = (
    "# Hostile \x1b[31m title\n\nA walrus \x1b]0;owned\x07 and \x9b2J bells \x07\x08 "
    "\u202e right to left \u200b zero width <script>alert(1)</script>.\n"
)


def ragkit(*arguments, **more):
    environment = {**os.environ, "RAGKIT_MODELS__EMBEDDER": "hash", **more.pop("env", {})}
    return subprocess.run(
        [sys.executable, "-m", "ragkit", *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=120,
        stdin=subprocess.DEVNULL,
        env=environment,
        **more,
    )


@pytest.fixture
def here(in_process):
    """The same in this process, where that makes no difference."""
    return in_process


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A library made in this process, to be asked by others."""
    folder = tmp_path_factory.mktemp("cli")
    library = open_library(folder / "library")
    write_files(folder / "files", {**HANDBOOK, "hostile.md": HOSTILE})
    library.embedders.pin(_hash_embedder())
    add(library, folder / "files")
    library.close()
    return folder


def _hash_embedder():
    from ragkit.models.hashing import HashEmbedder

    return HashEmbedder()


@pytest.fixture
def library(place):
    return place / "library"


def test_what_can_be_added_is_indexed_beside_what_cannot(tmp_path, here):
    files = write_files(tmp_path / "files", {"a.md": "A walrus.\n", "inner/b.md": "A narwhal.\n"})
    more = write_files(tmp_path / "more", {"c.md": "An otter.\n"})
    where = ("--library", tmp_path / "library")
    added = here("add", *where, files, files / "inner", more)
    assert added.returncode == 1
    assert added.stderr == (
        f"2 indexed.\n1 indexed.\nragkit: {files / 'inner'} is inside {files}, which is already in "
        "this collection. Nothing needs to be added.\n"
    )
    assert len(here("list", *where).stdout.splitlines()) == 3


def test_a_library_from_add_to_remove(tmp_path, here):
    files = write_files(tmp_path / "files", HANDBOOK)
    file = tmp_path / "walrus.txt"
    file.write_text("A walrus sleeps.\n")
    where = ("--library", tmp_path / "library")
    added = ragkit("add", *where, files, file)
    assert (added.returncode, added.stdout) == (0, "")
    assert added.stderr == ("walrus.txt: copied\n5 indexed.\n1 indexed.\n")
    file.unlink()
    (files / "data/prices.csv").unlink()
    write_files(files, {"new.md": "# New\n\nA lighthouse.\n"})
    dry = here("sync", *where, "--dry-run")
    assert dry.returncode == 0
    assert dry.stdout == "new     new.md\ngone    data/prices.csv\n"
    asked = json.loads(here("sync", *where, "--dry-run", "--json").stdout.splitlines()[0])
    assert (asked["new"], asked["gone"], asked["changed"]) == (["new.md"], ["data/prices.csv"], [])
    assert "prices" in here("list", *where).stdout
    (files / "new.md").unlink()
    synced = ragkit("sync", *where, "--json")
    assert synced.returncode == 0
    assert synced.stderr == "1 removed, 5 unchanged.\n"
    [job] = map(json.loads, synced.stdout.splitlines())
    assert (job["kind"], job["state"], job["message"]) == (
        "sync",
        "done",
        "1 removed, 5 unchanged.",
    )
    assert [job] == [json.loads(here("jobs", *where, "--json", "-n", "1").stdout)]
    kept = here("remove", *where, "notes/memo.md", "--yes")
    assert (kept.returncode, kept.stdout) == (1, "")
    assert kept.stderr.startswith("ragkit: notes/memo.md is in a watched folder.")
    again = here("sync", *where, "--reread", files / "notes")
    assert (again.returncode, again.stderr) == (0, "2 indexed.\n")
    elsewhere = here("sync", *where, "--reread", tmp_path)
    assert (elsewhere.returncode, elsewhere.stdout) == (5, "")
    assert "is not in any folder of the library" in elsewhere.stderr
    refused = here("remove", *where, files)
    assert refused.returncode == 2
    assert "--yes" in refused.stderr
    removed = ragkit("remove", *where, "--yes", files)
    assert removed.returncode == 0
    assert f"Removed {files} with 4 documents." in removed.stderr
    [line] = here("list", *where, "--json").stdout.splitlines()
    assert json.loads(line)["path"] == "walrus.txt"
    assert "walrus.txt" in here("search", *where, "walrus").stdout
    assert here("remove", *where, "walrus.txt", "--yes").returncode == 0
    assert here("list", *where, "--json").stdout == ""
    assert (files / "notes/memo.md").is_file()


def test_list_prints_one_json_object_a_line(library, here):
    done = here("list", "--library", library, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    records = [json.loads(line) for line in done.stdout.splitlines()]
    assert {one["path"] for one in records} == {*HANDBOOK, "hostile.md"}
    for one in records:
        assert type(one["path"]) is type(one["status"]) is type(one["reason"]) is str
        assert type(one["chunks"]) is int
        assert one["status"] == "indexed"
    assert here("list", "--library", library, "--status", "failed").stdout == ""


def test_status_counts(library, here):
    done = here("status", "--library", library, "--json")
    told = json.loads(done.stdout)
    assert (told["documents"], told["indexed"], told["failed"], told["pending"]) == (6, 6, 0, 0)
    assert told["skipped"] == 0
    assert told["chunks"] >= 6
    assert told["writing"] is False
    assert told["collections"] == ["default"]
    assert "6 indexed" in here("status", "--library", library).stdout


def test_search_json_is_the_object_that_scripts_rely_on(library, here):
    done = here("search", "--library", library, "refund within thirty days", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.count("\n") == 1
    answer = json.loads(done.stdout)
    assert answer["query"] == "refund within thirty days"
    first = answer["results"][0]
    document = first["document"]
    assert type(document["id"]) is int
    assert (document["path"], document["title"]) == ("handbook/refunds.md", "Refunds")
    assert document["collection"] == "default"
    assert type(document["pages"]) is int
    assert type(first["score"]) is float
    assert first["passages"]
    for passage in first["passages"]:
        assert type(passage["start"]) is type(passage["end"]) is int
        assert passage["end"] - passage["start"] == len(passage["text"])
        assert passage["page"] is None or type(passage["page"]) is int
        assert all(type(one) is str for one in passage["heading_path"])
    excerpt, shown = first["excerpt"], first["passages"][0]
    assert "thirty days" in excerpt["text"]
    start = excerpt["start"] - shown["start"]
    assert shown["text"][start : start + len(excerpt["text"])] == excerpt["text"]
    assert excerpt["end"] - excerpt["start"] == len(excerpt["text"])
    assert excerpt["header"] == ""
    for chunk in first["matched_chunks"]:
        assert type(chunk["index"]) is int
        assert type(chunk["score"]) is float
    stages = answer["trace"]["stages"]
    assert {one["name"] for one in stages} >= {"vector", "keyword", "fusion"}
    for stage in stages:
        assert type(stage["name"]) is str
        assert isinstance(stage["ms"], int | float)
        assert type(stage["in"]) is type(stage["out"]) is int


@pytest.mark.parametrize("mode", ["keyword", "vector", "hybrid"])
def test_search_modes_and_limit(library, mode, here):
    done = here("search", "--library", library, "--mode", mode, "-n", 2, "--json", "refund")
    answer = json.loads(done.stdout)
    assert 1 <= len(answer["results"]) <= 2
    parts = {
        part["index"]
        for one in answer["results"]
        for chunk in one["matched_chunks"]
        for part in chunk["contributions"]
    }
    assert parts if mode == "hybrid" else parts == {mode}


def test_any_search_option_is_set_by_name(library, here):
    def paths(*more):
        done = here("search", "--library", library, "--json", "refund", *more)
        return [one["document"]["path"] for one in json.loads(done.stdout)["results"]]

    assert len(paths()) > 1
    assert len(paths("--option", "limit=1")) == 1
    assert len(paths("-n", 5, "-o", "limit=1", "-o", "mmr_lambda=0.5")) == 1
    assert paths("-o", "min_score=1", "-o", "mmr_lambda=") == []
    assert len(paths("--chunked", "-o", "chunked.top_k=1", "-o", "min_score=0")) == 1


@pytest.mark.parametrize("index", ["auto", "exact", "ann"])
@pytest.mark.parametrize("more", [[], ["--chunked"]])
def test_search_says_how_vectors_were_searched(library, here, index, more):
    done = here("search", "--library", library, "--index", index, "--json", "refund", *more)
    answer = json.loads(done.stdout)
    [note] = [one["note"] for one in answer["trace"]["stages"] if one["name"] == "vector"]
    wanted = {"exact": "exact: asked for", "ann": "exact: there is no approximate index"}
    assert note == wanted.get(index) or (index == "auto" and note.endswith(" vectors"))
    lacking = "There is no approximate index: collections are searched exactly."
    assert answer["notices"] == ([lacking] if index == "ann" else [])


def test_explain_says_why_and_prints_the_trace(library, here):
    done = here("search", "--library", library, "--explain", "refund", "thirty", "days")
    assert "1. Refunds" in done.stdout
    assert "keyword rank 1" in done.stdout
    assert "deduplication" in done.stdout
    assert done.stdout.count(" ms") > 5


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["search", "refund after:soon"], 2, 'Invalid date: "soon"'),
        (["search", "   "], 2, "The question is empty"),
        (["search", "--limit", "0", "refund"], 2, "--limit"),
        (["search", "-o", "rrf_k=0", "refund"], 2, "rrf_k must be at least 1, not '0'."),
        (
            ["search", "-o", "nope=1", "refund"],
            2,
            'There is no search option "nope". The options are mode, ',
        ),
        (
            ["search", "-o", "chunked.top_k=1", "refund"],
            2,
            "chunked.top_k is an option of long questions. Add --chunked.",
        ),
        (["search", "--chunked", "-o", "chunked.top_k=0", "x"], 2, "top_k must be at least 1"),
        (["search", "--chunked", "-o", "chunked.nope=0", "x"], 2, "The options are method, "),
        (["search", "--mode", "psychic", "refund"], 2, "psychic"),
        (["dance"], 2, "dance"),
        (["search", "--collection", "nope", "refund"], 5, "Available: default."),
        (["list", "--collection", "nope"], 5, "Available: default."),
        (["status", "--collection", "nope"], 5, "Available: default."),
        (["sync", "--collection", "nope"], 5, "Available: default."),
        (["sync", "--dry-run", "--collection", "nope"], 5, "Available: default."),
        (["remove", "--yes", "nothing.md"], 5, "nothing.md"),
        (["add", "/does/not/exist"], 5, "There is no file or folder /does/not/exist."),
        (["search", "laptop", "-onboarding"], 2, "ragkit search -- laptop -onboarding"),
        (["search", "-o", "limit", "refund"], 2, "-o limit is not NAME=VALUE."),
        (["search", "--web", "refund"], 1, "Web search is off"),
        (["ask", "--web", "refund"], 1, "Web search is off"),
    ],
)
def test_failures_end_with_a_sentence_and_a_code(library, arguments, code, said, here):
    done = here(arguments[0], "--library", library, *arguments[1:])
    assert (done.returncode, done.stdout) == (code, "")
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_web_search_that_is_off_is_refused_before_anything_is_searched(library, here, monkeypatch):
    def search(*_, **__):
        raise AssertionError("it searched")

    monkeypatch.setattr("ragkit.library.Library.search", search)
    for command in ("search", "ask"):
        assert "Web search is off" in here(command, "--library", library, "--web", "x").stderr


@pytest.mark.parametrize("command", ["search", "ask", "eval"])
def test_help_on_options_names_all_with_what_they_may_be(here, command):
    done = here(command, "-o", "help")
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    named = {line.partition("=")[0] for line in lines if not line.startswith(" ")}
    assert named == {
        *SEARCH_OPTIONS,
        *(f"chunked.{each.setting}" for each in CHUNKED_OPTIONS.values()),
    }
    assert "limit=10  (1 to 200)" in lines
    assert "mode=hybrid  (hybrid, keyword, vector)" in lines
    assert "read_filters=true  (true or false)" in lines
    assert f"  {SEARCH_OPTIONS['mode'].help}" in lines
    assert here(command, "-o", "help=1").stdout == done.stdout


def test_a_file_in_place_of_a_library_is_said_so(tmp_path):
    file = tmp_path / "ex.py"
    file.write_text("print()")
    for command in (["list"], ["add", tmp_path]):
        done = ragkit(*command, "--library", file)
        assert (done.returncode, done.stdout) == (3, "")
        assert done.stderr == (
            f"ragkit: {file} is a file, not a folder. Name the folder of a library.\n"
        )


def test_a_library_that_is_missing_damaged_or_busy(library, tmp_path):
    missing = ragkit("search", "--library", tmp_path / "none", "refund")
    assert missing.returncode == 3
    assert "ragkit add FOLDER" in missing.stderr
    assert not (tmp_path / "none").exists()
    paths = LibraryPaths(tmp_path / "damaged")
    paths.create()
    paths.catalog.write_bytes(b"this is no database at all" * 400)
    damaged = ragkit("list", "--library", paths.root)
    assert damaged.returncode == 3
    assert "is damaged" in damaged.stderr
    with writer_lock(LibraryPaths(library).lock, "worker"):
        second = ragkit("worker", "--library", library)
        found = ragkit("search", "--library", library, "refund", "--json")
    assert second.returncode == 4
    assert "is being written by the worker" in second.stderr
    assert json.loads(found.stdout)["results"]
    for done in (missing, damaged, second):
        assert "Traceback" not in done.stderr


def test_wrong_settings_are_named(library, here, monkeypatch):
    monkeypatch.setenv("RAGKIT_SEARCH__LIMIT", "lots")
    done = here("list", "--library", library)
    assert done.returncode == 2
    assert "search.limit" in done.stderr


def test_what_documents_say_cannot_steer_the_terminal(library, here):
    for arguments in (["search", "walrus", "--explain"], ["list"]):
        done = here(arguments[0], "--library", library, *arguments[1:])
        assert done.stdout
        assert all(c.isprintable() or c == "\n" for c in done.stdout)


def test_colour_only_on_a_terminal_that_wants_it(library, monkeypatch):
    assert "\x1b" not in ragkit("search", "--library", library, "refund").stdout

    class Terminal:
        def isatty(self):
            return True

    monkeypatch.setattr(sys, "stdout", Terminal())
    monkeypatch.delenv("NO_COLOR", raising=False)
    coloured = console.colourful()
    monkeypatch.setenv("NO_COLOR", "1")
    plain = console.colourful()
    monkeypatch.undo()
    assert (coloured, plain) == (True, False)


def test_a_command_that_is_stopped_says_so(library, here, monkeypatch):
    def stop(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("ragkit.library.documents.DocumentService.list", stop)
    done = here("list", "--library", library)
    assert (done.returncode, done.stdout) == (130, "")
    assert done.stderr == "ragkit: stopped. Finished work is kept.\n"


def test_a_closed_pipe_is_no_error(library):
    for command in (["list", "--json"], ["search", "refund", "--json"], ["version"]):
        run = subprocess.Popen(
            [sys.executable, "-m", "ragkit", command[0], *command[1:]],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, "RAGKIT_LIBRARY": str(library), "RAGKIT_MODELS__EMBEDDER": "hash"},
        )
        run.stdout.close()
        said = run.stderr.read().decode()
        run.stderr.close()
        assert run.wait(60) in (0, 1)
        assert said == ""


def test_a_terminal_without_unicode_and_questions_without_a_whole_character(library):
    done = ragkit("search", "--library", library, "検索", env={"PYTHONIOENCODING": "ascii"})
    assert (done.returncode, done.stderr) == (0, "")
    assert "\\u" in done.stdout
    ours = ragkit(
        "search", "--library", library, "--json", "検索", env={"PYTHONIOENCODING": "latin-1"}
    )
    assert json.loads(ours.stdout)["query"] == "検索"
    odd = subprocess.run(
        [sys.executable, "-m", "ragkit", "search", "--json", b"refund \xff"],
        capture_output=True,
        env={**os.environ, "RAGKIT_LIBRARY": str(library), "RAGKIT_MODELS__EMBEDDER": "hash"},
        check=True,
        timeout=60,
    )
    assert json.loads(odd.stdout)["results"]


def test_a_question_of_a_megabyte_from_the_environment_of_a_script(library):
    from ragkit.library import Library
    from ragkit.settings import load_settings

    opened = Library.open(load_settings(library=library, models={"embedder": "hash"}))
    answer = opened.search("refund " * 150_000)
    assert answer.results[0].document.path == "handbook/refunds.md"
    opened.close()


def test_the_search_path_imports_neither_llama_index_nor_streamlit(library):
    code = (
        "import sys\n"
        "from ragkit.surfaces.cli.app import app\n"
        "try:\n    app(['search', 'refund'])\nexcept SystemExit:\n    pass\n"
        "bad = {name.split('.')[0] for name in sys.modules} & "
        "{'llama_index', 'streamlit', 'pandas', 'nltk', 'torch', 'kreuzberg'}\n"
        "sys.exit(str(sorted(bad)) if bad else 0)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env={**os.environ, "RAGKIT_LIBRARY": str(library), "RAGKIT_MODELS__EMBEDDER": "hash"},
        timeout=60,
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_help_says_of_every_command_on_one_line_what_the_command_says_first(here):
    lines = here("--help").stdout.splitlines()
    group = get_command(cli.app)
    for name, (_, line) in cli.COMMANDS.items():
        command = group.get_command(None, name)
        assert command.name == name
        assert command.help.splitlines()[0].split(". ")[0].rstrip(".") + "." == line
        assert [one for one in lines if one.split()[:1] == [name]] == [f"  {name:<13}  {line}"]


def test_every_module_of_commands_is_listed():
    """One that is not reached from the table would be dead."""
    folder = Path(cli.__file__).parent
    files = {file.stem: file.read_text() for file in folder.glob("*.py")}
    listed = {place.partition(".")[0] for place, _ in cli.COMMANDS.values()}
    for module, text in files.items():
        says = text.startswith('"""``ragkit ')
        assert (module in listed) == says, module


def test_a_wrong_command_is_answered_with_the_nearest_ones(here):
    done = here("docto")
    assert done.returncode == 2
    assert "No such command 'docto'. Did you mean 'doctor'?" in done.stderr


def test_commands_import_what_is_heavy_when_they_run():
    """Else every Tab and every ``--help`` waits for it."""
    code = (
        "import sys\n"
        "from ragkit.surfaces.cli.app import COMMANDS, Commands\n"
        "for name in COMMANDS:\n    name == 'judgments' or Commands()[name]\n"
        "heavy = {'numpy', 'streamlit', 'starlette', 'fastapi', 'mcp', 'httpx', 'rich'}\n"
        "print(sorted(heavy & set(sys.modules)))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert (done.stdout, done.stderr) == ("[]\n", "")


def test_the_version_is_said_as_an_option_too(here):
    assert here("--version").stdout == here("version").stdout == f"{__version__}\n"


@pytest.mark.parametrize("arguments", [["--help"], ["version"]])
def test_a_reader_that_has_gone_is_no_failure(arguments):
    """Help is flushed while click runs, and other output once the command has ended."""
    command = [sys.executable, "-m", "ragkit", *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.close()
        assert (process.stderr.read(), process.wait(60)) == (b"", 0)


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["version"], ["serch"]])
def test_what_needs_no_library_imports_none(arguments):
    code = (
        "import sys\n"
        "from ragkit.surfaces.cli.app import app\n"
        "try:\n    app(sys.argv[1:])\nexcept SystemExit:\n    pass\n"
        "ours = [one for one in sys.modules if one.startswith('ragkit.surfaces.cli.')]\n"
        "print(sorted(one.rpartition('.')[2] for one in ours))\n"
        "print('ragkit.library' in sys.modules, 'ragkit.settings' in sys.modules)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, timeout=60
    )
    own = arguments if arguments[0] in cli.COMMANDS else []
    expected = sorted(["app", "completion", "console", "options", *own])
    assert done.stdout.splitlines()[-2:] == [str(expected), "False False"]


def test_looking_at_an_unchanged_folder_imports_little(tmp_path):
    write_files(tmp_path / "files", {"a.md": "# One\n\nA walrus sleeps.\n"})
    environment = {k: v for k, v in os.environ.items() if not k.startswith("RAGKIT_")}
    code = (
        "import sys\n"
        "from ragkit.surfaces.cli.app import app\n"
        "try:\n    app(sys.argv[1:])\nexcept SystemExit:\n    pass\n"
        "found = {name.split('.')[0] for name in sys.modules}\n"
        "heavy = {'llama_index', 'numpy', 'faiss', 'tokenizers', 'pydantic_settings', 'psutil'}\n"
        "print(sorted(found & heavy))\n"
    )

    def loaded(*arguments):
        command = [sys.executable, "-c", code, *arguments, "--library", tmp_path / "library"]
        done = subprocess.run(
            [*map(str, command)], capture_output=True, text=True, env=environment, timeout=60
        )
        return done.stderr, done.stdout

    said, modules = loaded("add", tmp_path / "files")
    assert said == "1 indexed.\n"
    assert "'numpy'" in modules
    assert loaded("sync") == ("Nothing new, 1 unchanged.\n", "[]\n")
    shutil.rmtree(tmp_path / "library" / "indexes")
    said, modules = loaded("sync")
    assert said == "Nothing new, 1 unchanged.\n"
    assert "'faiss'" in modules
    assert [*(tmp_path / "library" / "indexes").rglob("manifest.json")]
    assert loaded("sync") == ("Nothing new, 1 unchanged.\n", "[]\n")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
@pytest.mark.parametrize(
    ("to", "why"), [("> /dev/full", "no space left on device"), (">&-", "bad file descriptor")]
)
def test_output_that_cannot_be_written_is_no_fault_of_the_library(library, to, why):
    for command in ("--help", "version", f"list --library {library}"):
        line = f"exec {sys.executable} -m ragkit {command} {to}"
        done = subprocess.run(["/bin/sh", "-c", line], capture_output=True, text=True, timeout=60)
        assert done.returncode == 1
        assert done.stderr == f"ragkit: The output cannot be written: {why}.\n"


@pytest.mark.skipif(os.name != "posix", reason="a signal of POSIX")
def test_what_prints_nothing_needs_no_output(library):
    for closed in (">&-", "2>&-"):
        line = f"exec {sys.executable} -m ragkit sync --library {library} {closed}"
        done = subprocess.run(["/bin/sh", "-c", line], capture_output=True, text=True, timeout=60)
        assert (done.returncode, done.stdout) == (0, "")


@pytest.mark.skipif(os.name != "posix", reason="a signal of POSIX")
@pytest.mark.parametrize("module", ["typer", "ragkit.surfaces.cli.documents"])
def test_ctrl_c_while_a_command_is_loaded_is_quiet(library, module):
    """The signal comes in the middle of an import, for which nothing has been opened yet."""
    code = (
        "import os, signal, sys\n"
        "class Stop:\n"
        "    def find_spec(self, name, *_):\n"
        f"        if name == {module!r}:\n"
        "            sys.meta_path.remove(self)\n"
        "            os.kill(os.getpid(), signal.SIGINT)\n"
        "sys.meta_path.insert(0, Stop())\n"
        "from ragkit.__main__ import main\n"
        "main()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "list", "--library", library], capture_output=True, timeout=60
    )
    assert (done.returncode, done.stdout) == (130, b"")
    assert done.stderr in (b"", b"ragkit: stopped. Finished work is kept.\n")
