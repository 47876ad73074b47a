"""Web pages, and e-books made of them: heads as metadata, bodies as Markdown."""

from __future__ import annotations

import posixpath
import re
from html import unescape
from itertools import islice
from typing import TYPE_CHECKING
from urllib.parse import unquote

from ragkit.reading.decode import clean, declared_encoding, decode
from ragkit.reading.formats import Format
from ragkit.reading.heads import with_head
from ragkit.reading.html_formulas import Formulas
from ragkit.reading.html_menus import MENU, SELF_LINK, without_neighbours
from ragkit.reading.html_nesting import ANY_TAG, levelled, without_unended
from ragkit.reading.html_tables import UNSEEN
from ragkit.reading.limits import damaged, protected
from ragkit.reading.markdown import first_heading, metadata_from, strip_embedded
from ragkit.reading.office.converter import convert
from ragkit.reading.reading_parts import joined, one_line, tidy
from ragkit.reading.titles import choose
from ragkit.reading.xml_names import DC
from ragkit.reading.zip_container import open_archive, part_of, resolved, without_folder, xml
from ragkit.types import Markup, Reading

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element
    from zipfile import ZipFile

    from ragkit.reading.limits import Limits
    from ragkit.types import Metadata

_UNSEEN = re.compile(r"<(head|script|style|template|noscript|svg|title)\b[^>]*>|<!--", re.I)
_UNSEEN_TAG = re.compile(
    r"<(?:meta|link|base)\b[^>]*>|<iframe\b[^<>]{0,500}\ssrc\s*=\s*[\"']?javascript:[^>]*>", re.I
)
# Links around nothing but a link, as DocBook writes terms of a glossary.
_OUTER_LINK = re.compile(
    r"<a\b[^<>]{0,1000}>(?=(?:\s{0,99}<(?!/?a\b)[^<>]{0,300}>){0,5}\s{0,99}<a\b[^<>]{0,1000}\shref\b)",
    re.I,
)
# What mails hold for the list of mails alone; the signs that fill the list up are many.
_HIDDEN = re.compile(
    r"<(?!(?:area|br|col|hr|img|input)\b)([a-z]\w{0,9})\b"
    r"(?=[^<>]{0,1000}\sstyle\s*=\s*[\"']?(?:[^<>\"']{0,300}[;\s])??"
    r"(?:display\s*:\s*none|mso-hide\s*:\s*all|max-height\s*:\s*0(?=(?:px)?\s*;)"
    r"(?=[^<>\"']{0,300}(?:opacity\s*:\s*0(?!\s*\.)|font-size\s*:\s*[01](?:px)?\s*[;\"']))))"
    r"[^<>]{0,3000}>", re.I,
)  # fmt: skip
# The converter leaves these out, whatever they hold; a form may be a whole page.
_LEFT_OUT = re.compile(r"(</?)(?:form|nav)(?![\w:-])", re.I)
_MOST_LEFT_OUT = 50
_SUMMARY = re.compile(r"<summary\b[^<>]*>((?:(?!<summary\b).)*?)</summary\s*>", re.I | re.S)
_HEADING = re.compile(r"(<h([1-6])\b[^<>]*>)((?:(?!<h[1-6]\b).)*?)(</h\2\s*>)", re.I | re.S)
# The title of a page of Doxygen, and headings by their role.
_PAGE_TITLE = re.compile(
    r"(<div class=\"headertitle\">\s*<div class=\"title\">)"
    r"([^<]*(?:<(?!/?div\b)[^<>]*>[^<]*){0,20})"
)
_ROLE = re.compile(
    r"<(div|span|p)\b(?=[^<>]{0,1000}\srole\s*=\s*[\"']?heading\b)"
    r"(?=[^<>]{0,1000}\saria-level\s*=\s*[\"']?([1-6])\b)[^<>]*>"
    r"((?:[^<]|<(?!/?\1\b)){1,1000})</\1\s*>", re.I,
)  # fmt: skip
_BLOCK_TAG = re.compile(r"</?(?:h[1-6]|section|div|p|ul|ol|pre|table)\b[^>]*>", re.I)
_LINK = re.compile(r"<a\b[^<>]*>(?:[^<]|<(?!/?(?:a|table)\b))*</a\s*>", re.I)
_CODE = re.compile(r"<(pre|code|kbd|samp)\b[^<>]*>.*?</\1\s*>", re.I | re.S)
_LINK_IN_CODE = re.compile(
    r"(<(code|kbd|samp)\b[^<>]*>)\s*(<a\b[^<>]*>)([^<]*)(</a\s*>)\s*(</\2\s*>)", re.I
)
_TAG_IN_CODE = re.compile(r"</?(?:a|b|em|font|i|span|strong|tt|u|var)\b[^<>]*>", re.I)
_PRE = re.compile(r"(<(pre|textarea)\b.*?</\2\s*>)", re.I | re.S)
# The converter loses what parts words where a line ends before some elements, or a link in a space,
# in items with blank lines beside their tags, and where an element holds nothing but spaces.
_BLANK_LINES = re.compile(
    r"\n(?:[^\S\n]{0,200}+\n\s{0,200}+(?=<)|(?<=>\n)[^\S\n]{0,200}+\n\s{0,200}+)"
)
_BEFORE_SPAN = re.compile(r"\n(?<!>\n)\s{0,200}+(?=<span\b)", re.I)
_BETWEEN = re.compile(
    r"(</(?:[abiuq]|abbr|acronym|big|code|em|font|kbd|nobr|small|span|strong|su[bp]|tt"
    r"|[a-z]\w{0,20}-[\w-]{1,20})>)\s++(?=<(?:(?:acronym|big|font|nobr|tt)\b|[a-z]\w{0,20}-))",
    re.I,
)
_ONLY_SPACES = re.compile(
    r"<(acronym|big|font|nobr|tt)\b[^<>]{0,300}>(?:\s|&nbsp;|&#160;){1,20}</\1\s*>", re.I
)
_LAST_SPACE = re.compile(r"<(?<=\s<)/(?:a|ruby)\s*>", re.I)
_LINK_TITLE = re.compile(r"\stitle\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'>]+))", re.I)
_WORD = re.compile(r"\w+")
_TITLE = re.compile(r"<title\b[^>]*>(.{0,2000}?)</title\s*>", re.I | re.S)
_META = re.compile(r"<meta\b([^>]{1,2000})>", re.I)
_ATTRIBUTE = re.compile(r"([\w:-]+)\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'>]+))")
_LANGUAGE = re.compile(
    r"<html\b[^>]{0,2000}?\s(?:xml:)?lang\s*=\s*[\"']?([a-zA-Z]{2,3}(?:-[a-zA-Z]{2,4})?)", re.I
)
_HEAD_LENGTH = 200_000
_META_NAMES = {
    "author": "author", "article:author": "author", "dcterms.creator": "author",
    "date": "date", "article:published_time": "date", "dcterms.date": "date",
    "keywords": "keywords", "description": "description",
}  # fmt: skip
_LOST_SHARE = 0.2
_LEAST_SHARE = 0.5


