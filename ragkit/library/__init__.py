"""``Library``: the one object through which pages, commands and programs use a library."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragkit.catalog import Catalog
from ragkit.catalog.connection import again_if_lost
from ragkit.catalog.machine import refuse_other_place
from ragkit.catalog.read_only import may_write
from ragkit.errors import LibraryError
from ragkit.library.collections import CollectionService
from ragkit.library.documents import DocumentDetail, DocumentService, SourceService
from ragkit.library.evaluation import JudgmentService, RunService
from ragkit.library.jobs import HealthService, JobService, WorkerService, WorkerState
from ragkit.library.services import ActiveServices, SearchServices
from ragkit.paths import LibraryPaths

if TYPE_CHECKING:
    # A command imports only what it needs: checking an unchanged folder takes no search engine.
    from ragkit.evaluation.experiments import Experiment
    from ragkit.health.archive import ArchiveReport
    from ragkit.indexes.protocol import IndexBackend
    from ragkit.indexing.writer import Writer
    from ragkit.library.ablations import AblationService
    from ragkit.library.answers import AnswerService
    from ragkit.library.contexts import ContextService
    from ragkit.library.embedders import EmbedderService
    from ragkit.library.examples import ExampleService
    from ragkit.library.models import ModelService
    from ragkit.library.names import DocumentNames
    from ragkit.library.searches import SearchHistory
    from ragkit.library.suggestions import SuggestionService
    from ragkit.library.threads import ThreadService
    from ragkit.library.uploads import UploadService
    from ragkit.library.web import WebService
    from ragkit.models.base import Embedder
    from ragkit.models.ollama_monitor import OllamaMonitor
    from ragkit.models.topic_namer import TopicNamer
    from ragkit.options import ChunkedOptions, SearchOptions
    from ragkit.results import Answer
    from ragkit.retrieval.multi_query import ChunkedAnswer
    from ragkit.retrieval.search import SearchEngine
    from ragkit.settings import Settings

# Misspelt, so that the spelling correction is loaded too: it would be half of the first search.
_FIRST_QUESTION = "wramup"

__all__ = ["DocumentDetail", "Library", "SearchServices", "WorkerState"]


class Library:
    """An open library. Safe to share between threads.

    Contents: ``collections``, ``sources``, ``documents``, ``uploads``. Work on them: ``jobs``,
    ``worker``, ``health``. Models: ``contexts``, ``embedders``, ``models``, ``ollama``. Questions:
    ``suggestions``, ``names``, ``examples``, ``searches``, ``answers``, ``threads``, ``web``.
    Measurements: ``judgments``, ``runs``, ``ablations``.
    """

    notices: tuple[str, ...] = ()
    """Sentences for the person who opened the library."""

    def __init__(self, settings: Settings, paths: LibraryPaths, catalog: Catalog) -> None:
        self.settings = settings
        self.paths = paths
        self.catalog = catalog
        self._services = ActiveServices(settings, paths, catalog)
        self.collections = CollectionService(settings, catalog)
        self.sources = SourceService(settings, paths, catalog)
        self.documents = DocumentService(catalog, self._services)
        self.jobs = JobService(paths, catalog, self._services.writer)
        self.worker = WorkerService(settings, paths, catalog)
        self.health = HealthService(settings, paths, catalog, self._services, self.worker)
        self.judgments = JudgmentService(settings, catalog)
        self.runs = RunService(catalog)

    @classmethod
    def open(cls, settings: Settings, *, create: bool = False) -> Library:
        """Open the library that the settings name; ``create`` makes one if there is none.

        Raises:
            LibraryError: it does not exist, is damaged, or is newer than this program.
        """
        paths = LibraryPaths(settings.library.expanduser().absolute())
        if paths.root.is_file():
            raise LibraryError(
                f"{paths.root} is a file, not a folder.", "Name the folder of a library."
            )
        address = settings.backend.get_secret_value()
        refuse_other_place(paths, on_server=bool(address))
        if address or (create and (may_write(paths.catalog) or not paths.catalog.exists())):
            paths.create()
        catalog = (
            Catalog.open_server(address, create=create)
            if address
            else Catalog.open(paths.catalog, create=create)
        )
        try:
            catalog.refuse_unfinished()
            if address:
                paths = replace(paths, machine=catalog.settle_machine(paths))
            elif create and not paths.marker.exists():
                catalog.mark()
            opened = cls(settings, paths, catalog)
        except BaseException:
            catalog.close()
            raise
        if create and not catalog.connections.read_only and paths.make_private():
            opened.notices = (f"{paths.root} was open to other users; it is yours alone now.",)
        return opened

    def close(self) -> None:
        """Close files and connections; everything written is then in the catalog's one file."""
        readers, self._services.readers = self._services.readers, None
        if readers is not None:
            readers.close()
        if self.catalog.connections.wrote:
            self.catalog.mark()
        self.catalog.close()

    def __repr__(self) -> str:
        return f"Library({str(self.paths.root)!r})"

    def __enter__(self) -> Library:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def start_readers(self, count: int) -> None:
        """Answer searches in ``count`` separate processes until the library is closed.

        Libraries opened with the same settings share them. Searches that use a language model
        still run in this process, and so do all searches while none of the others is ready.
        """
        from ragkit.library.search_pool import shared_pool

        if count and self._services.readers is None:
            self._services.readers = shared_pool(self.settings, count)

    def warm_up(self) -> None:
        """Search the collection of the settings, or the first one, to load what a search needs.

        Raises:
            RagkitError: the collection cannot be searched.
        """
        from ragkit.models.factory import is_remote
        from ragkit.options import Mode

        # Ollama should not load a model before somebody asks.
        mode = Mode.KEYWORD if is_remote(self.embedder.name) else Mode.HYBRID
        default = self.settings.collection
        for name in [default] if self.collections.has(default) else self.collections.names(limit=1):
            self.search(_FIRST_QUESTION, mode=mode, collections=name)

    def options(self, **changes: Any) -> SearchOptions:
        """Return the search options of the settings, with changes; ``None`` means unchanged.

        Options that a collection sets itself apply if it alone is searched. Choices may be given
        as text ("keyword"), a single collection by its name, and filters as they are typed
        ("type:pdf after:2025").

        Raises:
            TypeError: there is no such option.
            SettingsError: an option cannot have this value.
            QueryError: the filters cannot be understood.
        """
        from ragkit.library.changed_options import changed_options

        names = self.documents.field_names
        return changed_options(self._options, changes, self.settings, self.catalog, names)

    @cached_property
    def _options(self) -> SearchOptions:
        """The search options of the settings."""
        return self.settings.search.options()

    def search(self, question: str, options: SearchOptions | None = None, **changes: Any) -> Answer:
        """Search for a question, with ``options``, or with those of the settings and ``changes``.

        ``ragkit.SEARCH_OPTIONS`` describes the options; besides them, ``collections`` and
        ``filters`` may be given.

        Raises:
            TypeError: both options and changes were given, or there is no such option.
            SettingsError: an option cannot have this value.
            QueryError: a filter in the question cannot be understood, or no collection is named.
            NotFoundError: there is no such collection.
        """
        from ragkit.library.changed_options import refuse_no_collection
        from ragkit.option_codec import valid_options

        if options is not None and changes:
            raise TypeError("search() takes either options or single changes, not both.")
        chosen = valid_options(options) if options else self.options(**changes)
        refuse_no_collection(chosen, self.catalog)

        def run() -> Answer:
            services = self._services.last_seen()
            answer = services.engine.search(question, chosen)
            current = self._services.last_seen()
            if current is not services:
                # The search has found that another embedder has become active meanwhile.
                answer = current.engine.search(question, chosen)
            if chosen.shorten_below is not None:
                answer = self.answers.shortened(answer, chosen.shorten_below)
            return answer

        return again_if_lost(run)

    def chunked_options(self, **changes: Any) -> ChunkedOptions:
        """Return the settings' options for long texts, with changes; ``None`` means unchanged.

        Raises:
            TypeError: there is no such option.
            SettingsError: an option cannot have this value.
        """
        from ragkit.option_codec import checked_chunked_options

        return self.settings.chunked.options(**checked_chunked_options(changes))

    def search_chunked(
        self,
        text: str,
        options: SearchOptions | None = None,
        chunked: ChunkedOptions | None = None,
    ) -> ChunkedAnswer:
        """Search with a long text: cut it into topics, search for each, and merge the results.

        Raises:
            SettingsError: an option cannot have its value.
            QueryError: no collection is named.
            NotFoundError: there is no such collection.
        """
        from ragkit.library.changed_options import refuse_no_collection
        from ragkit.option_codec import valid_options
        from ragkit.retrieval.multi_query import query_per_chunk

        own = valid_options(options) if options else self.options()
        refuse_no_collection(own, self.catalog)
        of_text = valid_options(chunked) if chunked else self.chunked_options()
        request = text, own, of_text

        def run() -> ChunkedAnswer:
            services = self.services()
            answer: ChunkedAnswer | None = services.elsewhere("search_chunked", *request)
            return answer or query_per_chunk(services, *request)

        return again_if_lost(run)

    def topic_namer(self) -> TopicNamer:
        """Return what names topics, with the model that writes contexts.

        Raises:
            OllamaError: Ollama does not answer, or has no such model.
        """
        from ragkit.catalog.background_state import context_model_name
        from ragkit.models.ollama import OllamaClient
        from ragkit.models.topic_namer import TopicNamer

        name = context_model_name(self.catalog, self.settings.models)
        return TopicNamer.open(OllamaClient(self.settings.models), name)

    def services(self, name: str = "") -> SearchServices:
        """Return the search services of the named embedder, by default of the active one.

        Raises:
            SettingsError: the settings name no embedder.
            ModelError: the built-in model cannot be read.
            NotFoundError: some text has no vector of that embedder.
        """
        return self._services.named(name)

    @property
    def engine(self) -> SearchEngine:
        """The search engine of the active embedder."""
        return self._services.current().engine

    @property
    def embedder(self) -> Embedder:
        """The active embedder."""
        return self._services.current().embedder

    @property
    def indexes(self) -> IndexBackend:
        """The collections' indexes of the active embedder's vectors."""
        return self._services.current().indexes

    @cached_property
    def contexts(self) -> ContextService:
        """The contexts of chunks: their state, their texts, and requests to change them."""
        from ragkit.library.contexts import ContextService

        return ContextService(self.paths, self.catalog, self.writer)

    @cached_property
    def uploads(self) -> UploadService:
        """Files that are copied into the library."""
        from ragkit.library.uploads import UploadService

        return UploadService(self.settings, self.paths, self.catalog, self.sources)

    @cached_property
    def embedders(self) -> EmbedderService:
        """The active embedder, and switching to another."""
        from ragkit.library.embedders import EmbedderService

        return EmbedderService(self.settings, self.paths, self.catalog, self._services)

    @cached_property
    def models(self) -> ModelService:
        """Models from folders that were added to the library."""
        from ragkit.library.models import ModelService

        return ModelService(self.settings, self.catalog)

    @cached_property
    def ollama(self) -> OllamaMonitor:
        """The state of the local Ollama, polled in the background."""
        from ragkit.models.ollama_monitor import OllamaMonitor

        return OllamaMonitor(self.settings.models)

    def writer(self) -> Writer:
        """Return the writer; the process must hold the writer lock to use it."""
        return self._services.writer()

    @cached_property
    def answers(self) -> AnswerService:
        """Answers to questions, made from the results of a search."""
        from ragkit.library.answers import AnswerService

        return AnswerService(self.settings, self.catalog, self.search)

    @cached_property
    def threads(self) -> ThreadService:
        """Saved questions and answers."""
        from ragkit.library.threads import ThreadService

        return ThreadService(self.catalog, kept=self.settings.search_history)

    @cached_property
    def searches(self) -> SearchHistory:
        """The log of searches, and the recent and pinned ones."""
        from ragkit.library.searches import SearchHistory

        return SearchHistory(
            self.paths,
            allowed=self.settings.search_history,
            stand_for_all=self.catalog.collections.stand_for_all,
        )

    @cached_property
    def names(self) -> DocumentNames:
        """The names of all documents."""
        from ragkit.library.names import DocumentNames

        return DocumentNames(self.catalog)

    @cached_property
    def suggestions(self) -> SuggestionService:
        """Suggestions while a question is typed."""
        from ragkit.library.suggestions import SuggestionService

        return SuggestionService(self.catalog, self.names, self.searches)

    @cached_property
    def examples(self) -> ExampleService:
        """Example questions that the library can answer."""
        from ragkit.library.examples import ExampleService

        return ExampleService(self.catalog, self.names, self.search)

    @cached_property
    def web(self) -> WebService:
        """Web search, if the settings allow it."""
        from ragkit.library.web import WebService

        return WebService(self.settings.web, self.catalog)

    @cached_property
    def ablations(self) -> AblationService:
        """What each field, vector and context contributes."""
        from ragkit.library.ablations import AblationService

        return AblationService(
            self.settings, self.paths, self.catalog, self.judgments, self.experiment, self.options
        )

    def experiment(self, collection: str, question_set: str = "") -> Experiment:
        """Return a question set of a collection, together with that collection.

        Raises:
            NotFoundError: there is no such collection.
            EvaluationError: there is no such set, or it has no usable question.
        """
        from ragkit.evaluation.experiments import judged_experiment

        return judged_experiment(self.services(), self.catalog, collection, question_set)

    def export(self, file: Path, *, overwrite: bool = False) -> ArchiveReport:
        """Write the whole library to an archive file.

        Raises:
            LibraryError: the file exists already, or cannot be written; nothing is then left of it.
        """
        from ragkit.health.archive import export_library

        return export_library(self.settings, self.paths, self.catalog, file, overwrite=overwrite)
