"""Signing in from other machines with a code or the token, with limited attempts."""

from __future__ import annotations

import time
from collections import OrderedDict, deque
from math import ceil
from urllib.parse import parse_qs

from ragkit.surfaces.http.access import CODE_LETTERS, Access
from ragkit.surfaces.http.api_token import ApiToken

LONGEST_FORM = 4096
"""The most bytes of a form; a longer one counts as empty."""

_TRIES, _SECONDS = 5, 60.0
_ADDRESSES = 1000


class Attempts:
    """Counts wrong secrets: each client address may send five a minute.

    A code is one of 2^40 and lasts ten minutes, so attempts need not be counted across addresses.
    """

    def __init__(self) -> None:
        self._wrong: OrderedDict[str, deque[float]] = OrderedDict()

    def wait(self, address: str) -> int:
        """Return the seconds until an address may try again; 0 if it may now."""
        tried = self._wrong.get(address)
        if tried is None or len(tried) < _TRIES:
            return 0
        return max(0, ceil(tried[0] + _SECONDS - time.monotonic()))

    def note(self, address: str) -> None:
        """Count a wrong secret."""
        tried = self._wrong.setdefault(address, deque(maxlen=_TRIES))
        tried.append(time.monotonic())
        self._wrong.move_to_end(address)
        while len(self._wrong) > _ADDRESSES:
            self._wrong.popitem(last=False)


def signed_in(form: bytes, access: Access, token: ApiToken) -> str | None:
    """Return the secret of a new session if the form has the token, a code or a link's secret.

    Raises:
        LibraryError: the session cannot be stored.
    """
    fields = parse_qs(form.decode("utf-8", "replace"))
    secret = fields.get("secret", [""])[0].strip()
    if token.admits(secret):
        return access.begin()
    code = "".join(letter for letter in secret.upper() if letter in CODE_LETTERS)
    return access.enter(secret) or access.enter(code)
