"""Elements of web pages that are not closed in their order, or that nest too deeply.

Of both kinds the converter loses text without a word: it ignores an end tag that does not belong
to the innermost element, so all that follows lies one level deeper, and below 60 levels it reads
nothing. Browsers read such pages as the standard of HTML says, and so do people.
"""

from __future__ import annotations

import re
from itertools import islice

from ragkit.reading.html_tables import Table

_ATTRIBUTES = r"(?>(?:[^<>=]++|=\s*+\"[^\"]*+\"|=\s*+'[^']*+'|=)*)"
_TAG = re.compile(
    rf"<(/?)([a-z][^\s/<>]*+)({_ATTRIBUTES})>"
    r"|<(/)([a-z]\w*+)()(?=[^<>]*+(?:<|$))", re.I,  # cut off
)  # fmt: skip
ANY_TAG = re.compile(rf"</?[a-z!?]{_ATTRIBUTES}>", re.I)
_UNENDED = re.compile(rf"<(?=/?[a-z])(?!/?[a-z]{_ATTRIBUTES}>)", re.I)
_MOST_UNENDED = 200
_OF_ELEMENT = re.compile(f"</?[a-zA-Z]{_ATTRIBUTES}>")
_A_TABLE = re.compile("<table", re.I)
_REFERENCE = re.compile(r"\shref\b", re.I)


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


_VOID = _names(
    "area base basefont bgsound br col embed frame hr img input keygen link meta param source"
    " track wbr"
)
_HEADINGS = _names("h1 h2 h3 h4 h5 h6")
_CELLS = _names("td th")
_ROWS = _names("tr caption colgroup")
_GROUPS = _names("thead tbody tfoot")
_TABLE = frozenset({"table"})
_IN_TABLES = _CELLS | _ROWS | _GROUPS
_OF_TABLES = _TABLE | _IN_TABLES
_ITEMS = _names("li dt dd")
_LISTS = _names("ul ol menu dir")
_DIVISIONS = _names(
    "address article aside body center details dialog div fieldset figcaption figure footer form"
    " header hgroup html main menu nav search section summary"
)
_STRUCTURE = _HEADINGS | _OF_TABLES | _ITEMS | _LISTS | _names(
    "blockquote dl listing p plaintext pre xmp"
)  # fmt: skip
_BLOCKS = _DIVISIONS | _STRUCTURE
_MARKS = _names("a b cite code del dfn em i ins kbd mark q s samp strike strong sub sup tt u var")
_IN_CELL = _CELLS | _TABLE | {"caption"}
_PARAGRAPH = frozenset({"p"})
_LINES = _PARAGRAPH | _HEADINGS
_LINES_END = (_BLOCKS - _IN_TABLES - {"html", "body"}) | {"hr"}
# What begins ends an open element of some names, unless it lies in one of others that is nearer.
_IMPLIED_ENDS = {
    **dict.fromkeys(_CELLS, (_CELLS, _TABLE)),
    **dict.fromkeys(_ROWS, (_ROWS, _TABLE)),
    **dict.fromkeys(_GROUPS, (_GROUPS, _TABLE)),
    **dict.fromkeys(("dt", "dd"), (frozenset({"dt", "dd"}), _IN_CELL | {"dl"})),
    **dict.fromkeys(("option", "optgroup"), (frozenset({"option"}), _BLOCKS | {"select"})),
    "li": (frozenset({"li"}), _IN_CELL | _LISTS),
    "a": (frozenset({"a"}), _BLOCKS),
}

DEEPEST = 50
"""How deep elements may nest for the converter."""
_RICH = _LISTS | {"dl", "pre", "blockquote"}
_DEEP = 30
_DEEP_STRUCTURE = DEEPEST - 4
_MOST_OPEN = 300


def without_unended(source: str) -> str:
    """Return HTML whose tags all end if very many do not; these become text.

    For each of them the converter looks through all that follows. It shows them as text as well.
    """
    if sum(1 for _ in islice(_UNENDED.finditer(source), _MOST_UNENDED)) < _MOST_UNENDED:
        return source
    return _UNENDED.sub("&lt;", source)


def levelled(source: str) -> str:
    """Return HTML in which each element ends in its order and nests no deeper than ``DEEPEST``.

    A page that is so already, without tables that only lay it out, stays as it is. In others,
    elements end where the standard says, those that are still too deep follow each other instead
    of lying in each other, and such tables become divisions.
    """
    is_level = _is_level(source)
    if is_level and not _A_TABLE.search(source):
        return source
    leveller = _Leveller()
    result = leveller.levelled(source)
    return source if is_level and not leveller.lays_out else result


def _is_level(source: str) -> bool:
    """Return whether elements end in their order and none is too deep.

    The converter knows that the ends of items are optional; for it "</P>" or "</p >" end no "<p>".
    """
    opened: list[str] = []
    for tag in _OF_ELEMENT.findall(source):
        if tag[1] == "/":
            name = tag[2:-1]
            if opened and opened[-1] != name and opened[-1] in _ITEMS:
                opened.pop()
            if not opened or opened.pop() != name:
                return False
        else:
            name = tag[1:-1].split(None, 1)[0].rstrip("/")
            if name.lower() in _VOID or (tag[-2] == "/" and _is_empty(tag[1 + len(name) : -1])):
                continue
            if name in _ITEMS and opened and opened[-1] in _ITEMS:
                opened.pop()
            opened.append(name)
            if len(opened) > DEEPEST:
                return False
    return not opened or all(name in _ITEMS for name in opened)


