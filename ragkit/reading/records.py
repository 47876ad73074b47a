"""Records: lists of objects of one kind, such as products or events, each in a line of words.

JSON and YAML write each value of a record below the other, far from the name that it belongs to.
Here "name: Blue lamp · price: 12.5 · maker.city: Bonn" stands together; of records with long texts
each is a section, named after its record.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass, field
from functools import cache
from itertools import chain
from typing import TYPE_CHECKING, Any, TypeAlias

from ragkit.reading.decode import clean
from ragkit.reading.formats import Format
from ragkit.reading.reading_parts import file_name, one_line, plain_key, tidy, whole_line
from ragkit.types import Markup, OutlineEntry, Reading

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

Record: TypeAlias = tuple[str, Any]
"""What an object is called where it is the value of a key, and the object."""

_LONGEST_LINE, _LONGEST_VALUE, _SHORTEST_PROSE = 240, 120, 40
_DEEPEST, _DEEPEST_LIST, _DEEPEST_OBJECT = 24, 3, 2
_FEWEST_KEYED = 3
_MOST_GROWTH = 4
_MOST_VALUES = 500_000
"""More take too long; colons are counted, which are cheap to count."""

_MOST_BROKEN = 0.1
_SENTENCE_END = re.compile(r"[.!?…]\s|[。！？]")
_NAMES = ("name", "title", "label", "displayname", "fullname", "headline", "subject", "question")
_KEYS = ("id", "key", "slug", "code")
_LONGEST_YAML = 2_000_000
_NO_PLAIN_YAML = re.compile(r"(?:^|\s)#|(?:^|[\s\[{,])[&*!][\w!-]|^(?:---|\.\.\.|%)", re.M)
"""Comments, which would be lost, references, which may grow without end, and several documents."""


def read_records(text: str, name: str, file_format: Format) -> Reading | None:
    """Read JSON, JSON lines or YAML whose records are most of it; ``None`` for any other."""
    if text.count(":") > _MOST_VALUES:
        return None
    try:
        drawn = _draw(text, file_format)
    except (ValueError, RecursionError):
        return None
    if drawn is None:
        return None
    return Reading(
        text=drawn.text,
        title=file_name(name),
        format=Format.RECORDS,
        markup=Markup.PLAIN,
        outline=tuple(drawn.outline),
        metadata={"language": file_format},
    )


def _draw(text: str, file_format: Format) -> _Page | None:
    """Return the records of a text as they are read; ``None`` if there are none, or too few."""
    page = _Page(room=_MOST_GROWTH * len(text))
    if file_format is Format.YAML:
        value = _yaml(text)
        return page if page.draw(value, deepest=1, keyed=False) else None
    try:
        value = None if file_format is Format.JSONL else _json(text)
    except json.JSONDecodeError:  # lines of JSON may be called a JSON file
        value = None
    if value is not None:
        return page if page.draw(value, deepest=_DEEPEST_LIST, keyed=True) else None
    rows = [_row(line) for line in text.split("\n") if line.strip()]
    objects = sum(isinstance(row, dict) for row in rows)
    if objects < 2 or len(rows) - objects > _MOST_BROKEN * len(rows):
        return None
    page.records([("", row) for row in rows], level=1)
    return page


@dataclass(slots=True)
class _Page:
    """The text that is drawn, piece by piece, and its outline; ``room`` is left for more text."""

    room: int
    pieces: list[str] = field(default_factory=list)
    outline: list[OutlineEntry] = field(default_factory=list)
    length: int = 0

    @property
    def text(self) -> str:
        return "\n\n".join(self.pieces)

    def draw(self, value: Any, *, deepest: int, keyed: bool) -> bool:
        """Draw a value, its records last; return whether those are at least half of its text."""
        parts = list(_parts(value, "", deepest, keyed=keyed))
        beside = (_fields(part, path, 0) for path, part, are_records in parts if not are_records)
        self._add(self._lines("", chain.from_iterable(beside)))
        before = self.length
        for path, part, are_records in parts:
            if are_records and path:
                self._add([whole_line(path)], 1, path)
            if are_records:
                self.records(_listed(part), level=2 if path else 1)
        return self.length >= 2 * before and self.length > 0

    def records(self, records: Sequence[Record], level: int) -> None:
        """Draw records: a line each, or if they are long a section each."""
        drawn = [self._lines(key, _fields(value, "", 0)) for key, value in records]
        long = any(len(lines) > 1 for lines in drawn)
        for number, (lines, (key, value)) in enumerate(zip(drawn, records, strict=True), 1):
            self._add(lines, level, (key or _name(value) or f"Record {number}") if long else "")

    def _add(self, lines: Sequence[str], level: int = 0, title: str = "") -> None:
        """Add a paragraph, which is a section if it has a title."""
        piece = clean("\n".join(lines))
        if not piece:
            return
        start = self.length + (2 if self.pieces else 0)
        if title:
            self.outline.append(OutlineEntry(start, level, one_line(clean(title))))
        self.pieces.append(piece)
        self.length = start + len(piece)

    def _lines(self, key: str, fields: Iterable[tuple[str | None, str]]) -> list[str]:
        """Return the lines of a record: its short values together, each long one by itself.

        Raises:
            ValueError: there is no room for so much text.
        """
        lines: list[str] = []
        together = [key] if key else []

        def end_line() -> None:
            if together:
                lines.append(whole_line(" · ".join(together)))
                together.clear()

        for path, words in fields:
            if path is None:
                end_line()
                continue
            self.room -= len(path) + len(words)
            if self.room < 0:
                raise ValueError
            piece = f"{path}: {words}" if path else words
            prose = _is_prose(words)
            if prose or sum(map(len, together)) + len(piece) > _LONGEST_LINE:
                end_line()
            if prose:
                lines.append(tidy(f"{whole_line(path)}: {words}" if path else words))
            else:
                together.append(piece)
        end_line()
        return lines


def _parts(value: Any, path: str, deepest: int, *, keyed: bool) -> Iterator[tuple[str, Any, bool]]:
    """Yield what a value holds, with its path: lists of records as a whole, and what is beside."""
    if _are_records(value, keyed=keyed):
        yield path, value, True
    elif isinstance(value, dict) and value and deepest and "$schema" not in value:
        for key, inner in value.items():
            yield from _parts(inner, _joined(path, key), deepest - 1, keyed=keyed)
    else:
        yield path, value, False


def _are_records(value: Any, *, keyed: bool) -> bool:
    """Return whether a value is a list of objects of one kind, or has such under its keys.

    Most of the keys that they have are those of others, too. Objects under keys have several, and
    hold few others: what is deeper is a tree, such as the description of an API.
    """
    if isinstance(value, dict):
        flat = keyed and len(value) >= _FEWEST_KEYED
        objects = list(value.values()) if flat else []
    else:
        objects = value if isinstance(value, list) else []
    if len(objects) < 2 or not all(isinstance(entry, dict) and entry for entry in objects):
        return False
    if isinstance(value, dict) and any(_is_deeper(entry, _DEEPEST_OBJECT) for entry in objects):
        return False
    counts = Counter(key for entry in objects for key in entry)
    if isinstance(value, dict) and counts.total() < 2 * len(objects):
        return False
    shared = sum(count for count in counts.values() if count >= max(2, len(objects) / 4))
    return 2 * shared >= counts.total()


def _is_deeper(value: Any, depth: int) -> bool:
    """Return whether objects are nested deeper than that."""
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    depth -= isinstance(value, dict)
    return depth < 0 or any(_is_deeper(entry, depth) for entry in inner)


def _listed(value: Any) -> list[Record]:
    return list(value.items()) if isinstance(value, dict) else [("", entry) for entry in value]


def _is_prose(words: str) -> bool:
    """Return whether a value is too long for a line with others, or has sentences."""
    if "\n" in words.strip() or len(words) > _LONGEST_VALUE:
        return True
    return len(words) > _SHORTEST_PROSE and _SENTENCE_END.search(words) is not None


def _fields(value: Any, path: str, depth: int) -> Iterator[tuple[str | None, str]]:
    """Yield the values inside of a value, with their paths; no path where a line ends.

    Raises:
        RecursionError: it is nested too deeply.
    """
    if depth > _DEEPEST:
        raise RecursionError
    if isinstance(value, dict) and value:
        for key, inner in value.items():
            yield from _fields(inner, _joined(path, key), depth + 1)
    elif isinstance(value, list) and any(isinstance(entry, dict) for entry in value):
        for entry in value:
            if isinstance(entry, dict) and len(value) > 1:
                yield None, ""
            yield from _fields(entry, path, depth + 1)
    else:
        yield path, _words(value)


def _joined(path: str, key: str) -> str:
    """Return the path of what is under a key; in trees, what repeats itself stands once."""
    if not path or path == key or path.endswith(f".{key}"):
        return path or key
    return f"{path}.{key}" if key.isidentifier() else f"{path} {key}"


def _words(value: Any) -> str:
    """Return a value as it is written; an object within lists of lists as JSON."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        words = [_words(entry) for entry in value]
        nested = any(isinstance(entry, list) for entry in value)
        return ("\n" if any(map(_is_prose, words)) else "; " if nested else ", ").join(words)
    return "" if value == {} else json.dumps(value, ensure_ascii=False)


