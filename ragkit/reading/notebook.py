"""Jupyter notebooks: prose as it is, code in fences, short outputs."""

from __future__ import annotations

import json
import re
from typing import Any

from ragkit.reading.decode import clean
from ragkit.reading.formats import Format
from ragkit.reading.limits import damaged, too_deep
from ragkit.reading.markdown import first_heading, strip_embedded
from ragkit.reading.reading_parts import put, stem
from ragkit.types import Markup, Reading

_OUTPUT_LINES = 20
_OUTPUT_LETTERS = 1500
_TICKS = re.compile(r"`{3,}")


def read_notebook(text: str, name: str, file_format: Format = Format.IPYNB) -> Reading:
    """Read a cleaned notebook file (nbformat 3 or 4).

    Raises:
        ReadingError: when it is no notebook.
    """
    try:
        notebook = json.loads(text)
    except RecursionError:
        raise too_deep() from None
    except ValueError as error:
        raise damaged(file_format.label) from error
    cells = _cells(notebook)
    if cells is None:
        raise damaged(file_format.label)
    metadata = notebook.get("metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    language = _language(metadata)
    body = "\n\n".join(filter(None, (_cell(cell, language) for cell in cells)))
    title = metadata.get("title")
    return Reading(
        text=body,
        title=(clean(title) if isinstance(title, str) else "") or first_heading(body) or stem(name),
        format=file_format,
        markup=Markup.MARKDOWN,
        metadata=put({}, language=language),
    )


def _cells(notebook: Any) -> list[dict[str, Any]] | None:
    """Return the cells of either version of the format; ``None`` if there are none."""
    if not isinstance(notebook, dict):
        return None
    cells = notebook.get("cells")
    if cells is None and isinstance(notebook.get("worksheets"), list):
        cells = [
            cell
            for sheet in notebook["worksheets"]
            if isinstance(sheet, dict)
            for cell in sheet.get("cells", [])
        ]
    if not isinstance(cells, list):
        return None
    return [cell for cell in cells if isinstance(cell, dict)]


def _language(metadata: dict[str, Any]) -> str:
    """Return the programming language of the code cells."""
    for key, inner in (("language_info", "name"), ("kernelspec", "language")):
        section = metadata.get(key)
        if isinstance(section, dict) and isinstance(section.get(inner), str):
            return clean(section[inner])[:40].lower()
    return ""


def _cell(cell: dict[str, Any], language: str) -> str:
    """Return one cell as Markdown."""
    source = _joined(cell.get("source", cell.get("input", "")))
    kind = cell.get("cell_type")
    if kind != "code":
        return strip_embedded(source)
    outputs = cell.get("outputs")
    shown = (
        [_output(output) for output in outputs if isinstance(output, dict)]
        if isinstance(outputs, list)
        else []
    )
    pieces = [_fenced(source, language) if source else ""]
    pieces += [_fenced(output, "text") for output in shown if output]
    return "\n\n".join(filter(None, pieces))


def _output(output: dict[str, Any]) -> str:
    """Return the text of an output, shortened; pictures and tracebacks are left out."""
    data = output.get("data")
    text = output.get("text") or (data.get("text/plain") if isinstance(data, dict) else "")
    if output.get("output_type") in ("error", "pyerr"):
        text = f"{output.get('ename', 'Error')}: {output.get('evalue', '')}"
    lines = _joined(text).split("\n")
    short = "\n".join(lines[:_OUTPUT_LINES])[:_OUTPUT_LETTERS]
    return short + ("\n…" if len(short) < len("\n".join(lines)) else "")


def _joined(value: Any) -> str:
    """Return source text, which the format allows to be a list of lines."""
    if isinstance(value, list):
        value = "".join(line for line in value if isinstance(line, str))
    return clean(value).strip("\n") if isinstance(value, str) else ""


def _fenced(text: str, language: str) -> str:
    """Return text in a fence that nothing inside it closes."""
    longest = max((len(ticks) for ticks in _TICKS.findall(text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{language}\n{text}\n{fence}"
