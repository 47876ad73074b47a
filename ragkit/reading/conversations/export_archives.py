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
from ragkit.reading.conversations.messages import Conversation, Message, day_title, to_reading
from ragkit.reading.conversations.salvage import load_json
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
        days = [one for one in files.names if _SLACK_DAY.fullmatch(one)]
        single = [one for one in files.names if PurePosixPath(one).name in _SINGLE]
        chats = [one for one in files.names if _WHATSAPP.fullmatch(PurePosixPath(one).name)]
        if single:
            value, warnings = files.json(min(single, key=len))
            found = of_json(value, name)
            found = found and replace(found, warnings=(*warnings, *found.warnings))
        elif days:
            found = _slack(files, days, name)
        else:
            text = files.text(chats[0]) if chats else ""
            found = of_text(text, name)
    if found is None or not found.messages:
        raise SkippedError("Archives are not read.", "Unpack it into the folder.")
    return to_reading(found)


@dataclass(frozen=True, slots=True)
class _Files:
    """The files of an archive."""

    archive: zipfile.ZipFile
    limits: Limits

    @property
    def names(self) -> list[str]:
        """All but what the Mac leaves behind, sorted."""
        return sorted(one for one in self.archive.namelist() if not one.startswith("__MACOSX/"))

    def text(self, name: str) -> str:
        """The text of a file.

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
        """What a JSON file holds, and a warning where it is broken."""
        value, warnings = load_json(self.text(name))
        if value is None:
            return None, (f"{name} is not valid JSON and was left out.",)
        return value, tuple(f"{name}: {one}" for one in warnings)

    def named(self, base: str) -> Any:
        """What the JSON file of that name holds, wherever it lies; ``None`` without one."""
        found = next((one for one in self.names if PurePosixPath(one).name == base), None)
        return self.json(found)[0] if found else None


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
        called = channels.get(folder) or f"#{folder}"
        plain = {key: one.lstrip("#") for key, one in channels.items()}
        for one in sorted_messages(value, people, plain):
            when = f", {day_title(one.at.date())}" if one.at else ""
            messages.append(replace(one, session=f"{called}{when}"))
    return Conversation(stem(name), "Slack", messages, tuple(warnings[:20]))


def _channels(files: _Files, people: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """What channels and private talks are called, by their ids."""
    for base in ("channels.json", "groups.json", "mpims.json", "dms.json"):
        for one in files.named(base) or []:
            if not isinstance(one, dict) or not one.get("id"):
                continue
            members = [people.get(str(member), str(member)) for member in one.get("members") or []]
            if base == "dms.json":
                yield str(one["id"]), ", ".join(members)
            else:
                yield str(one["id"]), f"#{one.get('name') or one['id']}"
