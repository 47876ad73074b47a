"""JSON exports of messengers: Slack, Telegram, Discord, and Facebook with Instagram."""

from __future__ import annotations

import html
import re
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta, timezone
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from ragkit.reading.conversations.messages import (
    Conversation,
    Message,
    day_title,
    in_order,
    moment,
)
from ragkit.reading.reading_parts import attached, inner, joined, objects, quoted, words

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


# -- Slack: a file for each channel and day, and lists of people and channels in an archive --

SLACK_LISTS = ("users.json", "channels.json", "groups.json", "mpims.json", "dms.json")
_MENTION = re.compile(r"<@([UW][A-Z0-9]{2,20})(?:\|([^>\n]{1,100}))?>")
_CHANNEL = re.compile(r"<#([CG][A-Z0-9]{2,20})(?:\|([^>\n]{0,100}))?>")
_GROUP = re.compile(r"<!(?:subteam\^[A-Z0-9]+\|@?)?(\w[\w .-]{0,60})(?:[|^][^>\n]{0,200})?>")
_LINK = re.compile(r"<((?:https?|mailto|tel):[^|>\s]{1,2000})(?:\|([^>\n]{0,500}))?>")
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_NOT_SPOKEN = frozenset({"channel_join", "channel_leave", "group_join", "group_leave"})
_MOST_WARNINGS = 20


def read_slack_day(value: Any, name: str) -> Conversation | None:
    """Read one day of a channel without the rest of its export.

    Names come from the messages. Returns ``None`` if the JSON is not a channel's day.
    """
    sample = value[:50] if isinstance(value, list) else []
    fitting = [item for item in objects(sample) if "ts" in item and item.get("type") == "message"]
    if not sample or len(fitting) * 2 < len(sample):
        return None
    path = PurePosixPath(name.replace("\\", "/"))
    channel, day = path.parent.name, path.stem
    title = f"#{channel} {day}" if channel and _DAY.fullmatch(day) else path.stem
    return Conversation(title, "Slack", list(_slack_messages(value, _Names({}, {}))))


def read_slack_export(
    title: str,
    lists: Mapping[str, Any],
    days: Mapping[str, Any],
    warnings: list[str],
) -> Conversation:
    """Read all channels one after another, each day of a channel as a session.

    ``lists`` holds the JSON of the files of people and channels by file name, ``days`` the JSON of
    each channel's day by path, and ``warnings`` what was wrong with them.
    """
    people = {
        words(user, "id"): words(user, "real_name")
        or _profile_name(inner(user, "profile"))
        or words(user, "name")
        for user in objects(lists.get("users.json"))
        if user.get("id")
    }
    titles = dict(_channel_titles(lists, people))
    names = _Names(people, {key: title.lstrip("#") for key, title in titles.items()})
    by_channel: dict[str, list[Any]] = {}
    for path, value in days.items():
        if isinstance(value, list):
            by_channel.setdefault(PurePosixPath(path).parent.name, []).extend(value)
    messages: list[Message] = []
    for folder, value in by_channel.items():
        channel = titles.get(folder) or f"#{folder}"
        for message in _slack_messages(value, names):
            when = f", {day_title(message.at.date())}" if message.at else ""
            messages.append(replace(message, session=f"{channel}{when}"))
    return Conversation(title, "Slack", messages, tuple(warnings[:_MOST_WARNINGS]))


def _channel_titles(
    lists: Mapping[str, Any], people: Mapping[str, str]
) -> Iterator[tuple[str, str]]:
    """Yield (id, title) of channels and private conversations."""
    for base in SLACK_LISTS[1:]:
        for channel in objects(lists.get(base)):
            if identity := words(channel, "id"):
                members = map(str, channel.get("members") or [])
                private = ", ".join(people.get(member, member) for member in members)
                public = f"#{words(channel, 'name') or identity}"
                yield identity, private if base == "dms.json" else public


@dataclass(frozen=True, slots=True)
class _Names:
    """The names of people and of channels, by id."""

    people: Mapping[str, str]
    channels: Mapping[str, str]

    def readable(self, text: str) -> str:
        """Replace mentions, channels, groups and links by text; Slack escapes only ``&<>``."""
        if "<" in text:
            text = _MENTION.sub(lambda m: f"@{self.people.get(m[1]) or m[2] or m[1]}", text)
            text = _CHANNEL.sub(lambda m: f"#{m[2] or self.channels.get(m[1]) or m[1]}", text)
            text = _LINK.sub(_link, text)
            text = _GROUP.sub(r"@\1", text)
        return html.unescape(text) if "&" in text else text

    def author(self, entry: Mapping[str, Any]) -> str:
        """Return the name of a message's author, or else an id."""
        user = words(entry, "user")
        name = self.people.get(user) or words(entry, "username")
        return name or words(inner(entry, "bot_profile"), "name") or user or words(entry, "bot_id")


