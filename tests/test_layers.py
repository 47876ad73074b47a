"""Lower packages never import higher ones, and importing costs nothing (docs/architecture.md)."""

from __future__ import annotations

import ast
import gc
import os
import re
import subprocess
import sys
from collections.abc import Collection, Iterator, Mapping
from functools import cache
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise
from pathlib import Path

import pytest

_ROOT = Path(__file__).resolve().parents[1]
_PACKAGE = _ROOT / "ragkit"
_FILES = sorted(_PACKAGE.rglob("*.py"))

LAYERS: tuple[tuple[str, ...], ...] = (
    (
        "types",
        "errors",
        "option_table",
        "options",
        "traces",
        "results",
        "answers",
        "versions",
        "formatting",
        "headings",
        "months",
        "setting_faults",
    ),
    ("settings", "paths"),
    ("option_codec",),
    ("sources", "reading", "chunking"),
    ("models", "web"),
    ("indexes",),
    ("catalog",),
    ("retrieval",),
    ("answering",),
    ("indexing",),
    ("health",),
    ("background",),
    ("evaluation",),
    ("library",),
    ("surfaces", "integrations"),
)
"""From lowest to highest. Those of one layer do not import one another, but for layer 0."""

_LEVEL = {name: level for level, names in enumerate(LAYERS) for name in names}

ONLY_IN = {
    "llama_index": {"indexing/pipeline.py", "integrations/llama_index.py"},
    "faiss": {"indexes/local/load_faiss.py"},
    "bm25s": {"indexes/local/keyword.py"},
    "qdrant_client": {"indexes/qdrant/"},
    "mcp": {"surfaces/mcp/"},
    "ray": {"reading/ray_pool.py"},
    "sqlite3": {"catalog/"},
    "psycopg": {"catalog/postgres/"},
    "streamlit": {"surfaces/http/server.py"},
    "fastapi": {"surfaces/http/api/"},
}
"""The only files, or folders, that may import a library."""


IMPORTED_BY_VALUE = {"reading/child.py"}
"""The only files that import a module named by a variable.

The reading process runs the post-processor that its parent names on the command line: a function
of ``indexing/preparation.py``, which reading itself does not know.
"""


@pytest.fixture(autouse=True, scope="module")
def _trees_are_no_garbage():
    # Beside what other tests have loaded, looking for garbage takes ten times as long as parsing.
    gc.disable()
    yield
    gc.enable()


@cache
def _parsed(file: Path) -> ast.Module:
    return ast.parse(file.read_text("utf-8"))


@cache
def _imported_by(file: Path) -> tuple[str, ...]:
    return tuple(imports(_parsed(file), _module(file)))


def imports(tree: ast.Module, module: str) -> Iterator[str]:
    """Full names of the modules that a file imports when it runs, inside functions too.

    Modules that it names in a string are among them: they are imported by name, or in a child.
    """
    for node in _running(tree):
        named = node.value if isinstance(node, ast.Constant) else None
        if isinstance(named, str) and re.fullmatch(r"ragkit(\.\w+)+\.?", named):
            yield from [named.rstrip(".")] if _part(named) in _LEVEL else []
        yield from _stated(node, module)


def _stated(node: ast.AST, module: str) -> Iterator[str]:
    """Full names that a statement of a module imports; none if it is of another kind."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        package = module.split(".")
        base = package[: len(package) - node.level] if node.level else []
        name = ".".join([*base, *([node.module] if node.module else [])])
        yield from (f"{name}.{alias.name}" for alias in node.names)


def _running(node: ast.AST) -> Iterator[ast.AST]:
    """All nodes below, without what only a type checker reads."""
    left = list(ast.iter_child_nodes(node))
    while left:
        child = left.pop()
        if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.dump(child.test):
            left += child.orelse
            continue
        yield child
        left += ast.iter_child_nodes(child)


def _module(file: Path) -> str:
    """The dotted name of a file; a package's own file counts as ``package.__init__``."""
    return ".".join(file.relative_to(_ROOT).with_suffix("").parts)


def _part(name: str) -> str | None:
    """Which part of ragkit a dotted name belongs to."""
    parts = name.split(".")
    return parts[1] if parts[0] == "ragkit" and len(parts) > 1 else None


