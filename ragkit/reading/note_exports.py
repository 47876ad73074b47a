"""Notes that programs export: Google Keep, Roam Research, and canvases of Obsidian."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from ragkit.errors import SkippedError
from ragkit.reading.conversations.messages import moment
from ragkit.reading.dates import iso_date
from ragkit.reading.decode import clean
from ragkit.reading.formats import Format
from ragkit.reading.reading_parts import (
    box,
    joined,
    nonempty,
    objects,
    one_line,
    stem,
    tidy,
    whole_line,
    without_tags,
    words,
)
from ragkit.types import Markup, Reading

_HINT = re.compile(r"\"(?:userEditedTimestampUsec|string|nodes)\"\s*:")
_HINT_CHARACTERS = 20_000
_DEEPEST, _LONGEST_TITLE = 40, 80
_REFERENCE = re.compile(r"\(\(([\w-]{6,40})\)\)")
_TASK = re.compile(r"\{\{(?:\[\[)?(TODO|DONE)(?:\]\])?\}\}")


def read_note_export(text: str, name: str) -> Reading | None:
    """Read JSON as an export of notes, or return ``None`` if it is none.

    Raises:
        SkippedError: it is a note that was thrown away.
    """
    if not _HINT.search(text, 0, _HINT_CHARACTERS):
        return None
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return _keep_note(value, name) or _canvas(value, name) or _roam_pages(value, name)


def _reading(text: str, name: str, title: str = "", markup: Markup = Markup.MARKDOWN) -> Reading:
    return Reading(
        text=tidy(clean(text)),
        title=one_line(clean(title)) or stem(name),
        format=Format.NOTES,
        markup=markup,
    )


# -- Google Keep: a file for each note -------------------------------------------------------


def _keep_note(value: Any, name: str) -> Reading | None:
    if not isinstance(value, dict) or "userEditedTimestampUsec" not in value:
        return None
    if value.get("isTrashed") is True:
        raise _trashed()
    items = (
        f"{box(done=item.get('isChecked') is True)} {whole_line(words(item, 'text'))}"
        for item in objects(value.get("listContent"))
    )
    links = (
        joined(whole_line(words(link, key)) for key in ("title", "description", "url"))
        for link in objects(value.get("annotations"))
    )
    title = words(value, "title").strip()
    text = joined((words(value, "textContent"), joined(items), *links), "\n\n")
    return replace(
        _note(text, name, title),
        metadata=nonempty(
            date=_day(value.get("createdTimestampUsec")),
            updated=_day(value.get("userEditedTimestampUsec")),
            tags=[whole_line(words(label, "name")) for label in objects(value.get("labels"))],
        ),
    )


_TITLE = re.compile(r"<div class=\"title\">(.*?)</div>", re.S)
_CONTENT = re.compile(r"<div class=\"content\">(.*?)</div>", re.S)
_ITEM = re.compile(r"<li class=\"listitem( checked)?\">.*?<span class=\"text\">(.*?)</span>", re.S)
_CHIP = re.compile(r"<a class=\"annotation-link\" href=\"([^\"]*)\">(.*?)</a>", re.S)
_LABEL = re.compile(r"<span class=\"label-name\">(.*?)</span>", re.S)
_EDITED = re.compile(r"<div class=\"heading\">.{0,500}?</div>\s*([^<>]{1,60}?)\s*</div>", re.S)
_BREAK = re.compile(r"<br\s*/?>")


def read_keep_page(text: str, name: str, file_format: Format = Format.KEEP_PAGE) -> Reading:
    """Read a note of Google Keep from its web page, as from the JSON that is beside it.

    Raises:
        SkippedError: it was thrown away.
    """
    if '<span class="trashed"' in text:
        raise _trashed()
    title, content, edited = (found and found[1] for found in (
        _TITLE.search(text), _CONTENT.search(text), _EDITED.search(text)))  # fmt: skip
    items = [
        f"{box(done=bool(checked))} {whole_line(without_tags(item))}"
        for checked, item in _ITEM.findall(text)
    ]
    links = (joined((whole_line(without_tags(shown)), url)) for url, shown in _CHIP.findall(text))
    body = joined(items) or without_tags(_BREAK.sub("\n", content or ""))
    return replace(
        _note(joined((body, *links), "\n\n"), name, without_tags(title or "").strip()),
        format=file_format,
        metadata=nonempty(
            date=iso_date(edited or ""),
            tags=[whole_line(without_tags(label)) for label in _LABEL.findall(text)],
        ),
    )


def _trashed() -> SkippedError:
    return SkippedError("This note is in the trash of Google Keep.", "Restore it there.")


def _note(text: str, name: str, title: str) -> Reading:
    """Return a note, which is called as it begins if it has no title."""
    beginning = text.strip().partition("\n")[0].removeprefix("[ ] ")
    title = title or beginning[:_LONGEST_TITLE]
    return _reading(text if text.strip() else title, name, title, Markup.PLAIN)


def _day(microseconds: Any) -> str:
    """Return the time of a number of microseconds since 1970 in ISO form, or ``""``."""
    at = moment(microseconds)
    return at.isoformat(timespec="seconds") if at else ""


# -- canvases of Obsidian: cards with places, and arrows between them ------------------------


def _canvas(value: Any, name: str) -> Reading | None:
    cards = objects(value.get("nodes")) if isinstance(value, dict) else []
    kinds = {"text": "text", "file": "file", "link": "url", "group": "label"}
    if not cards or not all(
        card.get("type") in kinds and isinstance(card.get("x"), (int, float)) for card in cards
    ):
        return None
    shown = {
        str(card.get("id")): words(card, kinds[str(card["type"])]).strip()
        for card in sorted(cards, key=lambda card: (_height(card), card["x"]))
    }
    arrows = (_arrow(edge, shown) for edge in objects(value.get("edges")))
    return _reading(joined((*shown.values(), joined(arrows)), "\n\n"), name)


def _height(card: Mapping[str, Any]) -> float:
    return float(card["y"]) if isinstance(card.get("y"), (int, float)) else 0.0


def _arrow(edge: Mapping[str, Any], shown: Mapping[str, str]) -> str:
    """Return what is written on an arrow, between the first lines of the cards that it joins."""
    label = whole_line(words(edge, "label"))
    if not label:
        return ""
    start, end = (
        shown.get(words(edge, key), "").partition("\n")[0].lstrip("# ")
        for key in ("fromNode", "toNode")
    )
    return f"- {joined((start, label, end), ' → ')}"


# -- Roam Research: pages of nested blocks ---------------------------------------------------


def _roam_pages(value: Any, name: str) -> Reading | None:
    pages = [page for page in objects(value) if isinstance(page.get("title"), str)]
    blocks = [block for page in pages for block in _blocks(page, 0)]
    if not any("uid" in block for _, block in blocks) or len(pages) < len(value):
        return None
    texts = {words(block, "uid"): words(block, "string") for _, block in blocks}
    sections = []
    for page in pages:
        lines = [_bullet(depth, block, texts) for depth, block in _blocks(page, 0)]
        sections.append(f"# {whole_line(page['title'])}\n\n" + "\n".join(lines))
    return _reading("\n\n".join(sections), name, pages[0]["title"] if len(pages) == 1 else "")


def _blocks(block: Mapping[str, Any], depth: int) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the blocks inside of a page or block with their depths, in order."""
    for child in objects(block.get("children")) if depth < _DEEPEST else []:
        yield depth, child
        yield from _blocks(child, depth + 1)


def _bullet(depth: int, block: Mapping[str, Any], texts: Mapping[str, str]) -> str:
    """Return a block as an item of a list, with the texts of those that it refers to."""
    text = _REFERENCE.sub(lambda found: texts.get(found[1], found[0]), words(block, "string"))
    text = _TASK.sub(lambda task: box(done=task[1] == "DONE"), text)
    indent = "  " * depth
    return f"{indent}- " + text.replace("\n", f"\n{indent}  ")
