"""Who says what in a text: its messages, found by lines that name who speaks, whoever that is.

What counts is the shape: a short label that comes again, alternates with another, and covers the
text. Quoted lines of a mail are what somebody else said.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise

from ragkit.retrieval.query_segmentation.asked_text import blanks_for
from ragkit.retrieval.query_segmentation.question_units import find_sentences, mostly_asks

_STAMP = r"\d[\d/.,: \-\u2013TZ]{2,24}(?:[ \u202f]?[AaPp]\.?[Mm]\.?)?"
_LABEL = r"[^\W_][^\n:*<>\[\]|`{}\"#=]{0,39}?"
_SAID = re.compile(
    r"\s+(?:said|says|wrote|writes|asked|asks|replied|answered|schrieb|sagte|a dit|a écrit)\b.*$",
    re.IGNORECASE,
)
_KNOWN = re.compile(
    r"^[ \t]*(?:\*\*)?(?P<label>user|human|agent|assistant|ai|system|bot)(?:\*\*)?[ \t]*:[ \t]*",
    re.IGNORECASE | re.MULTILINE,
)
_MARK = r"(?:\*\*|__)?"
_FORMS = tuple(
    re.compile(rf"^[ \t]*{form}\n?", re.MULTILINE)
    for form in (
        # "Anna: text", "[14:05] Anna K.: text", "**Anna** (14:05): text", "You said:"
        rf"(?:[\[(]?{_STAMP}[\])]?[ \t]*[-\u2013]?[ \t]*)?{_MARK}(?P<label>{_LABEL}){_MARK}"
        rf"(?:[ \t]*[\[(,\u00b7-]?[ \t]*{_STAMP}[\])]?)?[ \t]*:{_MARK}(?:[ \t]+|$)",
        # "## User"
        rf"#{{1,6}}[ \t]+(?P<label>{_LABEL})[ \t]*:?[ \t]*$",
        # "**Anna** · 14:05", "Anna, 14:05", "Anna (14 March, 10:05)" above the text
        rf"{_MARK}(?P<label>{_LABEL}){_MARK}(?:[ \t]*[\[(,\u00b7|-]|[ \t]{{2,}}|(?<=\*\*)[ \t])"
        rf"[^\n:]{{0,24}}{_STAMP}[\])]?[^\n]{{0,40}}$",
        # "<anna> text", "[anna] text"
        rf"(?:[\[(]?{_STAMP}[\])]?[ \t]+)?[<\[](?P<label>{_LABEL})[>\]]:?[ \t]+",
        # "**Anna**" or "Anna" alone on a line
        rf"{_MARK}(?P<label>[^\W\d_][\w.' \-]{{0,24}}){_MARK}[ \t]*$",
    )
)
_AUTHOR = re.compile(
    r"^(?:\*\*(?P<bold>[^*\n]{1,60})\*\*(?:[ \t]*[·(,\u2013-][^\n]{0,60})?:?"
    r"|(?P<plain>[A-Z\u00c0-\u024f][\w.' -]{0,30}):(?=[ \t]))[ \t]*\n?",
    re.MULTILINE,
)
_HEADINGS = re.compile(r"^#{1,6} [^\n]*$", re.MULTILINE)
_QUOTED = re.compile(r"[ \t]*((?:>[ \t]?)+)")
_PLACEHOLDER = re.compile(r"<[^<>\n]*>")  # "<Media omitted>"
_DATED = re.compile(r"[\[(]?\d{1,4}[./-]\d{1,2}[./-]\d{1,4}[, T]")
_MOST_LABELS, _LONGEST_LABEL = 8, 4
_FEWEST_HEADS = 3
_MOST_BEFORE = 0.2
_KNOWN_ASKING = frozenset({"user", "human"})
_ASKING_SHARE, _ASKING_LEAD = 0.5, 2.0


@dataclass(frozen=True, slots=True)
class Unit:
    """A message, paragraph or sentence. ``role`` is who says it, where that is written."""

    start: int
    end: int
    text: str
    role: str = ""


def find_messages(text: str, begin: int = 0) -> list[Unit]:
    """Return the messages of a text, and what precedes them; none where nobody is named."""
    heads = list(_KNOWN.finditer(text, begin))
    if len(heads) >= 2:
        return _messages(text, heads, begin)
    for form in _FORMS:
        heads = _convincing(text, list(form.finditer(text, begin)), begin)
        if heads:
            return _messages(text, heads, begin)
    quoted = _by_quotes(text, begin)
    if quoted:
        return quoted
    heads = list(_AUTHOR.finditer(text, begin))
    return _messages(text, heads, begin) if len(heads) >= 2 else []


def asking_roles(units: Sequence[Unit]) -> frozenset[str]:
    """Return the roles whose part it is to ask; none where all ask alike, or nobody answers."""
    turns = Counter(unit.role for unit in units if unit.role)
    if len(turns) < 2:
        return frozenset()
    if turns.keys() & _KNOWN_ASKING:
        return frozenset(turns.keys() & _KNOWN_ASKING)
    shares = {role: _share([unit.text for unit in units if unit.role == role]) for role in turns}
    most = max(shares.values())
    asking = {role for role, share in shares.items() if share * _ASKING_LEAD > most}
    answering = max((shares[role] for role in turns.keys() - asking), default=1.0)
    again = any(turns[role] > 1 for role in asking)
    if most < _ASKING_SHARE or answering * _ASKING_LEAD >= most or not again:
        return frozenset()
    return frozenset(asking)


def _share(texts: Sequence[str]) -> float:
    """Return the share, from 0 to 1, of messages that ask."""
    return sum(mostly_asks(find_sentences(text)) for text in texts) / len(texts)


def typed_alone(text: str, units: Sequence[Unit]) -> str:
    """Return the text with blanks for labels and notices, where one person typed all messages.

    A text of several speakers, or none, is returned as it is.
    """
    if len({unit.role for unit in units if unit.role}) != 1:
        return text
    parts: list[str] = []
    end = 0
    for unit in units:
        # "12/03/2026, 18:02 - Anna created group"
        if _PLACEHOLDER.fullmatch(unit.text) or (not unit.role and _DATED.match(unit.text)):
            continue
        start, body = text.find(unit.text, unit.start, unit.end), unit.text
        if start < 0:
            # Headings were taken out of it.
            start, body = unit.start, text[unit.start : unit.end]
        parts += [blanks_for(text[end:start]), body]
        end = start + len(body)
    return "".join([*parts, blanks_for(text[end:])])


def label_of(head: re.Match[str]) -> str:
    """Return who is named by a line that begins a message, in lower case."""
    named = next(group for group in head.groups() if group is not None)
    return _SAID.sub("", " ".join(named.split())).strip(" .,").lower()


def _convincing(text: str, heads: Sequence[re.Match[str]], begin: int) -> list[re.Match[str]]:
    """Return the matches that name a speaker; none unless speakers come again and take turns."""
    heads = [head for head in heads if len(label_of(head).split()) <= _LONGEST_LABEL]
    counts = Counter(map(label_of, heads))
    if len(counts) == 1 and len(heads) > 1 and all(map(_has_time, heads)):
        # Who writes alone takes no turns, but a time before each label shows that it is one.
        return heads
    again = {label for label, count in counts.items() if count > 1}
    # Where one speaks again and again, whoever speaks once is another; else it is a field.
    labels = again if len(again) > 1 else set(counts)
    heads = [head for head in heads if label_of(head) in labels]
    if len(heads) < _FEWEST_HEADS or not again or not 2 <= len(labels) <= _MOST_LABELS:
        return []
    if len(labels) > len(heads) / 2 + 1:
        return []
    changes = sum(label_of(a) != label_of(b) for a, b in pairwise(heads))
    # Headings and fields come again as well, but not by turns and from the beginning on.
    if changes * 3 < len(heads) - 1 or heads[0].start() - begin > _MOST_BEFORE * len(text):
        return []
    return heads


def _has_time(head: re.Match[str]) -> bool:
    start, end = (at - head.start() for at in head.span("label"))
    return any(map(str.isdigit, head.group()[:start] + head.group()[end:]))


def _messages(text: str, heads: Sequence[re.Match[str]], begin: int) -> list[Unit]:
    units = []
    before = _HEADINGS.sub("", text[begin : heads[0].start()]).strip()
    if before:
        units.append(Unit(begin, heads[0].start(), before))
    ends = [head.start() for head in heads[1:]] + [len(text)]
    for head, end in zip(heads, ends, strict=True):
        body = _HEADINGS.sub("", text[head.end() : end]).strip()
        if body:
            units.append(Unit(head.start(), end, body, label_of(head)))
    return units


def _by_quotes(text: str, begin: int) -> list[Unit]:
    """Return runs of lines that are quoted equally often; what is quoted is another's."""
    lines = [match for match in re.finditer(r"[^\n]*\n?", text) if match.start() >= begin]
    depths = [
        (mark.group(1).count(">") if (mark := _QUOTED.match(line.group())) else 0, line)
        for line in lines
        if line.group().strip()
    ]
    units = []
    for depth, run in groupby(depths, key=lambda each: each[0]):
        of_run = [line for _, line in run]
        lines_of_run = text[of_run[0].start() : of_run[-1].end()].splitlines()
        unquoted = "\n".join(_QUOTED.sub("", line, count=1) for line in lines_of_run)
        if unquoted.strip():
            units.append(Unit(of_run[0].start(), of_run[-1].end(), unquoted.strip(), f"{depth}"))
    return units if asking_roles(units) else []
