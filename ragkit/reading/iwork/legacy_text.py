"""Texts and drawings of iWork '05 to '09 as blocks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragkit.reading.blocks import inline_of_xml, paragraph
from ragkit.reading.iwork.legacy import by_identity, value
from ragkit.reading.iwork.legacy_tables import LegacyTables
from ragkit.reading.iwork.styles import level_of_name
from ragkit.reading.iwork.text import ADDRESS, LONG_SAMPLE
from ragkit.reading.numerals import written
from ragkit.reading.reading_parts import joined, whole_line, whole_number
from ragkit.reading.xml_names import below, child, children, local_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from xml.etree.ElementTree import Element

    from ragkit.reading.blocks import Block

_UNSEEN = ("stylesheet", "styles", "attachments", "footnotes", "masters-group", "prototypes",
           "section-prototypes", "geometry", "style", "comment-field")  # fmt: skip
_BREAKS = ("lnbr", "crbr", "intratopicbr")
_GHOSTS = ("ghost-text", "ghost-text-ref")
_ATTACHED = ("attachment-ref", "attachment")
_TABLES = ("tabular-model", "table-model")
_MOST_PARENTS = 20
_KINDS = {"upper-roman": "upperRoman", "lower-roman": "lowerRoman", "upper-alpha": "upperLetter",
          "lower-alpha": "lowerLetter"}  # fmt: skip


class LegacyTexts:
    """Writes the texts of a document; ``notes`` are those to which they refer."""

    def __init__(self, root: Element, level_of_tables: int = 0) -> None:
        self.notes: list[str] = []
        self._identities = by_identity(root)
        self._styles = dict(self._identities)
        for style in below(root, "paragraphstyle", "liststyle"):
            if identity := value(style, "ident"):
                self._styles[identity] = style
        self._tables = LegacyTables(self._identities, self.line)
        self._level = level_of_tables
        self._counted: dict[int, int] = {}
        self._depth = 0

    def drawn(self, element: Element) -> Iterator[Block]:
        """Yield the texts and tables in an element, in order."""
        for each in element:
            name = local_name(each)
            if name == "text-storage":
                yield from self.storage(each)
            elif name in _TABLES:
                yield from self._tables.table(each).blocks(self._level)
            elif name not in _UNSEEN:
                yield from self.drawn(each)

    def line(self, element: Element) -> str:
        """Return the texts in an element on one line."""
        return joined((whole_line(block.whole) for block in self.drawn(element)), " ")

    def storage(self, storage: Element) -> Iterator[Block]:
        """Yield the paragraphs of a text, each followed by what is attached to it."""
        known = len(self.notes)
        blocks = [
            block
            for each in below(child(storage, "text-body"), "p")
            for block in self._paragraph(each)
        ]
        found = [
            text for each in below(child(storage, "footnotes"), "p") for text in [self._of(each)]
        ]
        for place, text in enumerate(found[: len(self.notes) - known], known):
            self.notes[place] = text
        yield from blocks

    def _of(self, element: Element) -> str:
        return whole_line("".join(self._words(element, [])))

    def _paragraph(self, element: Element) -> Iterator[Block]:
        beside: list[Element] = []
        text = "".join(self._words(element, beside))
        style = value(element, "style")
        level = self._heading(style)
        if level or len(text) < LONG_SAMPLE or not _is_sample(element):
            depth = whole_number(value(element, "list-level"))
            label = self._label(style, depth)
            if label is None:
                self._counted = {} if text.strip() else self._counted
                yield paragraph(text, level=level)
            else:
                number = self._number(label, depth or 1, element) if text.strip() else ""
                yield paragraph(text, level=level, depth=depth or 1, number=number)
        # What a drawing holds may hold drawings in turn.
        for each in beside if self._depth < _MOST_PARENTS else ():
            self._depth += 1
            yield from self.drawn(each)
            self._depth -= 1

    def _number(self, label: Element, depth: int, element: Element) -> str:
        """Count an item; return its number, or nothing for a bullet."""
        kind, form = value(label, "type"), value(label, "format")
        if kind in ("", "bullet") or "%L" not in form:
            return ""
        begins = value(element, "restart-list") == "true"
        first = whole_number(value(label, "first"), 1)
        count = first if begins or depth not in self._counted else self._counted[depth] + 1
        self._counted = {at: each for at, each in self._counted.items() if at < depth}
        before = "".join(f"{self._counted[at]}." for at in sorted(self._counted))
        self._counted[depth] = count
        return form.replace("%P", before).replace("%L", written(count, _KINDS.get(kind, "decimal")))

    def _label(self, style: str, depth: int) -> Element | None:
        """Return how items of a style are marked, ``None`` if they are not."""
        for each in self._chain(style):
            listed = child(each, "property-map", "listStyle")
            reference = next(iter(() if listed is None else listed), None)
            if reference is None or local_name(reference) == "null":
                continue
            identity = value(reference, "IDREF")
            kinds = self._styles.get(identity, reference)
            labels = [*below(child(kinds, "property-map", "listLabelTypes"), *_LABELS)]
            label = labels[max(depth, 1) - 1] if 0 < len(labels) >= depth else None
            if label is not None and local_name(label).endswith("-ref"):
                label = self._identities.get(value(label, "IDREF"))
            if label is None:
                return None
            if value(label, "type") in ("none", ""):
                return None
            text = next(below(label, "text-label", "text-label-ref"), label)
            return self._identities.get(value(text, "IDREF"), text)
        return None

    def _heading(self, style: str) -> int:
        """Return the level of the headings of a style, 0 for other text."""
        for each in self._chain(style):
            for name in (value(each, "name"), value(each, "ident")):
                if level := level_of_name(name):
                    return level
        return 0

    def _chain(self, style: str) -> Iterator[Element]:
        """Yield a style and those from which it takes what it does not say itself."""
        for _ in range(_MOST_PARENTS):
            found = self._styles.get(style)
            if found is None:
                return
            yield found
            style = value(found, "parent-ident")

    def _words(self, element: Element, beside: list[Element]) -> Iterator[str]:
        """Yield the pieces of a paragraph as Markdown; drawings are put ``beside`` it."""
        yield inline_of_xml(element.text)
        for each in element:
            name = local_name(each)
            if name == "tab":
                yield " "
            elif name in _BREAKS:
                yield "\n"
            elif name in _ATTACHED:
                beside.append(self._identities.get(value(each, "IDREF"), each))
            elif name == "footnote":
                self.notes.append("")
                yield f"[^{len(self.notes)}]"
            elif name not in _OMITTED:
                yield self._inside(each, name, beside)
            yield inline_of_xml(each.tail)

    def _inside(self, element: Element, name: str, beside: list[Element]) -> str:
        """Return the words of a part of a paragraph: of a link to the web with its target."""
        words = "".join(self._words(element, beside))
        target = value(element, "href") if name == "link" else ""
        if ADDRESS.fullmatch(target) and words.strip() and words not in target:
            return f"[{words}]({target})"
        return words


_LABELS = ("list-label-typeinfo", "list-label-typeinfo-ref")
_OMITTED = ("page-number", "page-count", "footnote-mark", "footnotebr")


def _is_sample(element: Element) -> bool:
    """Return whether a paragraph is what a template has where a person is to write."""
    own = "".join((element.text or "", *(each.tail or "" for each in element)))
    others = [each for each in element if local_name(each) not in (*_GHOSTS, "br")]
    return not own.strip() and not others


def storages(elements: Iterable[Element]) -> Iterator[Element]:
    """Yield the texts that are directly in elements."""
    for element in elements:
        yield from children(element, "text-storage")
