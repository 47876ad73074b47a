"""What stands beside the cells of a workbook: text boxes, charts, diagrams, and comments."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragkit.reading.comments import comment_line, names_of
from ragkit.reading.office import binary_workbooks
from ragkit.reading.office.drawings import chart_of, lines_of, without_fallbacks
from ragkit.reading.xml_names import R, S
from ragkit.reading.zip_container import part_of, relations

if TYPE_CHECKING:
    import zipfile
    from collections.abc import Iterator, Mapping
    from xml.etree.ElementTree import Element

_WORKBOOK = "xl/workbook.xml"
_THREADED = "{http://schemas.microsoft.com/office/spreadsheetml/2018/threadedcomments}"
_BINARY = ".bin"
_DIAGRAM = "diagramData"
_DRAWN = ("chart", "chartEx", _DIAGRAM)
_COPY = "[Threaded comment]"
"""How the copy of a threaded comment begins that Excel keeps for its older versions."""


def parts_of_sheets(archive: zipfile.ZipFile) -> dict[str, str]:
    """Return the part that each sheet of a workbook is, by its name."""
    if binary_workbooks.WORKBOOK in archive.namelist():
        return binary_workbooks.sheets_of(archive)
    root, parts = part_of(archive, _WORKBOOK), relations(archive, _WORKBOOK)
    return {
        sheet.get("name", ""): parts.get(sheet.get(f"{R}id", ""), ("", ""))[0]
        for sheet in (() if root is None else root.iter(f"{S}sheet"))
    }


def asides_of_workbook(archive: zipfile.ZipFile, parts: Mapping[str, str]) -> dict[str, list[str]]:
    """Return the lines beside the cells of each sheet that has any, by its name, as in ``parts``.

    Text boxes have a line for each paragraph, charts their titles, comments "Rui on B2: ask Anna".
    """
    found: dict[str, list[str]] = {}
    people = names_of(archive, "xl/persons/person.xml", f"{_THREADED}person", "displayName")
    for name, part in parts.items():
        drawn: list[str] = []
        comments: list[str] = []
        for target, kind in relations(archive, part).values():
            if kind == "drawing":
                drawn += _drawn(archive, target)
            elif kind == "comments" and target.endswith(_BINARY) and target in archive.namelist():
                comments += binary_workbooks.comments_in(archive.read(target))
            elif "omment" in kind and (listed := part_of(archive, target)) is not None:
                comments += (*_notes(listed), *_threads(listed, people))
        if drawn or comments:
            found[name] = drawn + comments
    return found


def _drawn(archive: zipfile.ZipFile, part: str) -> Iterator[str]:
    """Yield the paragraphs of text boxes, and the titles of charts and the words of diagrams."""
    drawing = part_of(archive, part)
    if drawing is not None:
        yield from (line.text for line in lines_of(without_fallbacks(drawing)))
    for target, kind in relations(archive, part).values():
        found = part_of(archive, target) if kind in _DRAWN else None
        if found is None:
            continue
        if kind == _DIAGRAM:
            yield from (line.text for line in lines_of(found))
        elif title := chart_of(found).title:
            yield title


def _notes(comments: Element) -> Iterator[str]:
    """Yield the notes at cells, which is what Excel calls its older kind of comments."""
    authors = [author.text or "" for author in comments.iter(f"{S}author")]
    for note in comments.iter(f"{S}comment"):
        number = note.get("authorId", "")
        listed = number.isdigit() and int(number) < len(authors)
        author = authors[int(number)] if listed else ""
        text = "".join(part.text or "" for part in note.iter(f"{S}t"))
        if not text.startswith(_COPY):
            # Excel begins a new note with the name of who writes it.
            text = text.removeprefix(f"{author}:")
            yield comment_line(author, text, place=note.get("ref", ""))


def _threads(comments: Element, people: dict[str, str]) -> Iterator[str]:
    for comment in comments.iter(f"{_THREADED}threadedComment"):
        author = people.get(comment.get("personId", ""), "")
        text = comment.findtext(f"{_THREADED}text") or ""
        yield comment_line(author, text, place=comment.get("ref", ""))
