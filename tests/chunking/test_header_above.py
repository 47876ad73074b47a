"""The header of the table in which a text ends."""

from __future__ import annotations

import pytest

from ragkit.chunking.units import header_above

TABLE = "Ports:\n\n| Port | Range |\n| --- | ---: |\n| Husum | 3.4 |\n"


@pytest.mark.parametrize(
    ("before", "above", "header"),
    [
        (TABLE, "", "| Port | Range |"),
        (TABLE, "| Other |", "| Port | Range |"),
        (TABLE + "\n", "| Other |", ""),
        (TABLE + "It rose.\n", "| Other |", ""),
        (TABLE[:-1], "", ""),
        ("| Husum | 3.4 |\n| Wyk | 2.9 |\n", "", ""),
        ("| Husum | 3.4 |\n| Wyk | 2.9 |\n", "| Other |", "| Other |"),
        ("", "| Other |", "| Other |"),
        ("Prose.\n| Wyk | 2.9 |\n", "| Other |", ""),
    ],
)
def test_the_header_is_that_of_the_rows_at_the_end(before, above, header):
    assert header_above(before, above) == header
