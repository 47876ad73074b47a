"""The pictures on a page of a PDF, as pdfium sees them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

_DEPTH = 3


def pictures_on(page: Any) -> Iterator[tuple[Any, float]]:
    """Yield the pictures on a page, also those in other objects, with their area in points."""
    import pypdfium2.raw

    for picture in page.get_objects(filter=[pypdfium2.raw.FPDF_PAGEOBJ_IMAGE], max_depth=_DEPTH):
        left, bottom, right, top = picture.get_bounds()
        yield picture, (right - left) * (top - bottom)
