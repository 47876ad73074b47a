"""A thread of Facebook or Instagram as a web page (``message_1.html``), which is their default.

The names of classes mean nothing and have changed twice; posts, comments and lists of friends have
the same ones. So only pages with the name of a thread are read as one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ragkit.reading.conversations.messages import Conversation, Message, in_order, moment
from ragkit.reading.conversations.messengers import facebook_or_instagram
from ragkit.reading.conversations.page_markup import as_markdown, name_in, parts, title_in
from ragkit.reading.reading_parts import joined, stem, stem_or_folder

_THREAD = re.compile(r"message_\d+")
_CARD = re.compile(r"<(?:div|section)\b[^<>]*?\bclass=\"[^\"]*\b(?:_a6-g|_2lej)\b[^\"]*\"[^<>]*>")
_AUTHOR = re.compile(
    r"\bclass=\"[^\"]*\b(?:_a6-h|_2lel)\b[^\"]*\"[^<>]*>(.{0,500}?)</(?:div|h2|h3)>", re.S
)
_TEXT = re.compile(r"\bclass=\"[^\"]*\b(?:_a6-p|_2let)\b[^\"]*\"[^<>]*>")
_FOOT = re.compile(
    r"<(?:div|footer)\b[^<>]*?\bclass=\"[^\"]*\b(?:_a6-o|_2lem)\b[^\"]*\"[^<>]*>(.{0,500}?)</div>",
    re.S,
)
_REACTIONS = re.compile(r"<ul\b[^<>]*>[^<]*(?:<(?!/?ul\b)[^<]*)*</ul>")
_FILE = re.compile(
    r"\b(?:src|href)=\"[^\"]*/(photos|videos|audio|gifs|files|stickers_used)/[^\"]*\""
)
_KINDS = {
    "photos": "photo", "videos": "video", "audio": "voice message", "gifs": "gif",
    "files": "file", "stickers_used": "sticker",
}  # fmt: skip


def read_facebook_page(text: str, name: str) -> Conversation:
    """Read the messages of a thread, if the page is one; pages begin with the newest."""
    messages = list(_messages(text))[::-1] if _THREAD.fullmatch(stem(name)) else []
    title = title_in(text) or stem_or_folder(name, _THREAD)
    return Conversation(title, facebook_or_instagram(name), in_order(messages))


def _messages(text: str) -> Iterator[Message]:
    """Yield the messages as they stand on the page; other cards have no author, text or time."""
    for _, card in parts(_CARD, text):
        author = _AUTHOR.search(card)
        begin = _TEXT.search(card, author.end()) if author else None
        foot = _FOOT.search(card, begin.end()) if begin else None
        if not (author and begin and foot):
            continue
        source = _REACTIONS.sub("", card[begin.end() : foot.start()])
        files = dict.fromkeys(_KINDS[kind] for kind in _FILE.findall(source))
        yield Message(
            name_in(author[1]),
            moment(name_in(foot[1])),
            joined([as_markdown(source), *(f"({kind})" for kind in files)]),
        )