def read_html(text: str, name: str, file_format: Format = Format.HTML) -> Reading:
    """Read a web page from its source."""
    head = text[:_HEAD_LENGTH]
    title = _TITLE.search(head)
    language = _LANGUAGE.search(head)
    body = without_neighbours(to_markdown(text))
    shown = one_line(clean(unescape(title[1]))) if title else ""
    titles = [shown, first_heading(body)]
    if _PAGE_TITLE.search(text):
        titles.reverse()
    metadata = _metadata(head)
    return Reading(
        text=with_head(shown, metadata, body),
        title=choose(titles, name),
        format=file_format,
        markup=Markup.MARKDOWN,
        language=language[1] if language else "",
        metadata=metadata,
    )


def to_markdown(source: str, label: str = Format.HTML.label) -> str:
    """Return HTML as clean Markdown, without scripts, styles and embedded files."""
    formulas = Formulas()
    seen = _UNSEEN_TAG.sub("", _without_unseen(formulas.hidden(source)))
    seen = _LEFT_OUT.sub(r"\1div", _without(_HIDDEN, _without(MENU, seen)))
    seen = _LINK.sub(_plain_link, _CODE.sub(_plain_code, levelled(_flattened(seen))))
    seen = _with_spaces(without_unended(seen))
    result = convert(f"<html><body>{seen}</body></html>".encode(), "html", label)
    converted = tidy(clean(formulas.shown(strip_embedded(result.content))))
    if len(converted) < len(seen) * _LEAST_SHARE:
        # Where the converter lost words, they matter more than their form.
        bare = formulas.shown(_bare_text(seen))
        if _signs(converted) < _signs(bare) * _LEAST_SHARE:
            return bare
    return converted


