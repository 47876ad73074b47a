"""Conversations as documents: chat exports, mailboxes and transcripts, message by message."""

from __future__ import annotations

from ragkit.reading.conversations.dispatch import CONVERSATION_FORMATS, read_conversation
from ragkit.reading.conversations.model import Conversation, Message
from ragkit.reading.conversations.rows import consolidate_messages_to_markdown
from ragkit.reading.conversations.writing import to_reading

__all__ = [
    "CONVERSATION_FORMATS",
    "Conversation",
    "Message",
    "consolidate_messages_to_markdown",
    "read_conversation",
    "to_reading",
]
