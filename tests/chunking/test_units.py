"""The units of a text that answers are taken from."""

from __future__ import annotations

import pytest

from ragkit.chunking.units import text_units


def units(text):
    return [text[unit.start : unit.end] for unit in text_units(text, code=False)]


def test_labels_with_values_below_each_other_are_a_unit_each():
    text = "Lease, summary\nStart: 1 April\nRent per month: 3,480 euros\nNo dogs\n\nBest\nAnn"
    assert units(text) == [
        "Lease, summary", "Start: 1 April", "Rent per month: 3,480 euros\nNo dogs", "Best\nAnn",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "text",
    [
        "We know one thing\nabout it: the rent is high\nand the deposit too.",
        "He said: wait, and then\nthe long list of all the many other things: rent.",
        "See http://example.org/a\nand http://example.org/b for more.",
    ],
)
def test_a_colon_in_a_paragraph_divides_nothing(text):
    assert units(text) == [text]