def _wrong_imports(file: Path) -> list[str]:
    module = _module(file)
    mine = _part(module)
    wrong = []
    for name in _imported_by(file):
        theirs = _part(name)
        if theirs is None or theirs == mine or theirs.startswith("__"):
            continue
        assert theirs in _LEVEL, f"{module} imports {name}, which has no layer"
        below = _LEVEL[theirs] < _LEVEL[mine] or _LEVEL[mine] == 0 == _LEVEL[theirs]
        if not below:
            wrong.append(f"{module} imports {name}")
    return wrong


def test_every_part_of_ragkit_has_a_layer():
    parts = {_part(_module(file)) for file in _FILES} - {"__init__", "__main__", "py"}
    assert parts <= set(_LEVEL), parts - set(_LEVEL)


def test_no_lower_part_imports_a_higher_one():
    parted = [file for file in _FILES if _part(_module(file)) in _LEVEL]
    assert [one for file in parted for one in _wrong_imports(file)] == []


def test_a_module_that_a_variable_names_is_imported_only_where_that_is_stated():
    users = {
        file.relative_to(_PACKAGE).as_posix()
        for file in _FILES
        for node in ast.walk(_parsed(file))
        if isinstance(node, ast.Call)
        and ast.unparse(node.func).endswith(("import_module", "__import__"))
        and isinstance(node.args[0], ast.Name | ast.Attribute | ast.Subscript)
    }
    assert users == IMPORTED_BY_VALUE


def _known(name: str, modules: Collection[str]) -> str | None:
    """The module that a name is of: itself, a package's own file, or where it is defined."""
    home = name.rpartition(".")[0]
    places = (name, f"{name}.__init__", home, f"{home}.__init__")
    return next((place for place in places if place in modules), None)


def circle_of(files: Mapping[str, ast.Module]) -> list[str]:
    """Return modules of which each imports the next, and the last is the first; or none.

    What a function imports when it runs counts, and what only a type checker reads.
    """
    graph = {
        module: {
            known
            for node in ast.walk(tree)
            for name in _stated(node, module)
            if (known := _known(name, files)) not in (None, module)
        }
        for module, tree in files.items()
    }
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])[::-1]
    return []


def test_no_files_import_each_other_in_a_circle():
    files = [*_FILES, *sorted((_ROOT / "pages").rglob("*.py"))]
    assert circle_of({_module(file): _parsed(file) for file in files}) == []


@pytest.mark.parametrize(
    "back",
    [
        "from a.b import f",
        "from . import b",
        "from .b import f",
        "import a.b",
        "if TYPE_CHECKING:\n    from a.b import F",
        "def f():\n    from a.b import f",
    ],
)
def test_the_search_for_circles_finds_every_kind(back):
    sources = {"a.__init__": "", "a.b": "from a import c", "a.c": "from a.d import g", "a.d": back}
    files = {module: ast.parse(source) for module, source in sources.items()}
    circle = circle_of(files)
    assert circle[0] == circle[-1]
    assert set(circle) == {"a.b", "a.c", "a.d"}
    assert all(
        (one, other) in {("a.b", "a.c"), ("a.c", "a.d"), ("a.d", "a.b")}
        for one, other in pairwise(circle)
    )
    assert circle_of(files | {"a.d": ast.parse("import other")}) == []


@pytest.mark.parametrize("library", ONLY_IN)
def test_a_library_is_imported_only_where_it_belongs(library):
    allowed = ONLY_IN[library]
    users = []
    for file in _FILES:
        if any(name.split(".")[0] == library for name in _imported_by(file)):
            users.append(file.relative_to(_PACKAGE).as_posix())
    elsewhere = [
        user
        for user in users
        if user not in allowed
        and not any(user.startswith(one) for one in allowed if one[-1] == "/")
    ]
    assert elsewhere == []


def _reaches_a_catalog(file: Path, owners: tuple[str, ...] | None = None) -> Iterator[str]:
    """Where a file reads the attribute ``catalog``, of anything or of variables of these names."""
    for node in ast.walk(_parsed(file)):
        if isinstance(node, ast.Attribute) and node.attr in ("catalog", "_catalog"):
            owner = node.value.id if isinstance(node.value, ast.Name) else None
            if owners is None or owner in owners:
                yield f"{file.relative_to(_ROOT)}:{node.lineno}"