def _without_unseen(source: str) -> str:
    """Return HTML without comments and elements that no one sees; one that does not end stays."""
    pieces, at = [], 0
    ends: dict[str, re.Match[str] | None] = {}
    for begin in _UNSEEN.finditer(source):
        name = (begin[1] or "").lower()
        end = ends.get(name)
        if begin.start() < at or (name in ends and end is None):
            continue
        if end is None or end.start() < begin.end():
            closing = re.compile(rf"</{name}\s*>" if name else "-->", re.IGNORECASE)
            end = ends[name] = closing.search(source, begin.end())
        if end is not None:
            pieces.append(source[at : begin.start()])
            at = end.end()
    return "".join((*pieces, source[at:]))


def _without(kind: re.Pattern[str], source: str) -> str:
    """Return HTML without elements of a kind; one that does not end stays, or that is most of it.

    The pattern matches the tag at which such an element begins, with its name as a group.
    """
    pieces, at = [], 0
    for begin in islice(kind.finditer(source), _MOST_LEFT_OUT):
        if begin.start() < at:
            continue
        depth, name = 1, begin[1]
        for tag in re.compile(rf"<(/?){name}\b[^<>]*>", re.I).finditer(source, begin.end()):
            depth += -1 if tag[1] else 1
            if not depth:
                pieces.append(source[at : begin.start()])
                at = tag.end()
                break
    if not pieces:
        return source
    left = "".join((*pieces, source[at:]))
    most = _signs(_bare_text(left)) < _signs(_bare_text(source)) * _LOST_SHARE
    return source if most else left


def _flattened(source: str) -> str:
    """Return HTML without links that say nothing and without blocks inside headings.

    Headings by another name become headings. A summary with blocks becomes a ``div``: the converter
    would make one bold line of it.
    """

    def summary(match: re.Match[str]) -> str:
        return f"<div>{match[1]}</div>" if _BLOCK_TAG.search(match[1]) else match[0]

    def heading(match: re.Match[str]) -> str:
        return f"{match[1]}{_BLOCK_TAG.sub(' ', match[3])}{match[4]}"

    source = _OUTER_LINK.sub("", SELF_LINK.sub("", source))
    source = _ROLE.sub(r"<h\2>\3</h\2>", _PAGE_TITLE.sub(r"\1<h1>\2</h1>", source))
    return _HEADING.sub(heading, _SUMMARY.sub(summary, source))


def _plain_code(code: re.Match[str]) -> str:
    """Return code that is the text of a link, or has none: its signs would be taken for code.

    Nor has it other marks of words, at which the converter loses spaces.
    """
    link = _LINK_IN_CODE.fullmatch(code[0])
    if link:
        return f"{link[3]}{link[1]}{link[4]}{link[6]}{link[5]}"
    return _TAG_IN_CODE.sub("", code[0])


def _with_spaces(source: str) -> str:
    """Return HTML with plain spaces between words where the converter would lose what parts them.

    What is preformatted stays as it is.
    """
    pieces = _PRE.split(source)
    for at in range(0, len(pieces), 3):
        piece = _LAST_SPACE.sub(r"\g<0> ", _BLANK_LINES.sub("\n", pieces[at]))
        piece = _ONLY_SPACES.sub(" ", piece)
        pieces[at] = _BETWEEN.sub(r"\1 ", _BEFORE_SPAN.sub(" ", piece))
    del pieces[2::3]
    return "".join(pieces)


def _plain_link(link: re.Match[str]) -> str:
    """Return a link without blocks, and without a title that only repeats its words."""
    # Of blocks within blocks of a link, the converter writes the words without a space between.
    tag, bracket, text = _BLOCK_TAG.sub(" ", link[0]).partition(">")
    title = _LINK_TITLE.search(tag)
    if title and _words("".join(filter(None, title.groups()))) <= _words(ANY_TAG.sub("", text)):
        tag = tag[: title.start()] + tag[title.end() :]
    return f"{tag}{bracket}{text}"


