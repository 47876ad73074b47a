"""PDF: pages with their labels, the outline, and hard-wrapped lines joined into paragraphs."""

from __future__ import annotations

import contextlib
import io
import logging
import re
from collections.abc import Collection, Iterable
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from ragkit.errors import ReadingError
from ragkit.reading.decode import clean
from ragkit.reading.formats import Format
from ragkit.reading.limits import MEGABYTE, damaged, locked, no_text, too_much_text
from ragkit.reading.pdf_forms import filled_in
from ragkit.reading.reading_parts import iso_date, joined, one_line, put, stem, tidy, tile
from ragkit.types import Markup, OutlineEntry, Page, Reading

if TYPE_CHECKING:
    from pypdf import PageObject, PdfReader

    from ragkit.reading.limits import Limits
    from ragkit.types import Metadata

_POOR_PAGE = 10
"""A page with fewer letters and digits than this, and a picture, is taken for a scanned one."""
_MOST_BOOKMARKS = 5000
_DEEPEST_BOOKMARK = 12
_NEEDS_OCR = (
    "This PDF holds pictures of pages, not text.",
    "Run OCR on it (for example: ocrmypdf in.pdf out.pdf) and put the new file in the folder.",
)
# A title that names the file it was typeset from is no title.
_FILE_LIKE = re.compile(
    r"\S+\.(?:docx?|tex|dvi|indd|pdf|qxd|rtf|odt|pptx?|xlsx?)|untitled.*|microsoft word -.*", re.I
)

_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)+")
_BROKEN_WORD = re.compile(r"([^\W\d_]+)(?:-|\u2010|\u00ad)$")
_FIRST_WORD = re.compile(r"[^\W\d_]+")
_LIST_ITEM = re.compile(
    r"(?:[-*\u2022\u2023\u25aa\u25cf\u2013\u2014]|\(?\d{1,3}[.)]|\(?[a-zA-Z][.)]|\[\d{1,3}\])(?:\s|$)"
)
_NUMBERED_HEADING = re.compile(
    r"(?:\d{1,2}(?:\.\d{1,3}){0,4}\.?|[A-Z]\.\d{1,2})\s+[A-Z\u00c0-\u024f][^.!?]{1,90}$"
)
_ENDS = (".", "!", "?", ":", ";", "\u3002", "\uff01", "\uff1f", "\u201d", '"', ")")
_EAST_ASIAN = re.compile("[\u3000-\u30ff\u3400-\u9fff\uac00-\ud7af\uff00-\uffef]")
_PAGE_NUMBER = re.compile(r"[-\u2013\u2014 ]*(?:\d{1,4}|[ivxlc]{1,7})[-\u2013\u2014 ]*")
_NARROWEST = 30


def read_pdf(data: bytes, name: str, limits: Limits) -> Reading:
    """Read the text of every page, and what was filled into its form.

    Raises:
        ReadingError: locked, damaged, scanned or empty.
    """
    logging.getLogger("pypdf").setLevel(logging.CRITICAL + 1)
    reader = _open(data)
    raw, poor, lost = _page_texts(reader, limits)
    filled = filled_in(reader, limits)
    empty = not any(map(_letters, raw)) and not filled
    if not filled and (len(poor) == len(raw) or (poor and empty)):
        raise ReadingError(*_NEEDS_OCR)
    if empty:
        raise damaged(Format.PDF.label) if lost else no_text(Format.PDF.label)
    bookmarks = _bookmarks(reader, len(raw))
    titles: list[set[str]] = [set() for _ in raw]
    for index, _, bookmark in bookmarks:
        titles[index].add(bookmark)
    hyphenated = words_of(raw)
    labels = _labels(reader, len(raw))
    text, pages = tile(
        (
            label,
            joined((tidy(clean(flow(page, hyphenated, headings))), filled.get(index, "")), "\n\n"),
        )
        for index, (label, page, headings) in enumerate(zip(labels, raw, titles, strict=True))
    )
    metadata, title = _properties(reader)
    return Reading(
        text=text,
        title=title or stem(name),
        format=Format.PDF,
        markup=Markup.PLAIN,
        pages=pages,
        outline=_outline(bookmarks, text, pages),
        metadata=metadata,
        warnings=tuple(_warnings(poor, lost, labels)),
    )


def _open(data: bytes) -> PdfReader:
    """Open the file, with the empty password where it is merely protected against changes."""
    from pypdf import PdfReader
    from pypdf.errors import DependencyError, FileNotDecryptedError

    try:
        reader = PdfReader(io.BytesIO(data), strict=False)
        if reader.is_encrypted and not reader.decrypt(""):
            raise locked(Format.PDF.label)
        pages = len(reader.pages)
    except (FileNotDecryptedError, DependencyError, NotImplementedError):
        raise locked(Format.PDF.label) from None
    if not pages:
        raise damaged(Format.PDF.label)
    return reader


