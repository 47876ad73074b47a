"""Conversations as documents: chat exports, mailboxes and transcripts, message by message."""

from __future__ import annotations

from ragkit.reading.conversations.detection import CONVERSATION_FORMATS, read_conversation
from ragkit.reading.conversations.message import Conversation, Message
from ragkit.reading.conversations.message_rows import consolidate_messages_to_markdown
from ragkit.reading.conversations.rendering import to_reading

__all__ = [
    "CONVERSATION_FORMATS",
    "Conversation",
    "Message",
    "consolidate_messages_to_markdown",
    "read_conversation",
    "to_reading",
]
