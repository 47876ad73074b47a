"""A library: the one object that pages, commands and programs speak to."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragkit.catalog import Catalog
from ragkit.catalog.connection import again_if_lost
from ragkit.catalog.machine import refuse_other_place
from ragkit.catalog.read_only import may_write
from ragkit.library.collections import CollectionService
from ragkit.library.documents import DocumentDetail, DocumentService, SourceService
from ragkit.library.evaluation import JudgmentService, RunService
from ragkit.library.jobs import HealthService, JobService, WorkerService, WorkerState
from ragkit.library.services import ActiveServices, SearchServices
from ragkit.paths import LibraryPaths

if TYPE_CHECKING:
    # A command imports what it needs: looking at an unchanged folder takes no search engine.

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

# What corrects spelling is loaded too: it would be half of the first search.
_FIRST_QUESTION = "wramup"

__all__ = ["DocumentDetail", "Library", "SearchServices", "WorkerState"]


class Library:
    """One library, opened. Safe to share between threads; holds no person's own state.

    ``collections``, ``sources`` and ``documents`` are what it holds; ``jobs`` and ``worker`` what
    is done to it; ``contexts`` and ``embedders`` what models add; ``health`` checks it;
    ``judgments``, ``runs`` and ``ablations`` measure its answers; ``searches``, ``names``,
    ``suggestions`` and ``examples`` help with a question, ``answers`` answers it, ``threads`` keeps
    both; ``web`` asks the web.
    """

    notices: tuple[str, ...] = ()
    """What a person should know about the library as it was opened."""

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
        self.judgments = JudgmentService(settings, paths, catalog)
        self.runs = RunService(catalog)

    @classmethod
    def open(cls, settings: Settings, *, create: bool = False) -> Library:
        """Open the library that the settings name; ``create`` makes it where there is none.

        Raises:
            LibraryError: it is not there, damaged, or newer than this program.
        """
        paths = LibraryPaths(settings.library.expanduser().absolute())
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
        """Close files and connections; what was written lies in the catalog's one file then."""
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
        """Answer searches in ``count`` processes of their own, until this is closed.

        Libraries that are opened with the same settings share them. Each reads the library for
        itself, and has everything that was written when it is asked. Searches that wait for a
        language model stay here, and so do all while no process is up.
        """
        from ragkit.library.search_pool import shared_pool

        if count and self._services.readers is None:
            self._services.readers = shared_pool(self.settings, count)

    def warm_up(self) -> None:
        """Load what a first search needs, so that nobody waits for it.

        It is one of the settings' collection, or else of the first that there is.

        Raises:
            RagkitError: it cannot be searched.
        """
        from ragkit.models.factory import is_remote
        from ragkit.options import Mode

        # A model of Ollama's is not loaded before somebody asks.
        mode = Mode.KEYWORD if is_remote(self.embedder.name) else Mode.HYBRID
        usual = self.settings.collection
        for name in [usual] if self.collections.has(usual) else self.collections.names(limit=1):
            self.search(_FIRST_QUESTION, mode=mode, collections=name)

    # -- searching -------------------------------------------------------------------------

    def options(self, **changes: Any) -> SearchOptions:
        """Return the search options of the settings, with changes; ``None`` means unchanged.

        A search of one collection has what that collection sets for itself. Choices may be given
        as text ("keyword"), one collection by its name alone, and filters as they are typed
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
        """Answer a question, with these options, or with those of the settings and ``changes``.

        ``ragkit.SEARCH_OPTIONS`` says what the options are; ``collections`` and ``filters`` say
        where.

        Raises:
            TypeError: options and changes were given, or there is no such option.
            SettingsError: an option cannot have this value.
            QueryError: a filter in the question cannot be understood.
            NotFoundError: a collection is not there.
        """
        if options is None:
            options = self.options(**changes)
        elif changes:
            raise TypeError("search() takes either options or single changes, not both.")
        asked = options

        def answered() -> Answer:
            services = self._services.last_seen()
            answer = services.engine.search(question, asked)
            seen = self._services.last_seen()
            if seen is not services:
                # Another embedder has become active: the search has read its collections since.
                answer = seen.engine.search(question, asked)
            if asked.shorten_below is not None:
                answer = self.answers.shortened(answer, asked.shorten_below)
            return answer

        return again_if_lost(answered)

    def chunked_options(self, **changes: Any) -> ChunkedOptions:
        """Return the options of the settings for long texts, with changes; ``None``: unchanged.

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
        """Answer a long text: one query for each of its topics, their answers merged.

        Raises:
            NotFoundError: a collection is not there.
        """
        from ragkit.retrieval.multi_query import query_per_chunk

        asked = text, options or self.options(), chunked or self.chunked_options()

        def answered() -> ChunkedAnswer:
            services = self.services()
            answer: ChunkedAnswer | None = services.elsewhere("search_chunked", *asked)
            return answer or query_per_chunk(services, *asked)

        return again_if_lost(answered)

    def topic_namer(self) -> TopicNamer:
        """Return the topic namer, which uses the model that writes contexts.

        Raises:
            OllamaError: Ollama does not answer, or has no such model.
        """
        from ragkit.catalog.background_state import context_model_name
        from ragkit.models.ollama import OllamaClient
        from ragkit.models.topic_namer import TopicNamer

        name = context_model_name(self.catalog, self.settings.models)
        return TopicNamer.open(OllamaClient(self.settings.models), name)

    # -- what it works with ----------------------------------------------------------------

    def services(self, name: str = "") -> SearchServices:
        """Return the search services of an embedder by its name; empty: of the active one.

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
        """Files that were dropped or named one by one."""
        from ragkit.library.uploads import UploadService

        return UploadService(self.settings, self.paths, self.catalog, self.sources)

    @cached_property
    def embedders(self) -> EmbedderService:
        """Which embedder is active, and moving the library to another."""
        from ragkit.library.embedders import EmbedderService

        return EmbedderService(self.settings, self.paths, self.catalog, self._services)

    @cached_property
    def models(self) -> ModelService:
        """Models in folders that a person added to the library."""
        from ragkit.library.models import ModelService

        return ModelService(self.settings, self.catalog)

    @cached_property
    def ollama(self) -> OllamaMonitor:
        """The state of the local Ollama, which is asked in the background."""
        from ragkit.models.ollama_monitor import OllamaMonitor

        return OllamaMonitor(self.settings.models)

    def writer(self) -> Writer:
        """Return the writer; the process must hold the lock when it writes."""
        return self._services.writer()

    # -- help with a question --------------------------------------------------------------

    @cached_property
    def answers(self) -> AnswerService:
        """Answers to questions, made of what a search found."""
        from ragkit.library.answers import AnswerService

        return AnswerService(self.settings, self.catalog)

    @cached_property
    def threads(self) -> ThreadService:
        """Kept questions that follow one another, with their answers."""
        from ragkit.library.threads import ThreadService

        return ThreadService(self.catalog, kept=self.settings.search_history)

    @cached_property
    def searches(self) -> SearchHistory:
        """The log of searches, and a person's recent and pinned ones."""
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
        """What may be meant while a question is typed."""
        from ragkit.library.suggestions import SuggestionService

        return SuggestionService(self.catalog, self.names, self.searches)

    @cached_property
    def examples(self) -> ExampleService:
        """Questions that the library answers."""
        from ragkit.library.examples import ExampleService

        return ExampleService(self.catalog, self.names, self.search)

    @cached_property
    def web(self) -> WebService:
        """Web search, where the settings allow it."""
        from ragkit.library.web import WebService

        return WebService(self.settings.web, self.catalog)

    # -- measuring -------------------------------------------------------------------------

    @cached_property
    def ablations(self) -> AblationService:
        """What each field, vector and context contributes."""
        from ragkit.library.ablations import AblationService

        return AblationService(
            self.settings, self.paths, self.catalog, self.judgments, self.experiment, self.options
        )

    def experiment(self, collection: str, question_set: str = "") -> Experiment:
        """Return a question set of a collection, ready to be asked of that collection.

        Raises:
            NotFoundError: the collection is not there.
            EvaluationError: there is no such set, or nothing in it can be asked.
        """
        from ragkit.evaluation.experiments import judged_experiment

        return judged_experiment(self.services(), self.catalog, collection, question_set)

    # -- as a whole ------------------------------------------------------------------------

    def export(self, file: Path, *, overwrite: bool = False) -> ArchiveReport:
        """Write the library to one archive file: all of it, or nothing.

        Raises:
            LibraryError: there is such a file already, or it cannot be written.
        """
        from ragkit.health.archive import export_library

        return export_library(self.settings, self.paths, self.catalog, file, overwrite=overwrite)