def _is_empty(more: str) -> bool:
    """Return whether a tag ends its element, by what follows the name: not if "/" ends a value."""
    return more[-1:] == "/" and (more[:-1] == "" or more[-2] in " \t\n\"'")


class _Leveller:
    """Rewrites the tags of one page.

    Of each open element it knows the name and the one that was written for it: its own, another,
    or none.
    """

    def __init__(self) -> None:
        self._opened: list[tuple[str, str]] = []
        self._written: list[str] = []
        self._pieces: list[str] = []
        self._tables: list[Table] = []
        self.lays_out = False

    def levelled(self, source: str) -> str:
        """Return the page with its tags in order."""
        at = 0
        for tag in _TAG.finditer(source):
            self._pieces.append(source[at : tag.start()])
            at = tag.end()
            is_end, name, more = tag[1] or tag[4], (tag[2] or tag[5]).lower(), tag[3] or ""
            if is_end:
                self._end(name)
            else:
                self._begin(name, more, is_empty=name in _VOID or _is_empty(more))
        self._pieces.append(source[at:])
        self._close(0)
        return "".join(self._pieces)

    def _begin(self, name: str, more: str, *, is_empty: bool) -> None:
        if name in _LINES_END:
            self._close_last(_LINES, _IN_CELL)
        if ends := _IMPLIED_ENDS.get(name):
            self._close_last(*ends)
        if name in _GROUPS:
            self._close_last(_ROWS, _TABLE)
        if is_empty:
            self._pieces.append(f"<{name}{more}>")
        elif name == "a" and not _REFERENCE.search(more):
            # A mark of a place, often without an end.
            self._pieces.append(f"<a{more}></a>")
            self._opened.append((name, ""))
        elif len(self._opened) > _MOST_OPEN:
            self._divide(name)
        elif name == "colgroup":
            self._opened.append((name, ""))
        elif name in _IN_TABLES and not self._tables:
            self._open(name, "div", "")
        elif self._fits(name):
            self._open(name, name, more)
        elif name not in _BLOCKS or self._divide(name):
            self._opened.append((name, ""))
        else:
            self._open(name, "div", "")

    def _fits(self, name: str) -> bool:
        """Return whether an element may begin here; those that mean little are left out first."""
        level = len(self._written)
        if level < _DEEP:
            return True
        if name in _MARKS:
            return level < _DEEP_STRUCTURE and name not in self._written
        return level < _DEEP_STRUCTURE and name in _STRUCTURE

    def _open(self, name: str, written: str, more: str) -> None:
        if self._tables:
            table = self._tables[-1]
            table.rows += written == "tr"
            table.is_rich |= written in _RICH
            table.holds_blocks |= written == "table" or written in _HEADINGS
            table.has_heads |= written == "th"
        if written == "table":
            self._tables.append(Table(more))
        if written in _OF_TABLES and self._tables:
            self._tables[-1].tags.append(len(self._pieces))
        self._opened.append((name, written))
        self._written.append(written)
        self._pieces.append(f"<{written}{more}>")

    def _divide(self, name: str) -> bool:
        """Begin the innermost element anew where a block begins or ends; return if that worked."""
        inner = self._written[-1] if self._written else ""
        if name not in _BLOCKS or inner not in ("div", "p"):
            return False
        self._pieces.append(f"</{inner}><{inner}>")
        return True

    def _end(self, name: str) -> None:
        if self._opened and self._opened[-1][0] == name:
            self._close(len(self._opened) - 1)
        elif name in _HEADINGS:
            self._close_last(_HEADINGS, _IN_CELL)
        elif name == "table":
            self._close_last(_TABLE, frozenset())
        elif name in _IN_TABLES:
            self._close_last(frozenset({name}), _TABLE)
        elif name in _BLOCKS:
            within = _IN_CELL | _LISTS - {name} if name == "li" else _IN_CELL
            self._close_last(frozenset({name}), within)
        else:
            self._close_last(frozenset({name}), _BLOCKS - _LINES)

    def _close_last(self, names: frozenset[str], within: frozenset[str]) -> None:
        """End the last open element of some names, unless it contains one of others."""
        for place in range(len(self._opened) - 1, -1, -1):
            name = self._opened[place][0]
            if name in names:
                self._close(place)
                return
            if name in within:
                return

    def _close(self, place: int) -> None:
        """End the elements from a place on."""
        while len(self._opened) > place:
            name, written = self._opened.pop()
            if not written:
                self._divide(name)
                continue
            if written in _OF_TABLES and self._tables:
                self._tables[-1].tags.append(len(self._pieces))
            self._pieces.append(f"</{self._written.pop()}>")
            if written == "table":
                self.lays_out |= self._tables.pop().only_lays_out(self._pieces)
