"""Calendars and address books: who, when and where in words, and nothing of a neighbour."""

from __future__ import annotations

import time

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


@pytest.mark.parametrize(
    ("start", "duration", "when"),
    [
        ("20260301T100000", "PT1H30M", "Sunday, 1 March 2026 (2026-03-01), 10:00 to 11:30"),
        ("20260301T100000Z", "PT45M", "Sunday, 1 March 2026 (2026-03-01), 10:00 to 10:45 UTC"),
        (
            "20260301T220000", "P1DT3H",
            "Sunday, 1 March 2026 (2026-03-01), 22:00 to Tuesday, 3 March 2026 (2026-03-03), 01:00",
        ),
        ("20260301", "P1D", "Sunday, 1 March 2026 (2026-03-01)"),
        (
            "20260301", "P1W",
            "Sunday, 1 March 2026 (2026-03-01) to Saturday, 7 March 2026 (2026-03-07)",
        ),
        ("20260301T100000", "-PT1H", "Sunday, 1 March 2026 (2026-03-01), 10:00"),
        ("20260301T100000", "an hour", "Sunday, 1 March 2026 (2026-03-01), 10:00"),
        ("99991230", "P9D", "Thursday, 30 December 9999 (9999-12-30)"),
    ],
)  # fmt: skip
def test_an_event_ends_when_its_time_is_over(start, duration, when):
    source = f"BEGIN:VEVENT\nSUMMARY:Talk\nDTSTART:{start}\nDURATION:{duration}\nEND:VEVENT"
    assert read_calendar(source, "a.ics").text == f"## Talk\n\n- When: {when}\n"


@pytest.mark.parametrize(
    ("end", "shown"),
    [
        ("America/New_York:20260301T123000", "12:30 America/New_York"),
        ("America/New_York:20260301T093000", "09:30 America/New_York"),
    ],
)
def test_a_flight_ends_in_the_zone_where_it_lands(end, shown):
    source = (
        "BEGIN:VEVENT\nSUMMARY:Flight\nDTSTART;TZID=Europe/Berlin:20260301T100000\n"
        f"DTEND;TZID={end}\nEND:VEVENT"
    )
    day = "Sunday, 1 March 2026 (2026-03-01)"
    assert read_calendar(source, "a.ics").text == (
        f"## Flight\n\n- When: {day}, 10:00 Europe/Berlin to {day}, {shown}\n"
    )


def test_an_event_says_on_which_days_it_is_as_well_and_on_which_not():
    source = (
        "BEGIN:VEVENT\nSUMMARY:Talk\nDTSTART;TZID=Europe/Berlin:20260301T100000\n"
        "RDATE;TZID=Europe/Berlin:20260308T100000,20260315T110000\n"
        "RDATE;VALUE=DATE:20260401\nRDATE;VALUE=PERIOD:20260402T100000Z/PT1H\n"
        "EXDATE;TZID=Europe/Berlin:20260322T100000\nEND:VEVENT"
    )
    assert read_calendar(source, "a.ics").text == (
        "## Talk\n\n- When: Sunday, 1 March 2026 (2026-03-01), 10:00 Europe/Berlin\n"
        "- Also on: Sunday, 8 March 2026 (2026-03-08), 10:00 Europe/Berlin; "
        "Sunday, 15 March 2026 (2026-03-15), 11:00 Europe/Berlin; "
        "Wednesday, 1 April 2026 (2026-04-01); Thursday, 2 April 2026 (2026-04-02), 10:00 UTC\n"
        "- Not on: Sunday, 22 March 2026 (2026-03-22), 10:00 Europe/Berlin\n"
    )


def test_only_a_quoted_line_goes_on_after_an_equals_sign():
    source = (
        "BEGIN:VCARD\nVERSION:2.1\nFN;CHARSET=UTF-8;ENCODING=QUOTED-PRINTABLE:J=C3=B6rg =\n"
        " M=C3=BCl=\nler\nTEL;CELL:+49 1\nURL:http://x.example/?a=\nEMAIL:a@b.example\n"
        "NOTE;QUOTED-PRINTABLE:Gate =3D=\n=20four=\n\nPHOTO;ENCODING=BASE64:/9j/4AAQ==\n"
        "TITLE:Cap\n tain\nEND:VCARD\n"
    )
    assert read_contacts(source, "a.vcf").text == (
        "## Jörg Müller\n\n- Position: Captain\n- Phone (cell): +49 1\n"
        "- E-mail: a@b.example\n- Link: http://x.example/?a=\n\nGate = four\n"
    )


def test_hostile_lines_take_no_more_time_than_their_length_asks():
    source = (
        "BEGIN:VCARD\nFN" + ";A" * 300_000 + "=\n" + " a=\n" * 100_000 + "EMAIL:a@b.c\nEND:VCARD"
    )
    began = time.process_time()
    assert "a@b.c" in read_contacts(source, "a.vcf").text
    assert time.process_time() - began < 3
