"""Reads a file of any format: chooses its reader and checks what goes in and comes out."""

from __future__ import annotations

import stat
from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING, cast

from ragkit.errors import LockedError, PassingError, ReadingError, SkippedError
from ragkit.reading import limits as costs
from ragkit.reading.decode import clean, declared_encoding, decode
from ragkit.reading.formats import BYTE_FORMATS, CONVERSATION_FORMATS, Format
from ragkit.reading.languages import with_language
from ragkit.reading.office_97.compound import is_compound
from ragkit.reading.office_97.known_passwords import opened_without_asking
from ragkit.reading.sniffing import sniff
from ragkit.reading.zip_container import GZIP_SUFFIX, gunzipped, is_gzip

if TYPE_CHECKING:
    from pathlib import Path

    from ragkit.reading.limits import Limits
    from ragkit.reading.pdf.contents import KnownPages, PageRun
    from ragkit.types import Reading

_FRONT_MATTER = (Format.MARKDOWN, Format.MDX)
_PLAIN = (Format.TEXT, *_FRONT_MATTER, Format.RST, Format.CODE)


def read_file(path: Path, name: str, limits: Limits, known: KnownPages | None = None) -> Reading:
    """Read one file in this process.

    ``name`` is the relative path that people see. ``known`` is what is known of a PDF's pages.

    Raises:
        SkippedError: the file is not meant to become a document.
        ReadingError: the file cannot be read.
    """
    return with_language(read_data(load(path, limits), name, limits, known))


def read_data(data: bytes, name: str, limits: Limits, known: KnownPages | None = None) -> Reading:
    """Read the bytes of a file, as ``read_file`` does, but for the language of the text.

    Raises:
        SkippedError: it is not meant to become a document.
        ReadingError: it cannot be read.
    """
    if is_gzip(name, data):
        name, data = name[: -len(GZIP_SUFFIX)], gunzipped(data, limits)
    try:
        return _read_unlocked(data, name, limits, known)
    except LockedError:
        if not is_compound(data) or (opened := opened_without_asking(data)) is None:
            raise
    return _read_unlocked(opened, name, limits, known)


def _read_unlocked(data: bytes, name: str, limits: Limits, known: KnownPages | None) -> Reading:
    file_format = sniff(name, data)
    try:
        reading = _read(file_format, data, name, limits, known)
    except ReadingError:
        raise
    except MemoryError:
        raise costs.too_much_memory(limits) from None
    except RecursionError:
        raise costs.too_deep() from None
    except Exception as error:  # a parser may raise anything on a bad file
        raise costs.damaged(file_format.label) from error
    costs.check_text((reading.text,), limits)
    if not reading.text.strip():
        if file_format in _FRONT_MATTER and data.strip():
            raise SkippedError("The file has front matter but no text.", "Write text below it.")
        if file_format in _PLAIN:
            raise SkippedError("The file contains only white space.", "Add some text.")
        raise costs.no_text(file_format.label)
    return reading


def read_pages(path: Path, name: str, limits: Limits, first: int, end: int) -> tuple[int, PageRun]:
    """Read the pages ``first`` (an index) to before ``end`` of a PDF.

    Returns the number of all its pages, 0 for a file that is no PDF, and the pages read.

    Raises:
        ReadingError: the file cannot be read.
    """
    from ragkit.reading.pdf import by_pdfium, contents

    data = load(path, limits)
    if sniff(name, data) is not Format.PDF:
        return 0, contents.PageRun()
    return by_pdfium.run_of(data, limits, first, end)


def load(path: Path, limits: Limits) -> bytes:
    """Return the bytes of a file.

    Raises:
        SkippedError: the file is not a regular file, too large, or empty.
        ReadingError: the file cannot be opened.
    """
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            raise SkippedError("This is not a regular file.", "Leave it out of the library.")
        if status.st_size > limits.max_file_mb * costs.MEGABYTE:
            raise costs.too_large(status.st_size, limits)
        data = path.read_bytes()
    except FileNotFoundError:
        raise ReadingError("The file is no longer there.", "Sync the folder again.") from None
    except PermissionError:
        raise PassingError(
            "You have no permission to open the file.", "Change its permissions."
        ) from None
    except OSError as error:
        raise PassingError(
            f"The disk could not read the file ({error.strerror or 'unknown error'}).",
            "Check the disk or the network drive.",
        ) from error
    if not data.strip(b"\x00\xef\xbb\xbf\xff\xfe"):
        raise SkippedError("The file is empty.", "Add some text.")
    return data


def _read(
    file_format: Format, data: bytes, name: str, limits: Limits, known: KnownPages | None
) -> Reading:
    """Pass the bytes, or for text formats their decoded text, to the reader of the format."""
    module, _, function = file_format.reader.rpartition(".")
    # Some readers are slow to import, so each is imported when it is first needed.
    read = getattr(import_module(f"ragkit.reading.{module}"), function)
    if file_format is Format.PDF:
        return cast("Reading", read(data, name, limits, known))
    if file_format in BYTE_FORMATS:
        return cast("Reading", read(data, name, limits))
    text, warnings = decode(data, declared_encoding(data))
    costs.check_text((text,), limits)
    text = clean(text)
    if file_format in CONVERSATION_FORMATS:
        from ragkit.reading.conversations.detection import read_export

        conversation = read_export(text, name, file_format, data, warnings)
        if conversation is not None:
            return conversation
    reading: Reading = read(text, name, file_format)
    if file_format is Format.MARKDOWN:
        from ragkit.reading.conversations.transcript import mark_messages

        reading = mark_messages(reading) or reading
    return replace(reading, warnings=(*warnings, *reading.warnings)) if warnings else reading