@pytest.mark.parametrize("folder", ["pages", "ragkit/surfaces", "ragkit/integrations"])
def test_pages_and_commands_speak_to_the_library_alone(folder):
    files = [*sorted((_ROOT / folder).rglob("*.py")), _ROOT / "app.py"]
    assert [place for file in files for place in _reaches_a_catalog(file)] == []


def test_evaluation_is_given_a_catalog_and_takes_none_out_of_a_library():
    files = [one for one in (_PACKAGE / "evaluation").glob("*.py") if one.stem != "experiments"]
    owners = ("library", "home", "opened")
    assert [place for file in files for place in _reaches_a_catalog(file, owners)] == []


def test_the_search_for_imports_finds_every_kind():
    source = """
from __future__ import annotations
import a.b, c
from ..d import e
from typing import TYPE_CHECKING
if TYPE_CHECKING:
    import hidden
else:
    import shown
def f():
    from g import h
    class C:
        import i
try:
    import j
except ImportError:
    import k
run("ragkit.indexing.l", f"ragkit.surfaces.cli.{m}", "ragkit.toml")
"""
    found = set(imports(ast.parse(source), "ragkit.x.y"))
    expected = {"a.b", "c", "ragkit.d.e", "shown", "g.h", "i", "j", "k"}
    expected |= {"ragkit.indexing.l", "ragkit.surfaces.cli"}
    assert expected <= found
    assert not {"hidden", "ragkit.toml"} & found


def _run(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code],
        cwd=_ROOT,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=120,
    )


def _loaded(module: str, *unwanted: str) -> list[str]:
    """Which of the unwanted libraries a fresh interpreter loads with a module."""
    run = _run(
        f"import sys, {module}\n"
        f"print(*sorted({{name.split('.')[0] for name in sys.modules}} & set({unwanted!r})))"
    )
    assert run.returncode == 0, run.stderr
    return run.stdout.split()


def test_the_search_path_loads_neither_llama_index_nor_streamlit():
    assert _loaded("ragkit.retrieval.search", "llama_index", "streamlit", "torch") == []


def test_the_library_loads_neither_llama_index_nor_streamlit():
    assert _loaded("ragkit.library", "llama_index", "streamlit", "torch") == []


def test_the_catalog_and_sources_load_quickly():
    heavy = ("faiss", "bm25s", "pypdf", "kreuzberg", "tokenizers", "wordllama", "nltk")
    assert _loaded("ragkit.catalog", *heavy, "llama_index", "streamlit") == []
    assert _loaded("ragkit.sources.scan", *heavy, "numpy", "pydantic") == []


_IMPORT_ALL = """
import importlib, os, sys
from pathlib import Path

root, home = Path(sys.argv[1]), os.path.realpath(os.environ["HOME"])
touched = []
writing = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC

def watch(event, arguments):
    if event == "open":
        path, flags = arguments[0], arguments[2]
        if not isinstance(path, (str, bytes)):
            return
        inside = os.path.abspath(os.fsdecode(path)).startswith(home)
        if inside or (current and isinstance(flags, int) and flags & writing):
            touched.append((current, event, os.fsdecode(path)))
    elif event in ("os.mkdir", "socket.connect", "subprocess.Popen", "sqlite3.connect") and current:
        touched.append((current, event, repr(arguments)[:200]))

current = ""
names = [
    ".".join(file.relative_to(root.parent).with_suffix("").parts).removesuffix(".__init__")
    for file in sorted(root.rglob("*.py")) if file.name != "__main__.py"
]
third_party = {"ragkit.indexing.pipeline", "ragkit.integrations.llama_index"}
sys.addaudithook(watch)
sys.dont_write_bytecode = True
for name in sorted(names, key=lambda one: (one in third_party, one)):
    current = name if name not in third_party else ""
    importlib.import_module(name)
    current = ""
for one in touched:
    print(*one)
"""


def test_importing_every_module_touches_nothing(tmp_path):
    home = tmp_path / "home"
    home.mkdir()
    run = subprocess.run(
        [sys.executable, "-W", "error::ResourceWarning", "-c", _IMPORT_ALL, str(_PACKAGE)],
        cwd=tmp_path,
        env={**os.environ, "HOME": str(home), "PYTHONPATH": str(_ROOT)},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout == ""
    assert list(home.rglob("*")) == []
    assert sorted(path.name for path in tmp_path.iterdir()) == ["home"]
