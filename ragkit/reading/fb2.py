"""FictionBook e-books, rewritten as a web page and read like one."""

from __future__ import annotations

import re
from html import unescape
from typing import TYPE_CHECKING

from ragkit.reading.formats import Format
from ragkit.reading.heads import with_head
from ragkit.reading.html import to_markdown
from ragkit.reading.markdown import metadata_from
from ragkit.reading.reading_parts import joined, one_line
from ragkit.reading.titles import choose
from ragkit.types import Markup, Reading

if TYPE_CHECKING:
    from ragkit.types import Metadata

_TAG = re.compile(r"<(/?)(?:\w{1,20}:)?([a-z-]{1,30})((?:\s[^<>]{0,1000})?)>", re.IGNORECASE)
_UNSEEN = re.compile(
    r"<(binary|stylesheet|description)\b[^<>]*>(?:(?!<\1\b).)*?</\1\s*>|<\?xml[^<>]*>|<!--(?:(?!<!--).)*?-->",
    re.IGNORECASE | re.DOTALL,
)
_ORNAMENT = re.compile(r"<subtitle\b[^<>]*>[^\w<>]{0,100}</subtitle\s*>", re.IGNORECASE)
_ABOUT = re.compile(r"<title-info\b[^<>]*>(.*?)</title-info\s*>", re.IGNORECASE | re.DOTALL)
_ANNOTATION = re.compile(r"<annotation\b[^<>]*>(.*?)</annotation\s*>", re.IGNORECASE | re.DOTALL)
_AUTHOR = re.compile(r"<author\b[^<>]*>(.{0,2000}?)</author\s*>", re.IGNORECASE | re.DOTALL)
_NAME = re.compile(r"<(first-name|middle-name|last-name|nickname)\b[^<>]*>([^<>]*)<", re.IGNORECASE)
_ANY_TAG = re.compile(r"<[^<>]*>")
_NOTES = re.compile(r"\sname\s*=\s*[\"'](?:notes|footnotes|comments)[\"']", re.IGNORECASE)
_HREF = re.compile(r"href\s*=\s*[\"'](https?://[^\"'<>\s]{1,1000})[\"']", re.IGNORECASE)
_LONGEST_HEAD = 200_000
_PLAIN = {
    "p": "p", "emphasis": "em", "strong": "strong", "strikethrough": "s", "code": "code",
    "sub": "sub", "sup": "sup", "cite": "blockquote", "epigraph": "blockquote",
    "poem": "blockquote", "stanza": "p", "table": "table", "tr": "tr", "td": "td", "th": "th",
}  # fmt: skip
_BEFORE = {"subtitle": "<p><strong>", "text-author": "<p>— ", "date": "<p>"}
_AFTER = {"subtitle": "</strong></p>", "text-author": "</p>", "date": "</p>", "v": "<br>"}


def read_book(text: str, name: str, file_format: Format = Format.FB2) -> Reading:
    """Read a FictionBook file, also one that is no well-formed XML."""
    head = _ABOUT.search(text, 0, _LONGEST_HEAD)
    about = head[1] if head else ""
    title, metadata = _value(about, "book-title"), _metadata(about)
    annotation = _ANNOTATION.search(about)
    body = to_markdown(_Page(title).drawn(_UNSEEN.sub("", text)), file_format.label)
    before = to_markdown(_Page("").drawn(annotation[1]), file_format.label) if annotation else ""
    heading = f"# {title}" if title else ""
    return Reading(
        text=with_head(title, metadata, joined((heading, before, body), "\n\n")),
        title=choose([title], name),
        format=file_format,
        markup=Markup.MARKDOWN,
        language=_value(about, "lang")[:2].lower(),
        metadata=metadata,
    )


def _value(about: str, tag: str) -> str:
    found = re.search(
        rf"<{tag}\b[^<>]*>(.{{0,1000}}?)</{tag}\s*>", about, re.IGNORECASE | re.DOTALL
    )
    return one_line(unescape(_ANY_TAG.sub(" ", found[1]))) if found else ""


def _metadata(about: str) -> Metadata:
    authors = []
    for author in _AUTHOR.finditer(about):
        names = {found[1].lower(): found[2].strip() for found in _NAME.finditer(author[1])}
        whole = joined(names.get(f"{part}-name", "") for part in ("first", "middle", "last"))
        authors.append(unescape(whole.replace("\n", " ")) or unescape(names.get("nickname", "")))
    return metadata_from(
        {
            "author": joined(authors, ", "),
            "date": _value(about, "date"),
            "keywords": _value(about, "keywords"),
        }
    )


class _Page:
    """Rewrites the tags of a book in their order; a title that is ``known`` is left out once."""

    def __init__(self, known: str) -> None:
        self._known = known
        self._depth = 0
        self._title_lines = -1
        self._links: list[bool] = []

    def drawn(self, source: str) -> str:
        page = _TAG.sub(self._tag, _ORNAMENT.sub("", source))
        return page.replace(f"<h2>{self._known}</h2>", "", 1) if self._known else page

    def _tag(self, tag: re.Match[str]) -> str:
        closes, name, attributes = bool(tag[1]), tag[2].lower(), tag[3]
        if attributes.endswith("/"):
            return ""
        if name == "section":
            self._depth += -1 if closes else 1
            return ""
        if name == "title":
            self._title_lines = -1 if closes else 0
            return f"<{tag[1]}h{min(max(self._depth, 1) + 1, 6)}>"
        if self._title_lines >= 0 and name == "p":
            self._title_lines += not closes
            return ". " if self._title_lines > 1 and not closes else ""
        if name == "body":
            self._depth = 0
            is_notes = not closes and _NOTES.search(attributes)
            return "<h2>Notes</h2>" if is_notes else ""
        if name == "a":
            return self._link(attributes, closes=closes)
        if name in _PLAIN:
            return f"<{tag[1]}{_PLAIN[name]}>"
        return (_AFTER if closes else _BEFORE).get(name, "")

    def _link(self, attributes: str, *, closes: bool) -> str:
        """Return a link that leads to the web; the number of a note is text."""
        if closes:
            return "</a>" if self._links and self._links.pop() else ""
        target = _HREF.search(attributes)
        self._links.append(target is not None)
        return f'<a href="{target[1]}">' if target else ""
