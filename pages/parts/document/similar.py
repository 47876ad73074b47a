"""Similar documents as HTML, for a card and for a document's page."""

from __future__ import annotations

from collections.abc import Sequence

from pages.parts.common.markup import attributes, name
from ragkit.catalog.records import DocumentRecord
from ragkit.retrieval.similar import SimilarDocuments
from ragkit.surfaces.addresses import document_url

_MOST_COPIES = 5


def similar_list(found: SimilarDocuments) -> str:
    """Return a list of links, each with how alike it is; copies stand in one line, not in the list.

    Empty where there is nothing like the document.
    """
    items = "".join(
        f"<li>{_link(one.record, one.record.title or one.record.path)} "
        f'<span class="rk-soft"><bdi>{name(one.record.path)}</bdi> · '
        f'<span title="Cosine of the two documents; 1 is the same">{one.likeness}</span></span>'
        f"{_also_in(one.copies, 'also in')}</li>"
        for one in found.documents
    )
    listed = f"<ul>{items}</ul>" if items else ""
    return f"{_also_in(found.copies, 'The same text, or nearly, is in')}{listed}"


def _also_in(copies: Sequence[DocumentRecord], words: str) -> str:
    if not copies:
        return ""
    links = ", ".join(_link(one, one.path) for one in copies[:_MOST_COPIES])
    rest = len(copies) - _MOST_COPIES
    return f'<p class="rk-soft">{words} {links}{f" and {rest} more" if rest > 0 else ""}</p>'


def _link(record: DocumentRecord, label: str) -> str:
    link = attributes(href=document_url(record.id), data_rk="open", data_id=record.id)
    return f'<a class="rk-link" target="_self"{link}><bdi>{name(label, 160)}</bdi></a>'
