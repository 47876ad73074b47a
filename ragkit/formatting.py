"""Counts, sizes and times as people read them."""

from __future__ import annotations


def plural(count: int, word: str, shown: str = "") -> str:
    """Return ``1 entry``, ``2 entries``, ``2 days``; ``shown`` replaces the digits."""
    many = f"{word[:-1]}ies" if word.endswith("y") and word[-2] not in "aeiou" else f"{word}s"
    return f"{shown or count} {word if count == 1 else many}"


def megabytes(size: int) -> str:
    """Return a size in bytes as megabytes or gigabytes."""
    return f"{size / 1e9:.1f} GB" if size >= 1_000_000_000 else f"{size / 1e6:.1f} MB"


def duration(seconds: float) -> str:
    """Return a time in seconds as "40 s", "12 min" or "3 h 20 min"."""
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 120 else f"{minutes // 60} h {minutes % 60} min"


def shortened(text: str, most: int = 80) -> str:
    """Leave out the middle of a text that has more than so many characters."""
    half = most // 2
    return text if len(text) <= most else f"{text[:half]}…{text[1 - half :]}"
