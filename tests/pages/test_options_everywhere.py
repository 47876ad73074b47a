"""Each option of the table can be set wherever that makes sense, and acts from there.

``REACHED`` has a function for each place. It sets every option of a table there, to a value that is
not the default, and returns the options that a search then uses.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

import pytest
from running import html, run
from streamlit.testing.v1 import AppTest

from pages.parts.common import option_controls
from pages.parts.search.controls import OFFERED_LONG
from ragkit.evaluation.search_config import SearchConfig, as_text, from_text
from ragkit.indexing.writer import writer_lock
from ragkit.library import Library
from ragkit.option_codec import dump_options, option_text
from ragkit.option_table import Choice
from ragkit.options import (
    CHUNKED_OPTIONS,
    SEARCH_OPTIONS,
    ChunkedOptions,
    IndexMode,
    SearchOptions,
)
from ragkit.settings import load_settings
from ragkit.surfaces.cli import app as cli

TABLES = {"search": SEARCH_OPTIONS, "chunked": CHUNKED_OPTIONS}
DEFAULTS = {"search": SearchOptions(), "chunked": ChunkedOptions()}

_BALANCE = "both weights are one control, keyword_weight: the balance of keywords and meaning"
NOT_REACHED: Mapping[tuple[str, str, str], str] = {
    ("search", "vector_weight", "page"): _BALANCE,
    ("search", "vector_weight", "address"): _BALANCE,
    ("search", "vector_weight", "collection's page"): _BALANCE,
    ("search", "vector_weight", "column's page"): _BALANCE,
    **{
        ("chunked", name, place): "how a text is cut is chosen for that text, not for where it is "
        "searched; Compare cuts a question as usual"
        for name in CHUNKED_OPTIONS
        for place in ("collection", "collection's page", "column", "column's page")
    },
}
"""What cannot be set where, and why."""


def other_value(option) -> Any:
    """A value that is not the default, and that its control can show."""
    if option.nullable:
        return option.start
    if option.type is bool:
        return not option.default
    if issubclass(option.type, Choice):
        return next(choice for choice in option.type if choice is not option.default)
    low, high = (option.slider or option.bounds)[:2]
    return option.type(high if option.default == low else low)


OTHER = {
    table: {name: other_value(option) for name, option in options.items()}
    for table, options in TABLES.items()
}
# Only so do all the others matter.
OTHER["chunked"]["mode"] = IndexMode.ANN
TEXTS = {
    table: {name: option_text(value) for name, value in values.items()}
    for table, values in OTHER.items()
}


def used(library: Library, table: str, settings) -> Any:
    """The options of a library with these settings."""
    other = Library(settings, library.paths, library.catalog)
    return other.options() if table == "search" else other.chunked_options()


def by_file(library, table, patch, folder):
    lines = []
    for option in TABLES[table].values():
        quote = '"' * (isinstance(option.default, Choice))
        lines.append(f"{option.setting} = {quote}{TEXTS[table][option.name]}{quote}")
    file = folder / f"{table}.toml"
    file.write_text("\n".join([f"[{table}]", *lines]))
    return used(library, table, load_settings(file))


def by_environment(library, table, patch, folder):
    for option in TABLES[table].values():
        patch.setenv(f"RAGKIT_{table}__{option.setting}".upper(), TEXTS[table][option.name])
    return used(library, table, load_settings())


def by_command(library, table, patch, folder):
    found = []

    def noted(self, text, options=None, chunked=None):
        found.append(options if table == "search" else chunked)
        return searches[table](self, text, *filter(None, (options, chunked)))

    searches = {"search": Library.search, "chunked": Library.search_chunked}
    patch.setattr(Library, searches[table].__name__, noted)
    given = ["ragkit", "search", "refund", "--library", str(library.paths.root)]
    given += ["--chunked"] * (table == "chunked")
    dotted = "chunked." if table == "chunked" else ""
    for option in TABLES[table].values():
        given += ["-o", f"{dotted}{option.setting}={TEXTS[table][option.name]}"]
    patch.setattr(sys, "argv", given)
    with suppress(SystemExit):
        cli.main()
    return found[-1]


def by_address(library, table, patch, folder):
    skipped = {name for of, name, place in NOT_REACHED if (of, place) == (table, "address")}
    sent = {name: text for name, text in TEXTS[table].items() if name not in skipped}
    if table == "search":
        app = run(library, q="refund", **sent)
        found = app.session_state["asked"][1]
        assert {*app.query_params} >= {*sent}
        return found
    return of_conversation(library, patch, sent)


def by_collection(library, table, patch, folder):
    wanted = dump_options(SearchOptions(**OTHER["search"]), SearchOptions())
    assert {*wanted} == {*SEARCH_OPTIONS}
    library.collections.set_search("default", wanted)
    try:
        return Library(load_settings(), library.paths, library.catalog).options()
    finally:
        library.collections.set_search("default", {})


def by_page(library, table, patch, folder):
    if table == "chunked":
        return of_conversation(library, patch, {})
    app = run(library, q="refund")
    assert 'data-name="sort" data-value="newest"' in html(app)
    app.session_state["options_open"] = app.session_state["option_more"] = True
    again(library, app)
    choose(library, app, option_controls.PREFIX, shown_elsewhere={"sort"})
    return app.session_state["asked"][1]


def by_column(library, table, patch, folder):
    text = as_text(SearchConfig(SearchOptions(**OTHER["search"])))
    return from_text(text)[0].options


def by_page_of_a_column(library, table, patch, folder):
    app = run(library, "compare")
    prefix = f"cmp-{app.session_state['cmp_round']}-0-"
    app.session_state[f"{prefix}more"] = True
    again(library, app)
    choose(library, app, prefix)
    return from_text(app.session_state["cmp_columns"][0])[0].options


def by_page_of_a_collection(library, table, patch, folder):
    app = run(library, "library")
    app.session_state["open_dialog"] = ("search-settings", "default")
    app.session_state["collection_option_more"] = True
    again(library, app)
    choose(library, app, "collection_option_")
    with writer_lock(library.paths.lock, "test"):
        app.button(key="search-settings-save").click().run()
    assert not app.exception
    try:
        return library.options()
    finally:
        library.collections.set_search("default", {})


REACHED = {
    "file": by_file,
    "environment": by_environment,
    "command": by_command,
    "address": by_address,
    "collection": by_collection,
    "page": by_page,
    "column": by_column,
    "column's page": by_page_of_a_column,
    "collection's page": by_page_of_a_collection,
}


def again(library: Library, app: AppTest) -> None:
    with writer_lock(library.paths.lock, "test"):
        app.run()
    assert not app.exception


def widgets(app: AppTest) -> dict[str, Any]:
    kinds = (app.toggle, app.slider, app.selectbox, app.number_input)
    return {widget.key: widget for kind in kinds for widget in kind}


def choose(library: Library, app: AppTest, prefix: str, shown_elsewhere=()) -> None:
    """Set the control of every search option."""
    drawn = widgets(app)
    for name, control in option_controls.of_search(SearchOptions(), prefix).items():
        value = OTHER["search"][name]
        if name in shown_elsewhere:
            app.session_state[control.key] = value.value
        elif control.option.nullable or control.option.switch:
            drawn[control.key].set_value(not drawn[control.key].value)
        else:
            drawn[control.key].set_value(getattr(value, "value", value))
    again(library, app)


def of_conversation(library: Library, patch, sent: Mapping[str, str]) -> ChunkedOptions:
    """The options that the Conversation page asks with, from its address or its controls."""
    found = []
    search = Library.search_chunked

    def noted(self, text, options, chunked):
        found.append(chunked)
        return search(self, text, options, chunked)

    patch.setattr(Library, "search_chunked", noted)
    app = run(library, "conversation", text="A refund.\n\nAn invoice.", **sent)
    if not sent:
        # What makes no difference is not drawn.
        for name in ("method", "mode"):
            app.selectbox(key=f"long_option_{name}").set_value(OTHER["chunked"][name].value)
        again(library, app)
        drawn = widgets(app)
        for name in OFFERED_LONG:
            value = OTHER["chunked"][name]
            drawn[f"long_option_{name}"].set_value(getattr(value, "value", value))
        again(library, app)
    return found[-1]


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    root = tmp_path_factory.mktemp("everywhere")
    (root / "papers").mkdir()
    for name in ("Refunds", "Returns"):
        (root / f"papers/{name}.md").write_text(
            f"# {name}\n\nA full refund within 30 days: {name}.\n"
        )
    opened = Library.open(load_settings(library=root / "library"), create=True)
    opened.jobs.wait(opened.sources.sync(opened.sources.add_folder(root / "papers")))
    yield opened
    opened.close()


@pytest.mark.parametrize("place", REACHED)
@pytest.mark.parametrize("table", TABLES)
def test_each_option_is_set_from_each_place(filled, table, place, monkeypatch, tmp_path):
    wanted = {
        name: value
        for name, value in OTHER[table].items()
        if (table, name, place) not in NOT_REACHED
    }
    if not wanted:
        assert all(NOT_REACHED[table, name, place] for name in OTHER[table])
        return
    monkeypatch.setenv("RAGKIT_LIBRARY", str(filled.paths.root))
    found = REACHED[place](filled, table, monkeypatch, tmp_path)
    assert {name: getattr(found, name) for name in wanted} == wanted


def test_no_value_that_is_set_is_the_usual_one():
    for table, values in OTHER.items():
        assert {*values} == {*TABLES[table]}
        assert not [name for name in values if values[name] == getattr(DEFAULTS[table], name)]


def test_every_option_has_one_place_on_a_page_or_a_reason():
    apart = [name for names in option_controls.APART.values() for name in names]
    without = {name for of, name, place in NOT_REACHED if (of, place) == ("search", "page")}
    assert sorted([*option_controls.USUAL, *apart]) == sorted({*SEARCH_OPTIONS} - without)
    assert sorted(OFFERED_LONG) == sorted(CHUNKED_OPTIONS)
