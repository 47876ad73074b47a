"""Bibliographies (BibTeX, BibLaTeX): each entry a section that reads like a reference."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ragkit import months
from ragkit.reading.code import read_code
from ragkit.reading.formats import Format
from ragkit.reading.latex.blocks import SEPARATORS, inline
from ragkit.reading.latex.rewriter import Rewriter
from ragkit.reading.latex.source import Places
from ragkit.reading.latex.special import SPECIAL
from ragkit.reading.reading_parts import joined, stem, tidy
from ragkit.types import Markup, Reading

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_ENTRY = re.compile(r"@[ \t]*([A-Za-z]{1,40})\s*(?=[{(])")
_FIELD = re.compile(r"\s*,?\s*([A-Za-z][\w:.+-]{0,60})\s*=\s*")
_PLAIN = re.compile(r"[^\s,#{}\"]{1,200}")
_NEXT = re.compile(r"\s*#\s*")
_AND = re.compile(r"\s+and\s+")
_OTHERS = re.compile(r"; others$")
_LONGEST = 200_000
_REMARK = re.compile(r"^\s*(?:@comment\b|%)+", re.IGNORECASE)
_WORD = re.compile(r"\w{2}")
_WHERE = ("journal", "journaltitle", "booktitle", "publisher", "school", "institution",
          "organization", "howpublished")  # fmt: skip
_WHEN = ("year", "date")
_ADDRESSES = frozenset(("url", "doi", "eprint", "file"))


def read_bibtex(text: str, name: str, file_format: Format = Format.BIBTEX) -> Reading:
    """Read a bibliography; one without entries is code."""
    if _ENTRY.search(text) is None:
        return read_code(text, name)
    return Reading(
        text=tidy(joined(_sections(SEPARATORS.sub(" ", text)), "\n\n")),
        title=stem(name),
        format=file_format,
        markup=Markup.MARKDOWN,
    )


def _sections(text: str) -> Iterator[str]:
    """Yield each entry as a section, and what stands between them as it is, if anything."""
    words = {month[:3].lower(): month for month in months.ENGLISH}
    places = Places(text)
    at = 0
    while (found := _ENTRY.search(text, at)) is not None:
        yield _remark(text[at : found.start()])
        kind = found[1].lower()
        end = places.group_end(found.end(), _LONGEST)
        if end < 0:
            end = _next_entry(text, found.end())
        inside = text[found.end() + 1 : max(end - 1, found.end() + 1)]
        at = max(end, found.end() + 1)
        if kind == "comment":
            yield _remark(inside)
        elif kind == "string":
            words.update(_fields(inside, words))
        elif kind != "preamble":
            key, _, rest = inside.partition(",")
            yield _section(kind, key.strip(), dict(_fields(rest, words)))
    yield _remark(text[at:])


def _next_entry(text: str, at: int) -> int:
    """Return where an entry that does not end gives way to the next one."""
    following = text.find("\n@", at)
    return len(text) if following < 0 else following


def _remark(text: str) -> str:
    """Return what stands between entries; signs alone are not shown."""
    lines = (_REMARK.sub("", line).strip() for line in text.split("\n"))
    return tidy("\n".join(lines)) if _WORD.search(text) else ""


def _fields(text: str, words: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield the names, in small letters, and the values of the fields of an entry."""
    places = Places(text)
    at = 0
    while (found := _FIELD.search(text, at)) is not None:
        at = found.end()
        parts = []
        while True:
            part, at = _part(text, places, at, words)
            parts.append(part)
            following = _NEXT.match(text, at)
            if following is None:
                break
            at = following.end()
        yield found[1].lower(), "".join(parts)


def _part(text: str, places: Places, at: int, words: Mapping[str, str]) -> tuple[str, int]:
    """Return one part of a value, in braces, in quotes or a word, and where it ends."""
    if text.startswith("{", at):
        end = places.group_end(at, _LONGEST)
        return (text[at + 1 : end - 1], end) if end > 0 else (text[at + 1 :], len(text))
    if text.startswith('"', at):
        end = at + 1
        while end < len(text) and text[end] != '"':
            group = places.group_end(end, _LONGEST) if text[end] == "{" else -1
            end = group if group > 0 else end + 1
        return text[at + 1 : end], min(end + 1, len(text))
    word = _PLAIN.match(text, at)
    return (words.get(word[0].lower(), word[0]), word.end()) if word else ("", at)


def _section(kind: str, key: str, fields: dict[str, str]) -> str:
    shown = {name: text for name, value in fields.items() if (text := _shown(name, value))}
    title = joined((shown.pop("title", ""), shown.pop("subtitle", "")), ": ")
    people = shown.pop("author", "") or shown.pop("editor", "")
    where = next((shown.pop(name) for name in _WHERE if name in shown), "")
    when = next((shown.pop(name) for name in _WHEN if name in shown), "")
    abstract = shown.pop("abstract", "")
    rest = [f"- {name}: {value}" for name, value in shown.items()]
    return joined(
        (
            f"## {title or key}",
            joined((people, where, when), " · "),
            abstract,
            joined((f"- {kind}: {key}" if key else "", *rest)),
        ),
        "\n\n",
    )


def _shown(name: str, value: str) -> str:
    """Return a value without LaTeX; names are separated by semicolons."""
    if name in _ADDRESSES and "\\" not in value:
        return value.strip()
    if name in ("author", "editor", "translator"):
        value = _AND.sub("; ", value)
    return _OTHERS.sub(" et al.", inline(Rewriter("", SPECIAL).rewritten(value)))
