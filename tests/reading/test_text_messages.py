"""Text messages of a phone, as SMS Backup & Restore writes them."""

from __future__ import annotations

from ragkit.reading.formats import Format
from ragkit.reading.readers import read_data
from ragkit.settings import ReadingSettings

_LIMITS = ReadingSettings()
_HEAD = "<?xml version='1.0' encoding='UTF-8' standalone='yes' ?>\n<smses count=\"2\">\n"


def sms(number, milliseconds, body, kind=1, name="(Unknown)"):
    return (
        f'<sms protocol="0" address="{number}" date="{milliseconds}" type="{kind}" subject="null"'
        f' body="{body}" toa="null" service_center="null" read="1" status="-1" locked="0"'
        f' readable_date="3 Apr 2023 07:33:20" contact_name="{name}" />\n'
    )


def read(*entries, name="sms-20230403.xml"):
    return read_data(f"{_HEAD}{''.join(entries)}</smses>\n".encode(), name, _LIMITS)


def test_each_contact_is_a_session_with_what_both_wrote_in_order():
    reading = read(
        sms("+4791234567", 1680500060000, "On my way &#128077;", kind=2, name="Ana Torres"),
        sms("332", 1680500030000, "Balance &lt;40&gt; &amp; more", name="(Unknown)"),
        sms("+4791234567", 1680500000000, "Boat at 7&#10;blue rope", name="Ana Torres"),
    )
    assert reading.format is Format.CONVERSATION
    assert reading.title == "sms-20230403"
    assert reading.text == (
        "# sms-20230403\n\n"
        "## Ana Torres\n\n"
        "**Ana Torres** · 2023-04-03 05:33 UTC\nBoat at 7\nblue rope\n\n"
        "**Me** · 2023-04-03 05:34 UTC\nOn my way 👍\n\n"
        "## 332\n\n"
        "**332** · 2023-04-03 05:33 UTC\nBalance <40> & more\n"
    )
    assert reading.metadata["platform"] == "SMS"
    assert reading.metadata["participants"] == ["Ana Torres", "Me", "332"]


def test_emoji_whose_halves_are_numbers_are_whole():
    reading = read(sms("332", 1680500000000, "ok &#55357;&#56397; &#55356;&#57225;"))
    assert "\nok 👍 🎉\n" in reading.text


def test_long_messages_have_their_texts_and_those_of_a_group_their_sender():
    smil = '<part seq="-1" ct="application/smil" text=\'&lt;smil width="100%"/&gt;\' />'
    photo = '<part seq="0" ct="image/jpeg" cl="photo.jpg" text="null" data="iVBORw0KGgo=" />'
    words = '<part seq="0" ct="text/plain" chset="106" text="See you at the quay" />'
    mms = (
        '<mms text_only="0" msg_box="1" date="1680500120000" address="+471~+472"'
        ' contact_name="null">\n<parts>' + smil + photo + words + "</parts>\n<addrs>"
        '<addr address="+472" type="137" charset="106" />'
        '<addr address="+471" type="151" charset="106" /></addrs></mms>\n'
    )
    only_photo = mms.replace(words, "").replace("1680500120000", "1680500130000")
    reading = read(sms("+472", 1680500000000, "hello", name="Rui"), mms, only_photo)
    assert reading.text.endswith(
        "## +471, Rui\n\n**Rui** · 2023-04-03 05:35 UTC\nSee you at the quay\n"
    )
    assert reading.text.count("quay") == 1


def test_drafts_are_mine_and_messages_without_a_day_are_kept():
    entries = sms("332", "", "no day"), sms("332", 1680500000000, "not sent", kind=3)
    reading = read(*entries)
    assert "**332**\nno day" in reading.text
    assert "**Me** · 2023-04-03 05:33 UTC\nnot sent" in reading.text


def test_markup_in_a_message_starts_no_section_and_an_empty_file_is_code():
    assert "\\# not a heading" in read(sms("332", 1680500000000, "# not a heading")).text
    assert read().format is Format.CODE