def _page_texts(reader: PdfReader, limits: Limits) -> tuple[list[str], list[int], list[int]]:
    """Return the text of each page, and the indexes of the scanned and of the unreadable pages."""
    texts: list[str] = []
    poor: list[int] = []
    lost: list[int] = []
    left = limits.max_text_mb * MEGABYTE
    for index, page in enumerate(reader.pages):
        try:
            text = page.extract_text()
        except MemoryError:
            raise
        except Exception:  # noqa: BLE001 - one broken page must not cost the others
            text = ""
            lost.append(index)
        left -= len(text)
        if left < 0:
            raise too_much_text(limits)
        if _letters(text) < _POOR_PAGE and _has_pictures(page):
            poor.append(index)
        texts.append(text)
    return texts, poor, lost


def _letters(text: str) -> int:
    """Return the number of letters and digits of a page."""
    return sum(1 for letter in text if letter.isalnum())


def _has_pictures(page: PageObject) -> bool:
    """Return whether a page shows pictures, itself or through a form."""
    try:
        if _shows_picture(page.get("/Resources"), 0):
            return True
        drawing = page.get_contents()
        return drawing is not None and b" ID" in drawing.get_data()
    except Exception:  # noqa: BLE001 - broken resources hold no picture
        return False


def _shows_picture(resources: Any, depth: int) -> bool:
    """Return whether resources hold an image; forms are searched a few levels deep."""
    resources = resources.get_object() if resources is not None else {}
    objects = resources.get("/XObject", {}).get_object()
    for key in list(objects)[:50]:
        item = objects[key].get_object()
        if item.get("/Subtype") == "/Image":
            return True
        if depth < 2 and "/Resources" in item and _shows_picture(item["/Resources"], depth + 1):
            return True
    return False


def _labels(reader: PdfReader, count: int) -> list[str]:
    """Return the file's own labels of its pages, or their numbers if these are unusable."""
    numbers = [str(number) for number in range(1, count + 1)]
    try:
        labels = [one_line(clean(str(label))) for label in reader.page_labels]
    except Exception:  # noqa: BLE001 - labels are a courtesy; their numbers do as well
        return numbers
    if len(labels) != count:
        return numbers
    return [label or number for label, number in zip(labels, numbers, strict=True)]


def _bookmarks(reader: PdfReader, count: int) -> list[tuple[int, int, str]]:
    """Return the outline as (page index, level, title), in its own order."""
    bookmarks: list[tuple[int, int, str]] = []

    def walk(entries: list[Any], level: int) -> None:
        for entry in entries:
            if len(bookmarks) >= _MOST_BOOKMARKS or level > _DEEPEST_BOOKMARK:
                return
            if isinstance(entry, list):
                walk(entry, level + 1)
                continue
            with contextlib.suppress(Exception):
                page = reader.get_destination_page_number(entry)
                title = one_line(clean(str(entry.title)))
                if page is not None and 0 <= page < count and title:
                    bookmarks.append((page, level, title))

    try:
        walk(reader.outline, 1)
    except Exception:  # noqa: BLE001 - a broken outline is no outline
        return []
    return bookmarks


def _outline(
    bookmarks: list[tuple[int, int, str]], text: str, pages: tuple[Page, ...]
) -> tuple[OutlineEntry, ...]:
    """Find the place of each bookmark: its title on its page, or else the page's start."""
    entries: list[OutlineEntry] = []
    reached: dict[int, int] = {}
    for index, level, title in bookmarks:
        page = pages[index]
        after = reached.get(index, page.start)
        pattern = r"\s+".join(map(re.escape, title.split()))
        at_line = re.compile(rf"^[ \t\d.]*{pattern}", re.I | re.M)
        match = at_line.search(text, after, page.end) or re.compile(pattern, re.I).search(
            text, after, page.end
        )
        offset = match.start() if match else after
        reached[index] = match.end() if match else after
        entries.append(OutlineEntry(offset, level, title))
    entries.sort(key=lambda entry: entry.offset)
    return tuple(entries)


def _properties(reader: PdfReader) -> tuple[Metadata, str]:
    """Return author, dates and keywords, and the title when it is a real one."""
    try:
        info = reader.metadata
        if info is None:
            return {}, ""
        title = one_line(clean(str(info.title or "")))
        metadata = put(
            {},
            author=one_line(clean(str(info.author or ""))),
            subject=one_line(clean(str(info.subject or ""))),
            date=_date(reader),
        )
        keywords = clean(str(info.get("/Keywords") or ""))
        listed = [one_line(word) for word in re.split(r"[,;]", keywords) if word.strip()]
        return put(metadata, keywords=listed[:50]), "" if _FILE_LIKE.fullmatch(title) else title
    except Exception:  # noqa: BLE001 - properties are a courtesy
        return {}, ""


def _date(reader: PdfReader) -> str:
    """Return when the document was made, in ISO form."""
    with contextlib.suppress(Exception):
        info = reader.metadata
        moment = info and (info.creation_date or info.modification_date)
        if moment:
            return iso_date(moment)
    return ""


