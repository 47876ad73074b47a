"""Chats that Telegram exports as web pages."""

from __future__ import annotations

from ragkit.reading.formats import Format
from ragkit.reading.readers import read_data
from ragkit.settings import ReadingSettings

_LIMITS = ReadingSettings()
_FRIEND = '<div class="from_name">\nAna &amp; Rui \n       </div>\n'
_OTHER = '<div class="from_name">\nZoë\n       </div>\n'


def message(number, inside, at="23.08.2023 13:11:23 UTC-08:00", style="default clearfix"):
    date = f'<div class="pull_right date details" title="{at}">\n13:11\n</div>\n'
    userpic = '<div class="userpic"><div class="initials">\nbA\n</div></div>\n'
    return (
        f'\n<div class="message {style}" id="message{number}">\n{userpic}'
        f'<div class="body">\n{date}{inside}</div>\n</div>\n'
    )


def page(*messages, chat="Boat &amp; crew"):
    header = f'<div class="page_header"><div class="content"><div class="text bold">\n{chat}\n'
    return (
        "<!DOCTYPE html>\n<html><head><title>Exported Data</title></head><body>"
        f'<div class="page_wrap">{header}</div></div></div>\n'
        '<div class="page_body chat_page">\n\n<div class="history">\n'
        '<div class="message service" id="message-1"><div class="body details">\n23 August 2023\n'
        f"</div></div>{''.join(messages)}</div></div></div></body></html>"
    )


def text(words):
    return f'<div class="text">\n{words}\n</div>\n'


def read(source, name="ChatExport_2023-08-23/messages.html"):
    return read_data(source.encode(), name, _LIMITS)


def test_a_page_is_a_conversation_with_names_times_and_days():
    reading = read(
        page(
            message(1, _FRIEND + text("we meet at <strong>six</strong><br>bring rope")),
            message(
                2, text("not later"), at="23.08.2023 13:12:00", style="default clearfix joined"
            ),
            message(
                3,
                _OTHER
                + '<div class="reply_to details">\nIn reply to <a href="#go_to_message1" '
                + 'onclick="return GoToMessage(1)">this message</a></div>'
                + text('see <a href="https://example.org/quay">the quay</a> &lt;3'),
                at="24.08.2023 09:00:00 UTC+02:00",
            ),
        )
    )
    assert reading.format is Format.CONVERSATION
    assert reading.title == "Boat & crew"
    assert reading.text == (
        "# Boat & crew\n\n"
        "## Wednesday, 23 August 2023\n\n"
        "**Ana & Rui** · 2023-08-23 13:11 -08:00\nwe meet at **six**\nbring rope\n\n"
        "**Ana & Rui** · 2023-08-23 13:12\nnot later\n\n"
        "## Thursday, 24 August 2023\n\n"
        "**Zoë** · 2023-08-24 09:00 +02:00 · in reply to Ana & Rui\n"
        "see [the quay](https://example.org/quay) <3\n"
    )
    assert reading.metadata["participants"] == ["Ana & Rui", "Zoë"]


def test_forwarded_words_are_those_of_who_forwarded_them_and_say_whose_they_were():
    forwarded = (
        '<div class="pull_left forwarded userpic_wrap"></div><div class="forwarded body">'
        '<div class="from_name">\nHarbour news <span class="date details" title="1.1.2023"> '
        f"01.01.2023</span></div>{text('Fog until noon')}</div>"
    )
    reading = read(page(message(1, _FRIEND + text("hi")), message(2, _OTHER + forwarded)))
    assert "**Zoë** · 2023-08-23 13:11 -08:00\n(forwarded from Harbour news)\nFog until noon" in (
        reading.text
    )


def test_files_are_named_and_what_was_not_exported_is_not_explained():
    file = (
        '<div class="media_wrap clearfix"><div class="media clearfix pull_left media_file">'
        '<div class="body"><div class="title bold">\nplan.pdf\n</div><div class="description">\n'
        "Not included, change data exporting settings to download.\n</div>"
        '<div class="status details">2 KB</div></div></div></div>'
    )
    photo = (
        '<div class="media_wrap clearfix"><a class="photo_wrap clearfix pull_left" '
        'href="photos/photo_1.jpg"><img class="photo" src="photos/photo_1.jpg"/></a></div>'
    )
    reading = read(page(message(1, _FRIEND + file), message(2, _OTHER + photo + text("look"))))
    assert "\n(plan.pdf)\n" in reading.text
    assert "\nlook\n(photo)\n" in reading.text


def test_other_pages_are_web_pages_and_an_empty_chat_is_one():
    assert read(page()).format is not Format.CONVERSATION
    plain = "<html><body><div class='message default'>hello there</div></body></html>"
    assert read(plain, "page.html").format is Format.HTML


def test_markup_in_a_message_starts_no_section():
    reading = read(page(message(1, _FRIEND + text("# not a heading"))))
    assert "\\# not a heading" in reading.text
