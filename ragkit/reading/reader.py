"""One file to one ``Reading``: the choice of reader and the checks around it."""

from __future__ import annotations

import stat
from dataclasses import replace
from typing import TYPE_CHECKING

from ragkit.errors import ReadingError, SkippedError
from ragkit.reading import limits as costs
from ragkit.reading.decode import clean, decode
from ragkit.reading.formats import NAMES, sniff

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from ragkit.reading.limits import Limits
    from ragkit.types import Reading


def read_file(path: Path, name: str, settings: Limits) -> Reading:
    """Read one file in this process. ``name`` is the relative path that people see.

    Raises:
        SkippedError: for files that are not meant to become documents.
        ReadingError: for files that should, but cannot.
    """
    data = _load(path, settings)
    file_format = sniff(name, data)
    try:
        reading = _read(file_format, data, name, settings)
    except ReadingError:
        raise
    except MemoryError:
        raise costs.too_much_memory(settings) from None
    except RecursionError:
        raise costs.too_deep() from None
    except Exception as error:  # a parser may raise anything on a bad file
        raise costs.damaged(NAMES.get(file_format, "file")) from error
    costs.check_text((reading.text,), settings)
    if not reading.text.strip():
        if file_format in ("markdown", "mdx") and data.strip():
            raise SkippedError("The file has front matter but no text.", "Write text below it.")
        if file_format in ("text", "markdown", "mdx", "rst", "code"):
            raise SkippedError("The file holds nothing but white space.", "Write something in it.")
        raise costs.no_text(NAMES.get(file_format, "file"))
    return reading


def _load(path: Path, settings: Limits) -> bytes:
    """Take the bytes of an ordinary file that is not too large."""
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            raise SkippedError("This is not an ordinary file.", "Leave it out of the folder.")
        if status.st_size > settings.max_file_mb * costs.MEGABYTE:
            raise costs.too_large(status.st_size, settings)
        data = path.read_bytes()
    except FileNotFoundError:
        raise ReadingError("The file is no longer there.", "Sync the folder again.") from None
    except PermissionError:
        raise ReadingError(
            "The file may not be opened by this user.", "Change its permissions, then retry it."
        ) from None
    except OSError as error:
        raise ReadingError(
            f"The disk did not give the file back ({error.strerror or 'unknown error'}).",
            "Check the disk or the network drive, then retry it.",
        ) from error
    if not data.strip(b"\x00\xef\xbb\xbf\xff\xfe"):
        raise SkippedError("The file is empty.", "Write something in it.")
    return data


def _read(file_format: str, data: bytes, name: str, settings: Limits) -> Reading:
    """Hand the bytes to the reader of their format; each is imported when first needed."""
    if file_format == "pdf":
        from ragkit.reading.pdf import read_pdf

        return read_pdf(data, name, settings)
    if file_format in ("docx", "pptx", "xlsx"):
        from ragkit.reading.office import read_office

        return read_office(data, name, file_format, settings)
    if file_format == "epub":
        from ragkit.reading.epub import read_epub

        return read_epub(data, name, settings)
    if file_format == "eml":
        from ragkit.reading.mail import read_mail

        return read_mail(data, name)
    if file_format in ("export", "mbox"):
        return _read_conversations(file_format, data, name, settings)
    declared = ""
    if file_format == "html":
        from ragkit.reading.html import declared_encoding

        declared = declared_encoding(data)
    text, warnings = decode(data, declared)
    costs.check_text((text,), settings)
    text = clean(text)
    if file_format in ("text", "markdown", "json", "jsonl"):
        from ragkit.reading.conversations.detection import read_export

        conversation = read_export(text, name, file_format, data, warnings)
        if conversation is not None:
            return conversation
    reading = _text_reader(file_format)(text, name)
    if file_format == "markdown":
        from ragkit.reading.conversations.transcript import mark_messages

        reading = mark_messages(reading) or reading
    return replace(reading, warnings=(*warnings, *reading.warnings)) if warnings else reading


def _read_conversations(file_format: str, data: bytes, name: str, settings: Limits) -> Reading:
    """Read a file of several conversations: a mailbox, or the archive of an export."""
    if file_format == "export":
        from ragkit.reading.conversations.export_archives import read_archive

        return read_archive(data, name, settings)
    from ragkit.reading.conversations.mbox import read_mbox
    from ragkit.reading.conversations.rendering import to_reading

    return to_reading(read_mbox(data, name))


def _text_reader(file_format: str) -> Callable[[str, str], Reading]:
    """The reader of a format that is text inside."""
    if file_format in ("markdown", "mdx"):
        from ragkit.reading.markdown import read_markdown

        return lambda text, name: read_markdown(text, name, file_format)
    if file_format in ("text", "rst"):
        from ragkit.reading import plain

        return plain.read_text if file_format == "text" else plain.read_rst
    if file_format == "html":
        from ragkit.reading.html import read_html

        return read_html
    if file_format == "csv":
        from ragkit.reading.csv_table import read_csv

        return read_csv
    if file_format == "ipynb":
        from ragkit.reading.notebook import read_notebook

        return read_notebook
    if file_format == "code":
        from ragkit.reading.code import read_code

        return read_code
    from ragkit.reading.structured_data import read_data

    return lambda text, name: read_data(text, name, file_format)
