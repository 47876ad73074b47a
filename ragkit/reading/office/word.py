"""Word documents, rewritten so that the converter loses nothing of them."""

from __future__ import annotations

import re
import zipfile
from html import unescape
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from ragkit.reading.decode import clean
from ragkit.reading.formats import Format
from ragkit.reading.limits import damaged
from ragkit.reading.margins import margins_of
from ragkit.reading.markdown import first_heading, strip_embedded
from ragkit.reading.office import word_asides
from ragkit.reading.office.converter import convert, core_properties
from ragkit.reading.office.word_boxes import with_boxes_apart, with_drawings_as_boxes
from ragkit.reading.office.word_chunks import Chunks
from ragkit.reading.office.word_numbering import Numbering, with_items, without_numbers
from ragkit.reading.reading_parts import LEADER, tidy
from ragkit.reading.titles import choose
from ragkit.reading.xml_names import W
from ragkit.reading.zip_container import (
    open_archive,
    rewritten,
    unpacking,
    with_usual_names,
)
from ragkit.types import Markup, Reading

if TYPE_CHECKING:
    from collections.abc import Callable

    from ragkit.reading.limits import Limits

_HEADING_NEAR_TOP = 500


def read_word(data: bytes, name: str, limits: Limits) -> Reading:
    """Read a DOCX file as Markdown.

    Raises:
        ReadingError: damaged, locked, or a decompression bomb.
    """
    return _read(data, name, limits, lambda part, inner: _text_of_chunk(part, inner, limits))


def _text_of_chunk(data: bytes, name: str, limits: Limits) -> str:
    """Return the text of a file in a document; of a document in it, without other files."""
    from ragkit.reading.readers import read_data

    if name.lower().endswith(Format.DOCX.suffixes):
        with unpacking(damaged(Format.DOCX.label)):
            return _read(data, name, limits, lambda *_: "").text
    return read_data(data, name, limits).text


def _read(data: bytes, name: str, limits: Limits, chunk: Callable[[bytes, str], str]) -> Reading:
    label = Format.DOCX.label
    archive = with_usual_names(open_archive(data, limits, label))
    chunks = Chunks(archive, chunk)
    content = convert(_for_converter(archive, chunks), "docx", label).content
    marked = tidy(clean(strip_embedded(chunks.in_place(_restored(content)))))
    text, bare = with_items(marked), without_numbers(marked)
    metadata, title = core_properties(archive)
    near_top = first_heading(bare[:_HEADING_NEAR_TOP])
    return Reading(
        text=(text + margins_of(archive, text)).lstrip(),
        title=choose([near_top, title, first_heading(bare)], name),
        format=Format.DOCX,
        markup=Markup.MARKDOWN,
        metadata=metadata,
    )


_TEXT_PARTS = ("word/document.xml", *word_asides.PARTS)
_TEXT = re.compile(rb"<[wm]:t(?: [^<>]*)?>[^<]*")
_REFERENCE = re.compile(rb"&(#?\w{1,8});")
_SPACE = re.compile(rb"<w:(?:tab|cr|ptab(?: [^>]*)?)\s*/>")
_LEADING_TAB = re.compile(
    rb"<w:p?tab(?: [^>]*)?\s*/>(?=(?:(?!<w:p?tab[ /]|</w:p>).){0,3000}?\sPAGEREF\s)", re.S
)
"""Printed as dots that lead to the number of a page, as in contents."""
_MOVED_AWAY = re.compile(
    rb"<w:moveFrom(?: [^<>]*)?(?<!/)>(?:(?!<w:moveFrom[ >]).)*?</w:moveFrom>", re.S
)
_RUBY = re.compile(
    rb"(<w:rt(?: [^<>]*)?>(?:(?!<w:rt[ >]).)*?</w:rt>)\s*"
    rb"(<w:rubyBase(?: [^<>]*)?>(?:(?!<w:ruby).)*?</w:rubyBase>)",
    re.S,
)
_HYPHEN = re.compile(rb"<w:noBreakHyphen\s*/>")
_STAND_INS = str.maketrans("&<>", "\ufdd0\ufdd1\ufdd2")
"""Characters that no text has, in the place of those that must be references in XML."""

_SIGNS = str.maketrans("\ufdd0\ufdd1\ufdd2", "&<>")
_STARTS_TAG = re.compile("\ufdd1(?=[A-Za-z/!?])")


def _for_converter(archive: zipfile.ZipFile, chunks: Chunks) -> bytes:
    """Return a Word document rewritten so that the converter loses nothing of it.

    The converter counts items wrongly, and drops character references
    (``&amp;``), tabs, carriage returns, non-breaking hyphens, and paragraphs that hold text boxes;
    it mixes up notes and moves formulas, reads twice what was moved, and has the reading of a word
    before it.
    """
    numbering = Numbering(archive)
    there = set(archive.namelist())
    notes = word_asides.notes_of(
        _with_usual_prefix(archive.read(name)) for name in word_asides.PARTS if name in there
    )

    def changed(name: str, part: bytes) -> bytes:
        if name not in _TEXT_PARTS:
            return part
        if notes and name in word_asides.PARTS:
            return b""
        part = _with_usual_prefix(part)
        if name == _TEXT_PARTS[0]:
            part = numbering.numbered(chunks.marked(part))
            part = word_asides.with_notes_below(part, notes)
            part = word_asides.with_formulas_below(part)
            part = with_drawings_as_boxes(part, archive)
        part = _MOVED_AWAY.sub(b"", with_boxes_apart(part))
        part = _RUBY.sub(rb"\2<w:r><w:t>(</w:t></w:r>\1<w:r><w:t>)</w:t></w:r>", part)
        part = _HYPHEN.sub(b"<w:t>-</w:t>", part)
        part = _LEADING_TAB.sub(f'<w:t xml:space="preserve"> {LEADER} </w:t>'.encode(), part)
        part = _SPACE.sub(b'<w:t xml:space="preserve"> </w:t>', part)
        return _TEXT.sub(lambda text: _REFERENCE.sub(_stand_in, text[0]), part)

    return rewritten(archive, changed)


def _with_usual_prefix(part: bytes) -> bytes:
    """Return XML in which the names of Word have the prefix by which the converter knows them."""
    if b"<w:" in part:
        return part
    try:
        root = ElementTree.fromstring(part)  # noqa: S314 - entities were refused
    except ElementTree.ParseError:
        return part
    ElementTree.register_namespace("w", W[1:-1])
    written: bytes = ElementTree.tostring(root, "utf-8", xml_declaration=True)
    return written


def _stand_in(reference: re.Match[bytes]) -> bytes:
    """Return the character of a reference, or what stands in for it."""
    return unescape(reference[0].decode()).translate(_STAND_INS).encode("utf-8", "replace")


def _restored(markdown: str) -> str:
    """Return converted text with its signs and notes; a sign that would begin a tag is escaped."""
    whole = word_asides.with_formulas_in_place(markdown)
    numbered = word_asides.MARK.sub(r"[^\1]", whole)
    return _STARTS_TAG.sub(r"\\<", numbered).translate(_SIGNS)
