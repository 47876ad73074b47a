"""Markdown and MDX: front matter becomes metadata, all else stays as written."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import TYPE_CHECKING, Any

from ragkit.headings import heading_text
from ragkit.reading.dates import iso_date
from ragkit.reading.formats import Format
from ragkit.reading.heads import with_head
from ragkit.reading.languages import language_code
from ragkit.reading.reading_parts import is_of_notion, lines_at, one_line, plain_key, stem
from ragkit.types import Markup, Reading

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ragkit.types import Metadata

_EMBEDDED = re.compile(
    r"data:[\w.+-]{1,60}/[\w.+-]{1,60}(?:;[\w=.-]{1,60})*;base64,[A-Za-z0-9+/=_%-]{64,}"
)
_FENCE = re.compile(r" {0,3}(?:[-*+] +|> ?)*(`{3,}|~{3,})(.*)")
_ATX = re.compile(r" {0,3}#[ \t]+(.*?)(?:[ \t]+#+)?[ \t]*$")
_HTML_H1 = re.compile(r"<h1\b[^>]{0,300}>(.{1,500}?)</h1>", re.I | re.S)
_REFERENCE = re.compile(r"(?<![\\!])\[([^\[\]]{1,300})\]\[[^\[\]]{0,100}\]")
_MODULE_LINE = re.compile(
    r"import\s+(?:[\"']|[\w*{][^\n]{0,500}\bfrom\s*[\"']|\{[^}\n]{0,500}$)"
    r"|export\s+(?:(?:const|let|var|default|function|async|class)\b|\{|\*)"
)
_LONGEST_STATEMENT = 200
_TAG_FIRST = re.compile(r"\n[ \t]*#[^\W\d_]")
"""As a line of tags begins; many times as fast to look for as ``^``."""

_TICKS = re.compile(r"(`+)([^`\n]{1,300})\1(?!`)")
_TAG_LINE = re.compile(r"[ \t]*#[^\W\d_][\w/-]{0,60}(?:[ \t]+#[^\W\d_][\w/-]{0,60}){0,20}[ \t]*")
_PROPERTIES = re.compile(r"# [^\n]*\n\n((?:[^\n:]{1,60}: [^\n]*(?:\n|\Z))+)(?:\n|\Z)")
_OF_LOGSEQ = re.compile(
    r"^[ \t]*(?:id:: [0-9a-f]{8}-[0-9a-f-]{27}|collapsed:: (?:true|false)|logseq\.[\w.-]+:: .*)\n",
    re.M,
)
"""Properties of blocks that say nothing to people."""


def read_markdown(text: str, name: str, file_format: Format = Format.MARKDOWN) -> Reading:
    """Read Markdown; its front matter becomes metadata.

    If the front matter says more than the text below it, the text begins with it (``with_head``).
    """
    front = read_front_matter(text)
    body = text[front.end :].lstrip("\n") if front.end else text
    if file_format is Format.MDX:
        body = _without_modules(body)
    body = strip_embedded(_OF_LOGSEQ.sub("", body) if ":: " in body else body)
    title = front.title or first_heading(body) or stem(name)
    metadata = front.metadata or (_properties(body) if is_of_notion(name) else {})
    if tags := _tags_in(body):
        metadata = {**metadata, "tags": list(dict.fromkeys((*metadata.get("tags", ()), *tags)))}
    return Reading(
        text=with_head(front.title, front.metadata, body),
        title=title,
        format=file_format,
        markup=Markup.MARKDOWN,
        language=front.language,
        metadata=metadata,
        warnings=front.warnings,
    )


def _properties(body: str) -> Metadata:
    """Return what Notion writes below the heading of a page of a database."""
    below = _PROPERTIES.match(body)
    lines = below[1].strip().split("\n") if below else []
    return metadata_from({key: value for key, _, value in (line.partition(": ") for line in lines)})


def _tags_in(body: str) -> list[str]:
    """Return the tags in lines of nothing else, as notes have them: "#recipes #dessert".

    A capitalised one by itself may be a heading without its space.
    """
    if _TAG_FIRST.search(f"\n{body}") is None:
        return []
    found: list[str] = []
    for _, line, fenced in fenced_lines(body):
        if fenced or not _TAG_LINE.fullmatch(line):
            continue
        tags = [tag.removeprefix("#") for tag in line.split()]
        if len(tags) > 1 or tags[0][0].islower():
            found += tags
    return found[:_MOST_VALUES]


def strip_embedded(text: str) -> str:
    """Replace embedded base64 files, which no one searches, by a short mark."""
    return _EMBEDDED.sub("embedded-data", text) if ";base64," in text else text


def first_heading(text: str) -> str:
    """Return the first heading of level 1 outside code fences, as plain text."""
    before = ""
    for _, line, fenced in fenced_lines(text):
        if fenced:
            before = ""
            continue
        heading = _ATX.match(line)
        if heading and heading[1].strip():
            return plain(heading[1])
        if before.strip() and re.fullmatch(r" {0,3}=+[ \t]*", line):
            return plain(before)
        before = line
    html = _HTML_H1.search(text, 0, 5000)
    return plain(html[1]) if html else ""


def fenced_lines(text: str) -> Iterator[tuple[int, str, bool]]:
    """Yield for each line its offset, its text, and whether it belongs to a fenced code block."""
    fence = ""
    for offset, line in lines_at(text):
        mark = _FENCE.match(line) if "```" in line or "~~~" in line else None
        if fence:
            closes = mark and mark[1].startswith(fence) and not mark[2].strip()
            yield offset, line, True
            fence = "" if closes else fence
        elif mark and not (mark[1][0] == "`" and "`" in mark[2]):
            fence = mark[1]
            yield offset, line, True
        else:
            yield offset, line, False


def plain(markdown: str) -> str:
    """Return the text of a heading without attributes, links, emphasis and tags."""
    return one_line(heading_text(_REFERENCE.sub(r"\1", markdown[:2000])))


def _without_modules(text: str) -> str:
    """Remove the import and export statements of MDX."""
    kept: list[str] = []
    depth, taken = 0, 0
    for _, line, fenced in fenced_lines(text):
        inside = taken > 0
        if fenced or (not inside and not _MODULE_LINE.match(line)):
            kept.append(line)
            taken = 0
            continue
        taken += 1
        depth = (
            (depth if inside else 0)
            + sum(line.count(sign) for sign in "{([")
            - sum(line.count(sign) for sign in "})]")
        )
        if depth <= 0 or taken > _LONGEST_STATEMENT:
            taken = 0
    return "\n".join(kept).lstrip("\n")


_BLOCK = re.compile(r"\A(---|\+\+\+)[ \t]*\n(.*?)^(?:\1|\.\.\.)[ \t]*(?:\n|\Z)", re.S | re.M)
_LONGEST = 65_536
_MOST_KEYS = 60
_LONGEST_VALUE = 1000
_MOST_VALUES = 100
_BAD = "The front matter at the top is not valid {} and was kept as text."
_AUTHOR_KEYS = ("author", "authors", "by", "creator")
_DATE_KEYS = (
    "date", "published", "pubdate", "publishdate", "created", "datecreated", "createdat",
    "creationdate", "updated", "lastupdated", "updatedat", "lastmod", "modified", "datemodified",
    "lastmodified",
)  # fmt: skip
"""As ``plain_key`` leaves them, like the other keys."""

_NOTE_LINK = re.compile(r"\[\[(?:[^\[\]|]*\||[^\[\]|]*/)?([^\[\]|]+)\]\]")
_TAG_KEYS = ("tags", "tag", "categories", "category")
_LANGUAGE_KEYS = ("lang", "language", "locale")


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """Parsed front matter; ``end`` is the offset of the text after it, 0 if there is none."""

    end: int = 0
    title: str = ""
    language: str = ""
    metadata: Metadata = field(default_factory=dict)
    warnings: tuple[str, ...] = ()


def read_front_matter(text: str) -> FrontMatter:
    """Parse the block at the top, if there is one; an invalid one stays text, with a warning."""
    if not text.startswith(("---", "+++")):
        return FrontMatter()
    block = _BLOCK.match(text, 0, _LONGEST)
    if not block:
        return FrontMatter()
    import tomllib

    kind = "YAML" if block[1] == "---" else "TOML"
    try:
        values = _yaml(block[2]) if kind == "YAML" else tomllib.loads(block[2])
    except (ValueError, TypeError, RecursionError, AttributeError, LookupError):
        return FrontMatter(warnings=(_BAD.format(kind),))
    if values is None and not block[2].strip():
        return FrontMatter(end=block.end())
    if not isinstance(values, dict):
        # Prose between two lines of dashes is not front matter.
        return FrontMatter()
    title = next((values[key] for key in _named(values, ("title",))), None)
    return FrontMatter(
        end=block.end(),
        title=_plain_title(str(title)) if isinstance(title, (str, int, float)) else "",
        language=_language(values),
        metadata=metadata_from(values),
    )


def _plain_title(title: str) -> str:
    """Return a title of front matter, which is plain text but for marks of code."""
    return one_line(_TICKS.sub(r"\2", title))


def metadata_from(values: dict[Any, Any]) -> Metadata:
    """Return front matter, or properties of another format, as metadata of JSON values."""
    metadata: Metadata = {}
    for key in list(values)[:_MOST_KEYS]:
        if not isinstance(key, str) or plain_key(key) == "title":
            continue
        value = _json_value(values[key])
        if value is not None and value not in ("", []):
            metadata[key.strip()] = value
    _author(metadata)
    _date(metadata)
    texts = [text for key in _named(metadata, _TAG_KEYS) for text in _texts(metadata.pop(key))]
    if tags := list(filter(None, (text.removeprefix("#") for text in texts))):
        metadata["tags"] = list(dict.fromkeys(tags))
    for key in _named(metadata, ("keywords",)):
        metadata["keywords"] = _texts(metadata.pop(key))
    return metadata


def _named(values: Mapping[Any, Any], names: Sequence[str]) -> list[str]:
    """Return the keys that are one of the names, in the order of these, however written."""
    keys = [(key, plain_key(key)) for key in values if isinstance(key, str)]
    return [key for name in names for key, plain in keys if plain == name]


def _yaml(text: str) -> Any:
    """Parse YAML; any parser error becomes a ``ValueError``."""
    import yaml

    try:
        return yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))  # noqa: S506
    except yaml.YAMLError as error:
        raise ValueError from error


def _json_value(value: Any) -> Any:
    """Return a scalar or a short list of scalars as a JSON value; ``None`` for anything else."""
    if isinstance(value, (date, datetime)):
        return value.isoformat()
    if isinstance(value, str):
        text = value.strip()
        link = _NOTE_LINK.fullmatch(text)
        return (link[1].strip() if link else text)[:_LONGEST_VALUE]
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, int):
        return value if abs(value) < 2**53 else str(value)[:_LONGEST_VALUE]
    if isinstance(value, float):
        return value if value == value and abs(value) != float("inf") else None
    if isinstance(value, list):
        listed = [_json_value(item) for item in value[:_MOST_VALUES] if not isinstance(item, list)]
        return [item for item in listed if item is not None and item != ""]
    if isinstance(value, dict) and isinstance(value.get("name"), str):
        return value["name"][:_LONGEST_VALUE]
    return None


def _texts(value: Any) -> list[str]:
    """Return a list, or a text divided by commas or signs of tags, as a list of texts."""
    parts = value if isinstance(value, list) else re.split(r",|\s(?=#)", str(value))
    return [text for part in parts if (text := str(part).strip())]


def _author(metadata: Metadata) -> None:
    """Join the authors under the key ``author``, whatever key they came under."""
    for key in _named(metadata, _AUTHOR_KEYS)[:1]:
        value = metadata.pop(key)
        metadata["author"] = ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _date(metadata: Metadata) -> None:
    """Set the key ``date`` to the first usable date, in ISO form."""
    for key in _named(metadata, _DATE_KEYS):
        if iso := iso_date(metadata[key]):
            metadata["date"] = iso
            return
    if "date" in metadata:
        metadata["date_text"] = str(metadata.pop("date"))


def _language(values: dict[Any, Any]) -> str:
    """Return the code of the human language, or ``""``; ``language: Python`` is not one."""
    written = (values[key] for key in _named(values, _LANGUAGE_KEYS))
    return next(
        filter(None, (language_code(value) for value in written if isinstance(value, str))), ""
    )
