"""Index generations on disk: immutable folders whose manifest is written last.

A generation is made under a temporary name, flushed to the disk file by file, and renamed into
place whole. Whatever instant the process dies at, there is the old one, or the new one.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path

from ragkit.errors import IndexCorruptError
from ragkit.indexes.bm25 import Bm25Parameters
from ragkit.indexes.local.collection import CollectionIndex
from ragkit.indexes.local.files import (
    FORMAT_VERSION,
    MANIFEST,
    PREFIX,
    FileRecord,
    fault_of,
    flush_folder,
    generations,
    number_of,
    record,
)
from ragkit.indexes.local.hnsw import (
    GraphParameters,
    GraphState,
    graph_state,
    write_graph,
)
from ragkit.indexes.local.segment import Segment, file_of_vectors, is_mapped
from ragkit.indexes.local.segment_files import write_segment
from ragkit.indexes.local.vector import LateGraph
from ragkit.indexes.rows import RowSlices
from ragkit.types import Version

_TEMPORARY = ".making-"
_CURE = "It is made anew from the catalog."


@dataclass(frozen=True, slots=True)
class Manifest:
    """The description of a generation; ``token`` is that of the collection's version.

    ``representing`` of its ``vectors`` represent chunks: a graph links those.
    """

    format_version: int
    fingerprint: str
    tokenizer_version: str
    collection_version: int
    token: str
    entries: int
    vectors: int
    representing: int
    tokens: int
    max_entry_id: int
    k1: float
    b: float
    files: dict[str, FileRecord]

    @property
    def version(self) -> Version:
        """The version of the collection that the generation holds."""
        return Version(self.collection_version, self.token)

    @property
    def vectors_file(self) -> FileRecord:
        """The file that holds the vectors that a graph links, by which it is known."""
        return self.files[file_of_vectors(self.files)]


@dataclass(frozen=True, slots=True)
class Generation:
    """An opened generation; ``name`` is that of its ``folder``."""

    name: str
    manifest: Manifest
    segment: Segment
    folder: Path

    def index(self) -> CollectionIndex:
        """Return an index over it, without any change since."""
        return CollectionIndex.over(self.segment, self.manifest.version)


@dataclass(frozen=True, slots=True)
class NewestGraph:
    """The newest generation's folder, how many vectors a graph of it links, and its state."""

    path: Path
    vectors: int
    state: GraphState


def write_generation(
    folder: Path,
    rows: RowSlices,
    *,
    fingerprint: str,
    tokenizer_version: str,
    version: Version,
    parameters: Bm25Parameters | None = None,
) -> Path:
    """Index rows and write them as the newest generation in ``folder``; return its path.

    Raises:
        OSError: the disk is full or may not be written; what was there stays.
    """
    folder.mkdir(parents=True, exist_ok=True)
    parameters = parameters or Bm25Parameters()
    temporary = Path(tempfile.mkdtemp(prefix=_TEMPORARY, dir=folder))
    try:
        content, scratch = temporary / "content", temporary / "scratch"
        scratch.mkdir()
        written = write_segment(content, rows, parameters, scratch)
        files = {
            path.relative_to(content).as_posix(): record(path, flush=True)
            for path in sorted(content.rglob("*"))
            if path.is_file()
        }
        manifest = Manifest(
            format_version=FORMAT_VERSION,
            fingerprint=fingerprint,
            tokenizer_version=tokenizer_version,
            collection_version=version.number,
            token=version.token,
            k1=parameters.k1,
            b=parameters.b,
            files=files,
            **asdict(written),
        )
        path = content / MANIFEST
        path.write_text(json.dumps(asdict(manifest), indent=1), encoding="utf-8")
        record(path, flush=True)
        for inner in {path.parent for path in content.rglob("*")} | {content}:
            flush_folder(inner)
        final = folder / f"{PREFIX}{_next_number(folder):010d}"
        content.rename(final)
        flush_folder(folder)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    return final


def open_newest(
    folder: Path,
    *,
    fingerprint: str | None = None,
    tokenizer_version: str | None = None,
    parameters: Bm25Parameters | None = None,
    checksums: bool = True,
    mapped: bool = True,
) -> Generation | None:
    """Open the newest generation; ``None`` when there is none, or one of an older version.

    It must have been made with the arguments that are given: by another embedder it is corrupt,
    with another tokenizer or other parameters of an older version. Sizes and counts are always
    checked, and with ``checksums`` every byte: those of files that are ``mapped`` take 0.1 s for
    100,000 chunks, and many times that where they are not in memory. ``fault_of_bytes`` checks
    them later.

    Raises:
        IndexCorruptError: it is damaged or does not fit; the message names what.
    """
    while paths := generations(folder):
        try:
            manifest = _read_manifest(paths[-1])
            if manifest is None:
                return None
            _check_fit(paths[-1], manifest, fingerprint)
            if _is_outdated(manifest, tokenizer_version, parameters):
                return None
            _check_files(paths[-1], manifest, checksums, mapped)
            return _open(paths[-1], manifest)
        except IndexCorruptError:
            # The writer may have put a newer one in its place and deleted this one.
            if generations(folder)[-1:] == paths[-1:]:
                raise
    return None


