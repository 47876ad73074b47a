"""Tags in Markdown, of HTML and of components: which only shape a text, and which have words."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from markdown_it.token import Token

from pages.parts.rendering.canvas import Span

_NAME = r"[\w:@.-]{1,40}"
_VALUE = r"\"[^\"<>]*\"|'[^'<>]*'|\{(?:[^{}<>]|\{[^{}<>]*\})*\}|[^\s\"'<>=`{}]+"
_ATTRIBUTE = re.compile(rf"\s+(?P<name>{_NAME})(?:\s*=\s*(?P<value>{_VALUE}))?")
_TAG = re.compile(
    r"<(?P<close>/?)(?P<name>[A-Za-z][\w.]{0,60})"
    rf"(?P<rest>(?:\s+{_NAME}(?:\s*=\s*(?:{_VALUE}))?)*)\s*(?P<end>/?)>"
)
_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
ELEMENTS: Mapping[str, str] = {
    **dict.fromkeys(("b", "strong", "summary", *_HEADINGS), "strong"),
    **dict.fromkeys(("code", "kbd", "samp", "tt"), "code"),
    **dict.fromkeys(("i", "em"), "em"),
    **dict.fromkeys(("s", "del"), "s"),
    **{name: name for name in ("sub", "sup", "a")},
}
"""What elements of HTML are drawn as."""

_LINES = frozenset({"p", "div", "center", "summary", "tr", "li", *_HEADINGS})
_OTHER_SHAPES = (
    "span", "font", "small", "big", "u", "ins", "var", "abbr", "cite", "dfn", "mark", "details",
    "figure", "figcaption", "picture", "source", "table", "thead", "tbody", "th", "td", "ul", "ol",
    "br",
)  # fmt: skip
_SHAPES = frozenset({*ELEMENTS, *_LINES, *_OTHER_SHAPES})
_TOLD = frozenset({"title", "href", "src"})
"""Attributes that tell what else nobody would see."""

_SWITCHES = frozenset({"open", "hidden"})
_NAMES = ("title", "heading", "label", "bold", "summary")
_TEXTS = ("text", "caption", "description", "copy", "alt")
_CALLOUTS = frozenset({"Note", "Tip", "Info", "Important", "Warning", "Caution", "Danger"})
_PICTURES = frozenset({"img", "Img", "Image"})


@dataclass(frozen=True, slots=True)
class Tag:
    """A tag as it is written; spans are offsets into that."""

    name: str
    values: Mapping[str, Span]
    """Where the value of each attribute is, without its quotes."""

    switches: frozenset[str]
    """The attributes that are written without a value."""

    closes: bool
    """Whether it is one like ``</b>``."""

    is_whole: bool
    """Whether it is one like ``<br/>``."""

    @property
    def element(self) -> str:
        """The element of HTML that it would be."""
        return self.name.lower()

    @property
    def is_plain(self) -> bool:
        """Whether it is none by chance, as in "3 <b and c> d"."""
        return self.switches <= _SWITCHES

    @property
    def is_picture(self) -> bool:
        """Whether it shows a picture, whose address is in ``src``."""
        return self.name in _PICTURES and "src" in self.values

    @property
    def ends_cell(self) -> bool:
        """Whether it ends a cell of a table."""
        return self.closes and self.element in ("th", "td")

    def ends_line(self, rest: str) -> bool:
        """Return whether the ``rest`` of a paragraph after it stands on a line of its own."""
        if not rest.strip():
            return False
        if self.closes and self.name[0].isupper():
            return rest.startswith("\n")
        return self.element == "br" or (self.closes and self.element in _LINES)

    def only_shapes(self, text: str) -> bool:
        """Return whether it has nothing to read. ``text`` is the document that it stands in."""
        if self.element in _SHAPES:
            return self.closes or (self.is_plain and _TOLD.isdisjoint(self.values))
        return self.closes and self._is_component(text)

    def words(self, text: str) -> list[tuple[Span, bool]] | None:
        """Return what is to be read of a component's tag: spans, and whether each is a name.

        ``None`` for what is no component of the document ``text``, such as "<YOUR NAME>".
        """
        if not self._is_component(text):
            return None
        if self.name in _CALLOUTS and "title" not in self.values:
            return [((1, 1 + len(self.name)), True)]
        found = [
            (span, name in _NAMES)
            for name, span in self.values.items()
            if name in _NAMES or name in _TEXTS
        ]
        return None if self.is_whole and not found else found

    def _is_component(self, text: str) -> bool:
        """Return whether it is a component of JSX, with a beginning and an end."""
        if not self.name[0].isupper():
            return False
        other = f"<{self.name}" if self.closes else f"</{self.name}>"
        return self.is_whole or other in text


def read_tag(written: str) -> Tag | None:
    """Read a tag; return ``None`` for a comment and for what is written otherwise."""
    match = _TAG.fullmatch(written)
    if match is None:
        return None
    values: dict[str, Span] = {}
    switches = set()
    for attribute in _ATTRIBUTE.finditer(written, match.end("name"), match.end("rest")):
        start, end = attribute.span("value")
        if start < 0:
            switches.add(attribute["name"])
        elif written[start] in "\"'":
            start, end = start + 1, end - 1
        if 0 <= start < end and written[start] != "{":
            values[attribute["name"]] = (start, end)
    return Tag(match["name"], values, frozenset(switches), bool(match["close"]), bool(match["end"]))


def pair_tags(tokens: Sequence[Token]) -> None:
    """Note which tags enclose what may be drawn as an element, such as ``<a href>`` and ``</a>``.

    ``meta["element"]`` of the first is its name in ``ELEMENTS``, and of the second empty. A link
    in another one and tags that cross each other or an emphasis have none.
    """
    opened: list[tuple[Token, Tag, int]] = []
    depth = links = 0
    for token in tokens:
        depth += token.nesting
        if token.nesting < 0:
            opened = [each for each in opened if each[2] <= depth]
        tag = read_tag(token.content) if token.type == "tag" else None
        links += {"link_open": 1, "link_close": -1}.get(token.type, 0)
        is_link = tag is not None and tag.element == "a" and not tag.closes
        if is_link or token.type in ("link_open", "note_link"):
            opened = [each for each in opened if each[1].element != "a"]
        if tag is None or tag.element not in ELEMENTS or tag.is_whole or not tag.is_plain:
            continue
        if not tag.closes:
            if not is_link or ("href" in tag.values and not links):
                opened.append((token, tag, depth))
        elif opened and opened[-1][1].element == tag.element and opened[-1][2] == depth:
            opened.pop()[0].meta["element"], token.meta["element"] = tag.element, ""
        else:
            opened.clear()
