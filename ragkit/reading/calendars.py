"""Calendars (iCalendar) and address books (vCard): each entry a section with lines for people."""

from __future__ import annotations

import quopri
import re
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from ragkit.reading.conversations.messages import day_title, safe_text
from ragkit.reading.decode import clean
from ragkit.reading.formats import Format
from ragkit.reading.reading_parts import joined, nonempty, stem, tidy, whole_line
from ragkit.types import Markup, Reading

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ragkit.types import Metadata

_QUOTED = re.compile(r"[^:]*;\s*(?:ENCODING\s*=\s*)?QUOTED-PRINTABLE\s*[;:]", re.I)
_LINE = re.compile(
    r"(?:[\w-]{1,60}\.)?(?P<name>[\w-]{1,60})\s*"
    r"(?P<parameters>(?:;(?:\"[^\"]*\"|[^\":])*)?):(?P<value>.*)"
)
_PARAMETER = re.compile(r";\s*([\w-]{1,40})(?:=((?:\"[^\"]*\"|[^\";])*))?")
_ESCAPE = re.compile(r"\\(.)")
_FIELD_END = re.compile(r"(?<!\\)[;,]")
_MOMENT = re.compile(r"(\d{4})-?(\d\d)-?(\d\d)(?:T(\d\d):?(\d\d)(?::?\d\d(?:\.\d+)?)?(Z?))?")
_DURATION = re.compile(
    r"\+?P(?:(\d{1,5})W)?(?:(\d{1,6})D)?(?:T(?:(\d{1,7})H)?(?:(\d{1,8})M)?(?:(\d{1,9})S)?)?"
)
_HTML = re.compile(r"</?(?:br|p|a|b|i|u|ul|ol|li|div|span|strong|em)\b[^<>]*>", re.I)
_KINDS = ("WORK", "HOME", "CELL", "MOBILE", "FAX", "MAIN", "SCHOOL", "OTHER")
_UNITS = {"DAILY": "day", "WEEKLY": "week", "MONTHLY": "month", "YEARLY": "year"}


@dataclass(frozen=True, slots=True)
class _Property:
    """A property: its parameters by upper-case name, and its value as it is written."""

    parameters: Mapping[str, str]
    value: str

    @property
    def text(self) -> str:
        """The value without escapes."""
        return _ESCAPE.sub(lambda escape: "\n" if escape[1] in "nN" else escape[1], self.value)

    @property
    def listed(self) -> str:
        """The parts of a value that is a list, separated by commas."""
        parts = (whole_line(_Property({}, part).text) for part in _FIELD_END.split(self.value))
        return ", ".join(filter(None, parts))


@dataclass(slots=True)
class _Entry:
    """A component: its kind, such as VEVENT, and its properties by upper-case name."""

    kind: str
    properties: dict[str, list[_Property]] = field(default_factory=dict)

    def all(self, name: str) -> list[_Property]:
        """Return the properties of a name."""
        return self.properties.get(name, [])

    def text(self, name: str) -> str:
        """Return the text of the first property of a name, or ``""``."""
        return next((found.text.strip() for found in self.all(name)), "")

    def line(self, name: str) -> str:
        """Return the text of a property on one line."""
        return whole_line(self.text(name))

    def lists(self, name: str) -> str:
        """Return the values of all properties of a name as one list."""
        return ", ".join(filter(None, (found.listed for found in self.all(name))))


def read_calendar(text: str, name: str, file_format: Format = Format.CALENDAR) -> Reading:
    """Read a calendar: its events, tasks and journals in the order of the file."""
    entries = list(_entries(text))
    calendars = (entry.line("X-WR-CALNAME") for entry in entries if entry.kind == "VCALENDAR")
    shown = [entry for entry in entries if entry.kind in ("VEVENT", "VTODO", "VJOURNAL")]
    starts = [start for entry in shown if (start := _moment(entry.text("DTSTART")))]
    metadata = nonempty(
        date=min(starts).date().isoformat() if starts else "",
        last_date=max(starts).date().isoformat() if starts else "",
    )
    title = next(filter(None, calendars), "") or stem(name)
    return _reading([*map(_event, shown)], title, metadata, text, file_format)


def read_contacts(text: str, name: str, file_format: Format = Format.CONTACTS) -> Reading:
    """Read the contacts of an address book in the order of the file."""
    contacts = [_contact(entry) for entry in _entries(text) if entry.kind == "VCARD"]
    return _reading(contacts, stem(name), {}, text, file_format)


def _reading(
    sections: Sequence[tuple[str, str]],
    title: str,
    metadata: Metadata,
    source: str,
    file_format: Format,
) -> Reading:
    """Return sections (title, text) as a document; a file without any stays as it is."""
    if not sections:
        return Reading(text=source, title=title, format=file_format, markup=Markup.PLAIN)
    if len(sections) == 1:
        title = sections[0][0] or title
    text = "\n\n".join(joined((f"## {heading}", body), "\n\n") for heading, body in sections)
    return Reading(
        text=f"{text}\n", title=title, format=file_format, markup=Markup.MARKDOWN, metadata=metadata
    )


