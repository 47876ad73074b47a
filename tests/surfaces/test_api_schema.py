"""The description of the HTTP API: true of every operation, complete, and checked in."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import schemathesis
from api_client import PORT, bearer, make_library, served
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis.generation import GenerationMode
from schemathesis.specs.openapi.checks import negative_data_rejection

from ragkit import __version__
from ragkit.options import CHUNKED_OPTIONS, SEARCH_OPTIONS
from ragkit.settings import Settings
from ragkit.surfaces.http.api.app import application
from ragkit.surfaces.http.shared import SharedLibrary

DESCRIBED = Path(__file__).resolve().parents[2] / "docs" / "openapi.json"
_LONGEST_WAIT = 1


@pytest.fixture(scope="module")
def described():
    return json.loads(DESCRIBED.read_text("utf-8"))


def test_the_description_that_is_checked_in_is_the_one_that_is_served(tmp_path, described):
    served_one = application(SharedLibrary(Settings(library=tmp_path))).openapi()
    assert json.loads(json.dumps(served_one)) == described, (
        "write it again: python -m ragkit.surfaces.http.api > docs/openapi.json"
    )
    assert (described["openapi"], described["info"]["version"]) == ("3.1.0", __version__)
    assert described["security"] == [{"token": []}]


@pytest.mark.parametrize(
    ("name", "options"), [("SearchChanges", SEARCH_OPTIONS), ("LongSearchChanges", CHUNKED_OPTIONS)]
)
def test_it_says_of_every_option_what_it_may_be(described, name, options):
    schemas = described["components"]["schemas"]
    told = schemas[name]["properties"]
    assert list(told) == list(options)
    for each in options.values():
        value = told[each.name]
        assert value.get("default") == each.default, each.name
        one = value.get("anyOf", [value])[0]
        if each.bounds:
            assert (one["minimum"], one["maximum"]) == each.bounds, each.name
        if "$ref" in one:
            assert schemas[one["$ref"].rpartition("/")[2]]["enum"] == list(each.type), each.name


def _operations():
    """The name of each operation, from the file: the library is made when they are tried."""
    paths = json.loads(DESCRIBED.read_text("utf-8"))["paths"]
    return [f"{method.upper()} {path}" for path, one in paths.items() for method in one]


@pytest.fixture(scope="module")
def tried(tmp_path_factory):
    """The operations of an API behind the guard by their names, and what admits a program."""
    made = make_library(tmp_path_factory.mktemp("described"))
    headers = {**bearer(made), "Host": f"localhost:{PORT}"}
    schema = schemathesis.openapi.from_asgi("/api/openapi.json", served(made), headers=headers)
    # A name that is taken, or a filter that cannot be read, is refused though it has a right form.
    checks = schema.config.checks
    checks.positive_data_acceptance.expected_statuses += ["422"]
    found = {one.ok().label: one.ok() for one in schema.get_all_operations()}
    return found, headers


@pytest.mark.parametrize("label", _operations())
@pytest.mark.parametrize("mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE])
def test_every_operation_answers_as_it_is_described(tried, label, mode):
    operations, headers = tried
    # Whatever it tries to send instead of a file arrives as the bytes of one.
    excluded = [negative_data_rejection] if label == "POST /uploads" else []

    @given(case=operations[label].as_strategy(generation_mode=mode))
    @settings(
        max_examples=6, derandomize=True, deadline=None, database=None,
        phases=[Phase.explicit, Phase.generate], suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    def ask(case):
        if isinstance(wait := case.query.get("wait"), int):
            case.query["wait"] = min(wait, _LONGEST_WAIT)
        response = case.call_and_validate(headers=headers, excluded_checks=excluded)
        if mode is GenerationMode.POSITIVE and response.status_code == 422:
            assert "fields" not in response.json(), "the description allows what is refused"

    ask()
