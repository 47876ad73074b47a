from __future__ import annotations

from reading_files import read


def test_rst_titles_become_the_outline(tmp_path):
    source = (
        "====\nMain\n====\n\nIntro\n\nPart ``one``\n-------\n\n"
        "text\n\nDeeper\n~~~~~~\n\nx\n\nTwo\n---\n"
    )
    reading = read(tmp_path, "a.rst", source)
    assert [(entry.level, entry.title) for entry in reading.outline] == [
        (1, "Main"),
        (2, "Part one"),
        (3, "Deeper"),
        (2, "Two"),
    ]
    assert reading.title == "Main"
    assert reading.text[reading.outline[1].offset :].startswith("Part ``one``")
