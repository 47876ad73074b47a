"""Joins the lines of a PDF page into paragraphs, and the words broken at their ends."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import cache, partial
from itertools import pairwise
from statistics import median

from ragkit.reading.pdf.contents import Line
from ragkit.reading.pdf.vocabulary import HYPHENS, Vocabulary
from ragkit.reading.reading_parts import LEADER

_BROKEN_WORD = re.compile(rf"([^\W\d_]+)[{''.join(HYPHENS)}]$")
_FIRST_WORD = re.compile(r"[^\W\d_]+")
_IN_CELL = re.compile(rf"([^\W\d_]+)[{''.join(HYPHENS)}] ([^\W\d_]+)")
_CUT_ADDRESS = re.compile(r"(?:https?|ftp)://\S*([/.=&?_%#~-])$")
_PATH = re.compile(
    r"(?![\d.]+\s)[\w%~#?=&][\w,;:()%~-]*[/._=&?#](?=[\w/])|[\w-]+/|(?:html?|php|pdf|org|com|net)\b"
)
"""What continues an address after a slash or a stop, so that it is no other word."""
_LIST_ITEM = re.compile(
    r"(?:[-*\u2022\u2023\u25aa\u25cf\u2013\u2014]|\(?\d{1,3}[.)]|\(?[a-zA-Z][.)]|\[\d{1,3}\])(?:\s|$)"
)
_NUMBERED_HEADING = re.compile(
    r"(?:\d{1,2}(?:\.\d{1,3}){0,4}\.?|[A-Z]\.\d{1,2})\s+[A-Z\u00c0-\u024f][^.!?]{1,90}$"
)
_ENDS = (".", "!", "?", ":", ";", "\u3002", "\uff01", "\uff1f", "\u201d", '"', ")")
_WITHIN = (",", "-", "\u2010", "\u2013", "\u2014")
_EAST_ASIAN = re.compile("[\u3000-\u30ff\u3400-\u9fff\uac00-\ud7af\uff00-\uffef]")
_HANGUL_BEFORE, _HANGUL = re.compile("[\uac00-\ud7af]+$"), re.compile("[\uac00-\ud7af]+")
_PAGE_NUMBER = re.compile(r"[-\u2013\u2014 ]*(?:\d{1,4}|[ivxlc]{1,7})[-\u2013\u2014 ]*")
_LED = re.compile(rf"(?:^| ){LEADER} (?:[ivxlc]{{1,7}}|(?=\S*\d)\S.{{0,15}})$")
_NARROWEST = 30
_OVERLAP = 0.5
_WIDER = 1.35
"""A step of this many times the usual one, from line to line, starts a paragraph."""
_LARGER = 1.3
"""A heading is at least this many times as high as other lines."""
_NUMBER = re.compile(r"^[\d.]+")
"""That of a heading, perhaps in digits of other scripts."""
_BAR = "| "
"""Begins the rows of a table."""


def flow(lines: Sequence[Line], vocabulary: Vocabulary, headings: Collection[str] = ()) -> str:
    """Join the lines of a page into paragraphs, separated by blank lines.

    A line that is about as long as most lines of the page continues in the next one. A heading of
    the outline, a larger line, a list item, a larger step down, and a line after a short one that
    ends a sentence start a new paragraph.
    """
    lines = _without_number(list(map(_stripped, lines)))
    width, pitch = _line_width(lines), _pitch(lines)
    titles = {_key(title) for title in headings}
    is_heading = cache(partial(_is_heading, titles=titles, width=width))
    pieces: list[str] = []
    before = Line("")
    for line in lines:
        text = _mended_cells(line.text, vocabulary)
        if not pieces or not before.text:
            gap = "\n" if pieces else ""
        elif not text:
            gap = "\n"
        elif before.text.startswith(_BAR) or text.startswith(_BAR):
            gap = "\n" if before.text[:2] == text[:2] else "\n\n"
        elif _is_broken(before.text, text, vocabulary):
            gap = "-"
        elif _is_cut_address(before.text, text):
            gap = ""
        else:
            gap = _set_apart(before, line, pitch) or _gap(before.text, text, width, is_heading)
            gap = gap or _space_between(before.text, text, vocabulary)
        if gap == "-":
            pieces[-1] = _joined_word(pieces[-1], text, vocabulary)
        else:
            pieces.append(gap + text)
        before = _whole(before, line) if gap == " " else line
    return "".join(pieces)


def in_one_line(lines: Iterable[str], vocabulary: Vocabulary) -> str:
    """Return lines as one, without the hyphens of words that they break."""
    whole = ""
    for line in lines:
        breaks = _broken_word(whole) and line[:1].islower()
        whole = _joined_word(whole, line, vocabulary) if breaks else f"{whole} {line}".strip()
    return whole


def runs_on(page: str, after: str) -> bool:
    """Return whether the last sentence of a page runs on in the page after it."""
    last, first = page[page.rfind("\n") + 1 :], after.partition("\n")[0]
    if not first[:1].islower() or _LIST_ITEM.match(first) or last.startswith(_BAR):
        return False
    return last[-1:].isalnum() or last.endswith(_WITHIN)


def with_whole_words(pages: Sequence[str], vocabulary: Vocabulary) -> list[str]:
    """Return the texts of pages; a word of the document that runs on is whole on its first page."""
    whole = list(pages)
    for at, (page, after) in enumerate(pairwise(pages)):
        first = after.partition("\n")[0]
        if _is_broken(page, first, vocabulary):
            word = first.partition(" ")[0]
            whole[at] = _joined_word(whole[at], word, vocabulary)
            whole[at + 1] = after[len(word) :].lstrip()
    return whole


def _stripped(line: Line) -> Line:
    text = line.text.strip()
    return line if text == line.text else line._replace(text=text)


def _pitch(lines: Sequence[Line]) -> float:
    """Return the median step down from line to line; 0 if positions are unknown."""
    steps = [
        before.bottom - line.bottom
        for before, line in pairwise(lines)
        if 0 < before.bottom - line.bottom < 3 * (line.top - line.bottom)
    ]
    return median(steps) if steps else 0.0


def _set_apart(before: Line, line: Line, pitch: float) -> str:
    """Return the separator of two lines that follows from their positions, or ``""``."""
    step = before.bottom - line.bottom
    first, second = before.top - before.bottom, line.top - line.bottom
    smaller, larger = (second, first) if second < first else (first, second)
    if not pitch or not smaller > 0:
        return ""
    if line.left >= before.right - smaller and _on_line(before, line):
        return " "
    if step > 0 and (step > pitch * _WIDER or larger > smaller * _LARGER):
        return "\n\n"
    return ""


def _on_line(before: Line, line: Line) -> bool:
    """Return whether two lines overlap vertically, as superscripts do with their line."""
    overlap = min(before.top, line.top) - max(before.bottom, line.bottom)
    return overlap > _OVERLAP * min(before.top - before.bottom, line.top - line.bottom)


def _whole(before: Line, line: Line) -> Line:
    """Return the line that ends two joined ones: positioned like the larger if side by side."""
    if not _on_line(before, line):
        return line
    larger = max(before, line, key=lambda each: each.top - each.bottom)
    return larger._replace(text=line.text, right=line.right)


def _without_number(lines: list[Line]) -> list[Line]:
    """Drop a page number that is the whole first or last line of a page with several lines."""
    filled = [row for row, line in enumerate(lines) if line.text]
    if len(filled) < 5:
        return lines
    numbers = [row for row in (filled[0], filled[-1]) if _PAGE_NUMBER.fullmatch(lines[row].text)]
    return [line for row, line in enumerate(lines) if row not in numbers]


def _line_width(lines: Sequence[Line]) -> int:
    """Return the usual length of long lines in characters; 0 if there are too few lines."""
    lengths = sorted(len(line.text) for line in lines if line.text and not _is_led(line.text))
    return lengths[int(len(lengths) * 0.8)] if len(lengths) >= 3 else 0


def _gap(previous: str, line: str, width: int, is_heading: Callable[[str], bool]) -> str:
    """Return the separator between two lines; "-" means that a word continues."""
    if is_heading(previous) or is_heading(line):
        return "\n\n"
    if _LIST_ITEM.match(line):
        return "\n"
    if _is_led(previous):
        return "\n"
    if width < _NARROWEST and not _EAST_ASIAN.search(line):
        return "\n"
    long = len(previous) >= width * 0.75
    if long and _broken_word(previous) and line[:1].islower() and _FIRST_WORD.match(line):
        return "-"
    if long and not (previous.endswith(_ENDS) and len(previous) < width * 0.88):
        return "" if _EAST_ASIAN.match(previous[-1]) and _EAST_ASIAN.match(line) else " "
    if previous.endswith(_ENDS) and not line[:1].islower():
        return "\n\n"
    return "\n"


def _space_between(previous: str, line: str, vocabulary: Vocabulary) -> str:
    """Return what parts lines of East Asian letters: a space where one ends with a Korean word.

    Lines of Korean end anywhere; one ends within a word if the document has the whole word.
    """
    last, first = _HANGUL_BEFORE.search(previous, previous.rfind(" ") + 1), _HANGUL.match(line)
    if not last or not first or vocabulary.knows(last[0] + first[0]):
        return ""
    return " "


def _is_heading(line: str, titles: Collection[str], width: int) -> bool:
    """Return whether a line is a heading of the outline, or a short numbered heading."""
    if titles and _key(line) in titles:
        return True
    if _is_led(line):
        return False
    return len(line) < max(width * 0.8, _NARROWEST) and bool(_NUMBERED_HEADING.match(line))


def _is_led(line: str) -> bool:
    """Return whether a line of contents or of an index ends: dots, and a page or a few."""
    return LEADER in line and _LED.search(line) is not None


def _is_broken(previous: str, line: str, vocabulary: Vocabulary) -> bool:
    """Return whether a line ends within a word of the document, which the next line continues."""
    if not (previous.endswith(HYPHENS) and line[:1].islower()):
        return False
    broken, rest = _broken_word(previous), _FIRST_WORD.match(line)
    return broken is not None and rest is not None and vocabulary.knows(broken[1] + rest[0])


def _is_cut_address(previous: str, line: str) -> bool:
    """Return whether a line ends within a web address, which the next line continues."""
    cut = _CUT_ADDRESS.search(previous) if "://" in previous else None
    if cut is None or not line[:1].strip() or (cut[1] == "." and not line[:1].isalpha()):
        return False
    return cut[1] not in "/." or _PATH.match(line) is not None


def _mended_cells(text: str, vocabulary: Vocabulary) -> str:
    """Join words of the document that are broken at the ends of lines inside cells of a table."""
    if not text.startswith(_BAR):
        return text
    return _IN_CELL.sub(
        lambda word: word[1] + word[2] if vocabulary.knows(word[1] + word[2]) else word[0], text
    )


def _broken_word(text: str) -> re.Match[str] | None:
    """Find the word before the hyphen that ends a text."""
    return _BROKEN_WORD.search(text, text.rfind(" ") + 1)


def _joined_word(text: str, line: str, vocabulary: Vocabulary) -> str:
    """Append a line that continues a broken word; keep a hyphen that belongs to the word."""
    broken, rest = _broken_word(text), _FIRST_WORD.match(line)
    if not broken or not rest:
        return f"{text} {line}"
    return f"{text if vocabulary.keeps_hyphen(broken[1], rest[0]) else text[:-1]}{line}"


def _key(title: str) -> str:
    """Return a title without its number, case and spaces, for comparison."""
    return "".join(_NUMBER.sub("", title.casefold()).split())
