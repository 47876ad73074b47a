"""Text as it may be shown: without characters that nobody sees, and without marks of Markdown."""

from __future__ import annotations

import re

# From Arabic to Sinhala a joiner is part of the spelling, and in emoji of the picture.
_PICTURES = "\u2190-\u2bff\U0001f000-\U0001faff"
_JOINED = f"\u0620-\u08ff\u0900-\u0dff{_PICTURES}\ufe0f"
_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f"
    "\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0e\ufeff\uffa0\ufff0-\ufffb\U000e0000-\U000e0fff]"
    f"|(?<![{_JOINED}])[\u200c\u200d]|[\u200c\u200d](?![{_JOINED}]|\\Z)"
    f"|(?<![{_PICTURES}0-9#*])\ufe0f"
)
_LINK = re.compile(r"!?\[([^\[\]\n]{0,300})\]\(<?([^()<>\s]{1,600})>?(?:\s+\"[^\"\n]{0,200}\")?\)")
_STRONG = re.compile(r"(?<!\w)(?:\*{2,3}|~~)|(?:\*{2,3}|~~)(?!\w)")
_EMPHASIS = re.compile(r"(?<![\w*])([*_])(?=[^\s*_])([^*_\n]{1,300})(?<=[^\s])\1(?![\w*])")
_CODE = re.compile(r"(`+)([^`\n]{1,500})\1")
_BREAK = re.compile(r"<br\s*/?>", re.I)
_SPACE = re.compile(r"\s+")


def without_unseen(text: str) -> str:
    """Remove what a text can hide: zero-width, direction-changing, tag and control characters.

    Joiners stay where words and emoji have them.
    """
    text = text.replace("\u2028", "\n").replace("\u2029", "\n")
    return text if text.isascii() and text.isprintable() else _UNSEEN.sub("", text)


def without_marks(text: str) -> str:
    """Return one line of Markdown as plain text: links with their address, HTML as it is."""
    text = _LINK.sub(_link, _BREAK.sub(" ", text))
    text = _CODE.sub(r"\2", _EMPHASIS.sub(r"\2", _STRONG.sub("", text)))
    return _SPACE.sub(" ", text).strip()


def _link(match: re.Match[str]) -> str:
    words, address = match[1].strip(), match[2]
    return f"{words} ({address})" if words and words != address else address
