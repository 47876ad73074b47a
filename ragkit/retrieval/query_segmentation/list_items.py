"""The items of lists that somebody typed: bullets, numbers, and numbers inside of a line."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

_LONGEST_ITEM = 40
"""Words. A list with a longer item is read as sentences."""

_MARK = r"(?:[-*+\u2022\u2013\u2014]|\(?(?:\d{1,2}|[A-Za-z])(?:\.|\.?\)))[ \t]+"
_ITEM = re.compile(rf"^(?P<indent>[ \t]*)(?P<mark>{_MARK})(?=\S)", re.MULTILINE)
_NUMBER_INSIDE = re.compile(r"(?<!\S)\(?(?P<number>\d)\.?\)[ \t]+(?=\S)")
_LINE = re.compile(r"[^\n]*\S[^\n]*")
_FIRST_SENTENCE = re.compile(r".*?[.!?](?=\s|\Z)")

Span = tuple[int, int]


def list_items(text: str, begin: int, end: int) -> list[Span]:
    """Return the spans of the items, with their marks, of every list of two or more; in order."""
    spans = [*_listed_below(text, begin, end), *_listed_inside(text, begin, end)]
    return sorted((start, start + len(text[start:stop].rstrip())) for start, stop in spans)


def _listed_below(text: str, begin: int, end: int) -> Iterator[Span]:
    """Yield the items of lists with a line for each item."""
    run: list[re.Match[str]] = []
    run_end = begin
    for item in _ITEM.finditer(text, begin, end):
        if not (run and _follows(run[-1], item) and text[run_end : item.start()].isspace()):
            yield from _short_items(text, run, end)
            run = []
        run.append(item)
        run_end = _item_end(text, item, end)
    yield from _short_items(text, run, end)


def _follows(item: re.Match[str], next_item: re.Match[str]) -> bool:
    """Return whether two marks are the same bullet, or a number or letter and its next."""
    mark, next_mark = (match["mark"].strip(" \t(.)") for match in (item, next_item))
    if mark.isdigit() and next_mark.isdigit():
        return int(next_mark) == int(mark) + 1
    if mark.isalpha() and next_mark.isalpha():
        return ord(next_mark) == ord(mark) + 1
    return mark == next_mark


def _item_end(text: str, item: re.Match[str], end: int) -> int:
    """Return where an item ends: with its line, or with indented lines that continue it."""
    lines = re.compile(rf"[^\n]*(?:\n{item['indent']}[ \t]+(?!{_MARK})\S[^\n]*)*")
    match = lines.match(text, item.start(), end)
    return match.end() if match else end


def _short_items(text: str, run: Sequence[re.Match[str]], end: int) -> list[Span]:
    spans = [(item.start("mark"), _item_end(text, item, end)) for item in run]
    is_short = all(len(text[start:stop].split()) <= _LONGEST_ITEM for start, stop in spans)
    return spans if len(spans) > 1 and is_short else []


def _listed_inside(text: str, begin: int, end: int) -> Iterator[Span]:
    """Yield the items of lists inside of a line: "1) ... 2) ..."; the last is one sentence."""
    for line in _LINE.finditer(text, begin, end):
        numbers = list(_NUMBER_INSIDE.finditer(text, *line.span()))
        in_order = [int(match["number"]) for match in numbers] == [*range(1, len(numbers) + 1)]
        if len(numbers) < 2 or not in_order:
            continue
        starts = [match.start() for match in numbers]
        sentence = _FIRST_SENTENCE.match(text, numbers[-1].end(), line.end())
        last_end = sentence.end() if sentence else line.end()
        yield from zip(starts, [*starts[1:], last_end], strict=True)
