"""The one importer of kreuzberg, which turns Office files and HTML into Markdown."""

from __future__ import annotations

from typing import Any

from ragkit.errors import ReadingError
from ragkit.reading.limits import damaged

_OFFICE = "application/vnd.openxmlformats-officedocument."
_MEDIA_TYPES = {
    "docx": f"{_OFFICE}wordprocessingml.document",
    "xlsx": f"{_OFFICE}spreadsheetml.sheet",
    "html": "text/html",
}


def convert(data: bytes, kind: str, label: str) -> Any:
    """Convert ``docx``, ``xlsx`` or ``html``; return kreuzberg's content, tables and metadata.

    Raises:
        ReadingError: when the converter cannot make sense of the bytes.
    """
    import kreuzberg

    config = kreuzberg.ExtractionConfig(
        use_cache=False,
        enable_quality_processing=False,
        output_format="markdown",
    )
    try:
        return kreuzberg.extract_bytes_sync(data, _MEDIA_TYPES[kind], config)
    except (MemoryError, KeyboardInterrupt, SystemExit):
        raise
    except ReadingError:
        raise
    except BaseException as error:  # a panic in Rust arrives past Exception
        raise damaged(label) from error
