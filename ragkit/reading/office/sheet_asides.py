"""What stands beside the cells of a workbook: text boxes, titles of charts, and comments."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragkit.reading.comments import comment_line, names_of
from ragkit.reading.office.drawings import chart_of, lines_of
from ragkit.reading.zip_container import part_of, relations

if TYPE_CHECKING:
    import zipfile
    from collections.abc import Iterator
    from xml.etree.ElementTree import Element

_S = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
_ID = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
_THREADED = "{http://schemas.microsoft.com/office/spreadsheetml/2018/threadedcomments}"
_COPY = "[Threaded comment]"
"""How the copy of a threaded comment begins that Excel keeps for its older versions."""


def asides_of_workbook(archive: zipfile.ZipFile) -> dict[str, list[str]]:
    """Return the lines beside the cells of each sheet that has any, by its name.

    Text boxes have a line for each paragraph, charts their titles, comments "Rui on B2: ask Anna".
    """
    found: dict[str, list[str]] = {}
    workbook = "xl/workbook.xml"
    root, parts = part_of(archive, workbook), relations(archive, workbook)
    people = names_of(archive, "xl/persons/person.xml", f"{_THREADED}person", "displayName")
    for sheet in () if root is None else root.iter(f"{_S}sheet"):
        part, _ = parts.get(sheet.get(_ID, ""), ("", ""))
        drawn: list[str] = []
        comments: list[str] = []
        for target, kind in relations(archive, part).values():
            if kind == "drawing":
                drawn += _drawn(archive, target)
            elif "omment" in kind and (listed := part_of(archive, target)) is not None:
                comments += filter(None, (*_notes(listed), *_threads(listed, people)))
        if drawn or comments:
            found[sheet.get("name", "")] = drawn + comments
    return found


def _drawn(archive: zipfile.ZipFile, part: str) -> Iterator[str]:
    """Yield the paragraphs of text boxes, and the titles of charts."""
    drawing = part_of(archive, part)
    if drawing is not None:
        yield from (line.text for line in lines_of(drawing))
    for target, kind in relations(archive, part).values():
        chart = part_of(archive, target) if kind == "chart" else None
        if chart is not None and (title := chart_of(chart).title):
            yield title


def _notes(comments: Element) -> Iterator[str]:
    """Yield the notes at cells, which is what Excel calls its older kind of comments."""
    authors = [author.text or "" for author in comments.iter(f"{_S}author")]
    for note in comments.iter(f"{_S}comment"):
        number = note.get("authorId", "")
        listed = number.isdigit() and int(number) < len(authors)
        author = authors[int(number)] if listed else ""
        text = "".join(part.text or "" for part in note.iter(f"{_S}t"))
        if not text.startswith(_COPY):
            # Excel begins a new note with the name of who writes it.
            text = text.removeprefix(f"{author}:")
            yield comment_line(author, text, place=note.get("ref", ""))


def _threads(comments: Element, people: dict[str, str]) -> Iterator[str]:
    for comment in comments.iter(f"{_THREADED}threadedComment"):
        author = people.get(comment.get("personId", ""), "")
        text = comment.findtext(f"{_THREADED}text") or ""
        yield comment_line(author, text, place=comment.get("ref", ""))
