"""Checks of a library: its catalog, contents, vectors and indexes, and whether they agree.

The checks change nothing; each finding names its fix.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from itertools import islice, product
from pathlib import Path
from typing import TypeAlias

from ragkit.catalog import Catalog
from ragkit.catalog.background_state import read_embedder_state
from ragkit.catalog.copies import BACKUPS_OF_SERVER, backup_is_due, backups, describe
from ragkit.catalog.records import CollectionRecord
from ragkit.errors import RagkitError
from ragkit.formatting import byte_size, plural
from ragkit.health.consistency import IndexState, compare_index, fault_of
from ragkit.health.environment import ENVIRONMENT_CHECKS
from ragkit.health.findings import Depth, Finding, Parts
from ragkit.health.recovery import unknown_uploads
from ragkit.indexes.local.generation import newest_graph
from ragkit.indexes.local.hnsw import GraphState
from ragkit.models.factory import full_name, is_lazy
from ragkit.paths import LibraryPaths
from ragkit.types import INDEXED_LEVELS, Version

_MOST_AT_A_GLANCE = 5
_MOST_NAMED = 3
_CATALOG_CURE = "run ragkit restore for the last good backup, or ragkit recover to save what it can"
_PLAIN = CollectionRecord(0, "", {}, Version(0))
_TORN = "its stored parts do not match"

_Check: TypeAlias = Callable[[Parts], Iterator[Finding]]


def check_library(
    parts: Parts, depth: Depth, *, collection: str | None = None
) -> tuple[Finding, ...]:
    """Check the library and its environment.

    Raises:
        NotFoundError: there is no such collection.
    """
    return _findings(parts, depth, collection, {**ENVIRONMENT_CHECKS, **_CHECKS[depth]})


def verify_library(parts: Parts, *, collection: str | None = None) -> tuple[Finding, ...]:
    """Check only the library, completely: nothing is lost, inconsistent or left over.

    Raises:
        NotFoundError: there is no such collection.
    """
    return _findings(parts, Depth.VERIFY, collection, _CHECKS[Depth.VERIFY])


def _findings(
    parts: Parts, depth: Depth, collection: str | None, checks: Mapping[str, _Check]
) -> tuple[Finding, ...]:
    """Run checks by name; one that fails becomes a finding."""
    scope = parts.catalog.collections.get(collection) if collection is not None else None
    narrowed = replace(parts, scope=scope, depth=depth)
    findings: list[Finding] = []
    for name, check in checks.items():
        try:
            findings += check(narrowed)
        except RagkitError as error:
            findings.append(Finding(name, False, error.message, error.cure))
        except OSError as error:
            why = (error.strerror or str(error)).lower()
            findings.append(Finding(name, False, f"This could not be checked: {why}."))
        except (ValueError, TypeError, KeyError) as error:
            # Damaged rows may fail in any of these ways.
            text = f"The catalog holds invalid data: {error}."
            findings.append(Finding(name, False, text, _CATALOG_CURE))
    return tuple(findings)


def documents_to_read_again(parts: Parts) -> set[int]:
    """Return the ids of all documents with a fault that reading the file again fixes.

    This reads the whole library.
    """
    integrity = parts.catalog.integrity
    faulty = {*integrity.torn_documents(), *integrity.left_over()}
    faulty |= integrity.owners({*integrity.living_removed(), *integrity.words().broken_entries})
    if parts.embedder is None or not is_lazy(parts.embedder):
        faulty |= set(integrity.without_vectors(parts.embedder_id))
    for collection in parts.catalog.collections.all():
        faulty |= set(_faults(parts, collection))
    return faulty


def _catalog(parts: Parts) -> Iterator[Finding]:
    integrity = parts.catalog.integrity
    damage = integrity.damage(whole=parts.depth is Depth.VERIFY)
    if damage:
        text = f"The catalog is damaged: {damage[0]}"
        yield Finding("catalog", False, text, _CATALOG_CURE, len(damage))
        return
    broken = integrity.broken_references()
    if broken:
        text = f"The catalog has {plural(broken, 'orphaned row')}."
        yield Finding("catalog", False, text, _CATALOG_CURE, broken)
        return
    size, spare = integrity.space()
    spares = f", {byte_size(spare)} of it unused" if spare else ""
    yield Finding("catalog", True, f"The catalog is intact: {byte_size(size)}{spares}.")


def _contents(parts: Parts) -> Iterator[Finding]:
    integrity = parts.catalog.integrity
    faults = dict.fromkeys(integrity.torn_documents(parts.collection_id), _TORN)
    if parts.depth is Depth.VERIFY:
        for collection in parts.collections():
            faults |= _faults(parts, collection)
    extra = integrity.left_over(parts.collection_id)
    if faults:
        examples = parts.catalog.documents.get_many(islice(faults, _MOST_NAMED)).values()
        named = "; ".join(f"{document.path}: {faults[document.id]}" for document in examples)
        text = f"{plural(len(faults), 'damaged document')} ({named})."
        yield Finding("contents", False, text, "reread", len(faults))
    if extra:
        text = f"{plural(len(extra), 'document')} with leftover contents, though not indexed."
        yield Finding("contents", False, text, "reread", len(extra))
    if not faults and not extra:
        count = len(integrity.document_ids(parts.collection_id))
        yield Finding("contents", True, "Every indexed document is complete.", count=count)


def _faults(parts: Parts, collection: CollectionRecord) -> dict[int, str]:
    integrity, fingerprint = parts.catalog.integrity, parts.pipeline_fingerprint(collection)
    faults = {}
    for document_id in integrity.document_ids(collection.id):
        stored = integrity.stored(document_id)
        fault = fault_of(stored, fingerprint) if stored else ""
        if fault:
            faults[document_id] = fault
    return faults


def _embedder(parts: Parts) -> Iterator[Finding]:
    if parts.embedder is None:
        yield Finding("embedder", False, parts.trouble or "No embedding model is available.")
        return
    integrity, name = parts.catalog.integrity, parts.embedder.name
    missing: Mapping[int, int] = {}
    # Only lazy embedders leave entries without vectors, and checking a million takes seconds.
    if parts.depth is not Depth.GLANCE or (
        is_lazy(parts.embedder) and not parts.catalog.vectors.is_complete(parts.embedder_id)
    ):
        missing = integrity.without_vectors(parts.embedder_id, parts.collection_id)
    own = {
        collection.id: _fingerprint(parts, collection)
        for collection in parts.catalog.collections.with_settings()
    }
    stale = integrity.stale(_fingerprint(parts, _PLAIN), own, parts.collection_id)
    lost = {document: count for document, count in missing.items() if document not in stale}
    if lost and is_lazy(parts.embedder):
        yield _waiting(parts, name, len(lost))
    elif lost:
        count = sum(lost.values())
        text = (
            f"{plural(count, 'entry')} without a vector of {name}: only keyword search finds them."
        )
        yield Finding("embedder", False, text, "reread", count)
    elif stale:
        text = (
            f"{plural(len(stale), 'document')} of an older version; the next sync re-indexes them."
        )
        yield Finding("embedder", True, text, "sync", len(stale))
    else:
        text = f"Every entry has a vector of {name} ({parts.embedder.dimensions} dimensions)."
        yield Finding("embedder", True, text + _to_come(parts))


def _fingerprint(parts: Parts, collection: CollectionRecord) -> str:
    return parts.pipeline_fingerprint(collection) or ""


def _waiting(parts: Parts, name: str, documents: int) -> Finding:
    """Report vectors that are still to be made: fine, unless the embedder is unavailable."""
    state = read_embedder_state(parts.catalog)
    text = (
        f"{plural(documents, 'document')} waiting for vectors of {name}; "
        f"keyword search finds {'them' if documents != 1 else 'it'} meanwhile."
    )
    return Finding("embedder", not state.message, f"{text} {state.message}".strip(), "", documents)


def _to_come(parts: Parts) -> str:
    """Return a sentence on a switch of the embedder, under way or suggested by the settings."""
    choice = parts.catalog.embedders.choice()
    if choice is None or parts.embedder is None or parts.embedder.name != choice.active.name:
        return ""
    if choice.target:
        return f" The library is switching to {choice.target}."
    name = full_name(parts.settings.models.embedder)
    if name != choice.active.name:
        return f" The settings name {name}: run ragkit embedder {name} to switch to it."
    return ""


def _indexes(parts: Parts) -> Iterator[Finding]:
    if server := parts.settings.index.server:
        text = f"Indexes are on {server}; each search compares their number of entries."
        yield Finding("indexes", True, text)
        return
    glance = parts.depth is Depth.GLANCE
    checked = parts.collections(_MOST_AT_A_GLANCE if glance else -1)
    left_out = 0 if parts.scope else parts.catalog.collections.count() - len(checked)
    states: list[IndexState] = []
    graphs: list[GraphState] = []
    faults: list[str] = []
    for collection, level in product(checked, INDEXED_LEVELS):
        state = compare_index(parts, collection, level)
        states.append(state)
        if state.fault:
            faults.append(f"{collection.name}, {level.value}: {state.fault}")
            continue
        graph = _graph(parts, parts.index_folder(collection, level))
        graphs += [graph] if graph else []
        if graph is GraphState.DAMAGED:
            text = "the approximate index is damaged; search is exact meanwhile."
            faults.append(f"{collection.name}, {level.value}: {text}")
    for fault in faults:
        yield Finding("indexes", False, fault, "rebuild_indexes", 1)
    if not faults:
        yield _agreeing(states, graphs, parts.depth, left_out)


def _graph(parts: Parts, folder: Path) -> GraphState | None:
    """Return the state of an index's graph; ``None`` if the index needs none."""
    newest = newest_graph(folder, checksums=parts.depth is not Depth.GLANCE)
    least = parts.settings.index.ann_rows
    if newest is None or (newest.state is GraphState.NONE and not 0 < least <= newest.vectors):
        return None
    return newest.state


