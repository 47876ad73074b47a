"""Source code with its symbols as the outline, and Jupyter notebooks with their code in fences."""

from __future__ import annotations

import ast
import json
import re
import warnings
from itertools import accumulate
from typing import Any

from ragkit.reading.decode import clean
from ragkit.reading.formats import Format, code_language
from ragkit.reading.limits import damaged, too_deep
from ragkit.reading.markdown import first_heading, strip_embedded
from ragkit.reading.reading_parts import file_name, put, stem
from ragkit.types import Markup, OutlineEntry, Reading

_MOST_SYMBOLS = 5000
_MODIFIERS = (
    r"(?:(?:export|default|declare|public|private|protected|internal|static|abstract|final|sealed"
    r"|async|pub(?:\([a-z]{1,20}\))?|unsafe|const|extern|inline|override|open|data|virtual|partial)\s+){0,6}"
)
_NAMED = re.compile(
    rf"^([ \t]{{0,8}}){_MODIFIERS}"
    r"(?:class|interface|struct|enum|trait|impl|fn|func|fun|function\*?|def|defmodule|module"
    r"|namespace|record|object|protocol|extension|union|mixin|actor)\s+"
    r"(?:<[^<>\n]{0,100}>\s*)?(?:\([^()\n]{0,200}\)\s*)?([A-Za-z_$][\w$.:]{0,200})",
    re.M,
)
_TYPED = re.compile(
    r"^()(?!(?:return|else|typedef|using|if|for|while|switch|do|case|new|delete|throw)\b)"
    r"[A-Za-z_][\w:<>,*&~\[\] \t]{0,120}?[ \t*&]([A-Za-z_~][\w:~]{0,200})\s?"
    r"\([^;{}()\n]{0,300}\)[^;{}\n]{0,60}\n?\{",
    re.M,
)
_ARROW = re.compile(
    r"^()(?:export\s+)?(?:const|let|var)\s+([A-Za-z_$][\w$]{0,200})\s*(?::[^=\n]{0,200})?=\s*"
    r"(?:async\s*)?(?:function\b|\([^()\n]{0,300}\)[^=\n]{0,100}=>|[\w$]{1,100}\s*=>)",
    re.M,
)
_SQL = re.compile(
    r"^()\s{0,8}create\s+(?:or\s+replace\s+)?(?:temp(?:orary)?\s+)?(?:materialized\s+)?(?:unique\s+)?"
    r"(?:table|view|function|procedure|trigger|index|schema|type)\s+(?:if\s+not\s+exists\s+)?"
    r"([\w.\"`\[\]]{1,200})",
    re.M | re.I,
)
_SHELL = re.compile(r"^()(?:function\s+)?([A-Za-z_][\w-]{0,100})\s*\(\)\s*\{?", re.M)
_LATEX = re.compile(r"^\\(chapter|section|subsection|subsubsection)\*?\{([^{}\n]{1,300})\}", re.M)
_LATEX_LEVELS = {"chapter": 1, "section": 2, "subsection": 3, "subsubsection": 4}
_MORE = {
    "javascript": (_ARROW,), "typescript": (_ARROW,), "vue": (_ARROW,), "svelte": (_ARROW,),
    "c": (_TYPED,), "c++": (_TYPED,), "sql": (_SQL,), "shell": (_SHELL,),
}  # fmt: skip


def read_code(text: str, name: str, file_format: Format = Format.CODE) -> Reading:
    """Read cleaned source code; the language comes from the name or the first line."""
    language = code_language(name, text[:200].encode("utf-8", "replace"))
    return Reading(
        text=text,
        title=file_name(name),
        format=file_format,
        markup=Markup.CODE,
        outline=_outline(text, language),
        metadata={"language": language} if language else {},
    )


def _outline(text: str, language: str) -> tuple[OutlineEntry, ...]:
    """Return classes, functions and the like, in the order of the text."""
    if language == "python":
        try:
            return _python(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return _by_pattern(text, (_NAMED,))
    if language == "latex":
        return tuple(
            OutlineEntry(match.start(), _LATEX_LEVELS[match[1]], match[2])
            for match in _LATEX.finditer(text)
        )
    if language in ("css", "xml", "batch", "make", "docker", "bibtex", ""):
        return ()
    own = _MORE.get(language, ())
    patterns = own if language in ("sql", "shell") else (_NAMED, *own)
    return _by_pattern(text, patterns)


def _python(text: str) -> tuple[OutlineEntry, ...]:
    """Return the symbols by Python's own parser: top level, and the methods of classes."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tree = ast.parse(text)
    starts = [0, *accumulate(len(line) + 1 for line in text.split("\n"))]
    entries: list[OutlineEntry] = []

    def walk(body: list[ast.stmt], level: int, prefix: str) -> None:
        for node in body:
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                line = min([node.lineno, *(mark.lineno for mark in node.decorator_list)])
                entries.append(OutlineEntry(starts[line - 1], level, prefix + node.name))
                if isinstance(node, ast.ClassDef) and level < 3:
                    walk(node.body, level + 1, "")

    walk(tree.body, 1, "")
    return tuple(entries[:_MOST_SYMBOLS])


def _by_pattern(text: str, patterns: tuple[re.Pattern[str], ...]) -> tuple[OutlineEntry, ...]:
    """Return the symbols by the look of their first line; indented ones are one level deeper."""
    entries: dict[int, OutlineEntry] = {}
    for pattern in patterns:
        for match in pattern.finditer(text):
            offset = text.rfind("\n", 0, match.start(2)) + 1
            level = 2 if match[1] else 1
            entries.setdefault(
                offset, OutlineEntry(offset, level, match[2].strip('"`[]').rstrip(".:"))
            )
            if len(entries) >= _MOST_SYMBOLS:
                break
    return tuple(entries[offset] for offset in sorted(entries))


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
