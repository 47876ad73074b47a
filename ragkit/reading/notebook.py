"""Jupyter notebooks as Markdown: prose as it is, code in fences, outputs shortened."""

from __future__ import annotations

import json
import re
from typing import Any

from ragkit.reading.decode import clean
from ragkit.reading.formats import Format
from ragkit.reading.limits import damaged
from ragkit.reading.markdown import first_heading, strip_embedded
from ragkit.reading.reading_parts import fenced, inner, joined, nonempty, objects, stem
from ragkit.types import Markup, Reading

_OUTPUT_LINES = 20
_OUTPUT_LETTERS = 1500
_INVALID = "This is not a valid notebook; it was kept as text."
_PICTURE = re.compile(r"(\"image/[\w+.-]{1,40}\":)\s*\"[^\"]*\"?")
# What an object is called that is shown in another way than as text.
_NO_TEXT = re.compile(r"<[\w.]+(?: object)?(?: at 0x[0-9a-fA-F]+)?>")


def read_notebook(text: str, name: str, file_format: Format = Format.IPYNB) -> Reading:
    """Read a cleaned notebook file (nbformat 3 or 4); one whose JSON is broken stays text.

    Raises:
        ReadingError: it has no cells.
    """
    try:
        notebook = json.loads(text)
    except ValueError:
        if '"cell_type"' not in text:
            raise
        return Reading(
            text=_PICTURE.sub(r"\1", text),
            title=stem(name),
            format=file_format,
            markup=Markup.PLAIN,
            warnings=(_INVALID,),
        )
    metadata = inner(notebook, "metadata")
    language = _language(metadata)
    body = joined((_cell(cell, language) for cell in _cells(notebook)), "\n\n")
    title = metadata.get("title")
    return Reading(
        text=body,
        title=(clean(title) if isinstance(title, str) else "") or first_heading(body) or stem(name),
        format=file_format,
        markup=Markup.MARKDOWN,
        metadata=nonempty(language=language),
    )


def _cells(notebook: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the cells of either version of the format.

    Raises:
        ReadingError: there are none.
    """
    cells = notebook.get("cells")
    if cells is None and isinstance(notebook.get("worksheets"), list):
        sheets = objects(notebook["worksheets"])
        cells = [cell for sheet in sheets for cell in sheet.get("cells", [])]
    if not isinstance(cells, list):
        raise damaged(Format.IPYNB.label)
    return objects(cells)


def _language(metadata: dict[str, Any]) -> str:
    """Return the programming language of the code cells."""
    for key, name in (("language_info", "name"), ("kernelspec", "language")):
        language = inner(metadata, key).get(name)
        if isinstance(language, str):
            return clean(language)[:40].lower()
    return ""


def _cell(cell: dict[str, Any], language: str) -> str:
    """Return one cell as Markdown."""
    source = _joined(cell.get("source", cell.get("input", "")))
    if cell.get("cell_type") != "code":
        return strip_embedded(source)
    pieces = [fenced(source, language) if source else ""]
    pieces += map(_output, objects(cell.get("outputs")))
    return joined(pieces, "\n\n")


def _output(output: dict[str, Any]) -> str:
    """Return an output as Markdown, shortened, without pictures and tracebacks."""
    data = inner(output, "data")
    plain = _joined(output.get("text") or data.get("text/plain"))
    if output.get("output_type") in ("error", "pyerr"):
        plain = f"{output.get('ename', 'Error')}: {output.get('evalue', '')}"
    rich = _joined(data.get("text/markdown"))
    if not rich and (not plain or _NO_TEXT.fullmatch(plain)):
        rich = _from_html(_joined(data.get("text/html")))
    short, is_whole = _shortened(rich or plain)
    if rich and is_whole:
        return strip_embedded(short)
    return fenced(short, "markdown" if rich else "text") if short else ""


def _from_html(source: str) -> str:
    """Return an output in HTML as Markdown; one that only a browser can show has no text."""
    from ragkit.reading.html import to_markdown

    return to_markdown(source, Format.IPYNB.label) if source else ""


def _shortened(text: str) -> tuple[str, bool]:
    """Return the first lines of a text, and whether they are all of it."""
    short = "\n".join(text.split("\n")[:_OUTPUT_LINES])[:_OUTPUT_LETTERS]
    return (text, True) if len(short) == len(text) else (f"{short}\n…", False)


def _joined(value: Any) -> str:
    """Return text that may be a list of lines, which have no ends in old notebooks."""
    if isinstance(value, list):
        lines = [line for line in value if isinstance(line, str)]
        value = ("" if lines and lines[0].endswith("\n") else "\n").join(lines)
    return clean(value).strip("\n") if isinstance(value, str) else ""
