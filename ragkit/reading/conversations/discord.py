"""Discord channels as DiscordChatExporter writes them in JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ragkit.reading.conversations.messages import Conversation, Message, in_order, moment

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_NOTES = {
    "GuildMemberJoin": "joined the server.",
    "ChannelPinnedMessage": "pinned a message.",
    "RecipientAdd": "added someone.",
    "RecipientRemove": "left.",
}
_SPOKEN = ("Default", "Reply", "0", "19", "")


def is_discord(value: Any) -> bool:
    """Return whether JSON is such an export."""
    return (
        isinstance(value, dict)
        and isinstance(value.get("messages"), list)
        and isinstance(value.get("channel"), dict)
    )


def read_discord(value: dict[str, Any]) -> Conversation:
    """Read one channel; replies name whom they answer."""
    channel = value["channel"]
    guild = value.get("guild")
    server = str(guild.get("name") or "") if isinstance(guild, dict) else ""
    named = str(channel.get("name") or "")
    private = server in ("", "Direct Messages")
    title = named if private else f"{server} · #{named}"
    listed = [entry for entry in value["messages"] if isinstance(entry, dict)]
    return Conversation(title or "Discord", "Discord", in_order(list(_messages(listed))))


def _messages(listed: list[dict[str, Any]]) -> Iterator[Message]:
    authors = {str(entry.get("id")): _name(entry.get("author")) for entry in listed}
    for entry in listed:
        author = _name(entry.get("author"))
        kind = str(entry.get("type") or "")
        if kind not in _SPOKEN:
            if kind not in _NOTES:
                continue
            yield Message("", moment(entry.get("timestamp")), f"{author} {_NOTES[kind]}")
            continue
        reference = entry.get("reference")
        answered = str(reference.get("messageId")) if isinstance(reference, dict) else ""
        parts = [str(entry.get("content") or ""), *_embeds(entry), *_files(entry)]
        yield Message(
            author=author,
            at=moment(entry.get("timestamp")),
            text="\n".join(filter(None, parts)),
            reply_to=authors.get(answered, ""),
        )


def _name(author: Any) -> str:
    if not isinstance(author, dict):
        return ""
    return str(author.get("nickname") or author.get("name") or "")


def _embeds(entry: Mapping[str, Any]) -> Iterator[str]:
    """Yield the previews of links: title and description."""
    for embed in entry.get("embeds") or []:
        if isinstance(embed, dict):
            parts = [str(embed.get(key) or "") for key in ("title", "description")]
            yield "\n".join(f"> {line}" for part in parts for line in part.split("\n") if line)


def _files(entry: Mapping[str, Any]) -> Iterator[str]:
    for kind, key in (("attached", "attachments"), ("sticker", "stickers")):
        for file in entry.get(key) or []:
            if isinstance(file, dict):
                yield f"({kind}: {file.get('fileName') or file.get('name') or 'file'})"
