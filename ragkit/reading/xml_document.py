"""XML that is read, not run: articles and books (DocBook, TEI, DITA, JATS), help, subtitles, feeds.

Its elements become those of a web page, which is read like one. XML that holds hardly any running
text, such as settings, is code.
"""

from __future__ import annotations

import re
from html import escape, unescape
from html.entities import name2codepoint
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from ragkit.reading.code import read_code
from ragkit.reading.formats import Format
from ragkit.reading.html import to_markdown
from ragkit.reading.markdown import first_heading
from ragkit.reading.reading_parts import joined, one_line, whole_line
from ragkit.reading.titles import choose
from ragkit.reading.xml_names import local_name
from ragkit.types import Markup, Reading

if TYPE_CHECKING:
    from collections.abc import Iterator
    from xml.etree.ElementTree import Element

_ENTITY = re.compile(r"&([A-Za-z][\w.-]{0,60});")
_OF_XML = frozenset(("amp", "lt", "gt", "quot", "apos"))
_DEEPEST, _FEWEST_WORDS, _LONGEST_WORDS = 200, 8, 15
_BEGINNING = 60
_MOST_TAGS = 400_000
_MOST_COMPARED = 20
_LEAST_RUNNING, _MOST_BESIDE = 0.6, 0.3
"""The share of running text that is asked for, and how much may stand in attributes beside it."""

_FEEDS = frozenset(("rss", "feed", "RDF"))
_DOCUMENTS = frozenset(
    ("article", "book", "chapter", "section", "refentry", "TEI", "TEI.2", "topic", "concept",
     "task", "reference", "tt", "page")
)  # fmt: skip
_OF_DOCUMENTS = frozenset(("p", "para", "simpara", "lg", "desc"))
_SECTIONS = frozenset(
    ("section", "chapter", "part", "appendix", "preface", "article", "book", "topic", "concept",
     "task", "reference", "sec", "abstract", "glossary", "bibliography", "refentry", "page",
     *(f"{name}{level}" for name in ("sect", "refsect", "div") for level in range(1, 8)), "div")
)  # fmt: skip
_TITLES = frozenset(("title", "head", "article-title", "refname", "heading"))
_PARAGRAPHS = frozenset(
    ("p", "para", "simpara", "ab", "l", "term", "seg", "shortdesc", "subtitle", "desc")
)
_FIGURES, _UNTITLED = (
    frozenset(("figure", "example", "fig", "table-wrap", "caption", "listing")),
    1000,
)
"""What has a title that is no heading, as notes and lists have; the level that stands for that."""

_UNREAD = frozenset(
    f"{{http://projectmallard.org/1.0/}}{name}"
    for name in ("credit", "revision", "license", "comment")
)
"""What readers of a page of Mallard, as in GNOME's help, do not see."""

_NOTES = frozenset(("footnote", "fn", "note"))
_AS = {
    **dict.fromkeys(("itemizedlist", "simplelist", "list", "ul", "steps", "terms"), "ul"),
    **dict.fromkeys(("orderedlist", "procedure", "ol"), "ol"),
    **dict.fromkeys(("listitem", "list-item", "item", "li", "member", "step"), "li"),
    **dict.fromkeys(("programlisting", "screen", "literallayout", "codeblock", "pre"), "pre"),
    **dict.fromkeys(("table", "tgroup", "simpletable"), "table"),
    **dict.fromkeys(("row", "tr", "strow"), "tr"),
    **dict.fromkeys(("entry", "td", "th", "cell", "stentry"), "td"),
    **dict.fromkeys(("blockquote", "quotation"), "blockquote"),
    **dict.fromkeys(("variablelist", "glosslist", "dl"), "div"),
}
_INLINE_AS = {
    **dict.fromkeys(("emphasis", "emph", "italic", "em", "i"), "em"),
    **dict.fromkeys(("bold", "strong", "b"), "strong"),
    **dict.fromkeys(("literal", "code", "command", "filename", "codeph", "option"), "code"),
}
_DATES = ("pubDate", "published", "date", "issued", "updated", "modified", "created")
_AUTHORS, _TAGS = ("creator", "author"), ("category", "subject")
_BODIES = ("encoded", "content", "description", "summary")
_INNER_HEADING = re.compile(r"(</?)h[1-6]\b", re.I)
_MARKUP = re.compile(r"<[^<>]*>")