def _entries(text: str) -> Iterator[_Entry]:
    """Yield the components of a file as they end, each with the properties of its own."""
    opened: list[_Entry] = []
    for line in _unfolded(text):
        match = _LINE.match(line)
        if not match:
            continue
        name, value = match["name"].upper(), match["value"]
        if name == "BEGIN":
            opened.append(_Entry(value.strip().upper()))
        elif name == "END":
            if opened:
                yield opened.pop()
        elif opened:
            found = _property(match["parameters"], value)
            opened[-1].properties.setdefault(name, []).append(found)
    yield from reversed(opened)


def _unfolded(text: str) -> Iterator[str]:
    """Yield whole lines: white space continues one, or "=" one of vCard 2.1 if it is quoted."""
    pieces: list[str] = []
    for line in text.split("\n"):
        if line and pieces and pieces[-1].endswith("=") and _is_quoted(pieces):
            pieces[-1] = pieces[-1][:-1]
            pieces.append(line)
        elif pieces and line.startswith((" ", "\t")):
            pieces.append(line[1:])
        else:
            yield "".join(pieces)
            pieces = [line]
    yield "".join(pieces)


def _is_quoted(pieces: Sequence[str]) -> bool:
    """Return whether a line that begins with these pieces is quoted-printable."""
    return bool(_QUOTED.match("".join(piece[:300] for piece in pieces[:5])))


def _property(written: str, value: str) -> _Property:
    """Return a property; parameters without a name, as in vCard 2.1, are its type or encoding."""
    parameters: dict[str, str] = {}
    for match in _PARAMETER.finditer(written):
        name, given = match[1].upper(), match[2]
        if given is None:
            name, given = ("ENCODING", name) if name == "QUOTED-PRINTABLE" else ("TYPE", name)
        given = given.strip('"')
        parameters[name] = f"{parameters[name]},{given}" if name in parameters else given
    if parameters.get("ENCODING", "").upper() == "QUOTED-PRINTABLE":
        value = clean(_unquoted(value, parameters.get("CHARSET", "utf-8")))
    return _Property(parameters, value)


def _unquoted(value: str, charset: str) -> str:
    """Decode quoted-printable text; its line breaks become escapes."""
    data = quopri.decodestring(value.encode())
    try:
        text = data.decode(charset, "replace")
    except (LookupError, ValueError):
        text = data.decode("utf-8", "replace")
    return text.replace("\r\n", "\\n").replace("\n", "\\n")


# -- events -------------------------------------------------------------------------------------


def _event(entry: _Entry) -> tuple[str, str]:
    """Return the title and the text of an event, a task or a journal."""
    people = (_person(found) for name in ("ORGANIZER", "ATTENDEE") for found in entry.all(name))
    lines = (
        ("When", _when(entry)),
        ("Due", _written(entry.all("DUE"))),
        ("Repeats", _repeats(entry.text("RRULE"))),
        ("Also on", _dates(entry.all("RDATE"))),
        ("Not on", _dates(entry.all("EXDATE"))),
        ("Where", entry.line("LOCATION")),
        ("With", "; ".join(dict.fromkeys(filter(None, people)))),
        ("Status", entry.line("STATUS").lower().replace("confirmed", "")),
        ("Categories", entry.lists("CATEGORIES")),
        ("Contact", entry.line("CONTACT")),
        ("Link", entry.line("URL")),
    )
    notes = (*entry.all("DESCRIPTION"), *entry.all("COMMENT"))
    title = entry.line("SUMMARY") or ("Task" if entry.kind == "VTODO" else "Without a title")
    return title, joined((_listed(lines), *map(_note, notes)), "\n\n")


def _person(found: _Property) -> str:
    """Return a person's name, or else the address."""
    address = found.text.partition(":")[2] or found.text
    return whole_line(found.parameters.get("CN", "") or address)


def _when(entry: _Entry) -> str:
    """Return when an event takes place: "Sunday, 1 March 2026 (2026-03-01), 10:00 to 11:00"."""
    starts, ends = entry.all("DTSTART"), entry.all("DTEND")
    start, end = (_moment(found[0].text) if found else None for found in (starts, ends))
    if start and not ends:
        end = _later(start, entry.text("DURATION"))
    if start and end and ends and _zone(starts[0]) != _zone(ends[0]):
        return f"{_written(starts)} to {_written(ends)}"
    if not start or not end or end <= start:
        return _written(starts)
    if "T" not in starts[0].text:
        last = end - timedelta(days=1)  # the end of whole days is the day after the last one
        return _day(start) if last <= start else f"{_day(start)} to {_day(last)}"
    if start.date() == end.date():
        return f"{_day(start)}, {start:%H:%M} to {end:%H:%M}{_zone(starts[0])}"
    finish = _written(ends) or f"{_day(end)}, {end:%H:%M}{_zone(starts[0])}"
    return f"{_written(starts)} to {finish}"


