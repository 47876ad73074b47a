"""Exports that come as zip archives: Slack, WhatsApp, Telegram, ChatGPT, Claude."""

from __future__ import annotations

import re
import zipfile
import zlib
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from ragkit.errors import SkippedError
from ragkit.reading import limits as costs
from ragkit.reading.conversations.detection import of_json, of_text
from ragkit.reading.conversations.message_rows import load_json
from ragkit.reading.conversations.messages import Conversation, Message, day_title, to_reading
from ragkit.reading.conversations.slack import people_of, sorted_messages
from ragkit.reading.decode import clean, decode
from ragkit.reading.formats import Format
from ragkit.reading.reading_parts import stem
from ragkit.reading.zip_container import open_archive

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from ragkit.reading.limits import Limits
    from ragkit.types import Reading

_SLACK_DAY = re.compile(r"(?:.*/)?(?P<channel>[^/]+)/\d{4}-\d\d-\d\d\.json")
_WHATSAPP = re.compile(r"_chat\.txt|.*WhatsApp.*\.txt")
_SINGLE = ("conversations.json", "result.json")
_BAD_MEMBER = (zipfile.BadZipFile, zlib.error, EOFError, OSError, NotImplementedError)


def read_archive(data: bytes, name: str, limits: Limits) -> Reading:
    """Read the conversations of an exported archive as one document.

    Raises:
        SkippedError: when none are inside.
        ReadingError: damaged, a bomb, locked, or too much text.
    """
    with open_archive(data, limits, Format.EXPORT.label) as archive:
        files = _Files(archive, limits)
        days = [file for file in files.names if _SLACK_DAY.fullmatch(file)]
        single = [file for file in files.names if PurePosixPath(file).name in _SINGLE]
        chats = [file for file in files.names if _WHATSAPP.fullmatch(PurePosixPath(file).name)]
        if single:
            value, warnings = files.json(min(single, key=len))
            conversation = of_json(value, name)
            if conversation is not None:
                warnings = (*warnings, *conversation.warnings)
                conversation = replace(conversation, warnings=warnings)
        elif days:
            conversation = _slack(files, days, name)
        else:
            text = files.text(chats[0]) if chats else ""
            conversation = of_text(text, name)
    if conversation is None or not conversation.messages:
        raise SkippedError("Archives are not read.", "Unpack it into the folder.")
    return to_reading(conversation)


@dataclass(frozen=True, slots=True)
class _Files:
    """The files of an archive."""

    archive: zipfile.ZipFile
    limits: Limits

    @property
    def names(self) -> list[str]:
        """All but what the Mac leaves behind, sorted."""
        return sorted(name for name in self.archive.namelist() if not name.startswith("__MACOSX/"))

    def text(self, name: str) -> str:
        """Return the text of a file.

        Raises:
            ReadingError: too much text, or damaged.
        """
        try:
            text, _ = decode(self.archive.read(name))
        except _BAD_MEMBER as error:
            raise costs.damaged(Format.EXPORT.label) from error
        costs.check_text((text,), self.limits)
        return clean(text)

    def json(self, name: str) -> tuple[Any, tuple[str, ...]]:
        """Return the value of a JSON file, and a warning where it is broken."""
        value, warnings = load_json(self.text(name))
        if value is None:
            return None, (f"{name} is not valid JSON and was left out.",)
        return value, tuple(f"{name}: {warning}" for warning in warnings)

    def named(self, base: str) -> Any:
        """Return the value of the JSON file of that name in any folder; ``None`` without one."""
        name = next((name for name in self.names if PurePosixPath(name).name == base), None)
        return self.json(name)[0] if name else None


def _slack(files: _Files, days: Iterable[str], name: str) -> Conversation:
    """Read all channels, one after another, each day of a channel as a session."""
    people = people_of(files.named("users.json"))
    channels = dict(_channels(files, people))
    warnings: list[str] = []
    by_channel: dict[str, list[Any]] = {}
    for day in days:
        value, wrong = files.json(day)
        warnings += wrong
        if isinstance(value, list):
            by_channel.setdefault(PurePosixPath(day).parent.name, []).extend(value)
    messages: list[Message] = []
    for folder, value in by_channel.items():
        title = channels.get(folder) or f"#{folder}"
        names = {key: channel.lstrip("#") for key, channel in channels.items()}
        for message in sorted_messages(value, people, names):
            when = f", {day_title(message.at.date())}" if message.at else ""
            messages.append(replace(message, session=f"{title}{when}"))
    return Conversation(stem(name), "Slack", messages, tuple(warnings[:20]))


def _channels(files: _Files, people: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield ids and titles of channels and private conversations."""
    for base in ("channels.json", "groups.json", "mpims.json", "dms.json"):
        for channel in files.named(base) or []:
            if not isinstance(channel, dict) or not channel.get("id"):
                continue
            members = [
                people.get(str(member), str(member)) for member in channel.get("members") or []
            ]
            if base == "dms.json":
                yield str(channel["id"]), ", ".join(members)
            else:
                yield str(channel["id"]), f"#{channel.get('name') or channel['id']}"
