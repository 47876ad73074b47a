"""Captions of recordings (WebVTT, SubRip): what was said, by whom, in parts of five minutes."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, replace
from html import unescape
from itertools import groupby, pairwise
from typing import TYPE_CHECKING

from ragkit.reading.conversations.messages import (
    Conversation,
    Message,
    recording_part,
    safe_text,
    to_reading,
)
from ragkit.reading.formats import Format
from ragkit.reading.reading_parts import stem, whole_line
from ragkit.types import Markup, Reading

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_CLOCK = r"(?:(\d{1,3}):)?(\d{1,2}):(\d{1,2}(?:[.,]\d{1,3})?)(?![\d:])"
_TIMES = re.compile(rf"\s*{_CLOCK}\s*-->\s*{_CLOCK}")
_VOICE = re.compile(r"<v(?:\.[^\s<>]{1,40})?\s+([^<>\n]{1,120})>")
_TAG = re.compile(r"</?(?:[a-z]{1,4}\b[^<>]{0,200}|[\d:.]{4,20})>|\{\\[^{}\n]{1,100}\}", re.I)
_NAMED = re.compile(r"(?:[-–]\s*)?([^\W\d_][^\n:.?!<>\[\]{}\"/]{0,39}):\s+(\S.*)", re.S)
_ASIDE = re.compile(r"(?:NOTE|STYLE|REGION)(?:\s|$)")
_ENDED = re.compile(r"[.?!…。？！][\"'”’)]*$")
_NEW_VOICE = re.compile(r"[-–] ?[^\W\d_]")
_LONGEST_PAUSE = 4
_LONG_PARAGRAPH = 500
_MOST_SPEAKERS = 40
_NAMED_SHARE = _ROLLING_SHARE = 0.2


@dataclass(frozen=True, slots=True)
class _Cue:
    """A caption: its first and last second, its lines, and its speaker, ``""`` if not said."""

    start: float
    end: float
    lines: tuple[str, ...]
    speaker: str = ""

    @property
    def part(self) -> str:
        """The time at which its part of the recording begins."""
        return recording_part(self.start)


def read_captions(text: str, name: str, file_format: Format = Format.CAPTIONS) -> Reading:
    """Read captions as a conversation if they name their speakers, or else as paragraphs.

    A file without captions is kept as it is.
    """
    cues = _with_speakers(_without_repeats(list(_cues(text))))
    if not cues:
        return Reading(text=text, title=stem(name), format=file_format, markup=Markup.PLAIN)
    if any(cue.speaker for cue in cues):
        turns = groupby(cues, lambda cue: (cue.part, cue.speaker))
        messages = [
            Message(speaker, None, _paragraph(turn), session=part)
            for (part, speaker), turn in turns
        ]
        return to_reading(Conversation(stem(name), "transcript", messages))
    parts = [
        (f"## {part}", *map(safe_text, map(_paragraph, _paragraphs(within))))
        for part, within in groupby(cues, lambda cue: cue.part)
    ]
    body = "\n\n".join(block for blocks in parts for block in blocks)
    return Reading(text=f"{body}\n", title=stem(name), format=file_format, markup=Markup.MARKDOWN)


def _cues(text: str) -> Iterator[_Cue]:
    """Yield the captions of a file, each as often as it has speakers."""
    lines = text.split("\n")
    starts = [(row, times) for row, line in enumerate(lines) if (times := _TIMES.match(line))]
    ends = [*(row for row, _ in starts[1:]), len(lines) + 1]
    for (row, times), after in zip(starts, ends, strict=False):
        # The line above the times of a caption may be its number or name.
        below = "\n".join(lines[row + 1 : after - 1 if _has_name(lines, after) else after])
        spoken, *more = re.split(r"\n[ \t]*\n", below)
        said = "\n".join([spoken, *(block for block in more if not _ASIDE.match(block.strip()))])
        start, end = (_seconds(*times.groups()[first : first + 3]) for first in (0, 3))
        before, *voices = _VOICE.split(said)
        for speaker, words in [("", before), *zip(voices[::2], voices[1::2], strict=True)]:
            rows = (whole_line(unescape(_TAG.sub("", row))) for row in words.split("\n"))
            if shown := tuple(filter(None, rows)):
                yield _Cue(start, end, shown, whole_line(unescape(speaker)))


def _has_name(lines: Sequence[str], row: int) -> bool:
    """Return whether a line stands alone above that row, as the name of a caption does."""
    return 1 < row < len(lines) and bool(lines[row - 1].strip()) and not lines[row - 2].strip()


def _seconds(hours: str | None, minutes: str, seconds: str) -> float:
    return int(hours or 0) * 3600 + int(minutes) * 60 + float(seconds.replace(",", "."))


def _without_repeats(cues: Sequence[_Cue]) -> list[_Cue]:
    """Remove the lines that rolling captions show again below each other."""
    repeats = [0] * len(cues)
    for number, (before, cue) in enumerate(pairwise(cues), 1):
        most = min(len(before.lines), len(cue.lines))
        repeats[number] = next(
            (size for size in range(most, 0, -1) if before.lines[-size:] == cue.lines[:size]), 0
        )
    if sum(map(bool, repeats)) <= _ROLLING_SHARE * len(cues):
        return list(cues)
    rest = (replace(cue, lines=cue.lines[size:]) for cue, size in zip(cues, repeats, strict=True))
    return [cue for cue in rest if cue.lines]


def _with_speakers(cues: Sequence[_Cue]) -> Sequence[_Cue]:
    """Take speakers from the text ("Anna: ...") where captions are written like that."""
    named = [_NAMED.fullmatch("\n".join(cue.lines)) for cue in cues]
    counts = Counter(match[1] for match in named if match)
    if (
        any(cue.speaker for cue in cues)
        or not _NAMED_SHARE * len(cues) <= counts.total()
        or not 2 * len(counts) <= counts.total()
        or len(counts) > _MOST_SPEAKERS
    ):
        return cues
    speaker, spoken = "", []
    for cue, match in zip(cues, named, strict=True):
        lines = cue.lines
        if match:
            speaker, lines = match[1].strip(), tuple(match[2].split("\n"))
        spoken.append(replace(cue, lines=lines, speaker=speaker))
    return spoken


def _paragraphs(cues: Iterator[_Cue]) -> Iterator[list[_Cue]]:
    """Divide captions at pauses, and where a long paragraph has a sentence's end."""
    paragraph: list[_Cue] = []
    for cue in cues:
        if paragraph:
            length = sum(len(line) for one in paragraph for line in one.lines)
            ended = length > _LONG_PARAGRAPH and _ENDED.search(paragraph[-1].lines[-1])
            if ended or cue.start - paragraph[-1].end > _LONGEST_PAUSE:
                yield paragraph
                paragraph = []
        paragraph.append(cue)
    if paragraph:
        yield paragraph


def _paragraph(cues: Iterator[_Cue] | Sequence[_Cue]) -> str:
    """Return the lines of captions as text; the words of a new voice begin a line."""
    lines = [line for cue in cues for line in cue.lines]
    return "".join(f"\n{line}" if _NEW_VOICE.match(line) else f" {line}" for line in lines).strip()