def read_xml(text: str, name: str, file_format: Format = Format.XML_DOCUMENT) -> Reading:
    """Read an XML document; XML that is not mostly running text is code."""
    root = _parsed(text)
    if root is None:
        return read_code(text, name)
    title, page = "", ""
    if local_name(root) in _FEEDS:
        title, page = _feed(root)
    elif _is_prose(root):
        page = "".join(_page(root))
    body = to_markdown(page, file_format.label) if page else ""
    if not body:
        return read_code(text, name)
    return Reading(
        text=joined((f"# {title}" if title else "", body), "\n\n"),
        title=choose([title, first_heading(body)], name),
        format=file_format,
        markup=Markup.MARKDOWN,
        language=root.get("{http://www.w3.org/XML/1998/namespace}lang", ""),
    )


def _parsed(text: str) -> Element | None:
    """Return the root; ``None`` if it is no sound XML, too large, or defines entities."""
    if "<!ENTITY" in text or text.count("<") > _MOST_TAGS:
        return None
    try:
        # No entities are left that a file outside might define.
        root = ElementTree.fromstring(_ENTITY.sub(_character, text))  # noqa: S314
    except (ElementTree.ParseError, ValueError, LookupError):
        return None
    level = [root]
    for _ in range(_DEEPEST):
        level = [child for element in level for child in element]
        if not level:
            return root
    return None


def _character(entity: re.Match[str]) -> str:
    """Return what an entity of HTML stands for; one that is not known is text."""
    name = entity[1]
    if name in _OF_XML:
        return entity[0]
    return chr(name2codepoint[name]) if name in name2codepoint else f"&amp;{name};"


def _is_prose(root: Element) -> bool:
    """Return whether it is a known kind of document, or mostly text in runs of many words."""
    if local_name(root) in _DOCUMENTS and any(
        local_name(part) in _OF_DOCUMENTS for part in root.iter()
    ):
        return True
    whole = running = attributes = 0
    for element in root.iter():
        attributes += sum(map(len, element.attrib.values()))
        runs = [element.text, *(child.tail for child in element)]
        words = sum(len(run.split()) for run in runs if run)
        length = sum(len(run.strip()) for run in runs if run)
        whole += length
        running += length if words >= _FEWEST_WORDS and length < words * _LONGEST_WORDS else 0
    return running > _LEAST_RUNNING * whole and attributes < _MOST_BESIDE * running


def _page(root: Element, level: int = 0) -> Iterator[str]:
    """Yield the parts of a web page with the text of an element.

    Within a paragraph, lists, tables and the like divide it, and what is not known is part of it;
    elsewhere that is a block.
    """
    stack: list[tuple[Element, bool, str]] = [(root, True, "")]
    ends: list[tuple[str, int, bool]] = []
    within = False
    while stack:
        element, begins, around = stack.pop()
        if not begins:
            end, level, within = ends.pop()
            yield end + escape(around, quote=False)
            continue
        start, end, inner_level, inner = _tags(element, level, within=within)
        ends.append((end, level, within))
        stack.append((element, False, element.tail or "" if element is not root else ""))
        apart = inner and _has_only_elements(element)
        for at, child in reversed([*enumerate(_children(element))]):
            is_word = bool(start) and local_name(child) not in _PARAGRAPHS
            stack.append((child, True, " " if at and apart and not is_word else ""))
        level, within = inner_level, inner
        text = escape(element.text or "", quote=False) if local_name(element) else ""
        yield around + start + text


def _children(element: Element) -> list[Element]:
    """Return the elements in one that are read, the title before what is said about a page."""
    children = [child for child in element if child.tag not in _UNREAD]
    if local_name(element) == "info":
        return [child for child in children if not child.get("type")]
    if children and local_name(children[0]) == "info":
        children.sort(key=lambda child: local_name(child) != "title")
    return children


def _has_only_elements(element: Element) -> bool:
    """Return whether no text stands beside the elements in an element: they are no parts of words.

    Such are the keys in "<keys><key>Ctrl</key><key>C</key></keys>".
    """
    return not any((element.text or "", *(child.tail or "" for child in element)))


