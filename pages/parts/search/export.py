"""Results as files: JSON, Markdown and CSV. Pure functions."""

from __future__ import annotations

import csv
import io
import json
import re

from ragkit.results import Answer
from ragkit.surfaces.render import answer_as_json

_FORMULA = ("=", "+", "-", "@", "\t", "\r")
_MARKDOWN = re.compile(r"([\\`*_{}\[\]<>#|!~])")


def as_json(answer: Answer) -> str:
    """Return the same object as ``ragkit search --json`` prints."""
    return json.dumps(answer_as_json(answer), ensure_ascii=False, indent=2) + "\n"


def as_markdown(answer: Answer) -> str:
    """Return results with their passages as quotations."""
    lines = [f"# {_plain(answer.query)}", ""]
    for result in answer.results:
        document = result.document
        lines += [
            f"## {_plain(document.title)}",
            "",
            f"`{document.path.replace('`', '_')}` · {result.chunk_coverage} · {result.score:.2f}",
            "",
        ]
        for passage in result.passages:
            where = " › ".join(_plain(title) for title in passage.heading_path)
            page = f"p. {passage.page}" if passage.page else ""
            if where or page:
                lines += [" · ".join(filter(None, (where, page))), ""]
            lines += [f"> {_plain(line)}" for line in passage.text.strip().splitlines()]
            lines.append("")
    return "\n".join(lines).rstrip() + "\n"


def as_csv(answer: Answer) -> str:
    """Return one line for each passage, with no cell that a spreadsheet takes for a formula."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(
        ["rank", "score", "title", "path", "collection", "page", "headings", "coverage", "text"]
    )
    for rank, result in enumerate(answer.results, start=1):
        document = result.document
        for passage in result.passages:
            writer.writerow(
                [
                    rank,
                    f"{result.score:.4f}",
                    _cell(document.title),
                    _cell(document.path),
                    _cell(document.collection),
                    passage.page if passage.page is not None else "",
                    _cell(" › ".join(passage.heading_path)),
                    result.chunk_coverage,
                    _cell(passage.text),
                ]
            )
    return out.getvalue()


def _plain(text: str) -> str:
    """Escape Markdown."""
    return _MARKDOWN.sub(r"\\\1", " ".join(text.split()))


def _cell(text: str) -> str:
    return f"'{text}" if text.startswith(_FORMULA) else text
