"""Prepares the source of a LaTeX file: without comments, and with its own commands written out."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from ragkit.reading.latex import commands
from ragkit.reading.latex.source import Places, is_code

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_MOST_ARGUMENTS, _DEEPEST = 9, 8
_LONGEST_BODY, _MOST_MACROS = 5_000, 2_000
_LONGEST_CODE, _LONGEST_LINE = 200_000, 1_000
_CODE = (
    rf"\\begin\{{(?P<code>(?:{'|'.join(sorted(commands.VERBATIM | commands.CODE_OR_FLOAT))})\*?)\}}"
    r"|\\(?:verb|lstinline)\*?(?P<sign>[^\w\s*{])"
)
_COMMENTED = re.compile(
    rf"{_CODE}|(?P<comment>\\begin\{{comment\}}|\\iffalse\b)|\\."
    r"|(?P<line>%[^\n]*(?:\n(?![ \t]*\n)[ \t]*)?)",
    re.DOTALL,
)
_DEFINITION = re.compile(
    r"\\(?:(?:re)?newcommand|providecommand|DeclareRobustCommand)\*?"
    r"\s*\{?\s*\\([A-Za-z]+)\s*\}?\s*(?:\[(\d)\])?\s*(?:\[([^\[\]]{0,200})\])?\s*(?=\{)"
    r"|\\def\s*\\([A-Za-z]+)((?:#\d){0,9})\s*(?=\{)"
)
_USE = re.compile(rf"{_CODE}|\\(?P<name>[A-Za-z]+)", re.DOTALL)
_PARAMETER = re.compile(r"#(\d)")
_INTERNAL = re.compile(r"@|\\(?:csname|expandafter|def|let|futurelet|begingroup|ifx?)\b|##")
_TOKEN = re.compile(r"\\[A-Za-z]+|\\.|\S", re.DOTALL)
_ENDS_IN_COMMAND = re.compile(r"\\[A-Za-z]+\Z")
_BEING_DEFINED = re.compile(r"(?:command\*?|\\def|\\let|Operator)\s*\{?\s*\Z")
_SPACE = re.compile(r"[ \t]*\n?[ \t]*")
_KNOWN = frozenset((
    *commands.HEADINGS, *commands.MARKS, *commands.DROPPED, *commands.SHOWN_AFTER,
    *commands.SYMBOLS, *commands.ACCENTS, "begin", "end", "item", "title", "author", "caption",
    "footnote", "verb",
))  # fmt: skip


class _Macro(NamedTuple):
    arguments: int
    default: str | None
    body: str


def without_comments(source: str) -> str:
    """Return a source without its comments; what is quoted as code stays."""
    places, pieces = Places(source), []
    at = position = 0
    while (found := _COMMENTED.search(source, position)) is not None:
        position = found.end()
        if found["comment"] or found["line"]:
            if found["comment"]:
                end = "\\fi" if found["comment"] == "\\iffalse" else "\\end{comment}"
                position = _behind(places, end, position)
            if position > found.end() or found["line"]:
                pieces.append(source[at : found.start()])
                at = position
        else:
            position = _code_end(places, found)
    return "".join((*pieces, source[at:]))


def _behind(places: Places, end: str, start: int) -> int:
    """Return the place behind what ends something, or ``start`` if nothing does."""
    found = places.find(end, start, _LONGEST_CODE)
    while (
        found >= 0
        and end[-1].isalpha()
        and places.text[found + len(end) : found + len(end) + 1].isalpha()
    ):
        found = places.find(end, found + 1, _LONGEST_CODE)
    return start if found < 0 else found + len(end)


def _code_end(places: Places, found: re.Match[str]) -> int:
    """Return where code ends that a match begins; the end of the match if it is none."""
    if found["code"] and is_code(found["code"], places, found.end()):
        return _behind(places, f"\\end{{{found['code']}}}", found.end())
    if found["sign"]:
        end = found.string.find(found["sign"], found.end(), found.end() + _LONGEST_LINE)
        if end > 0 and "\n" not in found.string[found.end() : end]:
            return end + 1
    return found.end()


def expanded(source: str) -> str:
    """Return a source in which the commands that it defines are replaced by what they stand for.

    Commands whose meaning is known, and those that are programmed, stay. What grows beyond four
    times the source, as no document does, stays as well.
    """
    macros = dict(_macros(source))
    if not macros:
        return source
    return "".join(_replaced(source, macros, 0, [4 * len(source) + 100_000]))


def _macros(source: str) -> Iterator[tuple[str, _Macro]]:
    places = Places(source)
    for number, found in enumerate(_DEFINITION.finditer(source)):
        if number == _MOST_MACROS:
            return
        end = places.group_end(found.end(), _LONGEST_BODY)
        name = found[1] or found[4]
        if end < 0 or name in _KNOWN:
            continue
        body = source[found.end() + 1 : end - 1]
        arguments = int(found[2] or 0) if found[1] else len(found[5]) // 2
        if not _INTERNAL.search(body):
            yield name, _Macro(arguments, found[3] if found[1] else None, body)


def _replaced(
    source: str, macros: Mapping[str, _Macro], depth: int, budget: list[int]
) -> Iterator[str]:
    """Yield the pieces of a source; ``budget`` has the characters that may still be written."""
    places = Places(source)
    at, position = 0, 0
    while (use := _USE.search(source, position)) is not None:
        position = _code_end(places, use)
        macro = macros.get(use["name"] or "")
        if macro is None or _is_defined_here(source, use.start()):
            continue
        arguments, end = _arguments(source, places, position, macro)
        if arguments is None:
            continue
        body = _filled(macro.body, arguments)
        budget[0] -= len(body)
        if depth >= _DEEPEST or budget[0] < 0:
            continue
        yield source[at : use.start()]
        # Braces would part what belongs together, such as an environment that two commands open
        # and close; a letter that follows must not become part of the last command.
        yield from _replaced(body, macros, depth + 1, budget)
        if _ENDS_IN_COMMAND.search(body) and source[end : end + 1].isalpha():
            yield " "
        at = position = end
    yield source[at:]


def _filled(body: str, arguments: Mapping[str, str]) -> str:
    return _PARAMETER.sub(lambda number: arguments.get(number[1], ""), body)


def _is_defined_here(source: str, at: int) -> bool:
    return bool(_BEING_DEFINED.search(source[max(at - 40, 0) : at]))


def _arguments(
    source: str, places: Places, at: int, macro: _Macro
) -> tuple[dict[str, str] | None, int]:
    """Return the arguments of a command by number, and where they end."""
    values: dict[str, str] = {}
    start = at
    if macro.default is not None:
        end = source.find("]", at, at + 500) if source.startswith("[", at) else -1
        values["1"] = source[at + 1 : end] if end > 0 else macro.default
        at = end + 1 if end > 0 else at
    for number in range(len(values) + 1, min(macro.arguments, _MOST_ARGUMENTS) + 1):
        space = _SPACE.match(source, at)
        opens = space.end() if space else at
        if source.startswith("{", opens):
            at = places.group_end(opens, _LONGEST_BODY)
            if at < 0:
                return None, start
            values[str(number)] = source[opens + 1 : at - 1]
        else:
            token = _TOKEN.match(source, opens)
            if token is None:
                return None, start
            values[str(number)], at = token[0], token.end()
    return values, at