def _agreeing(
    states: list[IndexState], graphs: list[GraphState], depth: Depth, left_out: int
) -> Finding:
    entries = sum(state.entries for state in states)
    indexed = sum(state.found for state in states)
    vectors = sum(state.vectors for state in states)
    outdated = sum(state.outdated for state in states)
    if outdated:
        it = "it" if outdated == 1 else "them"
        text = (
            f"{plural(outdated, 'index')} of an older version of ragkit:"
            f" the next search makes {it} anew from the catalog."
        )
    elif any(state.missing for state in states):
        text = f"{indexed:,} of {entries:,} entries are in an index; the next search adds the rest."
    elif depth is Depth.GLANCE:
        text = f"Catalog and indexes agree: {plural(entries, 'entry')}."
    else:
        each = f"{entries:,}, {indexed:,} and {vectors:,} entries"
        text = f"Catalog, keywords and vectors agree: {each}."
    if graphs:
        missing = graphs.count(GraphState.NONE)
        waiting = f", {missing} of them not built yet" if missing else ""
        text += f" Approximate indexes: {len(graphs)}{waiting}."
    if left_out:
        text += f" ({plural(left_out, 'more collection')} not checked.)"
    fix = "rebuild_indexes" if outdated else ""
    return Finding("indexes", True, text, fix, entries)


