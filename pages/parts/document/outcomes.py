"""What was decided in a document and what is to be done, as links into its text. Pure functions."""

from __future__ import annotations

from collections.abc import Sequence

from pages.parts.common.markup import attributes, excerpt, text
from ragkit.answering.outcomes import Outcome
from ragkit.surfaces.addresses import document_url, mark_of

_WORDS = {"decision": "Decided", "action": "To do"}
_FIRST, _LONGEST = 6, 240


def outcomes(found: Sequence[Outcome], document_id: int, find: str) -> str:
    """Return the outcomes with a link each, to the sentence or else the chunk; empty for none."""
    if not found:
        return ""
    items = [_item(outcome, document_id, find) for outcome in found]
    more = ""
    if items[_FIRST:]:
        more = (
            f"<details><summary>{len(items) - _FIRST} more</summary>"
            f"<ul>{''.join(items[_FIRST:])}</ul></details>"
        )
    return (
        '<section class="rk-outcomes" id="outcomes" aria-label="Decisions and actions found">'
        '<p class="rk-outcomes-head"><b>Decisions and actions found</b> <span class="rk-soft">'
        "Noted with the AI contexts, which may be wrong. Each leads to where the document says it."
        f"</span></p><ul>{''.join(items[:_FIRST])}</ul>{more}</section>"
    )


def _item(one: Outcome, document_id: int, find: str) -> str:
    shown = one.text or one.sentence or f"Somewhere in chunk {one.chunk + 1}"
    if one.span is not None:
        place = {"span": f"{one.span.start}-{one.span.end}", "said": mark_of(one.sentence)}
        url = document_url(document_id, None, find, **place)
        title = f"“{one.sentence[:_LONGEST]}”" if one.text else "Opens this sentence."
    else:
        url = document_url(document_id, one.chunk, find)
        title = f"No single sentence says so. Opens chunk {one.chunk + 1}."
    data = attributes(href=url, data_rk="open", data_id=document_id, title=text(title))
    return (
        f'<li><span class="rk-outcome-kind">{_WORDS[one.kind]}</span> '
        f'<a target="_self" dir="auto"{data}>{excerpt(shown, _LONGEST)}</a></li>'
    )
