"""What tests of contexts share: a report, a good answer, and requests."""

from __future__ import annotations

from ragkit.models.context_prompt import ContextRequest
from ragkit.types import Span

REPORT = (
    "# Annual report of the Meyer company\n\n"
    "The Meyer company of Ulm makes pumps for farms and for small towns.\n\n"
    "Its revenue grew by 3 % in the second quarter, which is more than was expected by the board "
    "and by the banks that lend to it.\n\n"
    "The company will open a new hall in the spring."
)
GOOD = {
    "context": "Second-quarter revenue growth of Meyer, a pump maker of Ulm, in a yearly report.",
    "keywords": ["Meyer", "revenue growth", "second quarter"],
    "questions": ["How much did Meyer's revenue grow in the second quarter?"],
    "topic_summary": "Meyer's revenue growth",
}
TALK = {
    "speakers": ["Anna", "Ben"],
    "has_decision": True,
    "has_action_item": False,
    "sentiment": "positive",
}


def about(piece: str = "Its revenue grew by 3 %", text: str = REPORT, **changed) -> ContextRequest:
    start = text.index(piece)
    end = text.find("\n\n", start) if "\n\n" in text[start:] else len(text)
    return ContextRequest(
        document_title=changed.pop("title", "Annual report"),
        document_text=text,
        outline=changed.pop("outline", ("Annual report",)),
        chunk_text=text[start:end],
        chunk_span=Span(start, end),
        structural_context="Annual report",
        **changed,
    )