def _name(record: Any) -> str:
    """Return what a record is called, by itself or by an object in it; empty if by nothing."""
    inside = record.values() if isinstance(record, dict) else ()
    for names in (_NAMES, _KEYS):
        for entry in (record, *inside):
            if not isinstance(entry, dict):
                continue
            plain = {plain_key(key): value for key, value in entry.items()}
            for name in names:
                if isinstance(value := plain.get(name), str) and 0 < len(value) <= _LONGEST_VALUE:
                    return value
    return ""


def _json(text: str) -> Any:
    """Return a JSON value whose numbers are texts, as they are written.

    Raises:
        ValueError: it is none, or has a key twice, of which one would be lost.
    """
    as_written: dict[str, Callable[[str], Any]] = {
        "parse_int": str, "parse_float": str, "parse_constant": str,
    }  # fmt: skip
    return json.loads(text, object_pairs_hook=_once, **as_written)  # type: ignore[arg-type]


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        raise _TwiceError
    return value


class _TwiceError(ValueError):
    """A key is in an object twice."""


def _row(line: str) -> Any:
    """Return the value of a line; one that is no JSON, or none that can be kept, as it is."""
    try:
        return _json(line)
    except ValueError:
        return line


def _yaml(text: str) -> Any:
    """Return the value of plain YAML, all of it texts; ``None`` for any other.

    Raises:
        ValueError: it has a key twice, of which one would be lost.
    """
    import yaml

    if len(text) > _LONGEST_YAML or _NO_PLAIN_YAML.search(text):
        return None
    try:
        return yaml.load(text, Loader=_yaml_loader())  # noqa: S506
    except yaml.YAMLError:
        return None


@cache
def _yaml_loader() -> Any:
    """Return the class that reads plain YAML, and refuses a key that is there twice."""
    import yaml

    class Loader(getattr(yaml, "CBaseLoader", yaml.BaseLoader)):  # type: ignore[misc]
        def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
            value: dict[Any, Any] = super().construct_mapping(node, deep)
            if len(value) < len(node.value):
                raise _TwiceError
            return value

    return Loader
