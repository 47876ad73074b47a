"""Goes through the source of a LaTeX file, argument by argument."""

from __future__ import annotations

import re

from ragkit.reading.latex.commands import CODE_OR_FLOAT, VERBATIM

_LONGEST, _LONGEST_CODE = 20_000, 500_000
_BRACE = re.compile(r"\\.|[{}]", re.DOTALL)
_BLANKS = re.compile(r"\s*")
_OVERLAY = re.compile(r"<[\d,+|.:@a-z-]{1,40}>")
_SPACE = re.compile(r"[ \t]*(?:\n(?![ \t]*\n)[ \t]*)?")
_OPTIONAL = re.compile(
    r"\[((?:[^\[\]{}\\]|\\.|\{(?:[^{}]|\{[^{}]{0,200}\}){0,500}\}|\[[^\[\]]{0,200}\]){0,2000})\]",
    re.DOTALL,
)
_TOKEN = re.compile(r"\\[A-Za-z@]+|\\.|[^\\{}\s]", re.DOTALL)
_OF_FLOATS = ("\\caption", *(f"\\begin{{{name}}}" for name in sorted(VERBATIM)))
_DOLLAR = re.compile(r"\\.|\$|\n[ \t]*\n", re.DOTALL)


class Places:
    """Finds places in a text whose ends may be missing, without going through it each time."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._groups: dict[int, int] | None = None
        self._found: dict[str, tuple[int, int]] = {}

    def group_end(self, start: int, longest: int = _LONGEST) -> int:
        """Return the place behind the group that begins at ``start``; -1 if it is not near."""
        if self._groups is None:
            self._groups = _groups(self.text)
        end = self._groups.get(start, -1)
        return end if end - start <= longest else -1

    def find(self, sought: str, start: int, longest: int = _LONGEST) -> int:
        """Return the first place of a string from ``start`` on; -1 if it is not near."""
        since, found = self._found.get(sought, (0, -2))
        if found == -2 or start < since or -1 < found < start:
            found = self.text.find(sought, start)
            self._found[sought] = start, found
        return found if found - start <= longest else -1


def is_code(name: str, places: Places, start: int) -> bool:
    """Return whether an environment is printed as it is; its content begins at ``start``."""
    bare = name.rstrip("*")
    if bare not in CODE_OR_FLOAT:
        return bare in VERBATIM
    end = places.find(f"\\end{{{name}}}", start, _LONGEST_CODE)
    return not any(-1 < places.find(one, start, _LONGEST_CODE) < end for one in _OF_FLOATS)


def _groups(text: str) -> dict[int, int]:
    """Return where each group ends, behind its brace, by the place of the brace that opens it."""
    ends, opened = {}, []
    for brace in _BRACE.finditer(text):
        if brace[0] == "{":
            opened.append(brace.start())
        elif brace[0] == "}" and opened:
            ends[opened.pop()] = brace.end()
    return ends


class Source:
    """A text and the place that has been reached in it, ``at``."""

    def __init__(self, text: str) -> None:
        self.text, self.at = text, 0
        self.places = Places(text)

    def follows(self, *beginnings: str) -> bool:
        """Return whether the text goes on with one of these."""
        return self.text.startswith(beginnings, self.at)

    def take(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """Pass what a pattern matches here, and return the match."""
        found = pattern.match(self.text, self.at)
        if found is not None:
            self.at = found.end()
        return found

    def skip_blanks(self) -> None:
        """Pass white space, also blank lines."""
        self.take(_BLANKS)

    def skip_overlay(self) -> None:
        """Pass what says on which slides something is shown, as in ``<2->``."""
        self.take(_OVERLAY)

    def opens(self) -> bool:
        """Return whether a group follows, and pass the white space before it if so."""
        space = _SPACE.match(self.text, self.at)
        start = space.end() if space else self.at
        if not self.text.startswith("{", start):
            return False
        self.at = start
        return True

    def group(self) -> str:
        """Pass the group that follows, and return its source; ``""`` if none follows.

        Of a group that does not end, only the brace is passed.
        """
        if not self.opens():
            return ""
        start = self.at + 1
        end = self.places.group_end(self.at)
        self.at = max(end, start)
        return self.text[start : end - 1] if end > 0 else ""

    def optional(self) -> str:
        """Pass the brackets that follow at once, and return what they hold."""
        found = self.take(_OPTIONAL)
        return found[1] if found else ""

    def skip_optional(self) -> None:
        """Pass all brackets that follow."""
        while self.take(_OPTIONAL):
            pass

    def skip(self, arguments: int) -> None:
        """Pass arguments and all brackets between them."""
        for _ in range(arguments):
            self.skip_optional()
            if self.opens():
                self.group()
            else:
                self.take(_SPACE)
                self.take(_TOKEN)
        self.skip_optional()

    def up_to(self, end: str, longest: int = _LONGEST) -> str | None:
        """Pass what comes before ``end`` and that as well; ``None`` if it is not near."""
        found = self.places.find(end, self.at, longest)
        if found < 0:
            return None
        source, self.at = self.text[self.at : found], found + len(end)
        return source

    def environment(self, name: str) -> str:
        """Pass everything up to the end of an environment, and return it; ``""`` without an end."""
        return self.up_to(f"\\end{{{name}}}", _LONGEST_CODE) or ""

    def formula(self, mark: str) -> str | None:
        """Pass a formula up to ``mark``, one dollar or two; ``None`` if it does not end."""
        at = self.at
        while (token := _DOLLAR.search(self.text, at, self.at + _LONGEST)) is not None:
            if token[0] == "$":
                source = self.text[self.at : token.start()]
                self.at = token.end()
                self.at += mark == "$$" and self.follows("$")
                return source
            if token[0][0] == "\n" and mark == "$":
                return None
            at = token.end()
        return None
