"""Calendars and address books: who, when and where in words, and nothing of a neighbour."""

from __future__ import annotations

import pytest

from ragkit.reading.calendars import read_calendar, read_contacts

CALENDAR = """BEGIN:VCALENDAR
VERSION:2.0
X-WR-CALNAME:Harbour
BEGIN:VTIMEZONE
TZID:Europe/Berlin
BEGIN:STANDARD
DTSTART:19701025T030000
END:STANDARD
END:VTIMEZONE
BEGIN:VEVENT
UID:1@x
DTSTART;TZID=Europe/Berlin:20260301T100000
DTEND;TZID=Europe/Berlin:20260301T113000
SUMMARY:Budget meeting for the harbour pro
 ject
LOCATION:Room 4\\, second floor
DESCRIPTION:Bring the numbers.\\nAnd the crane's lease.\\n\\n# not a heading
ORGANIZER;CN="Lind, Tom":mailto:tom@example.org
ATTENDEE;ROLE=REQ-PARTICIPANT;CN=Anna Berg:mailto:anna@example.org
ATTENDEE:mailto:eve@example.org
RRULE:FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,TH;UNTIL=20260501T000000Z
BEGIN:VALARM
DESCRIPTION:Reminder
TRIGGER:-PT15M
END:VALARM
END:VEVENT
BEGIN:VEVENT
SUMMARY:Fair
DTSTART;VALUE=DATE:20260710
DTEND;VALUE=DATE:20260713
STATUS:CANCELLED
CATEGORIES:trade,boats
DESCRIPTION:<b>Hall 3</b><br>Stand 7
END:VEVENT
BEGIN:VTODO
DUE:20260105T170000Z
SUMMARY:Call the yard
END:VTODO
END:VCALENDAR
"""
CONTACTS = """BEGIN:VCARD
VERSION:3.0
N:Berg;Anna;Maria;Dr.;
FN:Dr. Anna Berg
ORG:Harbour Works;Cranes
item1.TEL;TYPE=CELL;TYPE=pref:+49 123 456
item2.EMAIL;TYPE="work,internet":anna@example.org
ADR;TYPE=HOME:;;Quay 4;Kiel;;24103;Germany
BDAY:1980-02-03
NOTE:Met in Rotterdam\\, likes cranes
PHOTO;ENCODING=b;TYPE=JPEG:/9j/4AAQ
 SkZJRgABAQAAAQ
END:VCARD
BEGIN:VCARD
VERSION:2.1
N;CHARSET=UTF-8;ENCODING=QUOTED-PRINTABLE:M=C3=BCller;J=C3=BC=
rgen;;;
TEL;CELL;PREF:0171 1
NOTE;ENCODING=QUOTED-PRINTABLE;CHARSET=ISO-8859-1:Gr=FC=DFe=0D=0A=
zweite Zeile
END:VCARD
"""


def test_events_say_when_where_and_who():
    reading = read_calendar(CALENDAR, "cal.ics")
    assert reading.text == (
        "## Budget meeting for the harbour project\n\n"
        "- When: Sunday, 1 March 2026 (2026-03-01), 10:00 to 11:30 Europe/Berlin\n"
        "- Repeats: every 2 weeks on MO, TH until 2026-05-01\n"
        "- Where: Room 4, second floor\n"
        "- With: Lind, Tom; Anna Berg; eve@example.org\n\n"
        "Bring the numbers.\nAnd the crane's lease.\n\n\\# not a heading\n\n"
        "## Fair\n\n"
        "- When: Friday, 10 July 2026 (2026-07-10) to Sunday, 12 July 2026 (2026-07-12)\n"
        "- Status: cancelled\n"
        "- Categories: trade, boats\n\n"
        "**Hall 3**\nStand 7\n\n"
        "## Call the yard\n\n"
        "- Due: Monday, 5 January 2026 (2026-01-05), 17:00 UTC\n"
    )
    assert (reading.title, reading.format) == ("Harbour", "calendar")
    assert reading.metadata == {"date": "2026-03-01", "last_date": "2026-07-10"}


def test_contacts_say_how_to_reach_them():
    reading = read_contacts(CONTACTS, "people.vcf")
    assert reading.text == (
        "## Dr. Anna Berg\n\n"
        "- Organisation: Harbour Works, Cranes\n"
        "- Phone (cell): +49 123 456\n"
        "- E-mail (work): anna@example.org\n"
        "- Address (home): Quay 4, Kiel, 24103, Germany\n"
        "- Birthday: Sunday, 3 February 1980 (1980-02-03)\n\n"
        "Met in Rotterdam, likes cranes\n\n"
        "## Jürgen Müller\n\n"
        "- Phone (cell): 0171 1\n\n"
        "Grüße\nzweite Zeile\n"
    )
    assert (reading.title, reading.format) == ("people", "contacts")


@pytest.mark.parametrize("end", ["20260301", "20260302", "nonsense", "20269999"])
def test_a_whole_day_is_one_day(end):
    text = f"BEGIN:VEVENT\nSUMMARY:Day\nDTSTART:20260301\nDTEND:{end}\nEND:VEVENT"
    assert "- When: Sunday, 1 March 2026 (2026-03-01)\n" in read_calendar(text, "a.ics").text


def test_an_entry_that_never_ends_is_read_and_a_time_that_is_none_is_kept():
    reading = read_calendar("BEGIN:VEVENT\nSUMMARY:Fair\nDTSTART:some day", "a.ics")
    assert reading.text == "## Fair\n\n- When: some day\n"
    assert reading.title == "Fair"


@pytest.mark.parametrize("read", [read_calendar, read_contacts])
def test_a_file_without_entries_stays_as_it_is(read):
    assert read("BEGIN:NOTHING\nX:y", "a.ics").text == "BEGIN:NOTHING\nX:y"
