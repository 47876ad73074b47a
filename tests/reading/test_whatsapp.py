from __future__ import annotations

import pytest
from reading_files import read, said

from ragkit.reading.conversations.whatsapp import read_whatsapp
from ragkit.types import Markup, OutlineEntry


def times(text, name="chat.txt"):
    return [one.at.isoformat(" ") for one in read_whatsapp(text, name).messages]


ANDROID = """\
03/02/2026, 14:05 - Messages and calls are end-to-end encrypted. Tap to learn more.
03/02/2026, 14:05 - Max created group "Trip: Lyon"
03/02/2026, 14:06 - Max Weber: Shall we take the train?
It leaves at 9:15,
and there is another:
- 11:15
03/02/2026, 14:07 - +49 176 040690 27: <Media omitted>
13/02/2026, 09:00 - Inês: IMG-20260213-WA0001.jpg (file attached)
13/02/2026, 23:59 - Max Weber: # not a heading
"""


def test_whatsapp_from_android(tmp_path):
    reading = read(tmp_path, "chats/WhatsApp Chat with Lyon trip.txt", ANDROID)
    assert reading.text == (
        "# Lyon trip\n\n## Tuesday, 3 February 2026\n\n"
        '*2026-02-03 14:05*\nMax created group "Trip: Lyon"\n\n'
        "**Max Weber** · 2026-02-03 14:06\nShall we take the train?\nIt leaves at 9:15,\n"
        "and there is another:\n- 11:15\n\n"
        "**+49 176 040690 27** · 2026-02-03 14:07\n(Media omitted)\n\n"
        "## Friday, 13 February 2026\n\n"
        "**Inês** · 2026-02-13 09:00\nIMG-20260213-WA0001.jpg (file attached)\n\n"
        "**Max Weber** · 2026-02-13 23:59\n\\# not a heading\n"
    )
    assert (reading.title, reading.format, reading.markup) == (
        "Lyon trip",
        "conversation",
        Markup.MARKDOWN,
    )
    assert reading.metadata == {
        "participants": ["Max Weber", "+49 176 040690 27", "Inês"],
        "date": "2026-02-03",
        "last_date": "2026-02-13",
        "platform": "WhatsApp",
        "messages": 5,
    }
    second = reading.text.index("## Friday")
    assert reading.outline == (
        OutlineEntry(13, 2, "Tuesday, 3 February 2026"),
        OutlineEntry(second, 2, "Friday, 13 February 2026"),
    )
    assert [one.at for one in reading.messages][1] == "2026-02-03T14:06:00"
    assert reading.text[reading.messages[1].end :].startswith("\n\n**+49")


def test_whatsapp_from_ios_with_marks_and_narrow_spaces(tmp_path):
    reading = read(
        tmp_path,
        "_chat.txt",
        "\u200e[2/3/26, 2:05:33\u202fPM] Max: \u200eimage omitted\n"
        "[2/3/26, 12:00:01\u202fAM] \u202a+1 202 555 0100\u202c: midnight\n"
        "\u200e[2/14/26, 12:30:00\u202fPM] ~\u202fEva: \u200e<attached: 00000012-PHOTO.jpg>\n",
    )
    assert said(reading) == [
        ("Max", "2026-02-03T14:05:33", "image omitted"),
        ("+1 202 555 0100", "2026-02-03T00:00:01", "midnight"),
        ("Eva", "2026-02-14T12:30:00", "(attached: 00000012-PHOTO.jpg)"),
    ]


