"""Mind maps of FreeMind, Freeplane and XMind, read as outlines around their middle."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from html import unescape
from typing import TYPE_CHECKING, Any

from ragkit.reading.code import read_code
from ragkit.reading.decode import clean
from ragkit.reading.formats import Format
from ragkit.reading.limits import damaged
from ragkit.reading.opml import entry
from ragkit.reading.reading_parts import objects, one_line, stem, tidy, whole_line
from ragkit.reading.zip_container import open_archive, parsed, unpacking
from ragkit.types import Markup, Reading

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from xml.etree.ElementTree import Element

    from ragkit.reading.limits import Limits

_XMIND = "{urn:xmind:xmap:xmlns:content:2.0}"
_LINK = "{http://www.w3.org/1999/xlink}href"
_NODE = "NODE"
_MAP = re.compile(r"\s*(?:<\?xml[^<>]*\?>\s*)?(?:<!--(?:(?!-->).)*-->\s*)*<map\s", re.DOTALL)
_PAGE = re.compile(r"\s*<html\b", re.IGNORECASE)
_BREAK = re.compile(r"</?(?:p|br|div|li|tr|td|h\d)\b[^<>]*>", re.IGNORECASE)
_TAG = re.compile(r"<[^<>]*>")
_PARAGRAPHS = ("p", "li", "h1", "h2", "h3", "td", "pre")
_ADDRESSES = ("http://", "https://", "mailto:")
"""Others are places of the map, or of the machine on which it was drawn."""


@dataclass(frozen=True, slots=True)
class _Topic:
    """A topic, where it leads, what is noted at it, and the topics around it as they are stored."""

    text: str
    address: str = ""
    notes: list[str] = field(default_factory=list)
    around: Sequence[Any] = ()


def read_freemind(text: str, name: str, file_format: Format = Format.MIND_MAP) -> Reading:
    """Read a map of FreeMind or Freeplane; another file of that name is code.

    Raises:
        ReadingError: damaged.
    """
    if not _MAP.match(text):
        return read_code(text, name)
    root = parsed(text.encode(), file_format.label)
    return _reading(root.findall("node"), _of_freemind, name, file_format)


def read_xmind(data: bytes, name: str, limits: Limits) -> Reading:
    """Read the sheets of a map of XMind, with the topics that float beside their middle.

    Raises:
        ReadingError: damaged, locked, or a decompression bomb.
    """
    label = Format.XMIND.label
    with unpacking(damaged(label)):
        archive = open_archive(data, limits, label)
        is_new = "content.json" in archive.namelist()
        stored = archive.read("content.json" if is_new else "content.xml")
    if not is_new:
        sheets = parsed(stored, label).findall(f"{_XMIND}sheet/{_XMIND}topic")
        return _reading(sheets, _of_xmind_8, name, Format.XMIND)
    with unpacking(damaged(label)):
        listed = json.loads(stored)
    middles = [sheet["rootTopic"] for sheet in objects(listed) if "rootTopic" in sheet]
    return _reading(objects(middles), _of_xmind, name, Format.XMIND)


def _reading(
    middles: Sequence[Any], view: Callable[[Any], _Topic], name: str, file_format: Format
) -> Reading:
    """Return the reading of maps, from what is stored of their middles and how that is seen."""
    lines: list[str] = []
    for middle in middles:
        # Beside topics that have others below them, one without is a section as well.
        flat = not any(view(other).around for other in view(middle).around)
        for depth, topic in _topics(middle, view):
            text, notes = topic.text, topic.notes
            if not text and notes:
                text, *notes = notes
            if depth:
                lines += entry(text, topic.address, notes, depth - 1, leaf=flat)
            else:
                lines += [f"\n# {text}\n" if text else "\n", *notes, ""]
    return Reading(
        text=tidy("\n".join(lines)),
        title=next((one_line(text) for m in middles if (text := view(m).text)), "") or stem(name),
        format=file_format,
        markup=Markup.MARKDOWN,
    )


def _topics(middle: Any, view: Callable[[Any], _Topic]) -> Iterator[tuple[int, _Topic]]:
    """Yield the topics of a map as they are read, and how far each is from the middle."""
    left = [(0, middle)]
    while left:
        depth, stored = left.pop()
        topic = view(stored)
        yield depth, topic
        left += [(depth + 1, other) for other in reversed(topic.around)]


def _of_freemind(node: Element) -> _Topic:
    """Return a topic, whose text may be written as a web page, with its details and notes."""
    text, notes = _bare(node.get("TEXT", "")), []
    for content in node.findall("richcontent"):
        written = list(_paragraphs(content))
        if content.get("TYPE", _NODE) == _NODE:
            text = text or " ".join(written)
        else:
            notes += written
    for said in node.findall("attribute"):
        notes.append(_line(f"{said.get('NAME', '')}: {said.get('VALUE', '')}"))
    return _Topic(_line(text), _address(node.get("LINK", "")), notes, node.findall("node"))


def _paragraphs(content: Element) -> Iterator[str]:
    """Yield the paragraphs of a web page, or its text if it has none."""
    inner = [each for each in content.iter() if each.tag in _PARAGRAPHS] or [content]
    for paragraph in inner:
        within = (other for other in paragraph.iter() if other is not paragraph)
        line = _line("".join(paragraph.itertext()))
        if line and not any(other.tag in _PARAGRAPHS for other in within):
            yield line


def _bare(text: str) -> str:
    """Return the text of a topic that is written as a web page; others as they are."""
    if not _PAGE.match(text):
        return text
    return unescape(_TAG.sub("", _BREAK.sub(" ", text)))


def _of_xmind(topic: dict[str, Any]) -> _Topic:
    kinds = topic.get("children")
    around = [
        other
        for kind in ("attached", "detached", "summary")
        for other in objects(kinds.get(kind) if isinstance(kinds, dict) else None)
    ]
    notes, labels = topic.get("notes"), topic.get("labels")
    plain = notes.get("plain") if isinstance(notes, dict) else None
    noted = plain.get("content") if isinstance(plain, dict) else ""
    lines = [line for each in str(noted or "").split("\n") if (line := _line(each))]
    if isinstance(labels, list) and (named := _line(", ".join(map(str, labels)))):
        lines.append(named)
    return _Topic(
        _line(str(topic.get("title") or "")), _address(str(topic.get("href") or "")), lines, around
    )


def _of_xmind_8(topic: Element) -> _Topic:
    noted = topic.findtext(f"{_XMIND}notes/{_XMIND}plain", "")
    labels = (label.text or "" for label in topic.iterfind(f"{_XMIND}labels/{_XMIND}label"))
    lines = [line for each in (*noted.split("\n"), ", ".join(labels)) if (line := _line(each))]
    return _Topic(
        _line(topic.findtext(f"{_XMIND}title", "")),
        _address(topic.get(_LINK, "")),
        lines,
        topic.findall(f"{_XMIND}children/{_XMIND}topics/{_XMIND}topic"),
    )


def _line(text: str) -> str:
    return whole_line(clean(text))


def _address(address: str) -> str:
    return address if address.startswith(_ADDRESSES) else ""
