"""Notes of Joplin: Markdown, with what is known about a note below it."""

from __future__ import annotations

import re

from ragkit.errors import SkippedError
from ragkit.reading.dates import iso_date
from ragkit.reading.formats import Format
from ragkit.reading.markdown import first_heading, read_markdown, strip_embedded
from ragkit.reading.reading_parts import box, nonempty, one_line, stem, tidy
from ragkit.types import Markup, Reading

_FOOT = re.compile(
    r"(?:\A|\n)id: [0-9a-f]{32}\n(?P<known>(?:[a-z_]+:[^\n]*\n){3,60})type_: (?P<kind>\d+)\s*\Z"
)
_NOTE = "1"
_HTML = "2"
_RESOURCE = re.compile(r"!?\[([^\[\]]*)\]\(:/[0-9a-f]{32}[^()\s]*\)")
"""An attachment or another note, whose address is of no use outside of Joplin."""


def read_joplin(text: str, name: str, file_format: Format = Format.JOPLIN) -> Reading:
    """Read a note of Joplin, as it exports and synchronises them.

    Raises:
        SkippedError: it is a notebook, a tag or another thing that is no note, or encrypted.
    """
    foot = _FOOT.search(text, max(text.rfind("\nid: "), 0))
    if foot is None:
        return read_markdown(text, name)
    known = {
        key: value.strip()
        for key, _, value in (line.partition(":") for line in foot["known"].split("\n"))
    }
    if foot["kind"] != _NOTE:
        raise SkippedError(
            "This is no note, but something that Joplin keeps beside them.",
            "Nothing needs to be done.",
        )
    if known.get("deleted_time", "0") != "0":
        raise SkippedError("This note is in the trash of Joplin.", "Restore it there.")
    if known.get("encryption_applied") == "1":
        raise SkippedError("This note is encrypted.", "Export the notes from Joplin.")
    title, _, body = text[: foot.start()].lstrip("\n").partition("\n")
    body = _RESOURCE.sub(r"\1", body)
    if known.get("markup_language") == _HTML:
        from ragkit.reading.html import to_markdown

        body = to_markdown(body)
    if known.get("is_todo") == "1":
        done = known.get("todo_completed", "0") != "0"
        body = f"{box(done=done)} {title}\n\n{body.strip()}"
    return Reading(
        text=strip_embedded(tidy(body)) or title,
        title=one_line(title) or first_heading(body) or stem(name),
        format=file_format,
        markup=Markup.MARKDOWN,
        metadata=nonempty(
            date=iso_date(known.get("user_created_time", "")),
            updated=iso_date(known.get("user_updated_time", "")),
            author=known.get("author"),
            source=known.get("source_url"),
        ),
    )
