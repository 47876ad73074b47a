"""Notes that Evernote exported (ENEX): each note a section, with its tags and dates."""

from __future__ import annotations

import re
from base64 import b64decode
from contextlib import suppress
from functools import partial
from mimetypes import guess_extension
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from ragkit.formatting import plural
from ragkit.reading.attachments import MOST_OF_MANY, Attachments
from ragkit.reading.dates import iso_date
from ragkit.reading.formats import Format
from ragkit.reading.html import to_markdown
from ragkit.reading.limits import MEGABYTE, check_text, damaged
from ragkit.reading.reading_parts import box, joined, nonempty, stem, whole_line
from ragkit.reading.zip_container import refuse_entities
from ragkit.types import Markup, Reading

if TYPE_CHECKING:
    from collections.abc import Iterator
    from xml.etree.ElementTree import Element

    from ragkit.reading.limits import Limits
    from ragkit.types import Metadata

_PROLOGUE = re.compile(r"<\?xml[^>]*\?>|<!DOCTYPE[^>]*>", re.I)
_TODO = re.compile(r"<en-todo\b([^>]*)>", re.I)
_DONE = re.compile(r"checked\s*=\s*[\"']?true", re.I)
_SECRET = re.compile(r"<en-crypt\b.*?</en-crypt\s*>", re.I | re.S)
_BEGIN = re.compile(rb"<note(?:\s[^<>]*)?>")
_NOTE = re.compile(rb"<note(?:\s[^<>]*)?>(?:(?!<note[\s>]).)*?</note>", re.S)
_CONTROL = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f]")
_HEADING = re.compile(r"(</?h)([1-4])\b", re.I)

_LABELS = {"tags": "tags: ", "author": "by ", "source": "from ", "attachments": "attached: "}


def read_notes(data: bytes, name: str, limits: Limits) -> Reading:
    """Read the notes of an export; one that is damaged does not cost the others.

    Raises:
        ReadingError: no note can be read, or there is too much text.
    """
    refuse_entities(data)
    reader = Attachments(MOST_OF_MANY, limits.max_text_mb * MEGABYTE)
    sections: list[str] = []
    title, metadata = "", nonempty()
    for note in _notes(data):
        title, metadata = _about(note)
        attached = (_attachment(file, reader, limits) for file in note.iterfind("resource"))
        sections.append(joined((_section(note, title, metadata), *attached), "\n\n"))
    lost = len(_BEGIN.findall(data)) - len(sections)
    if (lost and not sections) or b"<en-export" not in data:
        raise damaged(Format.ENEX.label)
    check_text(sections, limits)
    is_single = len(sections) == 1
    warnings = (f"{plural(lost, 'damaged note')} could not be read.",) if lost else ()
    return Reading(
        text="\n\n".join(sections),
        title=title if is_single else stem(name),
        format=Format.ENEX,
        markup=Markup.MARKDOWN,
        metadata=metadata if is_single else {},
        warnings=(*warnings, *reader.warnings),
    )


def _notes(data: bytes) -> Iterator[Element]:
    """Yield the notes of an export that are sound, each parsed by itself."""
    for note in _NOTE.finditer(data):
        with suppress(ElementTree.ParseError):
            yield ElementTree.fromstring(_CONTROL.sub(b"", note[0]))  # noqa: S314 - no entities


def _attachment(resource: Element, reader: Attachments, limits: Limits) -> str:
    """Return an attached file as a section; ``""`` if it is no document."""
    from ragkit.reading.readers import read_data

    kind = resource.findtext("mime", "")
    if not limits.attachments or kind.startswith(("image/", "audio/", "video/")):
        return ""
    name = whole_line(resource.findtext("resource-attributes/file-name", ""))
    name = name or f"attachment{guess_extension(kind) or ''}"
    try:
        content = b64decode(resource.findtext("data", ""))
    except ValueError:
        return ""
    text = reader.text_of(name, content, partial(read_data, content, name, limits))
    return f"## {name}\n\n{text}" if text else ""


def _about(note: Element) -> tuple[str, Metadata]:
    """Return the title of a note, and what is known about it."""
    tags = (whole_line(tag.text or "") for tag in note.iterfind("tag"))
    names = note.iterfind("resource/resource-attributes/file-name")
    metadata = nonempty(
        date=iso_date(note.findtext("created", "")),
        updated=iso_date(note.findtext("updated", "")),
        tags=list(filter(None, tags)),
        author=whole_line(note.findtext("note-attributes/author", "")),
        source=whole_line(note.findtext("note-attributes/source-url", "")),
        attachments=[whole_line(file.text or "") for file in names],
    )
    return whole_line(note.findtext("title", "")) or "Without a title", metadata


def _section(note: Element, title: str, metadata: Metadata) -> str:
    """Return a note as Markdown: its title, what is known about it, and its text."""
    known = [(label, metadata.get(key, "")) for key, label in _LABELS.items()]
    about = " · ".join(
        label + (value if isinstance(value, str) else ", ".join(value))
        for label, value in [("", str(metadata.get("date", ""))[:10]), *known]
        if value
    )
    source = _PROLOGUE.sub("", note.findtext("content", ""))
    source = _SECRET.sub("(encrypted)", _TODO.sub(_box, source))
    body = to_markdown(_HEADING.sub(lambda tag: f"{tag[1]}{int(tag[2]) + 1}", source))
    return joined((f"# {title}", about, body), "\n\n")


def _box(todo: re.Match[str]) -> str:
    return f"{box(done=_DONE.search(todo[1]) is not None)} "