def _words(source: str) -> set[str]:
    return set(_WORD.findall(unescape(source).casefold()))


def _metadata(head: str) -> Metadata:
    """Return author, date, keywords and description from the meta tags."""
    values: dict[str, str] = {}
    for tag in _META.finditer(head):
        attributes = {
            match[1].lower(): unescape(match[2] or match[3] or match[4] or "")
            for match in _ATTRIBUTE.finditer(tag[1])
        }
        key = _META_NAMES.get(attributes.get("name", attributes.get("property", "")).lower())
        content = one_line(clean(attributes.get("content", "")))
        if key and content:
            values.setdefault(key, content)
    return metadata_from(values)


def _bare_text(source: str) -> str:
    """Return the text of HTML without any markup, a line for each run of text."""
    lines = map(str.strip, unescape(ANY_TAG.sub("\n", source)).split("\n"))
    return clean("\n".join(filter(None, lines)))


def _signs(text: str) -> int:
    """Return how many characters of a text are seen."""
    return sum(map(len, UNSEEN.sub("", text).split()))


# -- e-books: the chapters in reading order --------------------------------------------------

_OPF = "{http://www.idpf.org/2007/opf}"
_CONTAINER = "{urn:oasis:names:tc:opendocument:xmlns:container}"
_ENCRYPTION = "{http://www.w3.org/2001/04/xmlenc#}"
_CHAPTERS = ("html", "text/x-oeb1-document", "application/x-dtbook+xml")


def read_epub(data: bytes, name: str, limits: Limits) -> Reading:
    """Read the chapters that the book's spine names.

    Raises:
        ReadingError: without chapters, locked, protected, or a decompression bomb.
    """
    label = Format.EPUB.label
    archive = without_folder(open_archive(data, limits, label), Format.EPUB.part)
    root = xml(archive, "META-INF/container.xml").find(f".//{_CONTAINER}rootfile")
    package_name = unquote(root.get("full-path", "")) if root is not None else ""
    package = xml(archive, package_name)
    parts = _spine(package, posixpath.dirname(package_name))
    members = set(archive.namelist())
    present = [part for part in parts if part in members]
    encrypted = _encrypted(archive)
    chapters = [archive.read(part) for part in present if part not in encrypted]
    if present and not chapters:
        raise protected()
    missing = len(parts) - len(chapters)
    if missing and not chapters:
        raise damaged(label)

    def texts(tag: str) -> list[str]:
        return [one_line(clean(element.text or "")) for element in package.iter(f"{DC}{tag}")]

    title, language, date, publisher = (
        next(iter(texts(tag)), "") for tag in ("title", "language", "date", "publisher")
    )
    author = joined(texts("creator"), ", ")
    properties = {"author": author, "date": date, "tags": texts("subject"), "publisher": publisher}
    warning = f"{missing} chapters named by the book are missing in the file or encrypted."
    decoded = (decode(chapter, declared_encoding(chapter))[0] for chapter in chapters)
    return Reading(
        text=joined(
            (without_neighbours(to_markdown(clean(text), label)) for text in decoded), "\n\n"
        ),
        title=choose([title], name),
        format=Format.EPUB,
        markup=Markup.MARKDOWN,
        language=language,
        metadata=metadata_from(properties),
        warnings=(warning,) if missing else (),
    )


def _encrypted(archive: ZipFile) -> set[str]:
    """Return the names of the members that cannot be read without a key."""
    root = part_of(archive, "META-INF/encryption.xml")
    return {
        resolved("", unquote(reference.get("URI", "")))
        for entry in (() if root is None else root.iter(f"{_ENCRYPTION}EncryptedData"))
        for reference in entry.iter(f"{_ENCRYPTION}CipherReference")
    }


def _spine(package: Element, folder: str) -> list[str]:
    """Return the member names of the chapters, in order, without the navigation page."""
    items = {
        item.get("id", ""): item
        for item in package.iter(f"{_OPF}item")
        if "nav" not in item.get("properties", "").split()
    }
    listed = [items.get(entry.get("idref", "")) for entry in package.iter(f"{_OPF}itemref")]
    return [
        resolved(folder, unquote(item.get("href", "")))
        for item in listed
        if item is not None
        and any(kind in item.get("media-type", "html").lower() for kind in _CHAPTERS)
    ]
