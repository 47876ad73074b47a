"""An answer as a file to save: JSON, Markdown or CSV."""

from __future__ import annotations

import csv
import io
import json

from ragkit.formatting import csv_text, escape_markdown, page_range
from ragkit.results import Answer
from ragkit.surfaces.render import answer_as_json


def export_json(answer: Answer) -> str:
    """Return an answer as ``ragkit search --json`` prints it."""
    return json.dumps(answer_as_json(answer), ensure_ascii=False, indent=2) + "\n"


def export_markdown(answer: Answer) -> str:
    """Return the results with their passages as quotations."""
    lines = [f"# {escape_markdown(answer.query)}", ""]
    for result in answer.results:
        document = result.document
        lines += [
            f"## {escape_markdown(document.title)}",
            "",
            f"`{document.path.replace('`', '_')}` · {result.chunk_coverage} · {result.score:.2f}",
            "",
        ]
        for passage in result.passages:
            where = " › ".join(escape_markdown(title) for title in passage.heading_path)
            number = passage.page
            page = page_range(number, number, document.format) if number else ""
            if where or page:
                lines += [" · ".join(filter(None, (where, page))), ""]
            lines += [f"> {escape_markdown(line)}" for line in passage.text.strip().splitlines()]
            if passage.shortens is not None:
                lines.append(f"> … (chunk {passage.chunks[0] + 1} shortened)")
            lines.append("")
    return "\n".join(lines).rstrip() + "\n"


def export_csv(answer: Answer) -> str:
    """Return one line for each passage."""
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
                    csv_text(document.title),
                    csv_text(document.path),
                    csv_text(document.collection),
                    passage.page if passage.page is not None else "",
                    csv_text(" › ".join(passage.heading_path)),
                    result.chunk_coverage,
                    csv_text(passage.text),
                ]
            )
    return out.getvalue()
