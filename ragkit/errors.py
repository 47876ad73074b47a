"""Everything that ragkit raises on purpose."""

from __future__ import annotations

import errno
import re

_NO_MEMORY = re.compile(
    r"cannot allocate memory|failed to map segment|can't start new thread|out of memory", re.I
)


class RagkitError(Exception):
    """Something went wrong that a person can understand and fix.

    ``message`` says what happened and ``cure`` what to do about it; ``str(error)`` has both.
    Commands end with ``exit_code``, and the HTTP API answers with ``http_status``.
    """

    exit_code = 1
    http_status = 500

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
    http_status = 422


class LibraryError(RagkitError):
    """The library directory cannot be used."""

    exit_code = 3
    http_status = 503


class LibraryBusyError(LibraryError):
    """Another process holds the writer's lock."""

    exit_code = 4


class LibraryFormatError(LibraryError):
    """The library was made by a version that this one does not understand."""


class IndexServerError(LibraryError):
    """The server of the indexes does not answer, refuses, or is too old."""


class CatalogError(LibraryError):
    """The catalog could not be read or written."""


class FolderGoneError(CatalogError):
    """The library's folder was moved or deleted after the library was opened."""

    def __init__(
        self,
        message: str = "The folder of this library was moved or deleted.",
        cure: str = "Put it back or connect its drive;"
        " or start ragkit again with --library and the folder's new path.",
    ) -> None:
        super().__init__(message, cure)


class UnstorableError(CatalogError):
    """The catalog cannot store these particular values."""

    http_status = 422


class NotFoundError(RagkitError):
    """There is no such collection, source or document."""

    exit_code = 5
    http_status = 404


class ServerAwayError(CatalogError):
    """The library's server is not answering for now, or the connection was lost."""


class ConnectionLostError(ServerAwayError):
    """The connection broke during a request, which may be tried again at once if it is safe to."""


class SourceError(RagkitError):
    """A folder cannot be added or read, or a document of one cannot be removed."""

    http_status = 422


class UnconfirmedError(SourceError):
    """A folder lies outside the person's home, and adding it was not confirmed."""


class ReadingError(RagkitError):
    """A file cannot become a document: it ends as failed."""

    http_status = 422


class LockedError(ReadingError):
    """A file is protected by a password."""


class SkippedError(ReadingError):
    """A file is left out on purpose: it ends as skipped."""


class PassingError(ReadingError):
    """A file cannot be read for a reason that may pass; it is retried automatically."""


class QueryError(RagkitError):
    """A question or its filters are not valid."""

    exit_code = 2
    http_status = 422


class IndexCorruptError(RagkitError):
    """Index files do not fit the catalog; they are caches and are rebuilt."""


class ContextsFileError(RagkitError):
    """A file of recorded contexts cannot be read, or one of its lines is not a context."""

    http_status = 422


class EvaluationError(RagkitError):
    """A question set is not valid, or a floor was not reached."""

    http_status = 422


class ThreadError(RagkitError):
    """A thread cannot be kept: there are too many, or a part of it is too long."""

    http_status = 409


class WebError(RagkitError):
    """Web search is off or misconfigured, or its service did not answer properly."""

    http_status = 503


class ModelError(RagkitError):
    """An embedder or a language model failed."""

    http_status = 503


class ModelFolderError(ModelError):
    """A folder holds no usable model, or the package that runs it is not installed."""


class ContextRejectedError(ModelError):
    """What a model wrote is no usable context: this chunk failed, others may succeed.

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

    ``concerns_all`` says that other calls to the same model would fail too, so a queue should wait.
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
    """Ollama's answer is malformed: not JSON, of another shape, or without valid numbers."""


def unforeseen(error: Exception) -> RagkitError:
    """Wrap an unexpected exception in an error that a person can read."""
    if is_lack_of_memory(error):
        return RagkitError(
            "Memory ran out.", "Close other programs, or raise the limit (ulimit -v)."
        )
    message = " ".join(str(error).split())[:200]
    detail = f" ({message})" if message else ""
    return RagkitError(
        f"Something unexpected happened: {type(error).__name__}{detail}.",
        "Finished work is kept. Try again; if it fails again, run ragkit doctor.",
    )


def is_lack_of_memory(error: BaseException | None) -> bool:
    """Return whether an error, or one of its causes, says that memory ran out."""
    while error is not None:
        if isinstance(error, MemoryError):
            return True
        if isinstance(error, OSError) and error.errno == errno.ENOMEM:
            return True
        if isinstance(error, ImportError | RuntimeError) and _NO_MEMORY.search(str(error)):
            return True
        error = error.__cause__ or error.__context__
    return False