def _slack_messages(value: list[Any], listed_names: _Names) -> Iterator[Message]:
    """Yield the messages of a channel by time; replies name the author whom they answer."""
    listed = [entry for entry in objects(value) if entry.get("type") == "message"]
    listed.sort(key=_stamp)
    carried = {
        words(entry, "user"): _profile_name(inner(entry, "user_profile"))
        for entry in listed
        if entry.get("user") and isinstance(entry.get("user_profile"), dict)
    }
    names = _Names({**carried, **listed_names.people}, listed_names.channels)
    authors = {words(entry, "ts"): names.author(entry) for entry in listed}
    for entry in listed:
        stamp, thread = words(entry, "ts"), words(entry, "thread_ts")
        parts = [
            names.readable(words(entry, "text")),
            *(_preview(attachment, names) for attachment in objects(entry.get("attachments"))),
            *attached(entry.get("files"), "title", "name"),
        ]
        yield Message(
            author="" if entry.get("subtype") in _NOT_SPOKEN else names.author(entry),
            at=moment(_stamp(entry)),
            text=joined(parts),
            reply_to=authors.get(thread, "") if thread and thread != stamp else "",
        )


def _link(match: re.Match[str]) -> str:
    address, label = match[1], match[2]
    bare = re.sub(r"^(?:mailto:|tel:|https?://)", "", address).rstrip("/")
    if not label or label in (address, bare):
        return bare if address.startswith(("mailto:", "tel:")) else address
    return f"[{label}]({address})"


def _profile_name(profile: Mapping[str, Any]) -> str:
    return words(profile, "real_name", "display_name", "name")


def _preview(attachment: Mapping[str, Any], names: _Names) -> str:
    """Return the preview of a link, or a bot's message, as a quotation of title and text."""
    written = joined(words(attachment, key) for key in ("pretext", "title", "text"))
    return quoted(names.readable(written or words(attachment, "fallback")))


def _stamp(entry: Mapping[str, Any]) -> float:
    try:
        return float(entry.get("ts") or 0)
    except (TypeError, ValueError):
        return 0.0


# -- Telegram: ``result.json`` with one chat, or all of them --------------------------------

_QUARTER = 900
_FARTHEST = 14 * 3600


def read_telegram(value: Any) -> Conversation | None:
    """Read one chat, or each chat of a whole export as a session; ``None`` for other JSON."""
    if not isinstance(value, dict):
        return None
    chats = inner(value, "chats").get("list")
    if isinstance(chats, list):
        messages = [
            message
            for chat in objects(chats)
            for message in _telegram_messages(chat, words(chat, "name") or "Chat")
        ]
        return Conversation("Telegram", "Telegram", messages)
    sample = objects(value.get("messages"))[:50]
    if "type" not in value or not any(
        "date" in entry and ("from" in entry or "actor" in entry) for entry in sample
    ):
        return None
    title = words(value, "name") or "Telegram"
    return Conversation(title, "Telegram", list(_telegram_messages(value, "")))


def _telegram_messages(chat: Mapping[str, Any], session: str) -> Iterator[Message]:
    listed = objects(chat.get("messages"))
    authors = {entry.get("id"): words(entry, "from") for entry in listed}
    for entry in listed:
        if entry.get("type") == "service":
            continue
        origin = words(entry, "forwarded_from")
        forwarded = f"(forwarded from {origin})" if origin else ""
        yield Message(
            author=words(entry, "from", "from_id"),
            at=_local_time(entry),
            text=joined([forwarded, _marked_up(entry.get("text")), _sent_file(entry)]),
            reply_to=authors.get(entry.get("reply_to_message_id"), ""),
            session=session,
        )


def _marked_up(value: Any) -> str:
    """Return a text that may be a list of plain and formatted pieces."""
    pieces = [value] if isinstance(value, str) else value if isinstance(value, list) else []
    return "".join(map(_piece, pieces))


def _piece(piece: Any) -> str:
    """Return a piece as Markdown if it is a link or code, or else as plain text."""
    if not isinstance(piece, dict):
        return piece if isinstance(piece, str) else ""
    text = words(piece, "text")
    if piece.get("type") == "text_link" and piece.get("href"):
        return f"[{text}]({piece['href']})"
    if piece.get("type") == "pre":
        return f"\n```{words(piece, 'language')}\n{text}\n```\n"
    if piece.get("type") == "code" and "`" not in text:
        return f"`{text}`"
    return text


def _sent_file(entry: Mapping[str, Any]) -> str:
    """Return a mark for a file, photo, sticker, poll, contact or place, or ``""``."""
    if entry.get("sticker_emoji"):
        return f"(sticker {entry['sticker_emoji']})"
    if "photo" in entry:
        return "(photo)"
    kind, file = words(entry, "media_type").replace("_", " "), words(entry, "file")
    name = words(entry, "file_name") or file.rpartition("/")[2]
    if kind or name:
        # An export without files has a remark in brackets instead of the name.
        return f"({joined([kind or 'file', '' if file.startswith('(') else name], ' ')})"
    if poll := inner(entry, "poll"):
        answers = [words(answer, "text") for answer in objects(poll.get("answers"))]
        return joined([f"(poll: {words(poll, 'question')})", *(f"- {each}" for each in answers)])
    if contact := inner(entry, "contact_information"):
        parts = (words(contact, key) for key in ("first_name", "last_name", "phone_number"))
        return f"(contact: {joined(parts, ' ')})"
    place = joined([words(entry, "place_name"), words(entry, "address")], ", ")
    return f"(place: {place})" if place else ""


