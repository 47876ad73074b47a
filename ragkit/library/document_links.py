"""Where links between documents of one folder lead: by path, or as in notes by name."""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from posixpath import dirname, join, normpath
from urllib.parse import unquote, urlsplit

_IMPLIED = ("", ".md", ".markdown", "/index.md", "/readme.md")
"""What an address may leave out, as web sites and wikis made of Markdown do."""


class DocumentLinks:
    """Finds the documents that links of one document lead to.

    ``path`` is that of the document in its folder. ``beside`` returns the ids and paths of all
    documents in the folder; it is called once, and only when there is a link.
    """

    def __init__(self, path: str, beside: Callable[[], Iterable[tuple[int, str]]]) -> None:
        self._folder, self._beside = dirname(_key(path)), beside

    def of_address(self, url: str) -> int | None:
        """Return the id of the document at an address that is relative to this one."""
        try:
            parts = urlsplit(url)
        except ValueError:
            return None
        path = _key(unquote(parts.path))
        if parts.scheme or parts.netloc or not path.strip("/"):
            return None
        return self._at(path)

    def of_note(self, target: str) -> int | None:
        """Return the id of the note that ``[[target]]`` names, perhaps with a heading behind "#".

        Of several with that name it is the one in this document's folder, or else the one with
        the shortest path.
        """
        name = _key(target.partition("#")[0].strip())
        if not name:
            return None
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


def _key(path: str) -> str:
    """Return a path as file systems compare it that keep no cases apart."""
    return unicodedata.normalize("NFC", path).casefold()
