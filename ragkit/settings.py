"""The settings: defaults < TOML file < ``RAGKIT_*`` variables < command line."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Literal

import platformdirs
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    SecretStr,
    ValidationError,
    create_model,
    field_validator,
    model_validator,
)

from ragkit import setting_faults
from ragkit.errors import SettingsError
from ragkit.option_table import Choice, Option
from ragkit.options import CHUNKED_OPTIONS, SEARCH_OPTIONS, ChunkedOptions, SearchOptions

_PREFIX = "RAGKIT_"
_FOLDER = "folder:"
_ADDRESSES = ("postgresql://", "postgres://")


class _Group(BaseModel):
    """A named table of the settings file."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, defer_build=True)


class ChunkingSettings(_Group):
    """How a document's text is cut. Sizes are in words, as split at white space."""

    words: int = Field(320, ge=20, le=5000, description="most words in a chunk")
    overlap: int = Field(80, ge=0, description="words repeated from the chunk before")
    min_words: int = Field(200, ge=0, description="smaller neighbouring sections are merged")

    @model_validator(mode="after")
    def _overlap_is_smaller(self) -> ChunkingSettings:
        if self.overlap * 2 > self.words:
            raise ValueError("overlap must be at most half of words")
        return self


class ReadingSettings(_Group):
    """The limits within which one file is read."""

    timeout_seconds: float = Field(25.0, gt=0, description="most computing time for one file")
    memory_mb: int = Field(1500, ge=200, description="most memory for one reading process")
    max_file_mb: float = Field(100.0, gt=0, description="larger files are skipped")
    max_text_mb: float = Field(40.0, gt=0, description="a file with more text than this fails")
    processes: int = Field(0, ge=0, description="reading processes; 0: as many as cores, 4 at most")
    ocr: bool = Field(
        True, description="recognise the text of scanned PDFs where Tesseract is installed"
    )
    ocr_languages: tuple[str, ...] = Field(
        (),
        description='languages of scanned pages, by Tesseract\'s names ("deu"); empty: those '
        "installed, or of many yours and English",
    )
    ray: str = Field(
        "", description='a Ray cluster whose machines read the files ("host:6379"); empty: this one'
    )


class SourceSettings(_Group):
    """Which files of a folder are indexed, and how often it is scanned."""

    gitignore: bool = Field(True, description="honour .gitignore files")
    rescan_minutes: float = Field(5.0, gt=0, description="time between full scans")
    debounce_seconds: float = Field(0.5, ge=0, description="quiet time before a file is read")
    allowed_roots: tuple[Path, ...] = Field(
        (), description="folders must lie under one; empty: home, or elsewhere if confirmed"
    )
    shared_roots: tuple[Path, ...] = Field(
        (),
        description="folders that every machine of a library on a server sees alike (a network "
        "drive): any of them reads what lies below",
    )

    @field_validator("allowed_roots", "shared_roots")
    @classmethod
    def _roots_are_whole(cls, roots: tuple[Path, ...]) -> tuple[Path, ...]:
        found = tuple(_expanded(root) for root in roots)
        for root in found:
            if not root.is_absolute():
                raise ValueError(f"needs absolute paths of folders, not {str(root)!r}")
        return found

    def shares(self, folder: Path) -> bool:
        """Return whether every machine of a library sees a folder at the same path."""
        return any(map(folder.is_relative_to, self.shared_roots))