def _warnings(poor: list[int], lost: list[int], labels: list[str]) -> list[str]:
    """Return warnings that name the pages missing from the text."""
    sentences = []
    for indexes, of_one, of_many in (
        (poor, "holds a picture, not text, and needs OCR", "hold pictures, not text, and need OCR"),
        (lost, "is damaged and could not be read", "are damaged and could not be read"),
    ):
        if indexes:
            what = of_one if len(indexes) == 1 else of_many
            sentences.append(f"{_page_list(indexes, labels)} {what}.")
    return sentences


def _page_list(indexes: list[int], labels: list[str]) -> str:
    """Return page labels in short form: "Pages 3-5, 9"."""
    runs: list[list[int]] = []
    for index in indexes:
        if runs and index == runs[-1][1] + 1:
            runs[-1][1] = index
        else:
            runs.append([index, index])
    shown = [
        labels[first] if first == last else f"{labels[first]}\N{EN DASH}{labels[last]}"
        for first, last in runs[:10]
    ]
    more = f" and {len(runs) - 10} more ranges" if len(runs) > 10 else ""
    return f"Page{'s' if len(indexes) > 1 else ''} {', '.join(shown)}{more}"


# -- paragraphs ----------------------------------------------------------------------------


def words_of(pages: Iterable[str]) -> frozenset[str]:
    """Return the word pairs with a hyphen inside a line, which they keep at a line's end."""
    pairs: set[str] = set()
    for page in pages:
        for word in _WORD.findall(page):
            parts = word.casefold().split("-")
            pairs.update(f"{left}-{right}" for left, right in pairwise(parts))
    return frozenset(pairs)


def flow(page: str, hyphenated: Collection[str], headings: Collection[str] = ()) -> str:
    """Join the lines of a page into paragraphs, set apart by blank lines, where that is clear.

    A line continues in the next one when it is about as long as the page's lines are. Headings of
    the outline, list items and short lines after a full stop start a new paragraph.
    """
    lines = page.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    lines = _without_number([line.rstrip() for line in lines])
    width = _line_width(lines)
    titles = {_key(title) for title in headings}
    pieces: list[str] = []
    previous = ""
    for line in lines:
        stripped = line.strip()
        if not pieces or not previous:
            gap = "\n" if pieces else ""
        elif not stripped:
            gap = "\n"
        else:
            gap = _gap(previous, stripped, width, titles)
        if gap == "-":
            pieces[-1] = _joined_word(pieces[-1], stripped, hyphenated)
        else:
            pieces.append(gap + stripped)
        previous = stripped
    return "".join(pieces)


def _without_number(lines: list[str]) -> list[str]:
    """Drop a page number that stands alone in the first or the last line of a longer page."""
    filled = [row for row, line in enumerate(lines) if line.strip()]
    if len(filled) < 5:
        return lines
    numbers = [row for row in (filled[0], filled[-1]) if _PAGE_NUMBER.fullmatch(lines[row].strip())]
    return [line for row, line in enumerate(lines) if row not in numbers]


def _line_width(lines: list[str]) -> int:
    """Return the length of the long lines of a page; 0 if there are too few lines."""
    lengths = sorted(len(line.strip()) for line in lines if line.strip())
    return lengths[int(len(lengths) * 0.8)] if len(lengths) >= 3 else 0


def _gap(previous: str, line: str, width: int, titles: Collection[str]) -> str:
    """Return the separator between two lines; a hyphen stands for a word that continues."""
    if _is_heading(previous, titles, width) or _is_heading(line, titles, width):
        return "\n\n"
    if _LIST_ITEM.match(line):
        return "\n"
    if width < _NARROWEST and not _EAST_ASIAN.search(line):
        return "\n"
    long = len(previous) >= width * 0.75
    if long and _BROKEN_WORD.search(previous) and line[:1].islower():
        return "-"
    if long and not (previous.endswith(_ENDS) and len(previous) < width * 0.88):
        return "" if _EAST_ASIAN.match(previous[-1]) and _EAST_ASIAN.match(line) else " "
    if previous.endswith(_ENDS) and not line[:1].islower():
        return "\n\n"
    return "\n"


def _is_heading(line: str, titles: Collection[str], width: int) -> bool:
    """Return whether a line is a title of the outline, or a short numbered heading."""
    if _key(line) in titles:
        return True
    return len(line) < max(width * 0.8, _NARROWEST) and bool(_NUMBERED_HEADING.match(line))


def _joined_word(text: str, line: str, hyphenated: Collection[str]) -> str:
    """Join a word broken at a line's end; keep a hyphen that the word has elsewhere."""
    broken = _BROKEN_WORD.search(text)
    rest = _FIRST_WORD.match(line)
    if not broken or not rest:
        return f"{text} {line}"
    with_hyphen = f"{broken[1]}-{rest[0]}".casefold()
    return f"{text}{line}" if with_hyphen in hyphenated else f"{text[:-1]}{line}"


def _key(title: str) -> str:
    """Return a title for comparison: without its number, case and spaces."""
    return re.sub(r"\s+", "", re.sub(r"^[\d.]+\s*", "", title.casefold()))
