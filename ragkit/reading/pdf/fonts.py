"""The sizes and names of fonts on a PDF page."""

from __future__ import annotations

import ctypes
import math
import re
from collections.abc import Callable
from functools import cache
from statistics import median
from typing import Any

_BOLD = re.compile(rb"bold|black|heavy|demi|medi$|[a-z]bx(?:ti|sl|csc)?\d|sfsx|,b|[a-z]TB$", re.I)
"""Words for bold in the names of fonts, then those of TeX: "CMBX10", "SFSX1000", "LibertineTB"."""
_LONGEST_NAME = 128


class Fonts:
    """The fonts of the characters of one page, whose text is at the address ``text_page``."""

    def __init__(self, text_page: int) -> None:
        self._name_of, self._size_of, self._matrix_of = _functions()
        self._page = text_page
        self._name = (ctypes.c_char * _LONGEST_NAME)()
        self._matrix = (ctypes.c_float * 6)()
        self._name_at = ctypes.addressof(self._name)
        self._matrix_at = ctypes.addressof(self._matrix)

    def of(self, first: int, middle: int, last: int) -> tuple[float, bool]:
        """Return the size in points, as drawn, and the weight of the font of a line.

        Most of these three characters of it have the size; the outer ones are bold.
        """
        size, end = self._size(first), self._size(last)
        if size != end:
            size = median((size, self._size(middle), end))
        return size, self._is_bold(first) and self._is_bold(last)

    def _is_bold(self, character: int) -> bool:
        """Return whether a character is bold, as far as the name of its font says it."""
        self._name_of(self._page, character, self._name_at, _LONGEST_NAME, None)
        return _names_bold(self._name.value)

    def _size(self, character: int) -> float:
        """Return the size of a character, or 0 if it is not known."""
        if not self._matrix_of(self._page, character, self._matrix_at):
            return 0.0
        scale = math.hypot(self._matrix[2], self._matrix[3])
        return round(self._size_of(self._page, character) * scale, 1)


@cache
def _names_bold(name: bytes) -> bool:
    return _BOLD.search(name) is not None


@cache
def _functions() -> tuple[Callable[..., int], Callable[..., float], Callable[..., int]]:
    """Return functions of pdfium with prototypes of plain numbers, which are quicker."""
    import pypdfium2.raw as raw

    page, index, place, length = ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p, ctypes.c_ulong
    return (
        _plain(raw.FPDFText_GetFontInfo, ctypes.c_ulong, page, index, place, length, place),
        _plain(raw.FPDFText_GetFontSize, ctypes.c_double, page, index),
        _plain(raw.FPDFText_GetMatrix, ctypes.c_int, page, index, place),
    )


def _plain(function: Any, *types: Any) -> Callable[..., Any]:
    prototype = ctypes.PYFUNCTYPE(*types)
    return prototype(ctypes.cast(function, ctypes.c_void_p).value or 0)
