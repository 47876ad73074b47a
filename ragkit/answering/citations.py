"""Citations in what a model writes, read while it is written: the one place that numbers sources.

The text is cut into sentences, each with the numbers that follow it. Everything else that a model
may write (headings, lists, tables, code, links) becomes plain text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ragkit.answering.plain_text import without_marks, without_unseen
from ragkit.answers import NOT_FOUND, Source
from ragkit.chunking.full_stops import is_within_sentence
from ragkit.chunking.splitter import SENTENCE_END

_NUMBERS = r"\d{1,3}(?:\s{0,2}[,;–-]\s{0,2}\d{1,3}){0,15}"
_MARK = (
    r"\\?[\[【［](?:\^|#|(?:[Ss]entences?|[Ss]ources?|[Nn]os?\.?)\s)?\s{0,2}"
    rf"({_NUMBERS})\s{{0,2}}(?:†[^\[\]【】\n]{{0,20}})?\\?[\]】］]"
)
_ANOTHER = _MARK.replace(f"({_NUMBERS})", _NUMBERS)
_CITED = re.compile(rf"\s{{0,3}}{_MARK}(?:\s{{0,2}}(?:[,;&]|and|und)(?=\s{{0,2}}{_ANOTHER}))?")
_LEADING = re.compile(rf"(?:\s{{0,3}}{_MARK}){{1,16}}[:.]?\s*")
_ACCORDING = re.compile(
    r"\s*(?:According to|Based on|As (?:stated|mentioned|described|shown|said) in|Laut|Gemäß)\s+"
    rf"(?:the\s+)?(?:[Ss]entences?\s+|[Ss]ources?\s+)?((?:{_ANOTHER}(?:,|\s|and|und){{0,6}}){{1,8}}),?\s*"
    r"(?=[^\W_])"
)
_HELD = re.compile(r"\s*(?:\\|\\?[\[【［][^\[\]【】［］\n]{0,80})$")
_PART = re.compile(r"(\d+)(?:\s*[–-]\s*(\d+))?")
_WIDEST_RANGE = 12
_LONGEST_SENTENCE = 1200
_LOOKED_AHEAD = 4
_ENDS = re.compile(r"(?:^|[.!?…。！？\]】］][\"”’*)»」]{0,3})\s*$")
_LONGEST_LINE = 1600

_FENCE = re.compile(r"\s{0,8}(?:`{3,}|~{3,})")
_HEADING = re.compile(r"\s{0,3}#{1,6}\s+(.*?)[\s#]*$")
_ITEM = re.compile(r"\s*(?:[-*+•–]|\d{1,2}[.)])\s+(?:\[[ xX]\]\s+)?")
_MAY_BE_ITEM = re.compile(r"\s*(?:[-*+•–#|`~]{1,6}|\d{1,2}[.)]?)?\s*(?:\[[ xX]?\]?\s*)?$")
_ROW = re.compile(r"\s{0,3}\|")
_ROW_RULE = re.compile(r"[\s|:-]+$")
_RULE = re.compile(r"\s{0,3}(?:[-*_]\s*){3,}$")
_TITLE = re.compile(r"\s*(\*\*|__)[^*_\n]{0,119}[^*_\n.!?…。]\1:?\s*$")
_NO_END = re.compile(r"^(?:\d{1,2}|Yes|Ja|Nein|Oui|Non|Sí)\.$|(?:^|[\s(„“\"'])[A-Za-zÄÖÜ]\.$")
_LETTERS = re.compile(r"[^\w\s]|_")
_NOT_FOUND = " ".join(_LETTERS.sub("", NOT_FOUND).casefold().split())
_TURNS = re.compile(r"[;:—–]|\b(?:but|however|though|aber|jedoch|mais|pero)\b", re.I)


@dataclass(frozen=True, slots=True)
class CitedSentence:
    """A sentence as a model wrote it, without marks.

    ``cited`` are the numbers of the prompt, ``sources`` those for the reader. One that does not
    ``claim`` needs no source: a heading, a lead-in, or the sentence that says nothing was found.
    """

    text: str
    cited: tuple[int, ...] = ()
    sources: tuple[int, ...] = ()
    block: int = 0
    item: bool = False
    claims: bool = True


def is_not_found(text: str) -> bool:
    """Return whether a sentence is the literal one, whatever quotes or marks are around it."""
    return _normal(text) == _NOT_FOUND


def _normal(text: str) -> str:
    words = text.replace("n't", " not").replace("n’t", " not").replace("[", " [")
    return " ".join(_LETTERS.sub("", words).casefold().split())


def _claims(text: str) -> bool:
    """Return whether a sentence says something that needs a source."""
    if text.endswith((":", "：")) or not any(map(str.isalnum, text)):
        return False
    if is_not_found(text):
        return False
    return not _normal(text).startswith(_NOT_FOUND) or bool(_TURNS.search(text))


class SourceNumbers:
    """Numbers the sources of an answer from 1, by their first use."""

    def __init__(self, given: Sequence[Source]) -> None:
        """Keep the sources that the prompt gave numbers to, from 1."""
        self._given = given
        self._numbers: dict[int, int] = {}
        self.dropped = 0

    @property
    def sources(self) -> tuple[Source, ...]:
        """The sources that were cited, in the order of their numbers."""
        return tuple(self._given[number - 1] for number in self._numbers)

    def known(self, written: str) -> list[int]:
        """Return the numbers of a mark that were given; the others are counted and dropped."""
        cited: list[int] = []
        for part in _PART.finditer(written):
            first, last = int(part[1]), int(part[2] or part[1])
            wide = not first <= last <= first + _WIDEST_RANGE
            cited += (first, last) if wide else range(first, last + 1)
        valid = [number for number in cited if 1 <= number <= len(self._given)]
        self.dropped += len(cited) - len(valid)
        return valid

    def for_reader(self, cited: Sequence[int]) -> tuple[int, ...]:
        """Return the numbers that readers see."""
        return tuple(self._numbers.setdefault(number, len(self._numbers) + 1) for number in cited)


class CitationReader:
    """Reads what a model writes, piece by piece.

    ``sentences`` are those that have ended, and change no more, but for numbers that follow on a
    line of their own; ``unfinished`` is the text behind them, as far as it cannot become a mark.
    """

    def __init__(self, given: Sequence[Source]) -> None:
        """Take the sources that the prompt gave numbers to, from 1."""
        self.numbers = SourceNumbers(given)
        self.sentences: list[CitedSentence] = []
        self._line = ""
        self._begun = False
        self._block = 0
        self._gap = True
        self._item = False
        self._code: list[str] | None = None
        self._row: str | None = None

    def feed(self, text: str) -> None:
        """Take the next piece."""
        *lines, last = without_unseen(self._line + text).split("\n")
        for line in lines:
            self._line = ""
            self._end_line(line)
        self._line = last
        if self._code is None and self._row is None and self._is_prose(last):
            self._line = self._read(last, ended=False)
        if len(self._line) > _LONGEST_LINE:
            line, self._line = self._line, ""
            self._end_line(line)

    def finish(self, *, whole: bool = True) -> None:
        """Take what is left as finished; of a broken-off answer only what ends as a sentence."""
        if not whole and not _ENDS.search(self._line):
            return
        line, self._line = self._line, ""
        self._end_line(line)
        self._end_row(rule=False)
        self._end_code()

    @property
    def unfinished(self) -> str:
        """The text that has no end of a sentence yet, without marks."""
        if self._code is not None:
            return "\n".join([*self._code, self._line]).strip("\n")
        held = _HELD.search(self._line)
        line = self._line[: held.start()] if held else self._line
        if not self._begun:
            if _MAY_BE_ITEM.match(line):
                return ""
            line = _ITEM.sub("", line, count=1)
        return without_marks(_CITED.sub("", _ACCORDING.sub("", line, count=1)))

    # -- lines -----------------------------------------------------------------------------

    def _is_prose(self, line: str) -> bool:
        """Return whether the beginning of a line is known to be prose, or an item of a list."""
        if self._begun:
            return True
        kinds = (_FENCE, _HEADING, _ROW, _MAY_BE_ITEM, _TITLE)
        return not any(kind.match(line) for kind in kinds)

    def _end_line(self, line: str) -> None:
        if _FENCE.match(line) and not self._begun:
            if self._code is None:
                self._end_row(rule=False)
                self._code = []
            else:
                self._end_code()
            return
        if self._code is not None:
            self._code.append(line)
            return
        if not self._begun and self._end_whole(line):
            return
        self._end_row(rule=False)
        if line.strip():
            self._read(line, ended=True)
        elif not self._begun:
            self._gap = True
        self._begun = False

    def _end_whole(self, line: str) -> bool:
        """Take a line that is no prose; return whether it was one."""
        if _ROW.match(line):
            rule = bool(_ROW_RULE.match(line))
            self._end_row(rule=rule)
            self._row = None if rule else line
            return True
        heading = _HEADING.match(line)
        if heading or _TITLE.match(line):
            self._end_row(rule=False)
            self._gap, self._item = True, False
            text = heading[1] if heading else line
            # What ends as a sentence says something, however large it is written.
            self._add(text, claims=None if text.endswith((".", "!", "。")) else False)
            self._gap = True
            return True
        return bool(_RULE.match(line))

    def _end_row(self, *, rule: bool) -> None:
        """Take the row of a table that was kept: it is its head if a rule follows."""
        row, self._row = self._row, None
        if row is None:
            return
        cells = row.strip().strip("|").split("|")
        self._gap = self._item = True
        self._add(" · ".join(filter(None, (without_marks(c) for c in cells))), claims=not rule)
        self._item = False

    def _end_code(self) -> None:
        """Take a block of code as one sentence, with the sources of the line that leads to it."""
        code, self._code = self._code, None
        text = "\n".join(code or ()).strip("\n")
        if not text:
            return
        lead = self.sentences[-1] if self.sentences else None
        cited = lead.cited if lead is not None and not lead.claims else ()
        self._block += 1
        numbers = self.numbers.for_reader(cited)
        self.sentences.append(CitedSentence(text, cited, numbers, self._block))
        self._gap = True

    # -- sentences -------------------------------------------------------------------------

    def _read(self, line: str, *, ended: bool) -> str:
        """Take the sentences of a line of prose that have ended, and return the rest."""
        if not self._begun:
            item = _ITEM.match(line)
            if item:
                self._gap, self._item = True, True
                line = line[item.end() :]
            elif self._gap or not line[:1].isspace():
                self._gap |= self._item
                self._item = False
            self._begun = True
        while line.strip():
            sentence = _first_sentence(line, ended=ended)
            if sentence is None:
                break
            text, marks, line = sentence
            cited = tuple(dict.fromkeys(n for mark in marks for n in self.numbers.known(mark)))
            self._add(text, cited=cited)
        return line

    def _add(self, text: str, *, cited: tuple[int, ...] = (), claims: bool | None = None) -> None:
        if not cited:
            marks = _CITED.findall(text)
            cited = tuple(dict.fromkeys(n for mark in marks for n in self.numbers.known(mark)))
            text = _CITED.sub("", text)
        plain = without_marks(text)
        if not any(map(str.isalnum, plain)):
            if cited and self.sentences:
                self._cite_last(cited)
            return
        self._block += self._gap
        self._gap = False
        if is_not_found(plain):
            cited = ()
        numbers = self.numbers.for_reader(cited)
        needs = _claims(plain) if claims is None else claims
        self.sentences.append(CitedSentence(plain, cited, numbers, self._block, self._item, needs))

    def _cite_last(self, cited: tuple[int, ...]) -> None:
        """Give the last sentence numbers that follow it on a line of their own."""
        last = self.sentences[-1]
        both = tuple(dict.fromkeys(last.cited + cited))
        self.sentences[-1] = replace(last, cited=both, sources=self.numbers.for_reader(both))


def _first_sentence(line: str, *, ended: bool) -> tuple[str, list[str], str] | None:
    """Return the first sentence of a line, its marks and the rest; None while it has no end.

    Marks behind a sentence are its own, except in a line that begins with marks: there they stand
    before their sentences.
    """
    held = None if ended else _HELD.search(line)
    seen = line[: held.start()] if held else line
    clause = _ACCORDING.match(seen)
    leading = None if clause else _LEADING.match(seen)
    head = clause or leading
    start = head.end() if head else 0
    if leading and start == len(seen):
        return ("", _CITED.findall(seen), "") if ended else None
    pieces: list[str] = []
    marks: list[tuple[int, re.Match[str]]] = []
    size, last = 0, start
    for mark in _CITED.finditer(seen, start):
        if _is_subscript(seen, mark):
            continue
        pieces.append(seen[last : mark.start()])
        size += len(pieces[-1])
        marks.append((size, mark))
        last = mark.end()
    clean = "".join(pieces) + seen[last:]
    places = {place for place, _ in marks}
    end = _end_of_first(clean, places, ended=ended)
    if end is None:
        return None
    whole = end >= len(clean)
    mine = [m for place, m in marks if place < end or (place == end and (whole or not leading))]
    cut = _raw_place(end, marks, start)
    if mine and mine[-1].end() > cut:
        cut = mine[-1].end()
    own = _CITED.findall(seen[:start])
    text = clean[:end]
    if clause:
        text = text[:1].upper() + text[1:]
    return text, own + [mark[1] for mark in mine], "" if whole and ended else line[cut:]


def _end_of_first(clean: str, marked: set[int], *, ended: bool) -> int | None:
    """Return where the first sentence ends; None while what follows is too short to tell."""
    for match in SENTENCE_END.finditer(clean):
        end = match.start() + len(match.group().rstrip())
        if not ended and match.end() + _LOOKED_AHEAD > len(clean):
            break
        if not marked.isdisjoint((end - 1, end)) or not _goes_on(clean, end, match.end()):
            return end
    if len(clean) > _LONGEST_SENTENCE:
        border = clean.rfind(" ", 0, _LONGEST_SENTENCE)
        return border if border > 0 else _LONGEST_SENTENCE
    return len(clean) if ended else None


def _goes_on(text: str, end: int, following: int) -> bool:
    """Return whether a full stop belongs to a shortened word, or to the day of a date."""
    short = _NO_END.search(text, max(0, end - 12), end)
    return short is not None or is_within_sentence(text, 0, following)


def _raw_place(end: int, marks: Sequence[tuple[int, re.Match[str]]], start: int) -> int:
    """Return where a place of the text without marks lies in the text with them."""
    removed = sum(mark.end() - mark.start() for place, mark in marks if place < end)
    return start + end + removed


def _is_subscript(text: str, mark: re.Match[str]) -> bool:
    """Return whether brackets belong to code, as in ``a[1]`` between backticks."""
    before = text[: mark.start()]
    return before.count("`") % 2 == 1 and before[-1:].isalnum()
