"""The decisions and action items of a document, as links into its text. Pure functions."""

from __future__ import annotations

from collections.abc import Sequence

from pages.parts.common.markup import attributes, excerpt
from ragkit.answering.outcomes import Outcome
from ragkit.surfaces.addresses import document_url, mark_of

_WORDS = {"decision": "Decided", "action": "To do"}
_FIRST, _LONGEST = 6, 240


def outcomes(listed: Sequence[Outcome], document_id: int, find: str) -> str:
    """Return each outcome as a link to its sentence, or else its chunk; empty if there are none."""
    if not listed:
        return ""
    items = [_item(outcome, document_id, find) for outcome in listed]
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


def _item(outcome: Outcome, document_id: int, find: str) -> str:
    shown = outcome.text or outcome.sentence or f"Somewhere in chunk {outcome.chunk + 1}"
    if outcome.span is not None:
        place = {
            "span": f"{outcome.span.start}-{outcome.span.end}",
            "said": mark_of(outcome.sentence),
        }
        url = document_url(document_id, None, find, **place)
        title = f"“{outcome.sentence[:_LONGEST]}”" if outcome.text else "Opens this sentence."
    else:
        url = document_url(document_id, outcome.chunk, find)
        title = f"No single sentence says so. Opens chunk {outcome.chunk + 1}."
    data = attributes(href=url, data_rk="open", data_id=document_id, title=title)
    return (
        f'<li><span class="rk-outcome-kind">{_WORDS[outcome.kind]}</span> '
        f'<a target="_self" dir="auto"{data}>{excerpt(shown, _LONGEST)}</a></li>'
    )
