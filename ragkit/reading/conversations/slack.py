"""Slack exports: the file of one channel and day, or all files of a zip archive."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from ragkit.reading.conversations.messages import Conversation, Message, moment

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_MENTION = re.compile(r"<@([UW][A-Z0-9]{2,20})(?:\|([^>\n]{1,100}))?>")
_CHANNEL = re.compile(r"<#([CG][A-Z0-9]{2,20})(?:\|([^>\n]{0,100}))?>")
_GROUP = re.compile(r"<!(?:subteam\^[A-Z0-9]+\|@?)?(\w[\w .-]{0,60})(?:[|^][^>\n]{0,200})?>")
_LINK = re.compile(r"<((?:https?|mailto|tel):[^|>\s]{1,2000})(?:\|([^>\n]{0,500}))?>")
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_NOT_SPOKEN = frozenset({"channel_join", "channel_leave", "group_join", "group_leave"})


def is_slack(value: Any) -> bool:
    """Return whether JSON is the file of a channel's day."""
    if not isinstance(value, list) or not value:
        return False
    fitting = sum(
        1
        for entry in value[:50]
        if isinstance(entry, dict) and "ts" in entry and entry.get("type") == "message"
    )
    return fitting * 2 >= len(value[:50])


def read_slack_day(value: Sequence[Any], name: str) -> Conversation:
    """Read one file on its own, with the names of people that its messages carry."""
    path = PurePosixPath(name.replace("\\", "/"))
    channel, day = path.parent.name, path.stem
    title = f"#{channel} {day}" if channel and _DAY.fullmatch(day) else path.stem
    return Conversation(title, "Slack", sorted_messages(value, {}, {}))


def people_of(value: Any) -> dict[str, str]:
    """Read ``users.json``: names by id."""
    people: dict[str, str] = {}
    for user in value if isinstance(value, list) else []:
        if isinstance(user, dict) and user.get("id"):
            profile = user.get("profile")
            profile_name = _profile_name(profile if isinstance(profile, dict) else {})
            people[str(user["id"])] = str(
                user.get("real_name") or profile_name or user.get("name") or ""
            )
    return people


def sorted_messages(
    value: Sequence[Any],
    people: Mapping[str, str],
    channels: Mapping[str, str],
    session: str = "",
) -> list[Message]:
    """Read the messages of a channel in the order of time; replies name whom they answer."""
    listed = [
        entry for entry in value if isinstance(entry, dict) and entry.get("type") == "message"
    ]
    listed.sort(key=_stamp)
    names = {**_named_inside(listed), **people}
    authors = {str(entry.get("ts")): _author(entry, names) for entry in listed}
    return list(_messages(listed, names, channels, authors, session))


def _messages(
    listed: Sequence[Mapping[str, Any]],
    people: Mapping[str, str],
    channels: Mapping[str, str],
    authors: Mapping[str, str],
    session: str,
) -> Iterator[Message]:
    for entry in listed:
        stamp, thread = str(entry.get("ts")), str(entry.get("thread_ts") or "")
        parts = [
            readable(str(entry.get("text") or ""), people, channels),
            *_attachments(entry, people, channels),
            *_files(entry),
        ]
        text = "\n".join(filter(None, parts))
        spoken = entry.get("subtype") not in _NOT_SPOKEN
        yield Message(
            author=_author(entry, people) if spoken else "",
            at=moment(_stamp(entry)),
            text=text,
            reply_to=authors.get(thread, "") if thread and thread != stamp else "",
            session=session,
        )


def readable(text: str, people: Mapping[str, str], channels: Mapping[str, str]) -> str:
    """Replace mentions, channels, groups and links by text; Slack escapes only ``&<>``."""
    if "<" in text:
        text = _MENTION.sub(lambda m: f"@{people.get(m[1]) or m[2] or m[1]}", text)
        text = _CHANNEL.sub(lambda m: f"#{m[2] or channels.get(m[1]) or m[1]}", text)
        text = _LINK.sub(_link, text)
        text = _GROUP.sub(r"@\1", text)
    return html.unescape(text) if "&" in text else text


def _link(match: re.Match[str]) -> str:
    address, label = match[1], match[2]
    bare = re.sub(r"^(?:mailto:|tel:|https?://)", "", address).rstrip("/")
    if not label or label in (address, bare):
        return bare if address.startswith(("mailto:", "tel:")) else address
    return f"[{label}]({address})"


def _named_inside(listed: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Return the names by id that the messages themselves carry."""
    names: dict[str, str] = {}
    for entry in listed:
        profile = entry.get("user_profile")
        if isinstance(profile, dict) and entry.get("user"):
            names[str(entry["user"])] = _profile_name(profile)
    return names


def _profile_name(profile: Mapping[str, Any]) -> str:
    keys = ("real_name", "display_name", "name")
    return next((str(profile[key]) for key in keys if profile.get(key)), "")


def _author(entry: Mapping[str, Any], people: Mapping[str, str]) -> str:
    user = str(entry.get("user") or "")
    bot = entry.get("bot_profile")
    name = people.get(user) or entry.get("username")
    if not name and isinstance(bot, dict):
        name = bot.get("name")
    return str(name or user or entry.get("bot_id") or "")


def _attachments(
    entry: Mapping[str, Any], people: Mapping[str, str], channels: Mapping[str, str]
) -> Iterator[str]:
    """Yield previews and the messages of bots, title and text, as quotations."""
    for attachment in entry.get("attachments") or []:
        if not isinstance(attachment, dict):
            continue
        parts = [str(attachment.get(key) or "") for key in ("pretext", "title", "text")]
        written = "\n".join(filter(None, parts)) or str(attachment.get("fallback") or "")
        lines = readable(written, people, channels).split("\n")
        yield "\n".join(f"> {line}" for line in lines if line)


def _files(entry: Mapping[str, Any]) -> Iterator[str]:
    for file in entry.get("files") or []:
        if isinstance(file, dict):
            yield f"(attached: {file.get('title') or file.get('name') or 'file'})"


def _stamp(entry: Mapping[str, Any]) -> float:
    try:
        return float(entry.get("ts") or 0)
    except (TypeError, ValueError):
        return 0.0
