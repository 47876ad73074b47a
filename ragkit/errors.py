"""Everything that ragkit raises on purpose.

RagkitError                 a sentence for the person, and what mends it
├── SettingsError           a setting is wrong
├── LibraryError            the library directory cannot be used
│   ├── LibraryBusyError    another process is writing
│   ├── LibraryFormatError  made by another version
│   └── CatalogError        the catalog refused
├── NotFoundError           no such collection, source or document
├── SourceError             a folder cannot be watched or read
├── ReadingError            a file cannot become a document
│   └── SkippedError        a file that is not meant to become one
├── QueryError              the question or its filters make no sense
├── IndexingError           the pipeline stopped
├── IndexCorruptError       index files do not fit the catalog (they are rebuilt)
└── ModelError              an embedder or a language model failed
"""

from __future__ import annotations


class RagkitError(Exception):
    """Something went wrong that a person can understand and mend.

    ``str(error)`` is one sentence on what happened; ``cure`` is one on what to do about it.
    """

    exit_code = 1

    def __init__(self, message: str, cure: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.cure = cure

    def __str__(self) -> str:
        return f"{self.message} {self.cure}".strip()

    def __reduce__(self) -> tuple[type[RagkitError], tuple[str, str]]:
        return (type(self), (self.message, self.cure))


class SettingsError(RagkitError):
    """A setting is unknown or has a value that makes no sense."""

    exit_code = 2


class LibraryError(RagkitError):
    """The library directory cannot be used."""

    exit_code = 3


class LibraryBusyError(LibraryError):
    """Another process holds the writer's lock."""

    exit_code = 4


class LibraryFormatError(LibraryError):
    """The library was made by a version that this one does not understand."""


class CatalogError(LibraryError):
    """The catalog could not be read or written."""


class NotFoundError(RagkitError):
    """There is no such collection, source or document."""

    exit_code = 5


class SourceError(RagkitError):
    """A folder cannot be added or read."""


class ReadingError(RagkitError):
    """A file cannot become a document: it ends as failed."""


class SkippedError(ReadingError):
    """A file is left out on purpose: it ends as skipped."""


class QueryError(RagkitError):
    """A question or its filters make no sense."""

    exit_code = 2


class IndexingError(RagkitError):
    """Indexing stopped before it was done."""


class IndexCorruptError(RagkitError):
    """Index files do not fit the catalog; they are caches and are rebuilt."""


class ModelError(RagkitError):
    """An embedder or a language model failed."""