def _tags(element: Element, level: int, *, within: bool) -> tuple[str, str, int, bool]:
    """Return the start and end of an element, the level inside, and if that is in a paragraph."""
    name = local_name(element)
    if not name:
        return "", "", level, within
    if name in _NOTES and within:
        return " (", ")", level, True
    if tag := _INLINE_AS.get(name):
        return f"<{tag}>", f"</{tag}>", level, True
    if address := _address(element):
        return f'<a href="{escape(address)}">', "</a>", level, True
    if name in ("lb", "br"):
        return "<br/>", "", level, within
    is_table = name == "table" and any(local_name(part) == "tgroup" for part in element)
    if is_table or name in _FIGURES or name in _NOTES:
        return "<div>", "</div>", _UNTITLED, False
    if tag := _AS.get(name):
        inner = _UNTITLED if tag in ("ul", "ol", "li") else level
        return f"<{tag}>", f"</{tag}>", inner, tag in ("pre", "td")
    if within:
        return "", "", level, True
    if name in _TITLES and level >= _UNTITLED:
        return "<p><strong>", "</strong></p>", level, True
    if name in _TITLES:
        tag = f"h{min(max(level, 1), 6)}"
        return f"<{tag}>", f"</{tag}>", level, True
    if name in _PARAGRAPHS:
        return "<p>", "</p>", level, True
    return "<div>", "</div>", level + (name in _SECTIONS), False


def _address(element: Element) -> str:
    """Return the web address to which an element leads; empty if to none."""
    for key, value in element.attrib.items():
        if key.rpartition("}")[2] in ("href", "url", "target") and value.startswith("http"):
            return value
    return ""


# -- feeds -----------------------------------------------------------------------------------


def _feed(root: Element) -> tuple[str, str]:
    """Return the title of a feed, and a page with a section for each item; empty without any."""
    entries = [element for element in root.iter() if local_name(element) in ("item", "entry")]
    if not entries:
        return "", ""
    above = next((child for child in root if local_name(child) == "channel"), root)
    about = [_plain(_first(above, "description", "subtitle"))]
    page = [f"<p>{escape(words)}</p>" for words in about if words]
    return _plain(_first(above, "title")), "".join((*page, *map(_entry, entries)))


def _entry(entry: Element) -> str:
    """Return an item as a section: its title, when and by whom, where, and its text."""
    link = next((child for child in entry if local_name(child) == "link"), None)
    address = "" if link is None else link.get("href") or (link.text or "").strip()
    subjects = [
        _plain(child) or child.get("term", "") for child in entry if local_name(child) in _TAGS
    ]
    date, author = _plain(_first(entry, *_DATES)), _plain(_first(entry, *_AUTHORS))
    about = joined((date, author, address, joined(subjects, ", ")), " · ")
    heading = _plain(_first(entry, "title"))
    return joined(
        (
            f"<h2>{escape(heading)}</h2>" if heading else "<hr/>",
            f"<p>{escape(about)}</p>" if about else "",
            *map(_written, _bodies(entry)),
        ),
        "",
    )


def _bodies(entry: Element) -> Iterator[Element]:
    """Yield the longest text of an item, and others that do not repeat how it begins."""
    texts = {
        child: _whole(child)
        for child in entry
        if local_name(child) in _BODIES or len(_whole(child).split()) >= _FEWEST_WORDS
    }
    written = [_whole(child) for child in entry if local_name(child) == "title"]
    for child in sorted(texts, key=lambda child: -len(texts[child])):
        words = texts[child]
        if words and not any(words[:_BEGINNING] in other for other in written[:_MOST_COMPARED]):
            written.append(words)
            yield child


def _first(element: Element, *names: str) -> Element | None:
    """Return the first child with one of the names, in their order, that holds anything."""
    for name in names:
        for child in element:
            if local_name(child) == name and (len(child) or (child.text or "").strip()):
                return child
    return None


def _plain(element: Element | None) -> str:
    """Return the text of an element as a title, without the HTML that it may be written in."""
    return "" if element is None else one_line(_whole(element))


def _whole(element: Element) -> str:
    """Return the whole text of an element on one line, without HTML."""
    words = " ".join(element.itertext())
    return whole_line(unescape(_MARKUP.sub(" ", words)))


def _written(element: Element) -> str:
    """Return the text of an item as HTML, below its heading."""
    source = "".join(_page(element, 3)) if len(element) else element.text or ""
    below = _INNER_HEADING.sub(r"\1h4", source)
    return f"<div>{below}</div>"
