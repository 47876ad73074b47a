"""Indexing a folder: against reading and embedding alone, and against a plain llama-index script.

python benchmarks/bench_indexing.py [FOLDER] [--json]
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from common import ROOT, SAMPLE, SHARED, arguments, median, process_seconds, python, report, seconds


def read_and_embed(folder: Path) -> int:
    """Only what cannot be left out: read each file, cut it, embed every text that is indexed."""
    from itertools import groupby

    from ragkit.chunking import divide, structural_context
    from ragkit.chunking.structural_context import chunk_text, document_text, section_text
    from ragkit.errors import ReadingError
    from ragkit.models.factory import open_embedder
    from ragkit.reading import read_file
    from ragkit.settings import load_settings
    from ragkit.sources.scan import scan_folder

    settings = load_settings()
    embedder = open_embedder(settings.models)
    texts: dict[str, None] = {}
    for path in sorted(scan_folder(folder).files):
        try:
            reading = read_file(folder / path, path, settings.reading)
        except ReadingError:
            continue
        chunks = divide(reading, settings.chunking).chunks
        contexts = [structural_context(reading.title, one, reading.pages) for one in chunks]
        for chunk, context in zip(chunks, contexts, strict=True):
            texts[chunk_text(context, reading.text, chunk)] = None
        for _section, inside in groupby(chunks, key=lambda one: one.section):
            section = list(inside)
            texts[section_text(contexts[section[0].index], reading.text, section)] = None
        texts[document_text(reading.title, reading.text, chunks)] = None
    embedder.embed_passages(list(texts))
    return len(texts)


def index(folder: Path, library: Path) -> None:
    """The whole of it, in this process."""
    from ragkit.library import Library
    from ragkit.settings import load_settings

    opened = Library.open(load_settings(library=library), create=True)
    opened.jobs.wait(opened.sources.sync(opened.sources.add_folder(folder)))
    opened.close()


def sync_again(library: Path) -> None:
    """Look at the folder once more, in this process, when nothing has changed."""
    from ragkit.library import Library
    from ragkit.settings import load_settings

    opened = Library.open(load_settings(library=library))
    opened.jobs.wait(opened.jobs.add("sync"))
    opened.close()


def main() -> None:
    default = SHARED / "docs_tree" / "streamlit"
    parser = arguments(__doc__ or "")
    parser.add_argument(
        "folder", nargs="?", type=Path, default=default if default.is_dir() else SAMPLE
    )
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    ragkit = [python(), "-m", "ragkit"]
    plain = [python(), str(ROOT / "benchmarks" / "plain_llama_index.py"), str(options.folder)]
    import llama_index.core.ingestion  # noqa: F401 - both sides then start warm

    alone, whole, again, first, second, yardstick = [], [], [], [], [], []
    for _ in range(options.runs):
        with tempfile.TemporaryDirectory() as place:
            alone.append(seconds(lambda: read_and_embed(options.folder)))
            whole.append(seconds(lambda: index(options.folder, Path(place, "inside"))))
            again.append(seconds(lambda: sync_again(Path(place, "inside"))))
            library = str(Path(place, "outside"))
            add = [*ragkit, "add", "--library", library, str(options.folder)]
            first.append(process_seconds(add))
            second.append(process_seconds([*ragkit, "sync", "--library", library]))
            yardstick.append(process_seconds(plain))
    figures = {
        "folder": options.folder.name,
        "read_and_embed_seconds": median(alone),
        "index_seconds": median(whole),
        "throughput_of_reading_and_embedding": median(alone) / median(whole),
        "index_again_seconds": median(again),
        "index_again_to_first": median(again) / median(whole),
        "add_process_seconds": median(first),
        "plain_llama_index_process_seconds": median(yardstick),
        "add_to_plain_llama_index": median(first) / median(yardstick),
        "second_sync_process_seconds": median(second),
        "second_sync_to_first": median(second) / median(first),
    }
    report(figures, options.json)


if __name__ == "__main__":
    main()