@pytest.mark.parametrize(
    ("dates", "expected"),
    [
        (["03/02/2026, 14:05 - ", "04/02/2026, 14:05 - "], ["2026-02-03", "2026-02-04"]),
        (["02/03/2026, 14:05 - ", "02/14/2026, 14:05 - "], ["2026-02-03", "2026-02-14"]),
        (["03.02.26, 14:05 - ", "14.02.26, 14:05 - "], ["2026-02-03", "2026-02-14"]),
        (["1/12/26, 2:05 PM - ", "2/1/26, 2:05 PM - "], ["2026-01-12", "2026-02-01"]),
        (["2/3/26, 2:05 PM - ", "2/3/26, 2:06 PM - "], ["2026-02-03", "2026-02-03"]),
        (["03/02/2026, 2:05 pm - ", "03/02/2026, 2:06 pm - "], ["2026-02-03", "2026-02-03"]),
        (["2026-02-03 14:05 - ", "2026-12-01 14:05 - "], ["2026-02-03", "2026-12-01"]),
        (["2026/2/3 14:05 - ", "2026/2/4 14:05 - "], ["2026-02-03", "2026-02-04"]),
        (["03-02-2026 14:05 - ", "04-02-2026 14:05 - "], ["2026-02-03", "2026-02-04"]),
        (["3.2.2026 klo 14.05 - ", "4.2.2026 klo 14.05 - "], ["2026-02-03", "2026-02-04"]),
        (["03/02/2026 à 14:05 - ", "04/02/2026 à 14:05 - "], ["2026-02-03", "2026-02-04"]),
        (["3/2/26, 2:05 p. m. - ", "13/2/26, 2:05 p. m. - "], ["2026-02-03", "2026-02-13"]),
        (["[03.02.26, 14:05:33] ", "[04.02.26, 14:05:33] "], ["2026-02-03", "2026-02-04"]),
        (["٣\u200f/٢\u200f/٢٠٢٦، ٢:٠٥ م - "] * 2, ["2026-02-03", "2026-02-03"]),
        (["2026/2/3 下午2:05 - ", "2026/2/4 下午2:05 - "], ["2026-02-03", "2026-02-04"]),
        (["26. 2. 3. 오후 2:05 - ", "26. 2. 14. 오후 2:05 - "], ["2026-02-03", "2026-02-14"]),
        (["26/02/03, 14:05 - ", "26/02/05, 14:05 - "], ["2026-02-03", "2026-02-05"]),
        (["20/01/25, 14:05 - ", "20/03/26, 14:05 - "], ["2025-01-20", "2026-03-20"]),
        (["3.02.26 г., 14:05 ч. - ", "4.02.26 г., 14:05 ч. - "], ["2026-02-03", "2026-02-04"]),
        (["3/2/26, 2:05\u202fμ.μ. - ", "4/2/26, 2:05 μ.μ. - "], ["2026-02-03", "2026-02-04"]),
        (["3/2/2569 14:05 - ", "4/2/2569 14:05 - "], ["2026-02-03", "2026-02-04"]),
    ],
)
def test_the_order_of_dates_is_that_of_the_whole_file(dates, expected):
    found = times("".join(f"{date}Max: hello\n" for date in dates))
    assert [one[:10] for one in found] == expected
    assert all(one[11:16] in ("14:05", "14:06") for one in found)


def test_a_morning_in_greek_is_in_the_morning():
    text = "3/2/26, 12:05 π.μ. - Άννα: Γεια\n3/2/26, 9:05 π.μ. - Νίκος: Γεια\n"
    assert times(text) == ["2026-02-03 00:05:00", "2026-02-03 09:05:00"]


def test_names_from_right_to_left_keep_their_letters_and_lose_their_marks(tmp_path):
    reading = read(
        tmp_path,
        "שיחה.txt",
        "03/02/2026, 14:05 - \u200f\u202bנועה כהן\u202c: שלום לכולם\n"
        "03/02/2026, 14:06 - محمد: مرحبا\n",
    )
    assert said(reading) == [
        ("נועה כהן", "2026-02-03T14:05:00", "שלום לכולם"),
        ("محمد", "2026-02-03T14:06:00", "مرحبا"),
    ]


def test_a_log_file_is_no_conversation(tmp_path):
    log = "".join(
        f"[2026-02-03 14:05:{second:02}] {level}: started worker\n"
        for second, level in enumerate(["INFO", "ERROR", "app.DEBUG", "WARNING"] * 4)
    )
    for name in ("app.log", "app.txt"):
        reading = read(tmp_path, name, log)
        assert (reading.format, reading.text) == ("text", log)


def test_signal_exports(tmp_path):
    text = (
        "[2019-05-29, 15:04] Me: How is everyone?\n[2019-05-29, 15:10] Aya: We're great!\n"
        "(- Jim: 👍 -)\n[2019-05-30, 15:20] Jim: ![photo](./media/a.jpg)\n"
    )
    for name in ("Family/chat.md", "Family/chat.txt"):
        reading = read(tmp_path, name, text)
        assert (reading.title, reading.metadata["platform"]) == ("Family", "Signal")
        assert said(reading) == [
            ("Me", "2019-05-29T15:04:00", "How is everyone?"),
            ("Aya", "2019-05-29T15:10:00", "We're great!\n(- Jim: 👍 -)"),
            ("Jim", "2019-05-30T15:20:00", "![photo](./media/a.jpg)"),
        ]