class ModelSettings(_Group):
    """Which model embeds texts, and how Ollama is used."""

    embedder: str = Field(
        "wordllama", description='of a new library: "wordllama", "ollama:MODEL" or "folder:PATH"'
    )
    ollama_url: str = Field("http://127.0.0.1:11434", description="where Ollama listens")
    allow_remote: bool = Field(
        False, description="Ollama may run on another machine; texts then leave this one"
    )
    contexts: bool = Field(True, description="have contexts written whenever Ollama answers")
    contexts_per_minute: float = Field(0.0, ge=0, description="most contexts a minute; 0: no limit")
    contexts_when_idle: bool = Field(False, description="write contexts only on an idle machine")
    context_model: str = Field("", description="the model that writes them; empty: the best found")
    rerank_model: str = Field(
        "", description='reranks: a model of Ollama\'s or "folder:PATH"; empty: that of contexts'
    )
    rerank_seconds: float = Field(20.0, gt=0, description="longest time for reranking a search")
    phrasing_seconds: float = Field(
        15.0, gt=0, description="longest wait for a question in other words"
    )
    context_window: int = Field(8192, ge=1024, description="tokens of prompt and answer together")
    answer_tokens: int = Field(512, ge=64, description="longest answer, in tokens")
    keep_alive: str = Field("10m", min_length=1, description="how long Ollama keeps a model loaded")
    connect_seconds: float = Field(3.0, gt=0, description="longest wait for a connection")
    chat_seconds: float = Field(120.0, gt=0, description="longest wait for an answer")
    embed_seconds: float = Field(120.0, gt=0, description="longest wait for a batch of vectors")
    query_seconds: float = Field(10.0, gt=0, description="longest wait for a question's vector")
    pull_seconds: float = Field(600.0, gt=0, description="longest silence during a download")
    embed_characters: int = Field(16_000, ge=100, description="characters in a batch to embed")
    embed_texts: int = Field(64, ge=1, le=2048, description="texts in a batch to embed")
    retries: int = Field(2, ge=0, le=10, description="further tries after a passing failure")
    rest_after: int = Field(5, ge=1, description="failures in a row until Ollama is left alone")
    rest_seconds: float = Field(30.0, gt=0, description="how long it is then left alone")

    @field_validator("embedder", "rerank_model")
    @classmethod
    def _folder_is_whole(cls, name: str) -> str:
        name = name.strip()
        if not name.startswith(_FOLDER):
            return name
        path = _expanded(Path(name.removeprefix(_FOLDER)))
        if not path.is_absolute():
            raise ValueError(f'"{_FOLDER}" needs the absolute path of a folder on this machine')
        return f"{_FOLDER}{path}"


class WriteWhen(Choice):
    """When a model writes an answer to a question."""

    ASKED = "asked", "When I ask for it"
    ALWAYS = "always", "With every search"


class AnswerSettings(_Group):
    """How a local model writes answers from the results of a search."""

    write: WriteWhen = Field(WriteWhen.ASKED, description='"asked", or "always": with each search')
    model: str = Field("", description="the model that writes them; empty: that of contexts")
    answer_tokens: int = Field(700, ge=64, description="longest written answer, in tokens")
    thinking_tokens: int = Field(
        1500, ge=0, description="longest thoughts before it, of models that think anyway"
    )
    passages: int = Field(
        5, ge=1, le=50, description="most parent chunks that it, or a context block, is made of"
    )
    context_tokens: int = Field(6000, ge=100, description="longest context block, in tokens")


def _group(options: Mapping[str, Option]) -> type[_Group]:
    """Return a table of the settings file with a setting for each option."""
    settings: dict[str, Any] = {}
    for each in options.values():
        low, high = each.bounds or (None, None)
        settings[each.setting] = (
            each.type, Field(each.default, ge=low, le=high, description=each.help)
        )  # fmt: skip
    return create_model("_Options", __base__=_Group, **settings)


class SearchSettings(_group(SEARCH_OPTIONS)):  # type: ignore[misc]
    """The default search options, which a search or a collection may override."""

    def options(self, **changes: Any) -> SearchOptions:
        """Return these settings as options, with changes; ``None`` means unchanged."""
        return SearchOptions(**{**dict(self), **_without_none(changes)})


