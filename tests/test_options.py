"""Every search option is declared once, and every surface offers it as it is declared."""

from __future__ import annotations

import ast
import math
from dataclasses import fields
from pathlib import Path

import pytest

from ragkit.errors import QueryError, SettingsError
from ragkit.evaluation.search_config import CONFIG_OPTIONS, SearchConfig, as_text, from_text
from ragkit.option_codec import (
    apply_options,
    dump_options,
    option_text,
    parse_option,
    valid_options,
)
from ragkit.option_table import Choice
from ragkit.options import CHUNKED_OPTIONS, SEARCH_OPTIONS, ChunkedOptions, SearchOptions
from ragkit.settings import load_settings
from ragkit.surfaces.cli.options import assigned

_ROOT = Path(__file__).resolve().parents[1]
_WHERE = {"collections", "filters", "vector_levels", "field_weights", "judged_depth"}
"""What says where to search, and what only measurements set."""

DECLARED = [
    pytest.param(group, option, id=f"{group}-{name}")
    for group, table in (("search", SEARCH_OPTIONS), ("chunked", CHUNKED_OPTIONS))
    for name, option in table.items()
]
BOUNDED = [each for each in DECLARED if each.values[1].bounds]
SEARCH = [each.values[1] for each in BOUNDED if each.values[0] == "search"]
CHUNKED = [each.values[1] for each in BOUNDED if each.values[0] == "chunked"]


def other_value(option):
    """A value that is not the default."""
    if option.nullable:
        return option.start
    if option.type is bool:
        return not option.default
    if issubclass(option.type, Choice):
        return next(choice for choice in option.type if choice is not option.default)
    return option.type(option.bounds[0 if option.default != option.bounds[0] else 1])


def test_every_field_that_says_how_to_search_is_in_the_table():
    assert {field.name for field in fields(SearchOptions)} == {*SEARCH_OPTIONS} | _WHERE
    assert {field.name for field in fields(ChunkedOptions)} == {*CHUNKED_OPTIONS, "exclude"}


@pytest.mark.parametrize(("group", "option"), DECLARED)
def test_a_default_is_the_same_everywhere(group, option):
    options = {"search": SearchOptions, "chunked": ChunkedOptions}[group]()
    settings = load_settings()
    assert getattr(options, option.name) == option.default
    assert getattr(getattr(settings, group), option.setting) == option.default
    assert getattr(getattr(settings, group).options(), option.name) == option.default


def test_options_of_the_settings_are_the_defaults():
    assert load_settings().search.options() == SearchOptions()
    assert load_settings().chunked.options() == ChunkedOptions()
    assert load_settings().search.options(limit=None, rrf_k=3) == SearchOptions(rrf_k=3)


@pytest.mark.parametrize(("group", "option"), DECLARED)
def test_a_variable_sets_it(group, option, monkeypatch):
    value = other_value(option)
    monkeypatch.setenv(f"RAGKIT_{group}__{option.setting}".upper(), option_text(value))
    assert getattr(getattr(load_settings(), group).options(), option.name) == value


@pytest.mark.parametrize(("group", "option"), BOUNDED)
def test_bounds_hold_in_settings(group, option):
    low, high = option.bounds
    for bound in (low, high):
        options = getattr(load_settings(**{group: {option.setting: bound}}), group).options()
        assert getattr(options, option.name) == bound
    name = rf"{group}\.{option.setting}"
    for wrong, bound in ((low - 1, f"at least {low}"), (high + 1, f"at most {high}")):
        with pytest.raises(SettingsError, match=rf"{name}: must be {bound}(\.0)?, not {wrong}"):
            load_settings(**{group: {option.setting: wrong}})


@pytest.mark.parametrize("option", CHUNKED, ids=lambda option: option.name)
def test_bounds_hold_for_options_of_a_long_text(option):
    low, high = option.bounds
    for wrong in (low - 1, high + 1):
        with pytest.raises(QueryError, match=f"{option.name} is {wrong}"):
            ChunkedOptions(**{option.name: wrong})


@pytest.mark.parametrize(("group", "option"), DECLARED)
def test_options_that_a_caller_made_are_checked(group, option):
    kind = {"search": SearchOptions, "chunked": ChunkedOptions}[group]
    other = other_value(option)
    assert valid_options(kind(**{option.name: other})) == kind(**{option.name: other})
    if isinstance(other, Choice):
        given = valid_options(kind(**{option.name: str.__str__(other.value)}))
        assert getattr(given, option.name) is other
    if group == "search":
        with pytest.raises(SettingsError, match=option.name):
            valid_options(kind(**{option.name: "?"}))
        if option.bounds:
            with pytest.raises(SettingsError, match=f"{option.name} must be at most"):
                valid_options(kind(**{option.name: option.bounds[1] + 1}))


