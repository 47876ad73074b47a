"""Source code, unchanged, with its symbols as the outline."""

from __future__ import annotations

import ast
import re
import warnings

from ragkit.reading.formats import Format, code_language
from ragkit.reading.reading_parts import file_name, lines_at
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
    """Return classes, functions and similar symbols in the order of the text."""
    if language == "python":
        try:
            return _python(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return _by_pattern(text, (_NAMED,))
    if language in ("css", "xml", "batch", "make", "docker", "bibtex", ""):
        return ()
    own = _MORE.get(language, ())
    patterns = own if language in ("sql", "shell") else (_NAMED, *own)
    return _by_pattern(text, patterns)


def _python(text: str) -> tuple[OutlineEntry, ...]:
    """Return the top-level symbols of Python code and the methods of its classes."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tree = ast.parse(text)
    starts = [offset for offset, _ in lines_at(text)]
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
    """Return the symbols whose first line matches a pattern; indented ones are one level deeper."""
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
