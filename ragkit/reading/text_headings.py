"""Headings of texts without markup: underlined, numbered, of chapters, in capitals."""

from __future__ import annotations

import re
from itertools import takewhile
from typing import TYPE_CHECKING, NamedTuple

from ragkit.reading.reading_parts import lines_at, one_line
from ragkit.types import OutlineEntry

if TYPE_CHECKING:
    from collections.abc import Sequence

_ADORNMENT = re.compile(r"([!-/:-@\[-`{-~])\1{2,}[ \t]*")
_ROLE = re.compile(r":[\w:+.-]{1,40}:`([^`]{1,300})`")
_ENDING = re.compile(r"`\\(?=\w)")
"""Where an ending follows a literal: "``Fare``\\s"."""

_LITERAL = re.compile(r"``([^`]{1,300})``|`([^`<]{1,300}?)(?:\s*<[^`]{0,300}>)?`_{0,2}")

_FEWEST_UNDERLINED, _FEWEST_NUMBERED, _FEWEST_CHAPTERS, _FEWEST_CAPITALS = 2, 3, 2, 3
_FEWEST_HANGING, _LEAST_INDENT, _MOST_HANGING = 3, 2, 1 / 3
_TOP, _LEAST_MARGIN, _OFF_CENTRE, _USUAL_WIDTHS = 3000, 8, 8, range(60, 85)
_LONGEST, _FEWEST_LETTERS = 90, 4
_MOST_SKIPPED, _MOST_LISTS = 3, 10
_UNDERLINES = "=-~*^+#"
_LENGTHS_APART = 2
_MOST_CAPITALS = 1 / 3
"""The share of lines in capitals from which they are no headings."""

_CAPITALS = re.compile(r"[^\W\d_](?:[^\W_]|[ '’&/,:().-])+")
_COLUMNS = re.compile(r"\S {2,}\S")
_SENTENCE_MARK = ".,;!"
_PARTS = (
    "book|buch|livre|libro|livro|boek|книга|part|teil|partie|parte|deel|часть|act|akt|acte|acto"
    "|atto|chapter|kapitel|chapitre|cap[ií]tulo|capitolo|hoofdstuk|rozdział|глава|scene|szene"
    "|scène|escena|scena|appendix|anhang|annexe|section|abschnitt|article|artikel|art[ií]culo"
    "|articolo|artigo|статья"
)
_NUMBERED = re.compile(
    rf" {{0,3}}(?:(?:{_PARTS})\s+)?(\d{{1,3}}(?:\.\d{{1,3}}){{0,4}})[.:]?\s+"
    r"(?=[^\W\d_]|[/\"'“„«(])(?-i:(?![a-zß-öø-ÿ]))\S.*",
    re.IGNORECASE,
)
_COUNTED = (
    "one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|(?:thir|four|fif|six|seven|eigh"
    "|nine)teen|twenty|(?:the )?(?:first|second|third|fourth|fifth|sixth|seventh|last)"
    "|eins|zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn|un|deux|trois|quatre|cinq|premi[eè]re?"
    "|uno|dos|tres|cuatro|cinco|primer[oa]|due|tre|quattro|cinque|prim[oa]|второй|перв(?:ый|ая)"
)
_ORDINAL = rf"(?:(?-i:[IVXLCDM]{{1,8}}|[ivxl]{{1,6}})|\d{{1,3}}|{_COUNTED})(?!\w)"
_CHAPTER = re.compile(
    rf" {{0,20}}(?P<kind>{_PARTS})\s+{_ORDINAL}.*"
    r"| {0,20}(?P<sign>§)[ \t]?\d{1,4}[a-z]?(?!\w).*"
    r"| {0,20}(?P<counted>第[0-9０-９一二三四五六七八九十百]{1,5}[章節节回部編编条條]).*",
    re.IGNORECASE,
)


class _Line(NamedTuple):
    """A line that may be a heading: its number, its level from 1, and the heading."""

    row: int
    level: int
    title: str


def text_headings(text: str) -> tuple[OutlineEntry, ...]:
    """Return the headings of a plain text; none where it is not sure that lines are headings.

    They are all of one kind: underlined ones before numbered ones, chapters and those in capitals.
    """
    underlined = underlined_headings(text, exact=True)
    if len(underlined) >= _FEWEST_UNDERLINED:
        return underlined
    offsets, lines = zip(*lines_at(text), strict=True)
    for fewest, headings in (
        (_FEWEST_NUMBERED, _numbered),
        (_FEWEST_CHAPTERS, _chapters),
        (_FEWEST_HANGING, _hanging),
        (_FEWEST_CAPITALS, _in_capitals),
    ):
        found = _with_text(lines, headings(lines))
        if len(found) >= fewest:
            return tuple(OutlineEntry(offsets[row], level, title) for row, level, title in found)
    return ()


