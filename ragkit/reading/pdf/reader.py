"""PDF files: pages with their labels, the outline, and lines joined into paragraphs.

pdfium (``by_pdfium``) reads the text; pypdf (``by_pypdf``) reads forms, and files that pdfium
cannot open.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING

from ragkit.reading.decode import clean
from ragkit.reading.formats import Format
from ragkit.reading.limits import (
    NEEDS_OCR,
    OCR,
    damaged,
    needs_ocr,
    never_drawn,
    no_text,
    not_recognised,
)
from ragkit.reading.pdf import by_pdfium, by_pypdf
from ragkit.reading.pdf.contents import (
    FIRST_PAGES,
    Contents,
    KnownPages,
    is_outline,
    letters,
    sound,
)
from ragkit.reading.pdf.forms import filled_in
from ragkit.reading.pdf.headings import Heading, inferred
from ragkit.reading.pdf.ocr_files import unpacked, with_recognised
from ragkit.reading.pdf.paragraphs import flow, in_one_line, runs_on, with_whole_words
from ragkit.reading.pdf.running import without_running_lines
from ragkit.reading.pdf.vocabulary import Vocabulary
from ragkit.reading.reading_parts import joined, nonempty, one_line, tidy, tile
from ragkit.reading.text_headings import text_headings
from ragkit.reading.titles import choose, headings_of, in_order
from ragkit.types import Markup, OutlineEntry, Page, Reading

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pypdf import PdfReader

    from ragkit.reading.limits import Limits
    from ragkit.reading.pdf.contents import Line, PageRun
    from ragkit.types import Metadata

_FEWEST_LINES = 2
"""A single line may well be on two pages."""

_LINE_NUMBER = re.compile(r"[ \t\d.]*")
_DATE = re.compile(
    r"(?:D:)?(\d{4})(\d\d)?(\d\d)?(\d\d)?(\d\d)?(\d\d)?(?:(Z)[\d']*|([+-]\d\d)'?(\d\d)?'?)?"
)


def read_pdf(data: bytes, name: str, limits: Limits, known: KnownPages | None = None) -> Reading:
    """Read the text of every page, the values filled into its form, and the comments on it.

    Raises:
        ReadingError: locked, damaged, scanned or empty.
    """
    contents, filled = _contents(data, limits, known or KnownPages())
    vocabulary = Vocabulary(line.text for lines in contents.run.pages for line in lines)
    mended = vocabulary.mended(contents.run.pages)
    last = last_steps(mended)
    pages_of_lines = without_running_lines(
        [lines if last[at] == at else [] for at, lines in enumerate(mended)]
    )
    if not filled:
        _refuse_empty(contents.run, pages_of_lines, known.recognised if known else b"")
    in_line = partial(in_one_line, vocabulary=vocabulary)
    bookmarks = [
        Heading(last[index], level, shown)
        for index, level, title in contents.bookmarks
        if (shown := one_line(clean(title)))
    ]
    has_outline = is_outline((mark.page for mark in bookmarks), len(pages_of_lines))
    drawn = () if has_outline else inferred(pages_of_lines, in_line)
    titles: list[set[str]] = [set() for _ in pages_of_lines]
    for index, _, title in (*bookmarks, *drawn):
        titles[index].add(title)
    flowing = with_whole_words(
        [flow(lines, vocabulary, at) for lines, at in zip(pages_of_lines, titles, strict=True)],
        vocabulary,
    )
    labels = [one_line(clean(label)) or str(at) for at, label in enumerate(contents.labels, 1)]
    beside = _beside(filled, contents.run.comments)
    shown_pages = (
        joined((tidy(clean(page)), *beside[index]), "\n\n") for index, page in enumerate(flowing)
    )
    text, pages = tile(zip(labels, shown_pages, strict=True), runs_on)
    metadata, title = _properties(contents.info)
    beginning = text[: pages[min(len(pages), FIRST_PAGES) - 1].end]
    headings = headings_of(mended[:FIRST_PAGES], in_line)
    return Reading(
        text=text,
        title=choose(in_order(title, headings, beginning), name),
        format=Format.PDF,
        markup=Markup.PLAIN,
        pages=pages,
        outline=_outline(bookmarks, text, pages)
        if has_outline
        else (
            _outline(drawn, text, pages, sure=False)
            or text_headings(text)
            or _outline(bookmarks, text, pages)
        ),
        metadata=metadata,
        warnings=tuple(_warnings(contents.run, labels)),
    )


def _contents(data: bytes, limits: Limits, known: KnownPages) -> tuple[Contents, dict[int, str]]:
    """Return the contents of a file, and the values filled into its form by page index.

    Of a file that is hard to read, pypdf reads the text only: a form may draw itself without end.
    """
    reader: PdfReader | None = None
    contents = None if known.is_hard else by_pdfium.contents_of(data, limits, known.runs)
    if contents is None or len(contents.run.lost) == len(contents.run.pages):
        reader = by_pypdf.opened(data)
        contents = by_pypdf.contents_of(reader, limits)
    if known.recognised:
        contents = replace(contents, run=with_recognised(contents.run, known.recognised))
    if known.is_hard or not contents.run.has_form:
        return contents, {}
    reader = reader or sound(partial(by_pypdf.opened, data))
    return contents, filled_in(reader, limits) if reader else {}


def last_steps(pages: Sequence[Sequence[Line]]) -> list[int]:
    """Return for each page the index of the page that has all of its lines: itself, or a later one.

    Slides with overlays are printed as a page a step. The first steps repeat what the last one has.
    """
    last = list(range(len(pages)))
    for at in reversed(range(len(pages) - 1)):
        page, after = ([line.text for line in lines] for lines in pages[at : at + 2])
        # Most pages begin differently: they need no counting.
        repeated = len(page) >= _FEWEST_LINES and set(page[:_FEWEST_LINES]) <= set(after)
        if repeated and Counter(page) <= Counter(after):
            last[at] = last[at + 1]
    return last


def _refuse_empty(run: PageRun, pages: Sequence[Sequence[Line]], recognised: bytes) -> None:
    """Raise a ``ReadingError`` if there is no text, or only pictures of it.

    ``pages`` are shown; ``recognised`` is the file of the text of scanned pages, or empty.
    """
    texts = [line.text for lines in pages for line in lines]
    empty = not any(map(letters, texts)) and not run.comments
    if run.poor and (empty or len(run.poor) == len(pages)):
        raise never_drawn() if unpacked(recognised)[0] == [] else needs_ocr()
    if empty and recognised:
        raise not_recognised()
    if empty:
        raise damaged(Format.PDF.label) if run.lost else no_text(Format.PDF.label)


def _beside(
    filled: Mapping[int, str], comments: Sequence[tuple[int, str]]
) -> Mapping[int, list[str]]:
    """Return the form values of each page, then the comments on it, by page index."""
    beside: dict[int, list[str]] = defaultdict(list)
    for index, text in (*filled.items(), *comments):
        beside[index].append(text)
    return beside


def _outline(
    headings: Sequence[Heading], text: str, pages: tuple[Page, ...], *, sure: bool = True
) -> tuple[OutlineEntry, ...]:
    """Find the offset of each heading: its title on its page, or else the start of the page.

    Those that are not ``sure`` are left out if they are not found.
    """
    entries: list[OutlineEntry] = []
    reached: dict[int, int] = {}
    for index, level, title in headings:
        page = pages[index]
        after = reached.get(index, page.start)
        place = _place(title, text, after, page.end)
        if place or sure:
            offset, reached[index] = place or (after, after)
            entries.append(OutlineEntry(offset, level, title))
    entries.sort(key=lambda entry: entry.offset)
    return tuple(entries)


def _place(title: str, text: str, start: int, end: int) -> tuple[int, int] | None:
    """Find a title between two offsets: the first that begins a line, or else the first.

    Before the first one of a line, there may be its number.
    """
    pattern = r"\s+".join(map(re.escape, title.split()))
    anywhere = re.compile(pattern, re.I)
    found = anywhere.search(text, start, end)
    if found is None:
        return None
    line = text.rfind("\n", 0, found.start()) + 1
    number = _LINE_NUMBER.match(text, line, end)
    if line < start or not number or number.end() < found.start():
        at_line = re.compile(rf"^{_LINE_NUMBER.pattern}{pattern}", re.I | re.M)
        return (at_line.search(text, start, end) or found).span()
    # Nearly always the first one begins a line: a second pattern would take longer than all else.
    later = (anywhere.match(text, at, end) for at in range(number.end(), found.start(), -1))
    return line, next(filter(None, later), found).end()


def _properties(info: dict[str, str]) -> tuple[Metadata, str]:
    """Return the metadata (author, subject, date, keywords) and the title."""
    title, author, subject = (
        one_line(clean(info.get(key) or "")) for key in ("Title", "Author", "Subject")
    )
    date = _date(info.get("CreationDate") or "") or _date(info.get("ModDate") or "")
    words = re.split(r"[,;]", clean(info.get("Keywords") or ""))
    listed = [one_line(word) for word in words if word.strip()]
    metadata = nonempty(author=author, subject=subject, date=date, keywords=listed[:50])
    return metadata, title


def _date(value: str) -> str:
    """Return a PDF date ("D:20240229120000+01'00'") in ISO form, or ``""``."""
    match = _DATE.fullmatch(value.strip())
    if match is None:
        return ""
    year, month, day, hour, minute, second, utc, offset, minutes = match.groups()
    zone = "+00:00" if utc else f"{offset}:{minutes or '00'}" if offset else ""
    try:
        return datetime.fromisoformat(
            f"{year}-{month or '01'}-{day or '01'}"
            f"T{hour or '00'}:{minute or '00'}:{second or '00'}{zone}"
        ).isoformat()
    except ValueError:
        return ""


def _warnings(run: PageRun, labels: list[str]) -> list[str]:
    """Return a warning each for recognised pages, for pictures, and for damaged pages."""
    sentences = []
    for indexes, of_one, of_many in (
        (
            run.recognised,
            f"was read by {OCR} and may have errors",
            f"were read by {OCR} and may have errors",
        ),
        (
            run.poor,
            f"holds a picture, not {NEEDS_OCR}s {OCR}",
            f"hold pictures, not {NEEDS_OCR} {OCR}",
        ),
        (run.lost, "is damaged and could not be read", "are damaged and could not be read"),
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