def _later(start: datetime, duration: str) -> datetime | None:
    """Return the time at which what takes so long ends, or ``None`` if that is no duration."""
    match = _DURATION.fullmatch(duration.strip().upper())
    if not match:
        return None
    weeks, days, hours, minutes, seconds = (int(part or 0) for part in match.groups())
    try:
        return start + timedelta(days, seconds, 0, 0, minutes, hours, weeks)
    except OverflowError:
        return None


def _written(properties: Sequence[_Property]) -> str:
    """Return the first time, with its zone, or the text if it is none."""
    return _time(properties[0].text, properties[0]) if properties else ""


def _dates(properties: Sequence[_Property]) -> str:
    """Return the times of lists of them; of a period, its beginning."""
    return "; ".join(
        _time(text, found) for found in properties for text in found.text.split(",") if text.strip()
    )


def _time(text: str, found: _Property) -> str:
    """Return a time of a property with its zone, or the text if it is none."""
    at = _moment(text)
    if at is None:
        return whole_line(text)
    return _day(at) + (f", {at:%H:%M}{_zone(found)}" if "T" in text else "")


def _day(at: datetime) -> str:
    return f"{day_title(at.date())} ({at.date().isoformat()})"


def _zone(found: _Property) -> str:
    """Return the zone of a time after a space, or ``""``."""
    written = _MOMENT.match(found.text.strip())
    is_utc = written is not None and bool(written[6])
    zone = "UTC" if is_utc else found.parameters.get("TZID", "").strip("/")
    return f" {whole_line(zone)}" if zone else ""


def _moment(written: str) -> datetime | None:
    """Return a time without its zone, or ``None`` if there is no such time."""
    match = _MOMENT.match(written.strip())
    if not match:
        return None
    try:
        year, month, day, hour, minute = (int(part or 0) for part in match.groups()[:5])
        return datetime(year, month, day, hour, minute)
    except ValueError:
        return None


def _repeats(rule: str) -> str:
    """Return how often an event repeats: "every week on MO until 2026-05-01"."""
    parts = dict(part.upper().split("=", 1) for part in rule.split(";") if "=" in part)
    if not parts:
        return ""
    until = _moment(parts.get("UNTIL", ""))
    unit = _UNITS.get(parts.get("FREQ", ""), parts.get("FREQ", "").lower())
    interval = parts.get("INTERVAL", "1")
    return joined(
        (
            f"every {unit}" if interval == "1" else f"every {interval} {unit}s",
            f"on {parts['BYDAY'].replace(',', ', ')}" if "BYDAY" in parts else "",
            f"until {until.date().isoformat()}" if until else "",
            f"{parts['COUNT']} times" if "COUNT" in parts else "",
        ),
        " ",
    )


def _note(found: _Property) -> str:
    """Return a description as Markdown; some programs write HTML."""
    text = tidy(found.text)
    if _HTML.search(text):
        from ragkit.reading.html import to_markdown

        return to_markdown(text.replace("\n", "<br>"), Format.CALENDAR.label)
    return safe_text(text)


# -- contacts -----------------------------------------------------------------------------------

_SHOWN = {
    "NICKNAME": "Nickname", "ORG": "Organisation", "TITLE": "Position", "ROLE": "Role",
    "TEL": "Phone", "EMAIL": "E-mail", "ADR": "Address", "URL": "Link", "IMPP": "Chat",
    "BDAY": "Birthday", "ANNIVERSARY": "Anniversary", "RELATED": "Related to",
    "CATEGORIES": "Categories",
}  # fmt: skip


def _contact(entry: _Entry) -> tuple[str, str]:
    """Return the name of a contact and the lines about it."""
    family, given, *more = [*entry.text("N").split(";"), "", ""]
    name = entry.line("FN") or whole_line(joined((*more[1:2], given, *more[:1], family), " "))
    lines = [
        (f"{label}{_kind(found)}", _value(key, found))
        for key, label in _SHOWN.items()
        for found in entry.all(key)
    ]
    title = name or entry.lists("ORG") or entry.lists("EMAIL") or "Without a name"
    return title, joined((_listed(lines), *map(_note, entry.all("NOTE"))), "\n\n")


def _value(key: str, found: _Property) -> str:
    """Return the value of a line about a contact."""
    if key in ("ORG", "ADR", "CATEGORIES", "NICKNAME"):
        return found.listed
    at = _moment(found.text) if key in ("BDAY", "ANNIVERSARY") else None
    return _day(at) if at else whole_line(found.text.removeprefix("tel:"))


def _kind(found: _Property) -> str:
    """Return the kinds of a number or an address in brackets: " (work, cell)"."""
    kinds = found.parameters.get("TYPE", "").upper().split(",")
    shown = [kind.lower() for kind in kinds if kind in _KINDS]
    return f" ({', '.join(shown)})" if shown else ""


def _listed(lines: Sequence[tuple[str, str]]) -> str:
    """Return the lines that say something as a list."""
    return "\n".join(f"- {label}: {safe_text(value)}" for label, value in lines if value)
