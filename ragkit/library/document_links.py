"""Where links between documents of one folder lead: by path, or as in notes by name.

What stands behind "#" is a heading, as it is written or as web addresses have it ("#how-to-pay").
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from posixpath import dirname, join, normpath
from urllib.parse import unquote, urlsplit

from ragkit.types import Section

_IMPLIED = ("", ".md", ".markdown", "/index.md", "/readme.md")
"""What an address may leave out, as web sites and wikis made of Markdown do."""

_NOT_IN_SLUG = re.compile(r"[^\w\s-]")


@dataclass(frozen=True, slots=True)
class LinkTarget:
    """The id of a document, and where in its text the heading begins that a link names."""

    document: int
    at: int | None = None


class DocumentLinks:
    """Finds the documents that links of one document lead to.

    ``document`` is its id, and ``path`` its place in its folder. ``beside`` returns the ids and
    paths of all documents in the folder; it is called once, and only when there is a link to one.
    ``sections`` returns those of a document.
    """

    def __init__(
        self,
        document: int,
        path: str,
        beside: Callable[[], Iterable[tuple[int, str]]],
        sections: Callable[[int], Sequence[Section]],
    ) -> None:
        self.document = document
        self._folder, self._beside, self._sections = dirname(_key(path)), beside, sections

    def of_address(self, url: str) -> LinkTarget | None:
        """Return where an address leads that is relative to this document."""
        try:
            parts = urlsplit(url)
        except ValueError:
            return None
        path = _key(unquote(parts.path))
        if parts.scheme or parts.netloc or (path and not path.strip("/")):
            return None
        return self._target(self._at(path) if path else self.document, unquote(parts.fragment))

    def of_note(self, target: str) -> LinkTarget | None:
        """Return where ``[[target]]`` leads: to the note of that name, perhaps to a heading of it.

        Of several with that name it is the one in this document's folder, or else the one with
        the shortest path.
        """
        name, _, heading = target.partition("#")
        note = self._note(_key(name.strip())) if name.strip() else self.document
        return self._target(note, heading.rpartition("#")[2])

    def _target(self, document: int | None, heading: str) -> LinkTarget | None:
        """Return the place of a heading in a document, or its top where there is none of that name.

        A link to a heading of this document that it has not leads nowhere.
        """
        if document is None:
            return None
        slug = _slug(heading)
        places = (
            section.start
            for section in (self._sections(document) if slug else ())
            if _slug(section.title) == slug
        )
        at = next(places, None)
        return None if at is None and document == self.document else LinkTarget(document, at)

    def _note(self, name: str) -> int | None:
        """Return the id of the note with this name."""
        found = self._at(f"/{name}") if "/" in name else None
        if found is not None:
            return found
        named = self._names.get(name.rpartition("/")[2], ())
        paths = [path for path in named if f"/{path}".rpartition(".")[0].endswith(f"/{name}")
                 or f"/{path}".endswith(f"/{name}")]  # fmt: skip
        best = min(paths, key=lambda path: (dirname(path) != self._folder, len(path)), default="")
        return self._ids.get(best)

    def _at(self, path: str) -> int | None:
        """Return the id of the document at a path, from the folder's top if it begins with "/"."""
        whole = normpath(path.lstrip("/") if path.startswith("/") else join(self._folder, path))
        found = (self._ids.get(f"{whole}{ending}") for ending in _IMPLIED)
        return next((number for number in found if number is not None), None)

    @cached_property
    def _ids(self) -> Mapping[str, int]:
        return {_key(path): number for number, path in self._beside()}

    @cached_property
    def _names(self) -> Mapping[str, list[str]]:
        """The paths of documents by their names, with and without suffix."""
        names: defaultdict[str, list[str]] = defaultdict(list)
        for path in self._ids:
            name = path.rpartition("/")[2]
            for form in {name, name.rpartition(".")[0] or name}:
                names[form].append(path)
        return names


def _slug(heading: str) -> str:
    """Return a heading as web addresses have it: "how-to-pay" of "How to pay?"."""
    return re.sub(r"\s", "-", _NOT_IN_SLUG.sub("", _key(heading)).strip())


def _key(path: str) -> str:
    """Return a path as file systems compare it that keep no cases apart."""
    return unicodedata.normalize("NFC", path).casefold()
