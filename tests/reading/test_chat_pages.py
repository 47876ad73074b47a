"""Chats that Discord's exporter, Facebook and Instagram write as web pages."""

from __future__ import annotations

import pytest

from ragkit.reading.conversations.messages import moment
from ragkit.reading.formats import Format
from ragkit.reading.readers import read_data
from ragkit.settings import ReadingSettings

_LIMITS = ReadingSettings()
# 14 March 2024, 18:30:00 UTC: milliseconds since 2015, 22 bits to the left.
_FIRST = (1_710_441_000_000 - 1_420_070_400_000) << 22
_MINUTE = 60_000 << 22


def read(source, name):
    return read_data(source.encode(), name, _LIMITS)


# -- Discord -----------------------------------------------------------------------------------


def page(*groups, title="Rowing club - boats"):
    return (
        f"<!DOCTYPE html><html lang=en><head><title>{title}</title><meta charset=utf-8><style>"
        ".chatlog__message-group{margin-bottom:1rem}</style></head><body><div class=preamble>"
        "<div class=preamble__entry>Rowing club</div></div><div class=chatlog>"
        f"{''.join(groups)}</div><div class=postamble><div class=postamble__entry>Exported 3 "
        "message(s)</div></div></body></html>"
    )


def group(*messages):
    return f"<div class=chatlog__message-group>{''.join(messages)}</div>"


def message(number, inside, author=""):
    header = (
        f'<div class=chatlog__header><span class=chatlog__author style="color: rgb(1, 2, 3)" '
        f'title="{author}#1" data-user-id=7>{author}</span> <span class=chatlog__timestamp '
        'title="Donnerstag, 14. März 2024 19:30"><a href=#x>14.03.2024 19:30</a></span></div>'
    )
    return (
        f"<div id=chatlog__message-container-{number} class=chatlog__message-container "
        f"data-message-id={number}><div class=chatlog__message><div class=chatlog__message-aside>"
        "<img class=chatlog__avatar src=a.png alt=Avatar loading=lazy></div>"
        f"<div class=chatlog__message-primary>{header if author else ''}{inside}</div></div></div>"
    )


def content(html, after=""):
    return (
        '<div class="chatlog__content chatlog__markdown"><span class=chatlog__markdown-preserve>'
        f"{html}</span>{after}</div>"
    )


def test_a_channel_is_a_conversation_whose_times_are_in_the_ids():
    edited = '<span class=chatlog__edited-timestamp title="later">(edited)</span>'
    reply = (
        "<div class=chatlog__reply><img class=chatlog__reply-avatar src=b.png alt=Avatar>"
        '<div class=chatlog__reply-author title="ana#1">Ana &amp; Co</div>'
        '<div class=chatlog__reply-content><span class=chatlog__reply-link onclick="x()">The '
        "four needs a rudder</span></div></div>"
    )
    reading = read(
        page(
            group(
                message(
                    _FIRST, content("The <strong>four</strong> needs a rudder"), "Ana &amp; Co"
                ),
                message(_FIRST + _MINUTE, content("by Friday", edited)),
            ),
            group(message(_FIRST + 2 * _MINUTE, reply + content("I have one"), "Zoë")),
        ),
        "Rowing club - boats [99].html",
    )
    assert reading.format is Format.CONVERSATION
    assert reading.text == (
        "# Rowing club - boats\n\n"
        "## Thursday, 14 March 2024\n\n"
        "**Ana & Co** · 2024-03-14 18:30 UTC\nThe **four** needs a rudder\n\n"
        "**Ana & Co** · 2024-03-14 18:31 UTC\nby Friday\n\n"
        "**Zoë** · 2024-03-14 18:32 UTC · in reply to Ana & Co\nI have one\n"
    )
    assert reading.metadata["participants"] == ["Ana & Co", "Zoë"]
    assert reading.metadata["platform"] == "Discord"


