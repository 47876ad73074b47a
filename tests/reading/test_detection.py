from __future__ import annotations

import pytest
from reading_files import read, said

from ragkit.errors import SkippedError


def test_lines_in_several_encodings_are_all_read(tmp_path):
    data = (
        "03/02/2026, 14:05 - Jörg: Grüße aus Köln, schön hier, über alles\n".encode()
        + "03/02/2026, 14:06 - José: mañana\n".encode("cp1252")
        + "03/02/2026, 14:07 - Jörg: für später\n".encode()
    )
    reading = read(tmp_path, "mixed.txt", data)
    assert [one[2] for one in said(reading)] == [
        "Grüße aus Köln, schön hier, über alles",
        "mañana",
        "für später",
    ]
    assert reading.messages[1].author == "José"
    assert len(reading.warnings) == 1
    assert "Windows-1252" in reading.warnings[0]


def test_a_message_a_thousand_times_is_read_a_thousand_times(tmp_path):
    reading = read(tmp_path, "same.txt", "03/02/2026, 14:05 - Max: ok\n" * 1000)
    assert reading.metadata["messages"] == len(reading.messages) == 1000
    assert reading.text.count("**Max** · 2026-02-03 14:05\nok") == 1000


@pytest.mark.parametrize("name", ["a.txt", "a.md", "a.json", "a.jsonl", "a.mbox"])
def test_an_empty_export_is_skipped(tmp_path, name):
    with pytest.raises(SkippedError, match="The file is empty"):
        read(tmp_path, name, "")
