"""Messages of several questions: what each way of writing them down finds.

python benchmarks/bench_messages.py [--half first|second] [--only NAME] [--own] [--json]

The joined conversations of ``../shared/data/mtrag_pool``, each passage a document of its own, are
asked as they are given, without roles, under other names, with their last question answered, and
as their three last questions alone. Each figure is recall@10 of a half of the 150 messages, with
the interval that holds 95 % of 2,000 resamples.

``--own`` asks two sets of 60 messages as people write them instead: ``messages.json`` of the sample
library, and ``messages_by_genre.json`` of it and of ``../shared/data/docs_tree/streamlit``, a mail,
list, chat export, voice memo or other kind each; its halves are every other message. Each figure is
the share of questions of which a document is among as many results as there are questions, beside
that of the whole message as one question.
"""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from bench_chunked import SET, passages
from common import SAMPLE, SHARED, arguments, report
from large_library import lines

from ragkit.library import Library
from ragkit.options import ChunkedOptions
from ragkit.settings import load_settings

SHOWN = 10
OWN = Path(__file__).with_name("messages.json")
BY_GENRE = Path(__file__).with_name("messages_by_genre.json")
FOLDERS = {"sample": SAMPLE, "streamlit": SHARED / "docs_tree" / "streamlit"}
_TURN = re.compile(r"^(user|agent): ", re.MULTILINE)

Turn = tuple[str, str]
Written = Callable[[Sequence[Sequence[Turn]]], str]
"""Writes conversations, each a list of (user or agent, text), as one message."""


def conversations(row: Mapping[str, Any], asked: Mapping[str, Any]) -> list[list[Turn]]:
    """The conversations of a message; the answer to the last turn of each is its last item."""
    joined = []
    for aspect in row["metadata"]["aspects"]:
        of_question = asked[aspect["q"]]["metadata"]
        parts = _TURN.split(of_question["full_conversation"])[1:]
        turns = [(who, text.strip()) for who, text in zip(parts[::2], parts[1::2], strict=True)]
        joined.append(
            [*turns, ("agent", of_question.get("answer", "").strip() or "I do not know.")]
        )
    return joined


def said(
    template: str, user: str, agent: str, *, answered: int = 0, between: str = "\n"
) -> Written:
    """Turns written by a template of {who} and {text}; the last ``answered`` end in an answer."""
    names = {"user": user, "agent": agent}

    def write(joined: Sequence[Sequence[Turn]]) -> str:
        return between.join(
            template.format(who=names[who], text=text)
            for number, turns in enumerate(joined)
            for who, text in (turns if number >= len(joined) - answered else turns[:-1])
        )

    return write


def one_paragraph(joined: Sequence[Sequence[Turn]]) -> str:
    return " ".join(" ".join(text.split()) for turns in joined for _, text in turns[:-1])


def quoted(joined: Sequence[Sequence[Turn]]) -> str:
    """As in a mail: what was answered before is quoted below each question."""
    return "\n\n".join(
        text if who == "user" else "\n".join(f"> {line}" for line in text.splitlines())
        for turns in joined
        for who, text in turns[:-1]
    )


def last_turns(between: str, number: str = "") -> Written:
    def write(joined: Sequence[Sequence[Turn]]) -> str:
        last = [turns[-2][1] for turns in joined]
        return between.join(number.format(at) + " ".join(t.split()) for at, t in enumerate(last, 1))

    return write


def unmarked(write: Written, instead: str = "") -> Written:
    """Write a message without its question marks."""
    return lambda joined: write(joined).replace("?", instead)


def own_turns(joined: Sequence[Sequence[Turn]]) -> str:
    return "\n".join(
        " ".join(text.split()) for turns in joined for who, text in turns[:-1] if who == "user"
    )


