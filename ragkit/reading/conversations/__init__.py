"""Conversations as documents: chat exports, mailboxes and transcripts."""

from __future__ import annotations

from ragkit.reading.conversations.detection import read_conversation
from ragkit.reading.conversations.message_rows import consolidate_messages_to_markdown

__all__ = ["consolidate_messages_to_markdown", "read_conversation"]