def _local_time(entry: Mapping[str, Any]) -> datetime | None:
    """Return the local time with the offset computed from the seconds since 1970."""
    local = moment(entry.get("date"))
    seconds = str(entry.get("date_unixtime"))
    exact = moment(int(seconds)) if seconds.isdecimal() else None
    if local is None or local.tzinfo is not None or exact is None:
        return local
    offset = (local.replace(tzinfo=UTC) - exact).total_seconds()
    offset = round(offset / _QUARTER) * _QUARTER
    if abs(offset) > _FARTHEST:
        return local
    return local.replace(tzinfo=timezone(timedelta(seconds=offset)))


# -- Discord: channels as DiscordChatExporter writes them -----------------------------------

_NOTES = {
    "GuildMemberJoin": "joined the server.",
    "ChannelPinnedMessage": "pinned a message.",
    "RecipientAdd": "added someone.",
    "RecipientRemove": "left.",
}
_SPOKEN = ("Default", "Reply", "0", "19", "")


def read_discord(value: Any) -> Conversation | None:
    """Read one channel; replies name whom they answer. ``None`` for other JSON."""
    if not isinstance(value, dict) or not isinstance(value.get("channel"), dict):
        return None
    if not isinstance(value.get("messages"), list):
        return None
    server, named = words(inner(value, "guild"), "name"), words(value["channel"], "name")
    private = server in ("", "Direct Messages")
    title = named if private else f"{server} · #{named}"
    messages = in_order(list(_discord_messages(objects(value["messages"]))))
    return Conversation(title or "Discord", "Discord", messages)


def _discord_messages(listed: list[dict[str, Any]]) -> Iterator[Message]:
    authors = {words(entry, "id"): _discord_author(entry) for entry in listed if entry.get("id")}
    for entry in listed:
        author, kind = _discord_author(entry), words(entry, "type")
        at = moment(entry.get("timestamp"))
        if kind in _NOTES:
            yield Message("", at, f"{author} {_NOTES[kind]}")
        if kind not in _SPOKEN:
            continue
        previews = (
            quoted(f"{words(embed, 'title')}\n{words(embed, 'description')}")
            for embed in objects(entry.get("embeds"))
        )
        files = attached(entry.get("attachments"), "fileName", "name")
        stickers = attached(entry.get("stickers"), "fileName", "name", kind="sticker")
        yield Message(
            author=author,
            at=at,
            text=joined([words(entry, "content"), *previews, *files, *stickers]),
            reply_to=authors.get(words(inner(entry, "reference"), "messageId"), ""),
        )


def _discord_author(entry: Mapping[str, Any]) -> str:
    return words(inner(entry, "author"), "nickname", "name")


# -- Facebook and Instagram: a thread as ``message_1.json``, the newest message first ---------

_MEDIA = {
    "photos": "photo", "videos": "video", "audio_files": "voice message", "gifs": "gif",
    "files": "file", "sticker": "sticker", "media": "media",
}  # fmt: skip


def read_facebook(value: Any, name: str) -> Conversation | None:
    """Read one thread of Facebook or Instagram; ``None`` for other JSON."""
    if not isinstance(value, dict) or not isinstance(value.get("participants"), list):
        return None
    listed = objects(value.get("messages"))
    senders = [entry for entry in listed if {"sender_name", "senderName"} & entry.keys()]
    if not senders or len(senders) < len(listed):
        return None
    messages = in_order([_facebook_message(entry) for entry in listed])
    platform = facebook_or_instagram(name)
    title = _undone(words(value, "title", "threadName"))
    return Conversation(title or platform, platform, messages)


def facebook_or_instagram(name: str) -> str:
    """Return which of the two wrote a file, by its path."""
    return "Instagram" if "instagram" in name.lower() else "Facebook"


def _facebook_message(entry: Mapping[str, Any]) -> Message:
    share = inner(entry, "share")
    media = [f"({kind})" for key, kind in _MEDIA.items() if entry.get(key)]
    pieces = [words(entry, "content", "text"), words(share, "share_text"), words(share, "link")]
    return Message(
        author=_undone(words(entry, "sender_name", "senderName")),
        at=moment(entry.get("timestamp_ms", entry.get("timestamp"))),
        text=joined([*map(_undone, dict.fromkeys(pieces)), *media]),
    )


def _undone(text: str) -> str:
    """Return a text whose bytes in UTF-8 were each written as a letter, as it was meant."""
    try:
        return text.encode("latin-1").decode()
    except UnicodeError:
        return text
