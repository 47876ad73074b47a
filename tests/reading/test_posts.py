"""Posts of people: the files of an archive of X, and the outbox of Mastodon."""

from __future__ import annotations

import json

import pytest

from ragkit.errors import ReadingError, SkippedError
from ragkit.reading.formats import Format
from ragkit.reading.readers import read_data
from ragkit.settings import ReadingSettings

_LIMITS = ReadingSettings()


def read(source, name):
    return read_data(source.encode(), name, _LIMITS)


def archived(kind, *entries):
    return f"window.YTD.{kind}.part0 = {json.dumps(list(entries), indent=2)}\n"


def post(text, at="Wed Oct 10 20:19:24 +0000 2018", **more):
    return {"tweet": {"id_str": "1", "full_text": text, "created_at": at, **more}}


def test_posts_are_read_from_the_first_on_with_the_addresses_that_they_mean():
    address = {"url": "https://t.co/a1", "expanded_url": "https://example.org/tides"}
    media = {"url": "https://t.co/b2", "type": "photo", "ext_alt_text": "the blue boat"}
    source = archived(
        "tweets",
        post("Tides: https://t.co/a1 &amp; wind", entities={"urls": [address]}),
        post(
            "@zoe ready? https://t.co/b2",
            "Tue Oct 09 08:00:00 +0000 2018",
            in_reply_to_screen_name="zoe",
            extended_entities={"media": [media, {"url": "https://t.co/b2", "type": "video"}]},
        ),
    )
    reading = read(source, "twitter/data/tweets.js")
    assert reading.format is Format.CONVERSATION
    assert reading.text == (
        "# Posts on X\n\n"
        "## Tuesday, 9 October 2018\n\n"
        "**Me** · 2018-10-09 08:00 UTC · in reply to @zoe\n"
        "@zoe ready?\n(photo: the blue boat)\n(video)\n\n"
        "## Wednesday, 10 October 2018\n\n"
        "**Me** · 2018-10-10 20:19 UTC\nTides: https://example.org/tides & wind\n"
    )
    assert reading.metadata["platform"] == "X"


def test_older_archives_have_posts_by_themselves():
    bare = post("before 2019")["tweet"]
    assert "before 2019" in read(archived("tweet", bare) + ";", "tweet.js").text


def test_messages_are_kept_by_conversation():
    def message(sender, text, at):
        return {"messageCreate": {"senderId": sender, "text": text, "createdAt": at, "urls": [
            {"url": "https://t.co/c", "expanded": "https://example.org/map"}
        ]}}  # fmt: skip

    def conversation(number, *messages):
        return {"dmConversation": {"conversationId": number, "messages": list(messages)}}

    source = archived(
        "direct_messages",
        conversation(
            "7-9",
            message("9", "at the quay https://t.co/c", "2024-04-06T15:31:00.000Z"),
            message("7", "where?", "2024-04-06T15:30:00.000Z"),
        ),
        conversation("7-8", message("8", "hello", "2023-01-01T00:00:00.000Z")),
    )
    assert read(source, "direct-messages.js").text == (
        "# Direct messages on X\n\n"
        "## Conversation 7-9\n\n**7** · 2024-04-06 15:30 UTC\nwhere?\n\n"
        "**9** · 2024-04-06 15:31 UTC\nat the quay https://example.org/map\n\n"
        "## Conversation 7-8\n\n**8** · 2023-01-01 00:00 UTC\nhello\n"
    )


def test_likes_bookmarks_and_long_posts():
    like = {"like": {"fullText": "Knots &gt; glue", "expandedUrl": "https://twitter.com/i/1"}}
    liked = read(archived("like", like, {"like": {"tweetId": "2"}}), "like.js").text
    assert liked == "# Liked posts on X\n\n**Liked**\nKnots > glue\nhttps://twitter.com/i/1\n"
    mark = {"bookmark": {"fullText": "saved"}}
    assert "**Bookmark**\nsaved" in read(archived("bookmark", mark), "bookmark.js").text
    note = {"noteTweet": {"createdAt": "2025-06-04T10:00:00.000Z", "core": {"text": "a long one"}}}
    long_post = read(archived("note_tweet", note), "note-tweet.js").text
    assert "**Me** · 2025-06-04 10:00 UTC\na long one\n" in long_post


@pytest.mark.parametrize("kind", ["ad_engagements", "ip_audit"])
def test_other_files_of_an_archive_are_left_out(kind):
    with pytest.raises(SkippedError, match="posts, messages, likes and bookmarks are read"):
        read(archived(kind, {"ipAudit": {"loginIp": "10.0.0.1"}}), "ip-audit.js")


def test_an_archive_without_posts_and_a_damaged_one():
    with pytest.raises(SkippedError, match="no posts"):
        read(archived("tweets"), "tweets.js")
    with pytest.raises(ReadingError, match="damaged or incomplete"):
        read(archived("tweets", post("cut off"))[:60], "tweets.js")


def test_other_scripts_are_code():
    assert read("window.title = 'tweets';\n", "tweets.js").format is Format.CODE


# -- Mastodon ----------------------------------------------------------------------------------


def created(content, at, **more):
    note = {"type": "Note", "content": content, "published": at, **more}
    return {"type": "Create", "actor": "https://ruby.social/users/ana", "object": note}


def outbox(*activities):
    return json.dumps(
        {"id": "outbox.json", "type": "OrderedCollection", "orderedItems": activities}
    )


def test_an_outbox_is_what_its_owner_wrote():
    source = outbox(
        {"type": "Announce", "object": "https://x.example/1", "published": "2023-01-01T00:00:00Z"},
        created(
            '<p>Low <strong>tide</strong> at six</p><p>see <a href="https://example.org/t">tables</a></p>',
            "2023-05-02T06:00:00Z",
            summary="sea",
            attachment=[{"mediaType": "image/png", "name": "the quay"}, {"mediaType": "image/png"}],
        ),
        created(
            "<p>@bo yes</p>",
            "2023-05-01T06:00:00Z",
            inReplyTo="https://ruby.social/users/bo/statuses/1",
        ),
    )
    reading = read(source, "outbox.json")
    assert reading.title == "Posts of @ana@ruby.social"
    assert reading.text.partition("\n\n")[2] == (
        "## Monday, 1 May 2023\n\n"
        "**@ana@ruby.social** · 2023-05-01 06:00 UTC · in reply to @bo\n@bo yes\n\n"
        "## Tuesday, 2 May 2023\n\n"
        "**@ana@ruby.social** · 2023-05-02 06:00 UTC\n"
        "(sea)\nLow **tide** at six\n\nsee [tables](https://example.org/t)\n"
        "(image: the quay)\n(image)\n"
    )


def test_an_account_of_numbers_has_no_name():
    activity = created("<p>hello</p>", "2026-01-01T00:00:00Z")
    activity["actor"] = "https://ruby.social/ap/users/11223"
    assert "**Me** · 2026-01-01 00:00 UTC\nhello" in read(outbox(activity), "outbox.json").text
