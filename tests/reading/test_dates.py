"""Dates as people write them in several languages; what is not a date is none."""

from __future__ import annotations

import pytest

from ragkit import months
from ragkit.reading.dates import date_in_name, iso_date


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("3. März 2026", "2026-03-03"),
        ("Freitag, 3. März 2026", "2026-03-03"),
        ("Kiel, den 24. Dezember 2025", "2025-12-24"),
        ("24. Dez. 2025", "2025-12-24"),
        ("Kiel, 24.12.2025", "2025-12-24"),
        ("MÄRZ 2026", "2026-03"),
        ("1er août 2026", "2026-08-01"),
        ("le 14 juillet 2024", "2024-07-14"),
        ("déc. 2021", "2021-12"),
        ("3 de mayo de 2026", "2026-05-03"),
        ("3 maggio 2026", "2026-05-03"),
        ("5 de março de 2025", "2025-03-05"),
        ("12 mei 2024", "2024-05-12"),
        ("Tuesday, May 5, 2020", "2020-05-05"),
        ("May 5th, 2020", "2020-05-05"),
        ("Fri Mar  3 10:00:00 2023", "2023-03-03"),
        ("<2026-03-03 Tue>", "2026-03-03"),
        ("[2026-03-03 mar.]", "2026-03-03"),
        ("<2026-03-03>", "2026-03-03"),
        ("<2026-03-03 Tue 09:30-10:15 +1w>", "2026-03-03T09:30:00"),
        ("<2026-03-03 Tue>--<2026-03-05 Thu>", "2026-03-03"),
        ("[2026]", ""),
        ("<2026-02-30 Mon>", ""),
        ("12 mai", ""),
        ("mai", ""),
        ("Version 2 set 3", ""),
        ("Zimmer 5 im Mai", ""),
        ("30 Februar 2026", ""),
        ("3 Brumaire 1799", ""),
    ],
)
def test_a_date_is_read_in_the_language_it_is_written_in(written, expected):
    assert iso_date(written) == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("2024-03-11", "2024-03-11"),
        ("2024_03_11", "2024-03-11"),
        ("2024-03-11 Minutes of the board (v2)", "2024-03-11"),
        ("Scan 2024-03-11 14.05.22", "2024-03-11"),
        ("invoice_20240311", "2024-03-11"),
        ("202403111405 A thought", "2024-03-11"),
        ("20240311140559", "2024-03-11"),
        ("Rechnung 11.3.2024", "2024-03-11"),
        ("bill_2024-03", "2024-03"),
        ("2024-03-11 (copy of 2024-03-11)", "2024-03-11"),
        ("2024-03-01 to 2024-03-31", ""),
        ("2024-02-30", ""),
        ("20241301", ""),
        ("2024-13", ""),
        ("report 2019", ""),
        ("12024-03-11", ""),
        ("2024031114", ""),
        ("1.2.3", ""),
        ("3024-01-01", ""),
    ],
)
def test_the_name_of_a_file_may_say_its_day(name, expected):
    assert date_in_name(name) == expected


def test_each_language_names_twelve_months_once():
    for language in ("en", "de", "fr", "es", "it", "pt", "nl"):
        assert sorted(months.named(language).values()) == list(range(1, 13))
        assert sorted(months.shortened(language).values()) == list(range(1, 13))
