"""Chats as Skype exported them."""

from __future__ import annotations

import json

from ragkit.reading.formats import Format
from ragkit.reading.readers import read_data
from ragkit.settings import ReadingSettings

_LIMITS = ReadingSettings()


def message(sender, content, at, kind="RichText", name=None):
    return {
        "id": at, "displayName": name, "originalarrivaltime": f"2021-03-04T{at}:12.123Z",
        "messagetype": kind, "version": 1, "content": content, "conversationid": "8:live:ana",
        "from": sender, "properties": None, "amsreferences": None,
    }  # fmt: skip


def read(*chats):
    export = {"userId": "8:live:me", "exportDate": "2025-04-03T10:00", "conversations": list(chats)}
    return read_data(json.dumps(export).encode(), "messages.json", _LIMITS)


def test_each_chat_is_a_session_in_the_order_of_time():
    ana = {
        "id": "8:live:ana", "displayName": "Ana Torres", "threadProperties": None,
        "MessageList": [
            message("8:live:me", "On my way &amp; <b raw_pre=\"*\">soon</b> <ss type=\"s\">:)</ss>",
                    "10:12"),
            message("8:live:ana", "The boat leaves at 7", "10:11"),
            message("8:live:ana", "<partlist type=\"ended\"></partlist>", "10:10", "Event/Call"),
        ],
    }  # fmt: skip
    crew = {
        "id": "19:abc@thread.skype", "displayName": None,
        "MessageList": [
            message("8:rui.b", "later", "10:16"),
            message("8:rui.b", "bring rope", "10:15", name="Rui"),
            message("8:live:zo", "ok", "10:14"),
        ],
    }  # fmt: skip
    reading = read(ana, crew)
    assert reading.format is Format.CONVERSATION
    assert reading.title == "Skype"
    assert reading.text == (
        "# Skype\n\n"
        "## Ana Torres\n\n"
        "**Ana Torres** · 2021-03-04 10:11 UTC\nThe boat leaves at 7\n\n"
        "**Me** · 2021-03-04 10:12 UTC\nOn my way & soon :)\n\n"
        "## abc@thread.skype\n\n"
        "**zo** · 2021-03-04 10:14 UTC\nok\n\n"
        "**Rui** · 2021-03-04 10:15 UTC\nbring rope\n\n"
        "**Rui** · 2021-03-04 10:16 UTC\nlater\n"
    )


def test_quotations_are_the_words_of_others_and_files_have_names():
    quote = (
        '<quote author="ana"><legacyquote>[1614852672] Ana: </legacyquote>at seven'
        "<legacyquote>\n\n&lt;&lt;&lt; </legacyquote></quote>yes"
    )
    file = (
        '<URIObject type="File.1">To view this file, go to: '
        '<OriginalName v="plan &amp; map.pdf"/></URIObject>'
    )
    chat = {
        "id": "8:ana", "displayName": "Ana",
        "MessageList": [
            message("8:ana", quote, "10:10"),
            message("8:ana", file, "10:11", "RichText/Media_GenericFile"),
        ],
    }  # fmt: skip
    text = read(chat).text
    assert "\n> at seven\n\nyes\n" in text
    assert "\n(plan & map.pdf)\n" in text