VARIANTS: Mapping[str, Written] = {
    "roles as given": said("{who}: {text}", "user", "agent"),
    "one paragraph": one_paragraph,
    "blank lines": said("{text}", "", "", between="\n\n"),
    "Me/Support": said("{who}: {text}", "Me", "Support"),
    "You said": said("{who} said:\n{text}", "You", "ChatGPT", between="\n\n"),
    "## User": said("## {who}\n\n{text}", "User", "Assistant", between="\n\n"),
    "names": said("{who}: {text}", "Anna", "Ben", between="\n\n"),
    "[names] with times": said("[14:05] {who}: {text}", "Anna K.", "Ben", between="\n"),
    "quoted": quoted,
    "very last answered": said("{who}: {text}", "user", "agent", answered=1),
    "each last answered": said("{who}: {text}", "user", "agent", answered=3),
    "names, each last answered": said("{who}: {text}", "Anna", "Ben", answered=3),
    "blank lines, each last answered": said("{text}", "", "", answered=3, between="\n\n"),
    "last three, one line": last_turns(" "),
    "last three, lines": last_turns("\n"),
    "last three, blank lines": last_turns("\n\n"),
    "last three, numbered": last_turns("\n", "{}. "),
    "last three, lines, no marks": unmarked(last_turns("\n")),
    "last three, one line, full stops": unmarked(last_turns(" "), "."),
    "own turns, lines": own_turns,
}


def interval(values: Sequence[float]) -> tuple[float, float]:
    """The bounds of 95 % of the means of 2,000 resamples."""
    own = np.array(values)
    drawn = np.random.default_rng(7).integers(0, len(own), (2000, len(own)))
    low, high = np.percentile(own[drawn].mean(axis=1), [2.5, 97.5])
    return float(low), float(high)


def recalls(library: Library, half: str, only: str) -> dict[str, Any]:
    asked = {row["_id"]: row for row in lines(SET / "queries.jsonl")}
    rows = list(lines(SET / "queries_multi.jsonl"))
    rows = rows[: len(rows) // 2] if half == "first" else rows[len(rows) // 2 :]
    figures: dict[str, Any] = {}
    for name, write in VARIANTS.items():
        if only not in name:
            continue
        found = []
        for row in rows:
            text = write(conversations(row, asked))
            answer = library.search_chunked(text, chunked=ChunkedOptions(limit=SHOWN))
            paths = {Path(one.result.document.path).stem for one in answer.results[:SHOWN]}
            gold = {passage for aspect in row["metadata"]["aspects"] for passage in aspect["gold"]}
            found.append(len(paths & gold) / len(gold))
        low, high = interval(found)
        figures[name] = float(np.mean(found))
        figures[f"{name}: interval"] = f"{low:.3f} to {high:.3f}"
    return figures


def own(place: Path, half: str) -> dict[str, Any]:
    """The share of questions with a document among as many results as there are questions."""
    libraries: dict[str, Library] = {}
    for name, folder in FOLDERS.items():
        library = Library.open(load_settings(library=place / name), create=True)
        library.jobs.wait(library.sources.sync(library.sources.add_folder(folder)))
        libraries[name] = library
    messages = json.loads(OWN.read_text("utf-8"))
    by_genre = json.loads(BY_GENRE.read_text("utf-8"))
    middle = len(messages) // 2
    chosen = {
        OWN.stem: messages[:middle] if half == "first" else messages[middle:],
        BY_GENRE.stem: by_genre[0 if half == "first" else 1 :: 2],
    }
    shares: dict[str, list[float]] = {}
    for name, of_set in chosen.items():
        for message in of_set:
            for way, share in both_ways(libraries[message.get("library", "sample")], message):
                shares.setdefault(f"{name}, {way}", []).append(share)
    for library in libraries.values():
        library.close()
    figures: dict[str, Any] = {}
    for name, values in shares.items():
        low, high = interval(values)
        figures[name] = float(np.mean(values))
        figures[f"{name}: interval"] = f"{low:.3f} to {high:.3f}"
    return figures


def both_ways(library: Library, message: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    """Yield the share of found questions, asked each for itself and as one question."""
    count = len(message["gold"])
    apart = library.search_chunked(message["text"], chunked=ChunkedOptions(limit=count))
    whole = library.search(message["text"], library.options(limit=count))
    for way, paths in (
        ("each for itself", {each.result.document.path for each in apart.results[:count]}),
        ("as one question", {each.document.path for each in whole.results}),
    ):
        yield way, float(np.mean([not paths.isdisjoint(gold) for gold in message["gold"]]))


def main() -> None:
    parser = arguments(__doc__ or "")
    parser.add_argument("--half", choices=("first", "second"), default="second")
    parser.add_argument("--only", default="", help="variants whose name holds this")
    parser.add_argument("--own", action="store_true", help="messages as people write them")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if given.own:
            figures = own(Path(folder), given.half)
        else:
            library = passages(Path(folder))
            figures = recalls(library, given.half, given.only)
            library.close()
    report(figures, given.json)


if __name__ == "__main__":
    main()