def test_files_stickers_previews_and_code_of_discord():
    image = (
        "<div class=chatlog__attachment><a href=x.png><img class=chatlog__attachment-media "
        'src=x.png alt="Image attachment" title="Image: hull.png (3 MB)" loading=lazy></a></div>'
    )
    file = (
        "<div class=chatlog__attachment><div class=chatlog__attachment-generic><svg "
        "class=chatlog__attachment-generic-icon></svg><div class=chatlog__attachment-generic-name>"
        "<a href=y.pdf>lease.pdf</a></div><div class=chatlog__attachment-generic-size>9 KB</div>"
        "</div></div>"
    )
    sticker = '<div class=chatlog__sticker title="Wave"><img src=z.png alt=Sticker></div>'
    embed = (
        "<div class=chatlog__embed><div class=chatlog__embed-text><div class=chatlog__embed-title>"
        '<a class=chatlog__embed-title-link href="https://example.org/r">River levels</a></div>'
        "<div class=chatlog__embed-description>2.1 m and rising</div></div></div>"
    )
    reactions = (
        '<div class=chatlog__reactions><div class=chatlog__reaction title="ok"><img '
        "class=chatlog__emoji chatlog__emoji--small alt=👍 src=t.png><span "
        "class=chatlog__reaction-count>4</span></div></div>"
    )
    code = (
        '<code class="chatlog__markdown-pre chatlog__markdown-pre--multiline language-py">'
        "stroke = 32\nrate(stroke)</code>"
    )
    emoji = '<img loading=lazy class="chatlog__emoji" alt="🚣" title="rowboat" src=r.svg>'
    text = content(f"see {emoji} {code}")
    reading = read(
        page(group(message(_FIRST, text + image + file + embed + sticker + reactions, "Rui"))),
        "x.html",
    )
    assert reading.text.partition("UTC\n")[2] == (
        "see 🚣\n```\nstroke = 32\nrate(stroke)\n```\n(attached: hull.png)\n(attached: lease.pdf)\n"
        "> [River levels](https://example.org/r)\n> 2.1 m and rising\n(sticker: Wave)\n"
    )


def test_notices_of_discord_have_no_author():
    notice = (
        "<span class=chatlog__system-notification-author data-user-id=7>Bo</span> <span> </span> "
        "<span class=chatlog__system-notification-content><span>joined the server.</span></span> "
        "<span class=chatlog__system-notification-timestamp><a href=#x>today</a></span>"
    )
    reading = read(page(group(message(_FIRST, notice))), "x.html")
    assert "*2024-03-14 18:30 UTC*\nBo joined the server.\n" in reading.text
    assert "participants" not in reading.metadata


def test_older_pages_name_the_author_once_above_the_messages():
    def said(number, words):
        return (
            f'<div class="chatlog__message " data-message-id="{number}" id="message-{number}">\n'
            '<div class="chatlog__content">\n<div class="markdown"><span '
            f'class="preserve-whitespace">{words}</span></div></div></div>'
        )

    def old(author, *messages):
        return (
            '<div class="chatlog__message-group"><div class="chatlog__author-avatar-container">'
            '<img class="chatlog__author-avatar" src="a.png" alt="Avatar"></div><div '
            'class="chatlog__messages"><span class="chatlog__author-name" title="x#1" '
            f'data-user-id="7">{author}</span><span class="chatlog__timestamp">14-Mar-24 06:30 PM'
            f"</span>{''.join(messages)}</div></div>"
        )

    source = page(
        old("Ana", said(_FIRST, "two oars left"), said(_FIRST + _MINUTE, "and one seat")),
        old("Rui", said(_FIRST + 2 * _MINUTE, "mine")),
    )
    assert read(source, "x.htm").text.partition("2024\n\n")[2] == (
        "**Ana** · 2024-03-14 18:30 UTC\ntwo oars left\n\n"
        "**Ana** · 2024-03-14 18:31 UTC\nand one seat\n\n"
        "**Rui** · 2024-03-14 18:32 UTC\nmine\n"
    )


def test_a_page_about_such_pages_is_a_web_page():
    about = "<html><body><p>Its class is chatlog__message-group and _a6-g.</p></body></html>"
    assert read(about, "message_1.html").format is Format.HTML


# -- Facebook and Instagram --------------------------------------------------------------------