def _vectors(parts: Parts) -> Iterator[Finding]:
    integrity = parts.catalog.integrity
    misshapen, spare = integrity.misshapen_vectors(), integrity.orphaned_vectors()
    if misshapen:
        text = f"{plural(misshapen, 'vector')} of the wrong length."
        yield Finding("vectors", False, text, "reread", misshapen)
    elif spare:
        text = f"{plural(spare, 'unused vector')}."
        yield Finding("vectors", True, text, "compact", spare)
    else:
        yield Finding("vectors", True, "Every vector is in use.")


def _removals(parts: Parts) -> Iterator[Finding]:
    integrity = parts.catalog.integrity
    living = len(integrity.living_removed(parts.collection_id))
    kept = integrity.removals(parts.collection_id)
    if living:
        text = f"{plural(living, 'entry')} both present and recorded as removed."
        yield Finding("removals", False, text, "reread", living)
    else:
        text = f"{plural(kept, 'removal')} on record."
        yield Finding("removals", True, text, count=kept)


def _counts(parts: Parts) -> Iterator[Finding]:
    wrong = len(parts.catalog.integrity.miscounted(parts.collection_id))
    if wrong:
        text = f"The stored number of entries of {plural(wrong, 'collection')} is wrong."
        yield Finding("counts", False, text, "rebuild_indexes", wrong)
    else:
        yield Finding("counts", True, "The stored numbers of entries are correct.")


