"""Posts of people: archives of X (Twitter), and those of Mastodon (``outbox.json``)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from datetime import datetime
from html import unescape
from typing import Any

from ragkit.errors import ReadingError, SkippedError
from ragkit.reading.conversations.message_rows import load_json
from ragkit.reading.conversations.messages import (
    Conversation,
    Message,
    in_order,
    moment,
    to_reading,
)
from ragkit.reading.conversations.page_markup import as_markdown
from ragkit.reading.formats import Format
from ragkit.reading.reading_parts import inner, joined, objects, words
from ragkit.types import Reading

_ASSIGNED = re.compile(r"\s*window\.YTD\.(?P<kind>\w+)\.part\d+\s*=\s*")
_MEDIA = {"video": "video", "animated_gif": "gif"}
_USER = re.compile(r"https?://(?P<host>[^/]+)/(?:(?:ap/)?users/|@)(?P<name>[^/]*[^\d/][^/]*)")
_OWNER = "Me"
"""Who wrote the posts of an archive: its files have no name for that."""


def read_x_archive(
    text: str,
    name: str,  # noqa: ARG001
    file_format: Format = Format.X_ARCHIVE,  # noqa: ARG001
) -> Reading:
    """Read the posts, messages or likes of one file of an archive of X.

    Raises:
        SkippedError: it is one of the many files about the account and its advertisements.
        ReadingError: it is damaged.
    """
    assigned = _ASSIGNED.match(text)
    known = _KINDS.get(assigned["kind"]) if assigned else None
    if assigned is None or known is None:
        raise SkippedError(
            "Of an archive of X, posts, messages, likes and bookmarks are read.",
            "Nothing needs to be done about its other files.",
        )
    title, read = known
    value, warnings = load_json(text[assigned.end() :].rstrip().rstrip(";"))
    if not isinstance(value, list):
        raise ReadingError("This file is damaged or incomplete.", "Unpack the archive again.")
    messages = in_order([message for entry in objects(value) for message in read(entry)])
    if not messages:
        raise SkippedError("It has no posts or messages.", "Nothing needs to be done.")
    return to_reading(Conversation(title, "X", messages, warnings))


def _post(entry: Mapping[str, Any]) -> Iterator[Message]:
    post = inner(entry, "tweet") or entry
    more = inner(post, "extended_entities") or inner(post, "entities")
    media = objects(more.get("media"))
    text = _expanded(words(post, "full_text", "text"), inner(post, "entities").get("urls"))
    for each in media:
        text = text.replace(words(each, "url") or "\0", "")
    at = None
    with suppress(ValueError):
        at = datetime.strptime(words(post, "created_at"), "%a %b %d %H:%M:%S %z %Y")
    to = words(post, "in_reply_to_screen_name")
    marks = [_mark(_MEDIA.get(words(each, "type"), "photo"), each) for each in media]
    yield Message(_OWNER, at, joined([text.strip(), *marks]), reply_to=f"@{to}" if to else "")


def _mark(kind: str, media: Mapping[str, Any]) -> str:
    about = words(media, "ext_alt_text", "name")
    return f"({kind}: {about})" if about else f"({kind})"


def _long_post(entry: Mapping[str, Any]) -> Iterator[Message]:
    post = inner(entry, "noteTweet")
    core = inner(post, "core")
    text = _expanded(words(core, "text"), core.get("urls"))
    yield Message(_OWNER, moment(words(post, "createdAt")), text)


def _direct_messages(entry: Mapping[str, Any]) -> Iterator[Message]:
    """Yield the messages of a conversation, whose people are numbers here."""
    conversation = inner(entry, "dmConversation")
    session = f"Conversation {words(conversation, 'conversationId')}"
    for each in objects(conversation.get("messages")):
        message = inner(each, "messageCreate")
        media = message.get("mediaUrls")
        marks = ["(photo)" for _ in media] if isinstance(media, list) else []
        text = _expanded(words(message, "text"), message.get("urls"))
        at = moment(words(message, "createdAt"))
        yield Message(words(message, "senderId"), at, joined([text, *marks]), session=session)


def _kept(key: str, author: str) -> Callable[[Mapping[str, Any]], Iterator[Message]]:
    """Return what reads posts of others that were liked or kept."""

    def read(entry: Mapping[str, Any]) -> Iterator[Message]:
        post = inner(entry, key)
        text = unescape(words(post, "fullText"))
        if text:
            yield Message(author, None, joined([text, words(post, "expandedUrl")]))

    return read


_KINDS: dict[str, tuple[str, Callable[[Mapping[str, Any]], Iterator[Message]]]] = {
    "tweet": ("Posts on X", _post),
    "tweets": ("Posts on X", _post),
    "community_tweet": ("Posts in communities on X", _post),
    "note_tweet": ("Long posts on X", _long_post),
    "direct_messages": ("Direct messages on X", _direct_messages),
    "direct_messages_group": ("Group messages on X", _direct_messages),
    "like": ("Liked posts on X", _kept("like", "Liked")),
    "bookmark": ("Bookmarks on X", _kept("bookmark", "Bookmark")),
}
"""The files that are read, by the names of their values: the title, and what reads an entry."""


def _expanded(text: str, addresses: Any) -> str:
    """Return a text with the addresses that short ones stand for."""
    text = unescape(text)
    for each in objects(addresses):
        short = words(each, "url", "shortUrl")
        if short:
            text = text.replace(short, words(each, "expanded_url", "expandedUrl", "expanded"))
    return text


# -- Mastodon ----------------------------------------------------------------------------------


def read_mastodon(value: Any) -> Conversation | None:
    """Read the posts of an account; ``None`` for other JSON."""
    if not isinstance(value, dict) or value.get("type") != "OrderedCollection":
        return None
    created = [
        activity
        for activity in objects(value.get("orderedItems"))
        if activity.get("type") == "Create" and isinstance(activity.get("object"), dict)
    ]
    if not created:
        return None
    known = _USER.match(words(created[0], "actor"))
    author = f"@{known['name']}@{known['host']}" if known else _OWNER
    messages = in_order([_note(activity["object"], author) for activity in created])
    return Conversation(f"Posts of {author}" if known else "Posts", "Mastodon", messages)


def _note(post: Mapping[str, Any], author: str) -> Message:
    to = _USER.match(words(post, "inReplyTo"))
    marks = [
        _mark(words(each, "mediaType").partition("/")[0] or "file", each)
        for each in objects(post.get("attachment"))
    ]
    warning = words(post, "summary")
    text = joined([f"({warning})" if warning else "", as_markdown(words(post, "content")), *marks])
    at = moment(words(post, "published"))
    return Message(author, at, text, reply_to=f"@{to['name']}" if to else "")
