"""Times and durations, as the formats of a workbook show them."""

from __future__ import annotations

import pytest

from ragkit.reading.office.time_formats import parse, parse_date


@pytest.mark.parametrize(
    ("code", "days", "shown"),
    [
        ("[h]:mm", "1.5", "36:00"),
        ("[hh]:mm:ss", "0.0001", "0:00:09"),
        ("[mm]:ss", "1", "1440:00"),
        ("[m]", "1", "1440"),
        ("[ss]", "0.001", "86"),
        ('[h] "hours";-[h]', "2", "48:00"),
        ("[$-F400]h:mm:ss AM/PM", "0.75", "18:00:00"),
        ("hh:mm", "0.25", "06:00:00"),
        ('h "Uhr" mm', "0.5", "12:00:00"),
        ("mm:ss.0", "0.01", "00:14:24"),
        ("h:mm", "1.5", None),
        ("h:mm", "-0.5", None),
        ("h:mm", "x", None),
    ],
)
def test_times(code, days, shown):
    found = parse(code)
    assert found is not None
    assert found.shown(days) == shown


@pytest.mark.parametrize(
    "code", ["yyyy-mm-dd", "d/m/yy h:mm", "mmm", "General", "Standard", "0.00", '0.0 "h"', "@", ""]
)
def test_other_formats_show_no_times(code):
    assert parse(code) is None


@pytest.mark.parametrize(("code", "is_date"), [
    ("yyyy-mm-dd", True), ("[$-407]d. mmmm", True), ("d/m/yy h:mm", True), ("0.00E+00", False),
    ("[>9]0;d", False), ('0 "days"', False), ("@", False), ("# ?/?", False),
])  # fmt: skip
def test_formats_of_dates_from_1904_on(code, is_date):
    found = parse_date(code, from_1904=True)
    assert (found is not None) is is_date
    if found is not None:
        assert found.shown("0.5") == "1904-01-01 12:00:00"
        assert found.shown("1e9") is None


def test_dates_from_1900_on_begin_after_the_day_that_excel_counts_too_many():
    found = parse_date("d/m/yyyy", from_1904=False)
    assert found is not None
    assert [found.shown(days) for days in ("60", "61", "46027", "46027.25")] == [
        None, "1900-03-01", "2026-01-05", "2026-01-05 06:00:00"
    ]  # fmt: skip
