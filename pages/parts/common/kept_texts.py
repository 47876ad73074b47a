"""Long texts of an address: the server keeps each under a short name, for one browser alone."""

from __future__ import annotations

import hashlib
import secrets
import threading
from collections import OrderedDict

import streamlit as st

MARK = "~"
"""What a name begins with, so that it is not taken for a text."""

_COOKIE = "_streamlit_xsrf"
_MOST, _MOST_CHARACTERS = 40, 20_000_000


class KeptTexts:
    """The texts used last, by browser and name; lost when the server stops. Thread-safe."""

    def __init__(self, most: int = _MOST, most_characters: int = _MOST_CHARACTERS) -> None:
        self._most, self._most_characters = most, most_characters
        # Names cannot be guessed from a text.
        self._secret = secrets.token_bytes(16)
        self._guard = threading.Lock()
        self._texts: OrderedDict[tuple[str, str], str] = OrderedDict()

    def put(self, browser: str, text: str) -> str:
        """Keep a text and return its name, the same for the same text."""
        data = text.encode("utf-8", "replace")
        name = MARK + hashlib.blake2b(data, digest_size=12, key=self._secret).hexdigest()
        with self._guard:
            self._texts[browser, name] = text
            self._texts.move_to_end((browser, name))
            while len(self._texts) > 1 and self._too_many():
                self._texts.popitem(last=False)
        return name

    def get(self, browser: str, name: str) -> str | None:
        """Return the text that this browser has under a name, if it is still kept."""
        with self._guard:
            text = self._texts.get((browser, name))
            if text is not None:
                self._texts.move_to_end((browser, name))
            return text

    def _too_many(self) -> bool:
        characters = sum(map(len, self._texts.values()))
        return len(self._texts) > self._most or characters > self._most_characters


@st.cache_resource
def _kept() -> KeptTexts:
    return KeptTexts()


def keep(text: str) -> str:
    """Keep a text for the browser that is served now; return its name."""
    return _kept().put(_browser(), text)


def find(name: str) -> str | None:
    """Return the text of this browser under a name, or ``None`` when it is not there."""
    return _kept().get(_browser(), name)


def _browser() -> str:
    return browser_of(st.context.cookies.get(_COOKIE, ""))


def browser_of(cookie: str) -> str:
    """Return the constant part of a browser's XSRF cookie, or an empty string.

    The cookie is ``2|mask|masked token|time``, in hexadecimal digits; each answer of the server has
    another mask.
    """
    parts = cookie.split("|")
    try:
        mask, masked = bytes.fromhex(parts[1]), bytes.fromhex(parts[2])
    except (IndexError, ValueError):
        return ""
    if not mask:
        return ""
    return bytes(byte ^ mask[at % len(mask)] for at, byte in enumerate(masked)).hex()