class ChunkedSettings(_group(CHUNKED_OPTIONS)):  # type: ignore[misc]
    """The default options of a search with a long text, such as a conversation."""

    def options(self, **changes: Any) -> ChunkedOptions:
        """Return these settings as options, with changes; ``None`` means unchanged."""
        values = {name: getattr(self, each.setting) for name, each in CHUNKED_OPTIONS.items()}
        return ChunkedOptions(**{**values, **_without_none(changes)})


class IndexSettings(_Group):
    """Approximate indexes, and where all indexes are kept."""

    ann_rows: int = Field(
        300_000, ge=0, description="from so many vectors on, an approximate index; 0: never"
    )
    server: str = Field(
        "", description="a Qdrant server with all indexes, as http://host:6333; empty: files"
    )
    key: SecretStr = Field(SecretStr(""), description="of that server; never shown or logged")

    @field_validator("server")
    @classmethod
    def _server_is_an_address(cls, server: str) -> str:
        server = server.strip().rstrip("/")
        if server and not re.fullmatch(r"https?://[^\s/@?#]+", server):
            raise ValueError('"index.server" needs an address such as http://127.0.0.1:6333')
        return server


class ServerSettings(_Group):
    """The page server: who may open the pages, and how searches are answered."""

    locked: bool = Field(
        False, description="pages open by a one-time link only: for machines that others use too"
    )
    host: str = Field(
        "127.0.0.1",
        description="the address to answer on; beyond this machine, browsers have to sign in",
    )
    names: tuple[str, ...] = Field(
        (), description="other names of this machine, or of a proxy before it, to answer to"
    )
    readers: int = Field(
        0, ge=0, le=64, description="processes that answer searches; 0: the server itself does"
    )


class WebSettings(_Group):
    """Web search. Nothing is sent anywhere unless a service is named."""

    engine: Literal["", "searxng", "tavily"] = Field(
        "", description='"searxng" (your own instance) or "tavily"; empty: web search is off'
    )
    url: str = Field("", description="where it answers; empty: Tavily's own address")
    key: SecretStr = Field(SecretStr(""), description="of Tavily; never shown or logged")
    results: int = Field(5, ge=1, le=20, description="web results of a search")
    seconds: float = Field(10.0, gt=0, le=60, description="longest wait for them")


class Settings(_Group):
    """All settings. Hashable, so that they can be the key of a cache."""

    library: Path = Field(default_factory=lambda: Path(platformdirs.user_data_dir("ragkit", False)))
    collection: str = Field("default", min_length=1)
    search_history: bool = Field(True, description="keep searches, and threads of the pages")
    backend: SecretStr = Field(
        SecretStr(""),
        description="address of a PostgreSQL database that holds the library; empty: its own file",
    )
    chunking: ChunkingSettings = ChunkingSettings.model_construct()
    reading: ReadingSettings = ReadingSettings.model_construct()
    sources: SourceSettings = SourceSettings.model_construct()
    models: ModelSettings = ModelSettings.model_construct()
    search: SearchSettings = SearchSettings.model_construct()
    chunked: ChunkedSettings = ChunkedSettings.model_construct()
    answers: AnswerSettings = AnswerSettings.model_construct()
    index: IndexSettings = IndexSettings.model_construct()
    server: ServerSettings = ServerSettings.model_construct()
    web: WebSettings = WebSettings.model_construct()

    @field_validator("library")
    @classmethod
    def _home_is_expanded(cls, library: Path) -> Path:
        return _expanded(library)

    @field_validator("backend")
    @classmethod
    def _backend_is_known(cls, backend: SecretStr) -> SecretStr:
        address = backend.get_secret_value().strip()
        if address and not address.startswith(_ADDRESSES):
            raise ValueError('needs a PostgreSQL address, "postgresql://USER@HOST/DATABASE"')
        return SecretStr(address)


