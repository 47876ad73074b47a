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
├── ModelError              an embedder or a language model failed
└── EvaluationError         a question set makes no sense
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

    def __reduce__(self) -> tuple[type[RagkitError], tuple[str, ...]]:
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


class EvaluationError(RagkitError):
    """A question set is not what it should be, or a floor was not reached."""


class ContextRejectedError(ModelError):
    """What a model wrote cannot serve as a context: this chunk has failed, others may not.

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

    ``transient`` says that the same call may succeed later with nothing mended; ``concerns_all``
    that other calls to the same model would fail as well, so that a queue should wait.
    """

    transient = False
    concerns_all = False


class OllamaUnreachableError(OllamaError):
    """Nothing answers at Ollama's address, or the connection broke."""

    transient = True
    concerns_all = True


class OllamaRestingError(OllamaUnreachableError):
    """Ollama failed repeatedly and is not asked again for a while."""


class OllamaTimeoutError(OllamaError):
    """Ollama took longer than the settings allow."""

    transient = True


class OllamaOutOfMemoryError(OllamaError):
    """The model does not fit into the memory that is free."""

    transient = True
    concerns_all = True


class ModelMissingError(OllamaError):
    """Ollama does not have the model."""

    concerns_all = True


class ModelUnsuitableError(OllamaError):
    """The model cannot do what is asked of it, or is not the one that was opened."""

    concerns_all = True


class InputTooLongError(OllamaError):
    """A text does not fit the window of the model."""


class OllamaServerError(OllamaError):
    """Ollama reported a failure of its own."""

    transient = True


class OllamaAnswerError(OllamaError):
    """Ollama's answer makes no sense: not JSON, another form, or numbers that are none."""