def underlined_headings(text: str, *, exact: bool = False) -> tuple[OutlineEntry, ...]:
    """Return titles by the line of punctuation below them, or below and above.

    As in docutils, the level of a style of adornment follows from the order of first use. With
    ``exact`` a line must be as long as its title, since in plain texts most lines divide or rule.
    """
    offsets, lines = zip(*lines_at(text), strict=True)
    styles: list[str] = []
    entries: list[OutlineEntry] = []
    row = 1
    while row < len(lines):
        title, under = lines[row - 1], lines[row]
        over = lines[row - 2] if row >= 2 else ""
        double = bool(_ADORNMENT.fullmatch(over)) and over.rstrip() == under.rstrip()
        # Between two such lines a title may be indented.
        if not _is_underlined(title.strip() if double else title, under):
            row += 1
            continue
        blank_before = row < 2 or not over.strip() or double
        if blank_before and not (exact and _divides(title, under)):
            style = under[0] * (2 if double else 1)
            if style not in styles:
                styles.append(style)
            start = offsets[row - 2] if double else offsets[row - 1]
            entries.append(OutlineEntry(start, styles.index(style) + 1, _plain(title)))
        row += 2
    return tuple(entries)


def _is_underlined(title: str, under: str) -> bool:
    """Return whether two lines are a title and its adornment."""
    return (
        bool(title.strip())
        and bool(_ADORNMENT.fullmatch(under))
        and not _ADORNMENT.fullmatch(title)
        and len(under.rstrip()) >= min(len(title.strip()), 3)
        and len(under.rstrip()) + 3 >= len(title.rstrip()) // 2
        and not title.startswith((".. ", "  "))
    )


def is_ruled(over: str, title: str, under: str) -> bool:
    """Return whether a line of plain text is surely a title, by the line below it.

    ``over`` is the same line of punctuation above it, or empty.
    """
    same = not over or over.rstrip() == under.rstrip()
    return same and _is_underlined(title, under) and not _divides(title, under)


def title_at_top(text: str) -> str:
    """Return the title at the top of a text; "" without one.

    It stands between two lines of punctuation, or by itself in the middle of the line.
    """
    lines = [*text[:_TOP].lstrip("\n").split("\n"), "", ""]
    first, second, third = lines[:3]
    if _ADORNMENT.fullmatch(first):
        return _plain(second) if is_ruled(first, second.strip(), third) else ""
    if second.strip() or not _may_be_heading(first):
        return ""
    margin = len(first) - len(first.lstrip())
    width = max(len(line.rstrip()) for line in lines)
    both = 2 * margin + len(first.strip())
    centred = abs(both - width) <= _OFF_CENTRE or both in _USUAL_WIDTHS
    return one_line(first) if centred and margin >= _LEAST_MARGIN else ""


def _divides(title: str, under: str) -> bool:
    """Return whether a line may divide a text, or rule off the head of a table."""
    is_as_long = abs(len(under.rstrip()) - len(title.rstrip())) <= _LENGTHS_APART
    return under[0] not in _UNDERLINES or not is_as_long or not _may_be_heading(title)


def _may_be_heading(line: str) -> bool:
    """Return whether a line is short, begins as a heading does, and is no sentence or row."""
    words = line.strip()
    return (
        0 < len(words) <= _LONGEST
        and (words[0].isalnum() or words[0] in "§\"'“„«(¿¡")
        and any(map(str.isalpha, words))
        and words[-1] not in _SENTENCE_MARK
        and _COLUMNS.search(words) is None
    )


def _alone(lines: Sequence[str]) -> list[int]:
    """Return the lines that may be headings and have a blank one before and after them."""
    is_blank = [not line.strip() for line in ("", *lines, "")]
    return [
        row
        for row, line in enumerate(lines)
        if is_blank[row] and is_blank[row + 2] and _may_be_heading(line)
    ]