@pytest.mark.parametrize("option", SEARCH, ids=lambda option: option.name)
def test_bounds_are_the_same_on_the_command_line_and_in_addresses(option):
    low, high = option.bounds
    for bound in (low, high):
        expected = SearchOptions(**{option.name: bound})
        assert assigned(SearchOptions(), [f"{option.name}={bound}"]) == expected
        assert from_text(f"{option.name}:{bound}")[0].options == expected
    for wrong in (low - 1, high + 1, "nan", "word", "true"):
        with pytest.raises(SettingsError, match=f"{option.name} must be "):
            assigned(SearchOptions(), [f"{option.name}={wrong}"])
        part = f"{option.name}:{wrong}"
        assert from_text(part) == (SearchConfig(), (part,))
        assert apply_options(SearchOptions(), {option.name: wrong}) == SearchOptions()


@pytest.mark.parametrize("option", SEARCH_OPTIONS.values(), ids=SEARCH_OPTIONS)
def test_values_are_written_and_read_back(option):
    changed = SearchOptions(**{option.name: other_value(option)})
    for options, base in ((changed, SearchOptions()), (SearchOptions(), changed)):
        written = dump_options(options, base)
        assert list(written) == [option.name]
        assert type(written[option.name]) in (str, int, float, bool, type(None))
        assert apply_options(base, written) == options
    text = as_text(SearchConfig(changed))
    assert from_text(text) == (SearchConfig(changed), ())
    value = option_text(other_value(option))
    assert assigned(SearchOptions(), [f" {option.name} = {value} "]) == changed
    if option.nullable:
        assert assigned(changed, [f"{option.name}="]) == SearchOptions()


@pytest.mark.parametrize("name", [*sorted(_WHERE), "", "nope", "__class__", "exclude"])
def test_what_is_no_option_is_refused_and_the_options_are_listed(name):
    with pytest.raises(SettingsError, match="There is no search option") as caught:
        parse_option(name, "1")
    assert all(option in caught.value.cure for option in SEARCH_OPTIONS)
    assert apply_options(SearchOptions(), {name: "1"}) == SearchOptions()


def test_a_number_is_no_switch_and_a_switch_is_no_number():
    for name, value in (("limit", True), ("limit", 2.5), ("adaptive", "maybe"), ("mode", None)):
        with pytest.raises(SettingsError, match=name):
            parse_option(name, value)


@pytest.mark.parametrize(("group", "option"), DECLARED)
def test_it_is_described_and_each_value_has_words(group, option):
    assert option.help[0].isupper()
    assert option.help.endswith(".")
    if isinstance(option.type, type) and issubclass(option.type, Choice):
        assert len({choice.label for choice in option.type}) == len(option.type)
        assert len({choice.phrase for choice in option.type}) == len(option.type)
    assert option.describe(option.default) != option.describe(other_value(option))
    if option.slider:
        low, high, step = option.slider
        assert option.bounds[0] <= low < high <= option.bounds[1]
        start = option.start if option.nullable else option.default
        assert low <= start <= high
        assert math.isclose((start - low) / step, round((start - low) / step), abs_tol=1e-9)


def test_what_a_page_offers_has_a_label_and_a_control():
    offered = [option for option in CONFIG_OPTIONS.values() if option.name != "vector_weight"]
    for option in [*offered, *CHUNKED_OPTIONS.values()]:
        assert option.label[0].isupper(), option.name
        if option.nullable:
            assert option.slider_label
            assert option.slider
        if option.slider is None and option.type in (int, float) and not option.switch:
            assert option.bounds


_GENERIC = {"limit", "mode", "index", "merge", "method", "contexts"}
"""Names that other things have too."""


def defaults(tree: ast.AST):
    """(name, default) of every parameter and every field of a class."""
    for node in ast.walk(tree):
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value:
            yield node.target.id, node.value
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            taken = [*node.args.posonlyargs, *node.args.args]
            yield from zip([arg.arg for arg in taken[::-1]], node.args.defaults[::-1], strict=False)
            for arg, default in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True):
                if default is not None:
                    yield arg.arg, default


def test_an_option_is_declared_once():
    names = {*SEARCH_OPTIONS, *CHUNKED_OPTIONS}
    names |= {option.setting for option in CHUNKED_OPTIONS.values()}
    again = [
        f"{file.relative_to(_ROOT)}: {name} = {ast.unparse(default)}"
        for folder in ("ragkit", "pages")
        for file in sorted((_ROOT / folder).rglob("*.py"))
        if file.parent != _ROOT / "ragkit/options"
        for name, default in defaults(ast.parse(file.read_text("utf-8")))
        if name in names - _GENERIC and isinstance(default, ast.Constant)
        and default.value is not None
    ]  # fmt: skip
    assert again == []
