"""Similar documents as HTML, for a card and for a document's page."""

from __future__ import annotations

from collections.abc import Sequence

from pages.parts.common.markup import document_link, name
from ragkit.catalog.records import DocumentRecord
from ragkit.retrieval.similar import SimilarDocuments

_MOST_COPIES = 5


def similar_list(similar: SimilarDocuments) -> str:
    """Return links to similar documents, each with its similarity; copies share one line above.

    Empty where there is nothing like the document: distant ones are left out.
    """
    items = "".join(
        f"<li>{_link(document.record, document.record.title or document.record.path)} "
        f'<span class="rk-soft"><bdi>{name(document.record.path)}</bdi> · '
        '<span title="Cosine of the two documents; 1 is the same">'
        f"{document.likeness}</span></span>"
        f"{_also_in(document.copies, 'also in')}</li>"
        for document in similar.close
    )
    listed = f"<ul>{items}</ul>" if items else ""
    return f"{_also_in(similar.copies, 'The same text, or nearly, is in')}{listed}"


def _also_in(copies: Sequence[DocumentRecord], words: str) -> str:
    if not copies:
        return ""
    links = ", ".join(_link(copy, copy.path) for copy in copies[:_MOST_COPIES])
    rest = len(copies) - _MOST_COPIES
    return f'<p class="rk-soft">{words} {links}{f" and {rest} more" if rest > 0 else ""}</p>'


def _link(record: DocumentRecord, label: str) -> str:
    return document_link(record.id, None, "", f"<bdi>{name(label, 160)}</bdi>", class_="rk-link")
