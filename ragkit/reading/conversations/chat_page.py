"""Chats that programs export as web pages."""

from __future__ import annotations

from ragkit.reading.conversations.discord_page import read_discord_page
from ragkit.reading.conversations.facebook_page import read_facebook_page
from ragkit.reading.conversations.messages import to_reading
from ragkit.reading.conversations.telegram_page import read_telegram_page
from ragkit.reading.formats import Format
from ragkit.reading.html import read_html
from ragkit.types import Reading


def read_chat_page(
    text: str,
    name: str,
    file_format: Format = Format.CHAT_PAGE,  # noqa: ARG001
) -> Reading:
    """Read one page of a chat; a page without messages is a web page."""
    for read in (read_telegram_page, read_discord_page, read_facebook_page):
        conversation = read(text, name)
        if conversation.messages:
            return to_reading(conversation)
    return read_html(text, name, Format.HTML)