def _numbered(lines: Sequence[str]) -> list[_Line]:
    """Return lines whose numbers count on: "1", "1.1", "1.2", "2"; of several lists the longest."""
    numbered = [(row, match) for row in _alone(lines) if (match := _NUMBERED.fullmatch(lines[row]))]
    found = [_Line(row, match[1].count(".") + 1, one_line(match[0])) for row, match in numbered]
    number_of = {row: tuple(map(int, match[1].split("."))) for row, match in numbered}
    lists: list[list[_Line]] = []
    # Contents are left out first: the numbers of those count on as well.
    for each in _with_text(lines, found):
        number = number_of[each.row]
        counted = [own for own in lists if _follows(number, number_of[own[-1].row])]
        if counted:
            # "2.2" counts on from "2.1", also where "1" has begun another list in between.
            like = [_shared(number, number_of[own[-1].row]) for own in counted]
            max(zip(like, map(len, counted), counted, strict=True))[2].append(each)
        elif max(number) <= _MOST_SKIPPED and len(lists) < _MOST_LISTS:
            lists.append([each])
    return max(lists, key=len, default=[])


def _follows(number: tuple[int, ...], last: tuple[int, ...]) -> bool:
    """Return whether a number comes soon after another: "2.1", "2.2" or "3" after "2"."""
    same = _shared(number, last)
    steps = [*number[same:]]
    if steps and same < len(last):
        steps[0] -= last[same]
    return bool(steps) and 0 < steps[0] <= _MOST_SKIPPED and max(steps) <= _MOST_SKIPPED


def _shared(number: tuple[int, ...], last: tuple[int, ...]) -> int:
    """Return with how many same parts two numbers begin."""
    pairs = zip(number, last, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def _chapters(lines: Sequence[str]) -> list[_Line]:
    """Return lines that begin with "Chapter 1" and the like, with a name that is the next line."""
    found: list[_Line] = []
    kinds: list[str] = []
    for before, row in zip(("", *lines), range(len(lines)), strict=False):
        line, name, after = (*lines[row : row + 3], "", "")[:3]
        match = None if before.strip() or len(line) > 2 * _LONGEST else _CHAPTER.fullmatch(line)
        if match is None or len(line.strip()) > _LONGEST:
            continue
        if name.strip() and (after.strip() or not _may_be_heading(name)):
            continue
        kind = (match["kind"] or match["sign"] or match["counted"][-1]).casefold()
        if kind not in kinds:
            kinds.append(kind)
        found.append(_Line(row, kinds.index(kind) + 1, one_line(f"{line} {name}")))
    return found


def _hanging(lines: Sequence[str]) -> list[_Line]:
    """Return lines left of all others, as programs write the headings of pages turned into text."""
    depths = [len(line) - len(line.lstrip()) for line in lines if line.strip()]
    usual = max(set(depths), key=depths.count, default=0)
    left = sum(depth < usual for depth in depths)
    if usual < _LEAST_INDENT or left > _MOST_HANGING * len(depths):
        return []
    rows = {}
    for row in _alone(lines):
        title = lines[row].strip()
        depth = len(lines[row]) - len(lines[row].lstrip())
        # What introduces something is no heading, nor is a command.
        if depth < usual and title[-1] != ":" and not title[0].islower():
            rows[row] = depth
    levels = sorted(set(rows.values()))
    return [
        _Line(row, levels.index(depth) + 1, one_line(lines[row])) for row, depth in rows.items()
    ]


def _in_capitals(lines: Sequence[str]) -> list[_Line]:
    """Return lines in capitals, unless there are many."""
    found = [
        _Line(row, 1, one_line(lines[row]))
        for row in _alone(lines)
        if lines[row].isupper()
        and _CAPITALS.fullmatch(lines[row].strip())
        and sum(map(str.isalpha, lines[row])) >= _FEWEST_LETTERS
    ]
    written = sum(bool(line.strip()) for line in lines)
    return found if len(found) <= _MOST_CAPITALS * written else []


def _with_text(lines: Sequence[str], found: Sequence[_Line]) -> list[_Line]:
    """Return the headings that a text follows, or a deeper one that has any: contents have none."""
    kept: list[_Line] = []
    below = _Line(len(lines), 0, "")
    for each in reversed(found):
        own = (line.strip() for line in lines[each.row + 1 : below.row])
        has_text = any(line and line not in each.title and not _counts(line) for line in own)
        if has_text or (kept and kept[-1] is below and below.level > each.level):
            kept.append(each)
        below = each
    return kept[::-1]


def _counts(line: str) -> bool:
    """Return whether a line begins as a heading with a number does, and may be one of contents."""
    return bool(_NUMBERED.fullmatch(line) or _CHAPTER.fullmatch(line))


def _plain(title: str) -> str:
    """Return a title without the markup of roles and literals."""
    text = _ROLE.sub(r"\1", _ENDING.sub("`", title))
    return one_line(_LITERAL.sub(lambda literal: literal[1] or literal[2], text))
