"""Rewrites the body of LaTeX documents as Markdown, command by command."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

from ragkit.reading.latex import commands
from ragkit.reading.latex.blocks import (
    CELL,
    HASH,
    ITEM,
    ROW,
    body,
    display,
    drawn,
    inline,
    inline_math,
    listed,
    marked,
    quoted,
    tabled,
)  # fmt: skip
from ragkit.reading.latex.source import Source, is_code
from ragkit.reading.reading_parts import fenced

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

_DEEPEST = 60
_TOKEN = re.compile(
    r"\\(?:([A-Za-z@]+)\*?[ \t]*(?:\n(?![ \t]*\n)[ \t]*)?|([\s\S]))|\$\$?|[{}~&]|-{2,3}|``|''|`"
    r"|\"[`'aouAOUsz=~-]|\n[ \t]*\n\s*|\n[ \t]+"
)
_SIGNS = {"~": " ", "--": "–", "---": "—", "``": "“", "''": "”", "`": "'", "&": CELL, "}": ""}
_GERMAN_SIGNS = {
    '"`': "„", "\"'": "“", '"a': "ä", '"o': "ö", '"u': "ü", '"A': "Ä", '"O': "Ö", '"U': "Ü",
    '"s': "ß", '"z': "ß", '"=': "-", '"~': "-", '"-': "",
}  # fmt: skip
_GERMAN = re.compile(
    r"\\usepackage(?:\[[^\]]{0,300}german[^\]]{0,300}\]\{babel\}|\{n?german\})"
    r"|\\documentclass\[[^\]]{0,300}german"
)
_HEADING = re.compile(
    rf"\\({'|'.join(commands.HEADINGS)})(?![A-Za-z])|\\(?:begin\{{frame\}}|frametitle)"
)
_THEOREM = re.compile(r"\\newtheorem\*?\{(\w{1,40}\*?)\}(?:\[\w{0,40}\])?\{([^{}\\\n]{1,80})\}")
_CAPTION = re.compile(
    r"\b(?:caption|title)\s*=\s*(?:\{((?:[^{}]|\{[^{}]{0,200}\}){0,500})\}|([^,{}]{1,200}))"
)
_LANGUAGE = re.compile(r"language\s*=\s*\{?(?:\[[^\]]{0,40}\])?(\w[\w+#-]{0,30})")
_CITATION = re.compile(r"\w{0,20}[cC]ite\w{0,20}")
_REFERENCE = re.compile(r"[a-zA-Z]{0,10}[rR]ef")
_SPACES = re.compile(r"[ \t]{2,}")


class Rewriter:
    """Rewrites the parts of one file in their order.

    ``values`` has the title, authors and date that were seen so far. Headings are so deep that the
    highest one of the file is at the top, or just below the title. ``special`` are the commands
    that treat their arguments in a way of their own, by name; "cite" is among them.
    """

    def __init__(self, source: str, special: Mapping[str, Callable[[Rewriter], str]]) -> None:
        self._special = special
        self.values: dict[str, str] = {}
        self._is_german = bool(_GERMAN.search(source[:20_000]))
        self._labels = commands.THEOREMS | dict(_THEOREM.findall(source))
        used = {match[1] or "subsection" for match in _HEADING.finditer(source)}
        top = min(map(commands.HEADINGS.index, used), default=0)
        self._shift = (2 if "\\title" in source else 1) - top
        self.source: Source = Source("")
        self._depth = self._numbers = 0
        self._notes: list[str] = []

    def rewritten(self, text: str) -> str:
        """Return a part of the file as Markdown."""
        written = self.nested(text)
        return body(written + self._footnotes())

    def nested(self, text: str) -> str:
        """Return a piece of source as Markdown, with separators."""
        if self._depth >= _DEEPEST:
            return ""
        outer, self.source = self.source, Source(text)
        written = self._until(lambda _token: False)
        self.source = outer
        return written

    def _until(self, is_end: Callable[[str], bool]) -> str:
        """Return what comes before the end of a group or environment, which is passed."""
        source = self.source
        parts: list[str] = []
        self._depth += 1
        while (token := _TOKEN.search(source.text, source.at)) is not None:
            parts += _words(source.text[source.at : token.start()], parts)
            source.at = token.end()
            if is_end(token[0]):
                break
            if token[1] == "end":
                if is_end(f"end {source.group().strip()}"):
                    break
            else:
                if shown := self._of_token(token):
                    parts.append(shown)
                if parts and parts[-1].endswith("\n\n"):
                    source.skip_blanks()
        else:
            parts += _words(source.text[source.at :], parts)
            source.at = len(source.text)
        self._depth -= 1
        return "".join(parts)

    def _of_token(self, token: re.Match[str]) -> str:
        if token[1] is not None:
            return self._of_command(token[1], token[0])
        if token[2] is not None:
            return self._of_escape(token[2])
        mark = token[0]
        if mark == "{":
            return self._group() if self._depth < _DEEPEST else ""
        if mark[0] == "$":
            formula = self.source.formula(mark)
            if formula is None:
                return mark
            return display(formula) if mark == "$$" else inline_math(formula)
        if mark[0] == '"':
            if self._is_german:
                return _GERMAN_SIGNS[mark]
            self.source.at -= 1
            return '"'
        if mark[0] == "\n":
            return "\n\n" if "\n" in mark[1:] else "\n"
        return _SIGNS[mark]

    def _group(self) -> str:
        """Return the text of a group whose brace has been passed."""
        return self._until("}".__eq__)

    def _of_escape(self, sign: str) -> str:
        """Return what a backslash and a sign show."""
        if sign in "([":
            formula = self.source.up_to("\\)" if sign == "(" else "\\]") or ""
            return inline_math(formula) if sign == "(" else display(formula)
        if sign in commands.ACCENTS:
            return self._accented(sign)
        if sign == "\\":
            self.source.at += self.source.follows("*")
            self.source.optional()
            self.source.skip_blanks()
            return ROW
        return HASH if sign == "#" else commands.SIGNS.get(sign, "")

    def _accented(self, accent: str) -> str:
        letters = inline(self.argument())
        if not letters:
            return accent if accent in "^~" else ""
        base = {"ı": "i", "ȷ": "j"}.get(letters[0], letters[0])
        return unicodedata.normalize("NFC", base + commands.ACCENTS[accent]) + letters[1:]

    def argument(self) -> str:
        """Return the text of the group, command or character that follows."""
        source = self.source
        if source.opens():
            source.at += 1
            return self._group() if self._depth < _DEEPEST else ""
        token = _TOKEN.match(source.text, source.at)
        if token is None:
            source.at += 1
            return source.text[source.at - 1 : source.at]
        if token[0][0] in "}&\n" or token[1] in ("begin", "end", "item"):
            return ""
        source.at = token.end()
        if self._depth >= _DEEPEST:
            return ""
        self._depth += 1
        shown = self._of_token(token)
        self._depth -= 1
        return shown

    # Commands.

    def _of_command(self, name: str, found: str) -> str:
        """Return what a command and its arguments show; ``found`` has the space behind its name."""
        if name in commands.HEADINGS:
            return self.heading(name)
        if name in commands.MARKS:
            return marked(self.argument(), commands.MARKS[name])
        if name in commands.SYMBOLS:
            return commands.SYMBOLS[name]
        if name in commands.ACCENTS:
            return self._accented(name)
        if name in self._special:
            return self._special[name](self)
        if name in commands.DROPPED:
            self.source.skip(commands.DROPPED[name])
            return ""
        if name in commands.SHOWN_AFTER:
            self.source.skip(commands.SHOWN_AFTER[name])
            return self.argument()
        if _CITATION.fullmatch(name):
            return self._special["cite"](self)
        if _REFERENCE.fullmatch(name):
            self.source.optional()
            target = inline(self.nested(self.source.group()))
            return f"[{target}]" if target else ""
        if "note" in name.lower() and self.source.opens():
            return self.footnote()
        return self._of_unknown(found)

    def _of_unknown(self, found: str) -> str:
        """Return the arguments of a command that is not known, as it may well show them."""
        if not found[-1].isspace():
            self.source.skip_optional()
        parts = []
        while self.source.follows("{"):
            parts.append(self.argument())
            self.source.skip_optional()
        return " ".join(filter(None, parts))

    def heading(self, name: str) -> str:
        """Return a heading of the level of a command, whose title follows."""
        short = self.source.optional()
        return self._headed(inline(self.argument()) or short, name)

    def _headed(self, title: str, name: str) -> str:
        if not title:
            return ""
        level = min(max(commands.HEADINGS.index(name) + self._shift, 1), 6)
        return f"{self._footnotes()}\n\n{'#' * level} {title}\n\n"

    def _footnotes(self) -> str:
        """Return the footnotes since the last heading."""
        notes, self._notes = self._notes, []
        return "".join(f"\n\n{note}" for note in notes)

    def footnote(self) -> str:
        """Return the mark of a note, whose text comes below its section."""
        self.source.optional()
        note = inline(self.argument())
        if not note:
            return ""
        self._numbers += 1
        self._notes.append(f"[^{self._numbers}]: {note}")
        return f"[^{self._numbers}]"

    # Environments.

    def environment(self) -> str:
        """Return an environment whose beginning has been passed but for its name."""
        source = self.source
        name = source.group().strip()
        bare = name.rstrip("*")
        if is_code(name, source.places, source.at):
            return self._code(name)
        if bare in commands.MATH:
            return display(source.environment(name))
        if bare in commands.DRAWINGS:
            return drawn(source.environment(name))
        if self._depth >= _DEEPEST:
            return ""
        before = self._before(name, bare)
        inside = self._until(f"end {name}".__eq__)
        return f"{before}{_written(bare, inside)}\n\n"

    def _code(self, name: str) -> str:
        """Return an environment that is printed as it is, below the caption in its options."""
        options = self.source.optional()
        language = self.source.group() if name.startswith("minted") else ""
        if found := _LANGUAGE.search(options):
            language = found[1]
        stated = _CAPTION.search(options)
        caption = inline(self.nested(stated[1] or stated[2] or "")) if stated else ""
        source = self.source.environment(name).strip("\n")
        block = fenced(source, language.lower()) if source.strip() else ""
        return f"\n\n{caption}\n\n{block}\n\n"

    def _before(self, name: str, bare: str) -> str:
        """Return what an environment shows before its content, and pass its arguments."""
        source = self.source
        if bare == "frame":
            source.skip_overlay()
            source.optional()
            title = inline(self.argument()) if source.opens() else ""
            return self._headed(title, "subsection")
        label = self._labels.get(name) or self._labels.get(bare)
        if label:
            about = inline(self.nested(source.optional()))
            return f"\n\n**{label}{f' ({about})' if about else ''}.** "
        source.optional()
        source.skip(commands.ARGUMENTS.get(name, 0))
        if bare == "abstract":
            return "\n\n## Abstract\n\n"
        return self._headed("References", "section") if bare == "thebibliography" else "\n"


def _words(text: str, before: Sequence[str]) -> tuple[str, ...]:
    """Return a piece of text with single spaces, none at first if there is one already."""
    text = _SPACES.sub(" ", text)
    if before and before[-1][-1] in " \n":
        text = text.lstrip(" ")
    return (text,) if text else ()


def _written(name: str, inside: str) -> str:
    """Return the content of an environment as Markdown."""
    if name in commands.TABLES or (CELL in inside and ROW in inside):
        return f"\n\n{tabled(inside)}"
    if ITEM in inside:
        return f"\n\n{listed(inside, numbered=name.startswith('enum'))}"
    return f"\n\n{quoted(inside)}" if name in commands.QUOTES else inside
