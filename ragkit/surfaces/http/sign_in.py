"""Signing in to a server that other machines reach: by a code or the token, not too often."""

from __future__ import annotations

import time
from collections import OrderedDict, deque
from math import ceil
from urllib.parse import parse_qs

from ragkit.surfaces.http.access import CODE_LETTERS, Access
from ragkit.surfaces.http.api_token import ApiToken

LONGEST_FORM = 4096
"""Bytes of a form; more is none."""

_TRIES, _SECONDS = 5, 60.0
_ADDRESSES = 1000


class Attempts:
    """Wrong secrets by the address that sent them: five a minute each.

    The shortest secret is one of 2^40 for ten minutes, so addresses need not be counted together.
    """

    def __init__(self) -> None:
        self._wrong: OrderedDict[str, deque[float]] = OrderedDict()

    def wait(self, address: str) -> int:
        """Return the whole seconds until this address may try again; 0: it may."""
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
    """Return the secret of a session for whoever sent the token, a code or a link's secret.

    Raises:
        LibraryError: the session cannot be noted.
    """
    fields = parse_qs(form.decode("utf-8", "replace"))
    secret = fields.get("secret", [""])[0].strip()
    if token.admits(secret):
        return access.begin()
    code = "".join(letter for letter in secret.upper() if letter in CODE_LETTERS)
    return access.enter(secret) or access.enter(code)
