"""What a message is, and what is known of a conversation as a whole."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime


@dataclass(frozen=True, slots=True)
class Message:
    """Something that someone said.

    ``at`` is aware when the export tells the offset, and ``None`` when it tells no time.
    ``author`` is empty for what the program itself has noted. ``reply_to`` is the author of the
    message that this one answers. ``session`` is the export's own name for the part of the
    conversation; where it is empty, each day is a part.
    """

    author: str
    at: datetime | None
    text: str
    reply_to: str = ""
    session: str = ""


@dataclass(frozen=True, slots=True)
class Conversation:
    """The messages of one export, in order. ``warnings`` are sentences for the person."""

    title: str
    platform: str
    messages: Sequence[Message]
    warnings: tuple[str, ...] = ()


def in_order(messages: Sequence[Message]) -> list[Message]:
    """Sort messages by time within their sessions, where all times can be compared.

    Sessions keep the order in which they first come.
    """
    kinds = {None if one.at is None else one.at.tzinfo is not None for one in messages}
    if len(kinds) != 1 or None in kinds:
        return list(messages)
    places: dict[str, int] = {}
    for one in messages:
        places.setdefault(one.session, len(places))
    return sorted(messages, key=lambda one: (places[one.session], one.at))
