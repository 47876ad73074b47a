"""Text of roff: its control lines without definitions and conditions, its escapes as characters."""

from __future__ import annotations

import re
from collections import deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_REQUEST = re.compile(r"[.'][ \t]*([^\s\\]+)[ \t]*(.*)", re.S)
_COMMENT = re.compile(r"\\[\"#].*|^[.'][ \t]*\\?$")
_INDENTED = re.compile(r"^([.'])[ \t]+")
_CONTINUED = re.compile(r"(?<!\\)(?:\\\\)*\\$")
_ARGUMENT = re.compile(r'"((?:[^"]|"")*)"?|((?:\\.|[^\s\\])+)')
_CONDITION = re.compile(
    r"(!?)[ \t]*(n\b|t\b|\\n\(\.g\b|\\n\[\.g\]|'[^']*'[^']*'|\"[^\"]*\"[^\"]*\"|\S+)[ \t]*(.*)",
    re.S,
)
_TRUE = ("n", r"\n(.g", r"\n[.g]")
_DEFINITIONS = ("de", "de1", "am", "ig")

_ESCAPE = re.compile(
    r"\\(?:\((?P<two>..)|\[(?P<long>[^\]\n]{0,40})\]|C'(?P<named>[^']{0,40})'|N'(?P<number>\d{1,6})'"
    r"|\*(?:\((?P<s2>..)|\[(?P<s>[^\]\n]{0,40})\]|(?P<s1>.))"
    r"|[fFgkMmnVYn](?:[+-]?\(..|[+-]?\[[^\]\n]{0,40}\]|[+-]?.)|s[+-]?(?:\d{1,2}|\(..|\[[^\]\n]{0,9}\]|'[^']{0,9}')"
    r"|[bDhHlLoRSvwxXZ]'[^'\n]{0,200}'|(?P<one>.)|$)"
)
_ONE = {"e": "\\", "\\": "\\", "-": "-", "'": "'", "`": "`", " ": " ", "~": " ", "0": " ",
        "t": " ", ".": ".", "_": "_"}  # fmt: skip
_NAMED = {
    "aq": "'", "dq": '"', "lq": "\u201c", "rq": "\u201d", "oq": "\u2018", "cq": "\u2019",
    "Bq": "\u201e", "bq": "\u201a", "Fo": "«", "Fc": "»", "ga": "`", "aa": "'", "ha": "^",
    "ti": "~", "rs": "\\", "ul": "_", "at": "@", "sh": "#", "Do": "$", "hy": "-", "en": "\u2013",
    "em": "\u2014", "mi": "-", "bu": "•", "co": "©", "rg": "®", "tm": "™", "de": "°", "sc": "§",
    "ps": "¶", "mu": "×", "+-": "±", "<=": "≤", ">=": "≥", "!=": "≠", "->": "→", "<-": "←",
    "ua": "↑", "da": "↓", "or": "|", "ba": "|", "br": "|", "bv": "|", "lB": "[", "rB": "]",
    "lC": "{", "rC": "}", "la": "<", "ra": ">", "sl": "/", "eq": "=", "pl": "+", "**": "*",
    "ss": "ß", "ae": "æ", "AE": "Æ", "oe": "œ", "OE": "Œ", "/o": "ø", "/O": "Ø", "Eu": "€",
    "Po": "£", "Ye": "¥", "ct": "¢", "12": "½", "14": "¼", "34": "¾", "*a": "α", "*b": "β",
    "*m": "µ", "*p": "π", "if": "∞", "no": "¬", "lh": "☜", "rh": "☞", "OK": "✓", "fm": "'",
    "sd": '"', "'i": "í", "r!": "¡", "r?": "¿", ",c": "ç", ",C": "Ç", "oA": "Å", "oa": "å",
}  # fmt: skip
_MARKS = {"'": "\u0301", "`": "\u0300", "^": "\u0302", ":": "\u0308", "~": "\u0303", "v": "\u030c"}
_STRINGS = {"Aq": "'", "lq": "\u201c", "rq": "\u201d", "R": "®", "Tm": "™", "C+": "C++", "--": "-",
            "C`": "", "C'": "", "L\"": '"', "R\"": '"', "q": '"', "Lq": "\u201c", "Rq": "\u201d",
            "Ba": "|", "Ge": ">=", "Le": "<=", "Gt": ">", "Lt": "<"}  # fmt: skip


def written_arguments(rest: str) -> list[str]:
    """Return the arguments of a macro, with their escapes."""
    return [quoted.replace('""', '"') or bare for quoted, bare in _ARGUMENT.findall(rest)]


class Roff:
    """The lines of a file, and the strings that it defines."""

    def __init__(self, text: str) -> None:
        self._left = deque(text.split("\n"))
        self._strings = dict(_STRINGS)
        self._was = True

    def lines(self) -> Iterator[tuple[str, str]]:
        """Yield each line as the name of its macro or request, or ``""``, and the rest."""
        while self._left:
            line = _COMMENT.sub("", self._left.popleft())
            while _CONTINUED.search(line) and self._left:
                line = line[:-1] + self._left.popleft()
            line = line.replace("\\}", "")
            request = _REQUEST.match(line)
            if request is None:
                if line[:1] not in (".", "'") or line[1:2].isalpha():
                    yield "", line
            elif request[1] in _DEFINITIONS:
                self._skip_definition(request[2])
            elif request[1] in ("if", "ie", "el", "while"):
                self._conditional(request[1], request[2])
            elif request[1] == "ds":
                name, _, value = request[2].partition(" ")
                self._strings[name] = self.plain(value.lstrip().removeprefix('"'))
            else:
                yield request[1], request[2]

    def plain(self, text: str) -> str:
        """Return a text with characters for its escapes, and without those that only form it."""
        return _ESCAPE.sub(self._character, text) if "\\" in text else text

    def arguments(self, rest: str) -> list[str]:
        """Return the arguments of a macro, in plain text."""
        return list(map(self.plain, written_arguments(rest)))

    def _character(self, escape: re.Match[str]) -> str:
        string = escape["s"] or escape["s2"] or escape["s1"]
        if string:
            return self._strings.get(string, "")
        if escape["number"]:
            return chr(min(int(escape["number"]), 0x10FFFF))
        name = escape["two"] or escape["long"] or escape["named"]
        if not name:
            return _ONE.get(escape["one"] or "", "")
        if re.fullmatch(r"u[0-9A-F]{4,6}", name):
            return chr(min(int(name[1:], 16), 0x10FFFF))
        accent = _MARKS.get(name[0]) if len(name) == 2 else None
        return _NAMED.get(name, name[1] + accent if accent else "")

    def _skip_definition(self, rest: str) -> None:
        end = "." + (rest.split()[1] if len(rest.split()) > 1 else ".")
        while self._left and _INDENTED.sub(r"\1", self._left.popleft()).rstrip() != end:
            pass

    def _conditional(self, name: str, rest: str) -> None:
        """Put what a condition guards before what is left, or leave it out."""
        if name == "el":
            holds, body = not self._was, rest
        else:
            found = _CONDITION.match(rest)
            holds = self._was = found is not None and (found[2] in _TRUE) != bool(found[1])
            body = found[3] if found else ""
        if holds:
            self._left.appendleft(body.replace("\\{", "", 1).lstrip("\\ "))
            return
        depth = body.count("\\{") - body.count("\\}")
        while depth > 0 and self._left:
            line = self._left.popleft()
            depth += line.count("\\{") - line.count("\\}")