_FORMS = {
    "2019": (
        '<div class="pam _3-95 _2pi0 _2lej uiBoxWhite noborder"><div class="_3-96 _2pio _2lek '
        '_2lel">{who}</div><div class="_3-96 _2let"><div><div></div><div>{what}</div><div></div>'
        '<div></div></div></div><div class="_3-94 _2lem">{when}</div></div>'
    ),
    "Instagram": (
        '<div class="pam _3-95 _2ph- _a6-g uiBoxWhite noborder"><div class="_3-95 _2pim _a6-h '
        '_a6-i">{who}</div><div class="_3-95 _a6-p"><div><div></div><div>{what}</div></div></div>'
        '<div class="_3-94 _a6-o">{when}</div></div>'
    ),
    "2024": (
        '<div class="_3-95 _a6-g"><div class="_2ph_ _a6-h _a6-i">{who}</div><div class="_2ph_ '
        '_a6-p"><div><div></div><div>{what}</div></div></div><div class="_3-94 _a6-o"><div '
        'class="_a72d">{when}</div></div></div>'
    ),
    "2025": (
        '<section class="_3-95 _a6-g" aria-labelledby="u_0"><h2 class="_2ph_ _a6-h _a6-i" id="u_0">'
        '{who}</h2><div class="_2ph_ _a6-p"><div><div></div><div>{what}</div><div>'
        '<ul class="_a6-q"><li><span>😆Bo (Jun 01, 2025 3:32:01 pm)</span></li></ul></div></div>'
        '</div><footer class="_3-94 _a6-o"><div class="_a72d">{when}</div></footer></section>'
    ),
}


def thread(form, *messages, title="Ana Berg"):
    cards = "".join(
        _FORMS[form].format(who=who, what=what, when=when) for who, what, when in messages
    )
    return (
        f"<html><head><title>{title}</title><style>._a6-g{{}}</style></head><body><div "
        f'class="_3-8y _3-95 _a70a"><div class="_a706" role="main">{cards}</div></div></body>'
        "</html>"
    )


@pytest.mark.parametrize("form", _FORMS)
def test_a_thread_is_read_from_its_first_message_on_in_every_form(form):
    source = thread(
        form,
        ("Ana Berg", "O&#039;Hara said yes", "Jun 02, 2025 9:00:12 am"),
        ("Rui", "did she <br />answer?", "Jun 01, 2025 11:31 pm"),
    )
    reading = read(source, "inbox/anaberg_17/message_1.html")
    assert reading.format is Format.CONVERSATION
    assert reading.text == (
        "# Ana Berg\n\n"
        "## Sunday, 1 June 2025\n\n**Rui** · 2025-06-01 23:31\ndid she\nanswer?\n\n"
        "## Monday, 2 June 2025\n\n**Ana Berg** · 2025-06-02 09:00\nO'Hara said yes\n"
    )


def test_pictures_and_files_of_a_thread_are_marks():
    picture = '<a href="../x/photos/1_2.jpg"><img src="../x/photos/1_2.jpg" class="_a6_o" /></a>'
    file = '<a href="../x/files/lease.pdf">lease.pdf</a>'
    source = thread("2024", ("Ana", picture, "Jul 1, 2024 1:00:00pm"), ("Ana", file, "no time"))
    assert read(source, "message_2.html").text == (
        "# Ana Berg\n\n**Ana**\nlease.pdf\n(file)\n\n"
        "## Monday, 1 July 2024\n\n**Ana** · 2024-07-01 13:00\n(photo)\n"
    )


def test_posts_have_the_same_classes_and_are_web_pages():
    source = thread("2025", ("Ana updated her status.", "Hello", "Jun 01, 2025 3:31:29 pm"))
    reading = read(source, "posts/your_posts_1.html")
    assert reading.format is Format.HTML
    assert "Hello" in reading.text


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("Jul 12, 2024 4:54:10pm", "2024-07-12T16:54:10"),
        ("12. Juli 2024, 16:54", "2024-07-12T16:54:00"),
        ("12 juil. 2024 à 16:54", "2024-07-12T16:54:00"),
        ("dic 23, 2019, 5:03 PM", "2019-12-23T17:03:00"),
        ("23 de diciembre de 2019 a las 5:03", "2019-12-23T05:03:00"),
        ("Mai 03, 2023 10:44:10 AM", "2023-05-03T10:44:10"),
    ],
)
def test_times_name_their_months_in_several_languages(written, meant):
    assert moment(written).isoformat() == meant
