"""How long the two roads are: own files, functions and moves between files.

``search`` is one warm search in one collection of the sample library; ``document`` is one new
file, from the scan to the index generation, in the process that writes (children that read files
are not seen). A move is a call from one own file into another, helper threads included.

python benchmarks/trace_road.py [--list] [--json]
"""

from __future__ import annotations

import shutil
import sys
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

from common import ROOT, SAMPLE, arguments, report

from ragkit.library import Library
from ragkit.settings import load_settings

PACKAGE = f"{ROOT / 'ragkit'}/"
WARM_UP = ("how long does sourdough rest", "invoices of march", "an interview about owls")
QUESTION = "which knot holds a boat at the pier"
NEW_FILE = "# Lanterns\n\nThe lantern of the harbour office is lit at dusk. Bring oil.\n"
INNER = ("<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>", "<lambda>")


class Road:
    """Own files in the order in which they are entered, functions, and moves between files."""

    def __init__(self) -> None:
        self.files: dict[str, None] = {}
        self.functions: set[CodeType] = set()
        self.moves: set[tuple[CodeType, CodeType]] = set()
        self._stacks = threading.local()

    def trace(self, frame: FrameType, event: str, _argument: Any) -> None:
        """The profile function: keep the stack of own files of each thread."""
        code = frame.f_code
        if event not in ("call", "return") or not code.co_filename.startswith(PACKAGE):
            return
        stack = self._stacks.__dict__.setdefault("codes", [])
        if event == "return":
            if stack:
                stack.pop()
            return
        if stack and stack[-1].co_filename != code.co_filename:
            self.moves.add((stack[-1], code))
        stack.append(code)
        self.files[code.co_filename.removeprefix(PACKAGE)] = None
        if code.co_name not in INNER:
            self.functions.add(code)

    def run(self, work: Callable[[], Any]) -> Road:
        """Follow what ``work`` does in this thread and in those that it starts."""
        threading.setprofile(self.trace)
        sys.setprofile(self.trace)
        try:
            work()
        finally:
            sys.setprofile(None)
            threading.setprofile(None)
        return self

    def figures(self, name: str) -> dict[str, int]:
        """The three numbers."""
        return {
            f"{name}_files": len(self.files),
            f"{name}_functions": len(self.functions),
            f"{name}_moves": len(self.moves),
        }


def roads(place: Path) -> dict[str, Road]:
    files = Path(shutil.copytree(SAMPLE, place / "files"))
    library = Library.open(load_settings(library=place / "library"), create=True)
    source = library.sources.add_folder(files)
    library.jobs.wait(library.sources.sync(source))
    for question in WARM_UP:
        library.search(question)
    search = Road().run(lambda: library.search(QUESTION))
    (files / "lanterns.md").write_text(NEW_FILE, "utf-8")
    document = Road().run(lambda: library.jobs.wait(library.sources.sync(source)))
    found = [result.document.path for result in library.search("lantern dusk oil").results]
    if found[:1] != ["lanterns.md"]:
        raise RuntimeError("the new file was not found")
    library.close()
    return {"search": search, "document": document}


def main() -> None:
    parser = arguments(__doc__ or "")
    parser.add_argument("--list", action="store_true", help="name the files, in their order")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="ragkit-road-") as place:
        measured = roads(Path(place))
    figures: dict[str, int] = {}
    for name, road in measured.items():
        figures |= road.figures(name)
    report(figures, options.json)
    for name, road in measured.items() if options.list else ():
        print(f"\n{name}")
        for number, path in enumerate(road.files, 1):
            functions = sorted(
                one.co_qualname
                for one in road.functions
                if one.co_filename.removeprefix(PACKAGE) == path
            )
            print(f"{number:3}  {path:<40}{len(functions):3}  {', '.join(functions)}")


if __name__ == "__main__":
    main()