def _uploads(parts: Parts) -> Iterator[Finding]:
    lost = [
        path
        for root, path in parts.catalog.integrity.upload_paths()
        if parts.is_here(root) and not Path(root, path).is_file()
    ]
    if lost:
        text = f"{plural(len(lost), 'uploaded file')} missing: {', '.join(lost[:_MOST_NAMED])}."
        fix = "upload them again, or sync to remove them from the index"
        yield Finding("uploads", False, text, fix, len(lost))
    unknown = unknown_uploads(parts.catalog, parts.paths)
    if unknown:
        named = ", ".join(file.name for file in unknown[:_MOST_NAMED])
        text = f"{plural(len(unknown), 'uploaded file')} not in the catalog: {named}."
        yield Finding("uploads", False, text, "adopt_uploads", len(unknown))
    if not lost and not unknown:
        yield Finding("uploads", True, "Every uploaded file is there.")


def _backups(parts: Parts) -> Iterator[Finding]:
    if parts.catalog.connections.file is None:
        yield Finding("backups", True, BACKUPS_OF_SERVER)
        return
    kept = backups(parts.paths)
    is_due = parts.catalog.documents.any() and backup_is_due(parts.paths)
    yield Finding("backups", True, describe(kept), "backup" if is_due else "", len(kept))


def _leftovers(parts: Parts) -> Iterator[Finding]:
    count = sum(1 for _path in leftovers(parts.catalog, parts.paths))
    text = (
        f"{plural(count, 'leftover file') if count else 'No leftover files'} of interrupted work."
    )
    yield Finding("leftovers", True, text, "compact" if count else "", count)


def leftovers(catalog: Catalog, paths: LibraryPaths) -> Iterator[Path]:
    """Yield what killed writers left behind, and indexes of deleted collections."""
    collections = {str(collection.id) for collection in catalog.collections.all()}
    if paths.temporary.is_dir():
        yield from sorted(paths.temporary.iterdir())
    if paths.indexes.is_dir():
        for folder in sorted(paths.indexes.iterdir()):
            if folder.name not in collections:
                yield folder
            else:
                yield from sorted(folder.glob("*/*/.making-*"))


def _words(parts: Parts) -> Iterator[Finding]:
    words = parts.catalog.integrity.words()
    broken = len(words.broken_entries)
    if broken:
        text = f"{plural(broken, 'entry')} with words missing from the vocabulary."
        yield Finding("words", False, text, "reread", broken)
    else:
        text = f"Every word is in the vocabulary; {words.unused} are unused."
        yield Finding("words", True, text, count=words.unused)


_AT_A_GLANCE: Mapping[str, _Check] = {"embedder": _embedder, "indexes": _indexes}
_CLOSELY: Mapping[str, _Check] = {
    **_AT_A_GLANCE,
    "catalog": _catalog,
    "contents": _contents,
    "vectors": _vectors,
    "removals": _removals,
    "counts": _counts,
    "uploads": _uploads,
    "leftovers": _leftovers,
    "backups": _backups,
}
_CHECKS: Mapping[Depth, Mapping[str, _Check]] = {
    Depth.GLANCE: _AT_A_GLANCE,
    Depth.CHECK: _CLOSELY,
    Depth.VERIFY: {**_CLOSELY, "words": _words},
}
"""The checks of the library at each depth, by the name of their findings."""