def parse_chunking(values: Mapping[str, int]) -> ChunkingSettings:
    """Parse chunk sizes, given by name.

    Raises:
        SettingsError: a size is not valid.
    """
    try:
        return ChunkingSettings.model_validate(dict(values))
    except ValidationError as error:
        raise SettingsError(setting_faults.sentence(error), "") from error


def settings_file() -> Path:
    """Return the path of the settings file: ``RAGKIT_CONFIG``, or the platform's default."""
    path = os.environ.get("RAGKIT_CONFIG")
    return Path(path or Path(platformdirs.user_config_dir("ragkit", False), "ragkit.toml"))


def load_settings(file: Path | None = None, **command_line: Any) -> Settings:
    """Load the settings; each of TOML file, variables and ``command_line`` overrides the former.

    ``None`` in ``command_line`` means not given.

    Raises:
        SettingsError: a setting is unknown or not valid; the message names it.
    """
    path = file or settings_file()
    missing = not path.exists() or path.is_dir()
    if missing and (file is not None or os.environ.get("RAGKIT_CONFIG")):
        raise SettingsError(
            f"There is no settings file {path}.", "Check the path, or unset RAGKIT_CONFIG."
        )

    values = _without_none(command_line)
    try:
        if missing and not any(name.upper().startswith(_PREFIX) for name in os.environ):
            return Settings(**values)
        return _read_sources(path, values)
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(f"{path} is not valid TOML: {error}.", "Fix that line.") from error
    except UnicodeDecodeError as error:
        raise SettingsError(f"{path} is not UTF-8 text.", "Save it again as UTF-8.") from error
    except OSError as error:
        raise SettingsError(
            f"{path} cannot be read: {error.strerror or error}.", "Check its permissions."
        ) from error
    except ValidationError as error:
        raise SettingsError(
            setting_faults.sentence(error), setting_faults.cure(error, Settings, path, values)
        ) from error


def _read_sources(path: Path, values: dict[str, Any]) -> Settings:
    """Merge the file, the variables and the values of the command line.

    Importing pydantic_settings takes as long as everything else here, so it is not imported
    without a file or variables.
    """
    from pydantic_settings import SettingsError as PydanticSettingsError

    try:
        merged = _merging(path)(**values)
    except PydanticSettingsError as error:
        where = f"Check {path} and the RAGKIT_* variables."
        raise SettingsError(setting_faults.unparsed(error, _PREFIX), where) from error
    return Settings.model_construct(
        **{name: getattr(merged, name) for name in Settings.model_fields}
    )


@cache
def _merging(path: Path) -> type[Settings]:
    """Return a settings class that reads the file and the variables when it is instantiated.

    Cached, since building the class takes 6 ms and reading 1 ms, and pages read at each run.
    """
    from pydantic_settings import BaseSettings, InitSettingsSource, SettingsConfigDict
    from pydantic_settings import PydanticBaseSettingsSource as Source

    class _FromFile(Settings, BaseSettings):
        model_config = SettingsConfigDict(
            env_prefix=_PREFIX, env_nested_delimiter="__", env_ignore_empty=True
        )

        @classmethod
        def settings_customise_sources(
            cls,
            settings_cls: type[BaseSettings],
            init_settings: Source,
            env_settings: Source,
            dotenv_settings: Source,
            file_secret_settings: Source,
        ) -> tuple[Source, ...]:
            """Let the command line win over variables, and those over the file, BOM or not."""
            file = tomllib.loads(path.read_text("utf-8-sig") if path.is_file() else "")
            return (init_settings, env_settings, InitSettingsSource(settings_cls, file))

    return _FromFile


def _without_none(values: dict[str, Any]) -> dict[str, Any]:
    """Return the values without those that are ``None``, also in nested tables."""
    return {
        name: _without_none(value) if isinstance(value, dict) else value
        for name, value in values.items()
        if value is not None
    }


def _expanded(path: Path) -> Path:
    try:
        return path.expanduser()
    except RuntimeError as error:
        raise ValueError(f"there is no home folder for {path}") from error
