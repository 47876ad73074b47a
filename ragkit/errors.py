"""Everything that ragkit raises on purpose.

RagkitError                         a sentence for the person, and how to fix it
├── SettingsError                   a setting is wrong
├── LibraryError                    the library directory cannot be used
│   ├── LibraryBusyError            another process is writing
│   ├── LibraryFormatError          made by another version
│   ├── IndexServerError            the server of the indexes is away or refuses
│   └── CatalogError                the catalog could not be read or written
│       └── UnstorableError         these values cannot be stored; others can
├── NotFoundError                   no such collection, source or document
├── SourceError                     a folder cannot be added or read
│   └── UnconfirmedError            a folder elsewhere, which a person should confirm
├── ReadingError                    a file cannot become a document
│   ├── SkippedError                a file that is not meant to become one
│   └── PassingError                a file that cannot be read now, and may be later
├── QueryError                      the question or its filters are not valid
├── IndexCorruptError               index files do not fit the catalog (they are rebuilt)
├── ContextsFileError               a file of recorded contexts is not valid
├── EvaluationError                 a question set is not valid, or a floor was not reached
├── WebError                        web search is off, or its service did not answer
└── ModelError                      an embedder or a language model failed
    ├── ContextRejectedError        what it wrote cannot serve as a context
    ├── ModelFolderError            a folder with a model cannot be used
    └── OllamaError                 Ollama did not do what it was asked
        ├── OllamaUnreachableError  nothing answers, or the connection broke
        │   └── OllamaRestingError  it failed repeatedly and is left alone for a while
        ├── OllamaTimeoutError      it took longer than the settings allow
        ├── OllamaOutOfMemoryError  the model does not fit into memory
        ├── OllamaServerError       it reported a failure of its own
        ├── OllamaAnswerError       its answer is malformed
        ├── ModelMissingError       it does not have the model
        ├── ModelUnsuitableError    the model cannot do this, or is another than before
        └── InputTooLongError       a text does not fit the model's window
"""

from __future__ import annotations

import errno
import re

_NO_MEMORY = re.compile(
    r"cannot allocate memory|failed to map segment|can't start new thread|out of memory", re.I
)


class RagkitError(Exception):
    """Something went wrong that a person can understand and fix.

    ``str(error)`` is one sentence on what happened; ``cure`` is one on what to do about it.
    """

    exit_code = 1

    def __init__(self, message: str, cure: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.cure = cure

    def __str__(self) -> str:
        return f"{self.message} {self.cure}".strip()

    def __reduce__(self) -> tuple[type[RagkitError], tuple[str, ...]]:
        return (type(self), (self.message, self.cure))


class SettingsError(RagkitError):
    """A setting is unknown or its value is not valid."""

    exit_code = 2


class LibraryError(RagkitError):
    """The library directory cannot be used."""

    exit_code = 3


class LibraryBusyError(LibraryError):
    """Another process holds the writer's lock."""

    exit_code = 4


class LibraryFormatError(LibraryError):
    """The library was made by a version that this one does not understand."""


class IndexServerError(LibraryError):
    """The server of the indexes does not answer, refuses, or is too old."""


class CatalogError(LibraryError):
    """The catalog could not be read or written."""


class UnstorableError(CatalogError):
    """The catalog cannot hold these values; others it can."""


class NotFoundError(RagkitError):
    """There is no such collection, source or document."""

    exit_code = 5


class ServerAwayError(CatalogError):
    """The server of a library does not answer now, or lost the connection: it is worth waiting."""


class ConnectionLostError(ServerAwayError):
    """The connection broke in the middle. Others were not waited for yet: ask again, if one may."""


class SourceError(RagkitError):
    """A folder cannot be added or read."""


class UnconfirmedError(SourceError):
    """A folder lies outside of the person's home, and nobody said that it is meant."""


class ReadingError(RagkitError):
    """A file cannot become a document: it ends as failed."""


class SkippedError(ReadingError):
    """A file is left out on purpose: it ends as skipped."""


class PassingError(ReadingError):
    """A file cannot be read now, for a reason that may pass: it is tried again by itself."""


class QueryError(RagkitError):
    """A question or its filters are not valid."""

    exit_code = 2


class IndexCorruptError(RagkitError):
    """Index files do not fit the catalog; they are caches and are rebuilt."""


class ContextsFileError(RagkitError):
    """A file of recorded contexts cannot be read, or a line of it is not a recorded context."""


class EvaluationError(RagkitError):
    """A question set is not valid, or a floor was not reached."""


class ThreadError(RagkitError):
    """A thread cannot be kept: there are too many, or a part of it is too long."""


class WebError(RagkitError):
    """Web search is off or set wrongly, or its service did not answer as it should."""


class ModelError(RagkitError):
    """An embedder or a language model failed."""


class ModelFolderError(ModelError):
    """A folder has no model that can be used, or what runs it is not installed."""


class ContextRejectedError(ModelError):
    """What a model wrote cannot serve as a context: this chunk failed, others may succeed.

    ``reason`` is one word for counting: "empty", "refusal", "long", "copied", "form", "language",
    "instructions", "characters" or "length".
    """

    def __init__(self, message: str, cure: str = "", reason: str = "form") -> None:
        super().__init__(message, cure)
        self.reason = reason

    def __reduce__(self) -> tuple[type[RagkitError], tuple[str, ...]]:
        return (type(self), (self.message, self.cure, self.reason))


class OllamaError(ModelError):
    """Ollama did not do what it was asked.

    ``concerns_all``: other calls to the same model would fail as well, so that a queue should wait.
    """

    concerns_all = False


class OllamaUnreachableError(OllamaError):
    """Nothing answers at Ollama's address, or the connection broke."""

    concerns_all = True


class OllamaRestingError(OllamaUnreachableError):
    """Ollama failed repeatedly and is not called again for a while."""


class OllamaTimeoutError(OllamaError):
    """Ollama took longer than the settings allow."""


class OllamaOutOfMemoryError(OllamaError):
    """The model does not fit into free memory."""

    concerns_all = True


class ModelMissingError(OllamaError):
    """Ollama does not have the model."""

    concerns_all = True


class ModelUnsuitableError(OllamaError):
    """The model cannot do what is asked of it, or is not the model that was opened."""

    concerns_all = True


class InputTooLongError(OllamaError):
    """A text does not fit the window of the model."""


class OllamaServerError(OllamaError):
    """Ollama reported a failure of its own."""


class OllamaAnswerError(OllamaError):
    """Ollama's answer is malformed: not JSON, another shape, or values that are not numbers."""


def unforeseen(error: Exception) -> RagkitError:
    """Return an unforeseen failure as an error that a person can read."""
    if is_lack_of_memory(error):
        return RagkitError(
            "Memory ran out.", "Close other programs, or raise the limit (ulimit -v)."
        )
    message = " ".join(str(error).split())[:200]
    told = f" ({message})" if message else ""
    return RagkitError(
        f"Something unexpected happened: {type(error).__name__}{told}.",
        "Finished work is kept. Try again; if it fails again, run ragkit doctor.",
    )


def is_lack_of_memory(error: BaseException | None) -> bool:
    """Return whether an error, or one that it came of, says that memory ran out."""
    while error is not None:
        if isinstance(error, MemoryError):
            return True
        if isinstance(error, OSError) and error.errno == errno.ENOMEM:
            return True
        if isinstance(error, ImportError | RuntimeError) and _NO_MEMORY.search(str(error)):
            return True
        error = error.__cause__ or error.__context__
    return False