def fault_of_bytes(path: Path, manifest: Manifest) -> str:
    """Check every byte of a generation; return what has changed, or an empty string.

    One that was deleted meanwhile has no fault.
    """
    try:
        _check_files(path, manifest, checksums=True)
        return ""
    except IndexCorruptError as error:
        fault = error.message
    except OSError as error:
        fault = _corrupt(path, f"its files cannot be read: {error}").message
    # When one is deleted, its manifest goes first.
    return fault if (path / MANIFEST).exists() else ""


def _check_fit(path: Path, manifest: Manifest, fingerprint: str | None) -> None:
    expected = [
        ("the format version", manifest.format_version, FORMAT_VERSION),
        ("the embedder", manifest.fingerprint, fingerprint),
    ]
    for what, actual, required in expected:
        if required is not None and actual != required:
            raise _corrupt(path, f"{what} is {actual}, not {required}")


def _is_outdated(
    manifest: Manifest, tokenizer_version: str | None, parameters: Bm25Parameters | None
) -> bool:
    """Return whether a generation holds tokens or weights of another version of ragkit."""
    if tokenizer_version is not None and manifest.tokenizer_version != tokenizer_version:
        return True
    return parameters is not None and (manifest.k1, manifest.b) != (parameters.k1, parameters.b)


def _open(path: Path, manifest: Manifest) -> Generation:
    """Open one generation, and count what it holds."""
    try:
        segment = Segment.load(path, LateGraph(path, manifest.vectors_file))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise _corrupt(path, f"its files cannot be read: {error}") from error
    last = int(segment.entry_ids[-1]) if len(segment) else 0
    counts = [
        ("entries", len(segment), manifest.entries),
        ("vectors", len(segment.vectors), manifest.vectors),
        ("vectors of chunks", len(segment.vectors.representing), manifest.representing),
        ("tokens", sum(i.totals.tokens for i in segment.keywords.values()), manifest.tokens),
        ("highest entry id", last, manifest.max_entry_id),
    ]
    for what, counted, recorded in counts:
        if counted != recorded:
            raise _corrupt(path, f"{what}: {counted} in its files, {recorded} in its manifest")
    return Generation(path.name, manifest, segment, path)


def build_graph_of(path: Path, parameters: GraphParameters | None = None) -> None:
    """Build the graph of a generation and put it into its folder; it has vectors.

    Raises:
        IndexCorruptError: the generation is damaged, or is being deleted.
        OSError: the disk is full or may not be written.
    """
    manifest = _read_manifest(path)
    if manifest is None:
        raise _corrupt(path, "it is of an older format")
    _check_files(path, manifest, checksums=True)
    try:
        segment = Segment.load(path)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise _corrupt(path, f"its files cannot be read: {error}") from error
    vectors = segment.vectors.representing.usable_vectors
    write_graph(path, vectors, manifest.vectors_file, parameters)


def newest_graph(folder: Path, *, checksums: bool = True) -> NewestGraph | None:
    """Return the state of the newest generation's graph; ``None`` without one of this format.

    Raises:
        IndexCorruptError: the generation is damaged.
    """
    paths = generations(folder)
    if not paths:
        return None
    manifest = _read_manifest(paths[-1])
    if manifest is None:
        return None
    try:
        state = graph_state(paths[-1], manifest.vectors_file, checksums=checksums)
    except KeyError as error:
        raise _corrupt(paths[-1], f"{error} is not in its manifest") from error
    return NewestGraph(paths[-1], manifest.representing, state)


def prune(folder: Path, keep: int = 1) -> int:
    """Delete all but the newest generations and what dead writers left; return how many.

    Only the one writer of a library may call it. Readers that have a generation open keep it.
    """
    old = generations(folder)
    gone = old[: max(0, len(old) - keep)] if keep > 0 else old
    left = [path for path in folder.glob(f"{_TEMPORARY}*") if path.is_dir()]
    for path in [*gone, *left]:
        # Without its manifest it is no generation any more, whenever the deletion stops.
        (path / MANIFEST).unlink(missing_ok=True)
        shutil.rmtree(path, ignore_errors=True)
    return len(gone)


def _read_manifest(path: Path) -> Manifest | None:
    """Read a manifest, ``None`` for one of an older format; an error names what is wrong."""
    try:
        content = json.loads((path / MANIFEST).read_text(encoding="utf-8"))
        if 0 < content["format_version"] < FORMAT_VERSION:
            return None
        files = {name: FileRecord(**file) for name, file in content.pop("files").items()}
        return Manifest(files=files, **content)
    except FileNotFoundError as error:
        raise _corrupt(path, f"{MANIFEST} is missing") from error
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise _corrupt(path, f"{MANIFEST} cannot be read: {error}") from error


def _check_files(path: Path, manifest: Manifest, checksums: bool, mapped: bool = True) -> None:
    """Compare every file with its record; the bytes of those that are mapped only if asked for."""
    for name, expected in manifest.files.items():
        is_read = mapped or not is_mapped(name, expected.size)
        fault = fault_of(path, name, expected, checksums=checksums and is_read)
        if fault:
            raise _corrupt(path, fault)


def _next_number(folder: Path) -> int:
    """Return the number after the highest in use."""
    numbers = [number_of(path.name) or 0 for path in folder.iterdir()]
    return max(numbers, default=0) + 1


def _corrupt(path: Path, what: str) -> IndexCorruptError:
    """Return the error that names what does not fit."""
    return IndexCorruptError(f"The index {path.name} does not fit: {what}.", _CURE)
