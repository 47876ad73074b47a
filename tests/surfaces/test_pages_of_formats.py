"""What pages are called in every door: those of workbooks are sheets."""

from __future__ import annotations

import io

import openpyxl
from small_library import add, write_files

from ragkit.surfaces import render, render_exports
from ragkit.surfaces.mcp.text import results_as_text


def workbook() -> bytes:
    book = openpyxl.Workbook()
    book.active.append(["Boat", "Days"])
    book.active.append(["Canoe", 3])
    sheet = book.create_sheet("Dues")
    sheet.append(["Pier", "Cranes"])
    sheet.append(["North", 2])
    buffer = io.BytesIO()
    book.save(buffer)
    return buffer.getvalue()


def test_pages_of_a_workbook_are_sheets_on_the_command_line_in_exports_and_for_agents(
    library, tmp_path
):
    add(library, write_files(tmp_path / "files", {"harbour.xlsx": workbook()}))
    answer = library.search("canoe days")
    said = "\n".join(render.answer_as_text(answer, explain=False, colour=False))
    assert "harbour.xlsx · sheet 1 · chunk 1 of 1" in said
    assert "sheet 1" in render_exports.export_markdown(answer)
    values = render.results_as_json(answer.results)
    assert "sheet 1 · chunk 1" in "\n".join(results_as_text(values))
    (source,) = library.answers.quick(answer)
    assert source.place.endswith(" · sheet 1 · harbour.xlsx")
