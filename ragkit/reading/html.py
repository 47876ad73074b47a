"""HTML: the head for title and metadata, the body as Markdown."""

from __future__ import annotations

import re
from html import unescape
from html.parser import HTMLParser

from ragkit.reading.decode import clean
from ragkit.reading.formats import Format
from ragkit.reading.markdown import first_heading, metadata_from, strip_embedded
from ragkit.reading.office import convert
from ragkit.reading.reading_parts import one_line, put, stem, tidy
from ragkit.types import Markup, Reading

_UNSEEN = re.compile(
    r"<(head|script|style|template|noscript|svg|title)\b[^>]*>.*?</\1\s*>", re.I | re.S
)
_UNSEEN_TAG = re.compile(r"<(?:meta|link|base)\b[^>]*>|<!--.*?-->", re.I | re.S)
_TITLE = re.compile(r"<title\b[^>]*>(.*?)</title\s*>", re.I | re.S)
_META = re.compile(r"<meta\b([^>]{1,2000})>", re.I)
_ATTRIBUTE = re.compile(r"([\w:-]+)\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'>]+))")
_LANGUAGE = re.compile(
    r"<html\b[^>]{0,2000}?\s(?:xml:)?lang\s*=\s*[\"']?([a-zA-Z]{2,3}(?:-[a-zA-Z]{2,4})?)", re.I
)
_CHARSET = re.compile(
    rb"<(?:meta|\?xml)\b[^>]{0,300}?(?:charset|encoding)\s*=\s*[\"']?([\w.:-]{2,40})", re.I
)
_HEAD_LENGTH = 200_000
_META_NAMES = {
    "author": "author", "article:author": "author", "dcterms.creator": "author",
    "date": "date", "article:published_time": "date", "dcterms.date": "date",
    "keywords": "keywords", "description": "description",
}  # fmt: skip
_LOST_SHARE = 0.2


def declared_encoding(data: bytes) -> str:
    """Return the encoding that an HTML or XML file declares, or an empty string."""
    charset = _CHARSET.search(data[:4096])
    return charset[1].decode("ascii") if charset else ""


def read_html(text: str, name: str, file_format: Format = Format.HTML) -> Reading:
    """Read cleaned HTML source."""
    head = text[:_HEAD_LENGTH]
    title = _TITLE.search(head)
    language = _LANGUAGE.search(head)
    body = to_markdown(text)
    shown = one_line(clean(unescape(title[1]))) if title else ""
    return Reading(
        text=body,
        title=shown or first_heading(body) or stem(name),
        format=file_format,
        markup=Markup.MARKDOWN,
        language=language[1] if language else "",
        metadata=_metadata(head),
    )


def to_markdown(source: str, label: str = Format.HTML.label) -> str:
    """Return HTML as clean Markdown, without scripts, styles and embedded files."""
    seen = _UNSEEN_TAG.sub("", _UNSEEN.sub("", source))
    result = convert(f"<html><body>{seen}</body></html>".encode(), "html", label)
    converted = tidy(clean(strip_embedded(result.content)))
    if len(converted) < 200:
        # The converter gives up below a certain depth of nesting; words matter more than form.
        bare = _bare_text(seen)
        if len(converted) < len(bare) * _LOST_SHARE:
            return bare
    return converted


def _metadata(head: str) -> dict[str, object]:
    """Return author, date, keywords and description from the meta tags."""
    values: dict[str, object] = {}
    for tag in _META.finditer(head):
        attributes = {
            match[1].lower(): unescape(match[2] or match[3] or match[4] or "")
            for match in _ATTRIBUTE.finditer(tag[1])
        }
        key = _META_NAMES.get(attributes.get("name", attributes.get("property", "")).lower())
        if key and key not in values:
            put(values, **{key: one_line(clean(attributes.get("content", "")))})
    return metadata_from(values)


class _Words(HTMLParser):
    """Gathers the text between tags."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.pieces: list[str] = []

    def handle_data(self, data: str) -> None:
        """Keep a run of text."""
        self.pieces.append(data)


def _bare_text(source: str) -> str:
    """Return the words of HTML without any markup."""
    words = _Words()
    words.feed(source)
    words.close()
    return tidy(clean("\n".join(stripped for piece in words.pieces if (stripped := piece.strip()))))
