"""Counts, sizes and times as people read them; text made safe for Markdown and CSV."""

from __future__ import annotations

import re
import time

_MARKDOWN = re.compile(r"([\\`*_{}\[\]<>#|!~&$])")
_LINE_START = re.compile(r"^(\d{1,9}(?=[.)])|(?=[-+=]))")
_ADDRESS = re.compile(
    r"(?:(?:\b[a-z][a-z0-9+.-]{1,20}:)?//|\bmailto:|\bwww\.)[^\s`]+"
    r"|[^\s`@<>]{1,64}@[^\s`@<>]+\.[^\s`@<>]+",
    re.IGNORECASE,
)
DIVISIONS = {
    **dict.fromkeys(("pptx", "ppt", "odp", "keynote"), "slide"),
    **dict.fromkeys(("odg", "vsdx"), "page"),
    **dict.fromkeys(("xlsx", "xlsb", "xls", "ods", "numbers"), "sheet"),
}
"""Formats whose pages are divisions of the text, with the names of these."""

_JOINERS = "\u200c\u200d"
"""Letters of words in Persian or Hindi, and parts of emoji, though no printable characters."""


def is_seen(character: str) -> bool:
    """Return whether a character is printable, or joins or parts others."""
    return character.isprintable() or character in _JOINERS


def plural(count: int, word: str) -> str:
    """Return ``1 entry``, ``2 entries``, ``1,200 searches``."""
    if word.endswith("y") and word[-2] not in "aeiou":
        many = f"{word[:-1]}ies"
    else:
        many = f"{word}es" if word.endswith(("ch", "sh", "ss", "x")) else f"{word}s"
    return f"{count:,} {word if count == 1 else many}"


def page_word(file_format: str) -> str:
    """Return what a page of a document in a format is called: ``page``, ``sheet``, ``slide``."""
    return DIVISIONS.get(file_format, "page")


def page_range(first: int | str, last: int | str, file_format: str = "") -> str:
    """Return ``p. 14`` or ``p. 14–15``; of a workbook or presentation, ``sheets 1–3``."""
    word = DIVISIONS.get(file_format)
    if first == last:
        return f"{word or 'p.'} {first}"
    return f"{f'{word}s' if word else 'p.'} {first}–{last}"


def byte_size(count: int) -> str:
    """Return a number of bytes as ``1.2 MB``."""
    if count < 1000:
        return f"{count} B"
    units = (("kB", 1e3), ("MB", 1e6), ("GB", 1e9))
    unit, factor = next((pair for pair in units if count < 1000 * pair[1]), units[-1])
    amount = count / factor
    return f"{amount:.0f} {unit}" if amount >= 10 else f"{amount:.1f} {unit}"


def local_time(seconds: float) -> str:
    """Return a time in seconds since the epoch as local date and time: ``2026-01-31 09:05``."""
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(seconds))


def duration(seconds: float) -> str:
    """Return a time in seconds as "40 s", "12 min" or "3 h 20 min"."""
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 120 else f"{minutes // 60} h {minutes % 60} min"


def shortened(text: str, most: int = 80) -> str:
    """Return a text of at most ``most`` characters, with its middle left out if it is longer."""
    half = most // 2
    return text if len(text) <= most else f"{text[:half]}…{text[1 - half :]}"


def bounded_line(text: str, most: int = 200) -> str:
    """Return a text on one line of at most ``most`` characters."""
    line = " ".join(text[: most * 4].split())
    return line if len(line) <= most else line[: most - 1].rstrip() + "…"


def csv_text(text: str) -> str:
    """Return the text of a CSV cell, quoted where a spreadsheet would read it as a formula."""
    return f"'{text}" if text.startswith(("=", "+", "-", "@", "\t", "\r")) else text


def escape_markdown(text: str) -> str:
    """Return a text on one line, escaped so that Markdown shows it as it is.

    What looks like an address is put in a code span, so that no renderer turns it into a link.
    """
    line = " ".join(text.split())
    line = "".join(character if is_seen(character) else " " for character in line)
    pieces, last = [], 0
    for address in _ADDRESS.finditer(line):
        pieces += [_MARKDOWN.sub(r"\\\1", line[last : address.start()]), f"`{address[0]}`"]
        last = address.end()
    pieces.append(_MARKDOWN.sub(r"\\\1", line[last:]))
    return _LINE_START.sub(r"\1\\", "".join(pieces))
