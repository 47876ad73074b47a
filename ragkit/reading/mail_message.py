"""A message as it was sent: its headers, the text that people see, and what is attached."""

from __future__ import annotations

import codecs
import email
import math
import re
from email.message import EmailMessage
from email.policy import EmailPolicy
from email.policy import default as default_policy
from email.utils import getaddresses, parsedate_to_datetime, quote
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from ragkit.reading.conversations.messages import safe_text
from ragkit.reading.dates import iso_date
from ragkit.reading.decode import clean, declared_encoding, decode, with_whole_words
from ragkit.reading.formats import Format
from ragkit.reading.reading_parts import joined, one_line, tidy, whole_line
from ragkit.reading.sealed import ENCRYPTED, payload_of, unarmoured, unsealed
from ragkit.types import Markup

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence
    from email.message import Message as Part

_MOST_PARTS = 500
_PLAIN, _HTML = "text/plain", "text/html"
_HELD_TYPES = ("message/rfc822", "message/global")
_REPORTS = (
    "message/delivery-status", "message/global-delivery-status",
    "message/disposition-notification", "message/feedback-report",
)  # fmt: skip
"""Fields that say what became of a mail."""

_RETURNED_HEADERS = "text/rfc822-headers"
_UNSEEN = ("text/css", "text/javascript", "text/x-amp-html", "text/watch-html", _RETURNED_HEADERS)
"""What belongs to a page, or repeats it for a single program."""

_CALENDAR, _ENRICHED = "text/calendar", ("text/enriched", "text/richtext")
_FORMATTED = (_HTML, _CALENDAR, "text/markdown")
_PREFERENCE = {_PLAIN: 0, _HTML: 1, _CALENDAR: 3}
_OTHER = 2
"""Which of several alternatives is taken: that of the lowest number."""

_STUB = 300
"""Characters below which a plain text may only say that the mail is a page."""

_MORE_THAN_STUB = 4
_MANY, _MUCH = 5, 0.25
"""Web addresses, and their share of a plain text, from which on the page beside it is read."""

_SEVEN_BIT = ("utf-7", "hz", "iso2022")
"""Encodings whose bytes look like ASCII."""

_HEADERS_KEPT = 200
_SIMPLE = (
    "content-type", "content-disposition", "content-transfer-encoding",
    "message-id", "references", "in-reply-to", "subject",
    "x-gmail-labels", "x-label", "keywords", "x-mozilla-keys", "x-keywords",
)  # fmt: skip
_NEEDS_PARSER = re.compile("=\\?|\\(|[\ud800-\udfff]")
"""Encoded words, comments, and bytes that are no ASCII."""

BEFORE_HEADERS = b"\xef\xbb\xbf\r\n"
_BROKEN_WORD = re.compile(r"=\?[\w.-]{1,40}\?[bqBQ]\?[^?\s]{0,200}\?=")
_SURROGATE = re.compile("[\ud800-\udfff]")
_HEADER_FAILURES = (ValueError, LookupError, TypeError, AttributeError, OverflowError)
_FLOWED = re.compile(r"format\s*=\s*\"?flowed", re.I)
_QUOTES = re.compile(">*")
_SIGNATURE = "-- "
_ENRICHED_TAG = re.compile(r"<param>.{0,1000}?</param>|<(<)|</?[A-Za-z0-9-]{1,60}>", re.I | re.S)
_LINE_ENDS = re.compile(r"\n+")
_UNSEEN_IN_PAGE = re.compile(
    r"<(?:style|script|title)\b[^<>]*>(?:[^<]|<!--)*|<[^<>]*>|&[#\w]{1,10};|\s+", re.I
)
_ADDRESS = re.compile(r"https?://\S+")
_PICTURE = re.compile(r"<img\b(?![^<>]*\salt\s*=\s*[\"']?\s*[^\s\"'>])[^<>]*>", re.I)
_NO_WORDS = re.compile(r"<a\b[^<>]*>(?:\s|&nbsp;|&#160;|<(?!/?a\b|img\b)[^<>]*>)*</a\s*>", re.I)
"""Pictures and links without words, which are most of what a newsletter holds."""

_NO_LETTER = re.compile(r"\](?:\([^()\s]*\))?|[\W_]+")


class _Policy(EmailPolicy):
    """Parses a header once, and only if it needs it.

    The standard library does so whenever it is asked for one, which takes most of the time of a
    large mailbox, whose mails share many headers.
    """

    def header_fetch_parse(self, name: str, value: Any) -> Any:
        if name.lower() in _SIMPLE and not _NEEDS_PARSER.search(value):
            return value.replace("\r", "").replace("\n", "")
        return value if hasattr(value, "name") else _parsed_header(name.lower(), value)


@lru_cache(_HEADERS_KEPT)
def _parsed_header(name: str, value: str) -> Any:
    """Parse a header; letters that were sent without an encoding are decoded by a guess."""
    if _SURROGATE.search(value):
        value = decode(value.encode("utf-8", "surrogateescape"))[0]
    return default_policy.header_fetch_parse(name, with_whole_words(value))


POLICY = _Policy(refold_source="none")


def parsed(data: bytes) -> Part:
    """Return a message as a tree of its parts; broken MIME as far as it can be parsed."""
    message: Part = email.message_from_bytes(data.lstrip(BEFORE_HEADERS), policy=POLICY)
    return message


class Mail:
    """A message: its body with its markup, and its attachments with their names.

    ``attachments`` are parts, whose bytes ``content_of`` returns.
    """

    def __init__(self, data: bytes) -> None:
        self._message = parsed(data)
        encrypted = unsealed(self._message, parsed)
        named = [(attachment_name(leaf), leaf.part) for leaf in leaves(self._message)]
        self.attachments = [(name, part) for name, part in named if name]
        self.attached = [name for name, _ in self.attachments]
        inline = {id(part) for name, part in named if not name}
        self.body, self.markup = _written(_shown(self._message, inline))
        if encrypted and not self.body:
            self.body = ENCRYPTED

    def header(self, key: str) -> str:
        """Return a header on one line."""
        return header_of(self._message, key)

    def people(self, key: str) -> list[str]:
        """Return the people in a header one by one, each as a header of its own would name it.

        Headers are parsed as a whole only if they need it, since that takes long for many people.
        """
        headers = self._message.raw_items()
        raw = next((str(value) for name, value in headers if name.lower() == key.lower()), "")
        header = self.header(key) if _NEEDS_PARSER.search(raw) else whole_line(clean(raw))
        people = ((quote(name), address) for name, address in getaddresses([header]) if address)
        named = ((f'"{name}"' if "," in name else name, address) for name, address in people)
        return [f"{name} <{address}>" if name else address for name, address in named]

    def date(self) -> str:
        """Return the time at which it was sent in ISO form, or ``""``."""
        written = self.header("Date")
        try:
            return parsedate_to_datetime(written).isoformat() if written else ""
        except (ValueError, TypeError, IndexError, OverflowError):
            return iso_date(written)


def header_of(message: Part, key: str) -> str:
    """Return a header on one line, also one that the standard library cannot parse."""
    try:
        return whole_line(clean(str(message.get(key) or "")))
    except _HEADER_FAILURES:
        headers = message.raw_items()
        raw = next((str(value) for name, value in headers if name.lower() == key.lower()), "")
        return whole_line(clean(_BROKEN_WORD.sub("", raw)))


# -- parts -----------------------------------------------------------------------------------


class Leaf(NamedTuple):
    """A part that contains no others, and the kind of parts that it is one of."""

    part: Part
    among: str = ""


def leaves(message: Part) -> Iterator[Leaf]:
    """Yield the first parts that contain no others; attached messages stay whole."""
    yield from islice(_leaves(message, ""), _MOST_PARTS)


def _leaves(message: Part, among: str) -> Iterator[Leaf]:
    if _is_divided(message):
        for part in _parts(message):
            yield from _leaves(part, message.get_content_type())
    else:
        yield Leaf(message, among)


def _is_divided(part: Part) -> bool:
    return part.is_multipart() and part.get_content_maintype() == "multipart"


def _parts(message: Part) -> list[EmailMessage]:
    payload = message.get_payload()
    return [part for part in payload if isinstance(part, EmailMessage)]


def attachment_name(leaf: Leaf) -> str:
    """Return the name of an attachment, or a description if it has none; empty for the body."""
    part, among = leaf
    try:
        name = part.get_filename()
        attached = part.get_content_disposition() == "attachment"
    except _HEADER_FAILURES:
        return "attachment"
    kind = part.get_content_type()
    # Some programs name the text of a mail itself.
    is_body = not among or (among == "multipart/alternative" and kind in (_PLAIN, _HTML))
    if not attached and is_body and part.get_content_maintype() == "text":
        return ""
    if name:
        return one_line(clean(str(name)))
    if (mail := held_mail(part)) is not None:
        return one_line(header_of(mail, "Subject")) or "mail without a subject"
    if attached or part.get_content_maintype() not in ("text", "multipart"):
        return f"unnamed ({kind})"
    return ""


def held_mail(part: Part) -> Part | None:
    """Return the mail that a part of another is, or of which it has the headers."""
    if part.get_content_type() == _RETURNED_HEADERS:
        return parsed(payload_of(part))
    held = part.get_payload() if part.get_content_type() in _HELD_TYPES else None
    mail = held[0] if isinstance(held, list) and held else None
    if not isinstance(mail, EmailMessage):
        return None
    encoded = str(part.get("Content-Transfer-Encoding", "")).lower() == "base64"
    if encoded and not mail.keys():  # the standard forbids it
        whole = EmailMessage(POLICY)
        whole["Content-Transfer-Encoding"] = "base64"
        whole.set_payload(mail.get_payload())
        return parsed(payload_of(whole))
    return mail


def content_of(part: Part) -> bytes:
    """Return the bytes of an attachment; a text in another encoding than UTF-8 is put into it."""
    if (mail := held_mail(part)) is not None:
        return mail.as_bytes()
    if part.get_content_type() in _REPORTS and part.is_multipart():
        return b"".join(fields.as_bytes() for fields in _parts(part))
    content = payload_of(part)
    charset = part.get_content_charset() if part.get_content_maintype() == "text" else ""
    if charset and not content.lstrip().startswith(b"<"):  # markup says it by itself
        return decode(content, charset)[0].encode()
    return content


# -- text ------------------------------------------------------------------------------------


class _Text(NamedTuple):
    """What a part says, and in which form: the type of its content."""

    words: str
    kind: str


def _shown(part: Part, inline: Collection[int]) -> list[_Text]:
    """Return the texts that people see of a part in their order; of alternatives only one.

    ``inline`` are the identities of the parts that are no attachments.
    """
    kind = part.get_content_type()
    if _is_divided(part):
        below = [_shown(each, inline) for each in _parts(part)]
        if kind == "multipart/alternative":
            return _chosen([texts for texts in below if texts])
        return [text for texts in below for text in texts]
    if kind in _UNSEEN or id(part) not in inline:
        return []
    words = text_of(part)
    return [_Text(words, kind)] if words else []


def _chosen(alternatives: Sequence[list[_Text]]) -> list[_Text]:
    """Return the alternative that is plainest, unless it only stands for a page beside it."""
    if not alternatives:
        return []
    ordered = sorted(alternatives, key=_preference)
    first = ordered[0]
    if _preference(first) == _PREFERENCE[_PLAIN]:
        least = _least_of_page("\n".join(text.words for text in first))
        for other in ordered[1:]:
            seen = (_UNSEEN_IN_PAGE.sub("", text.words) for text in other if text.kind == _HTML)
            if sum(map(len, seen)) > least:
                return other
    return first


def _least_of_page(plain: str) -> float:
    """Return how many characters a page must have to be read instead of a plain text beside it."""
    if len(plain) < _STUB:
        return _MORE_THAN_STUB * len(plain)
    addresses = _ADDRESS.findall(plain)
    length = sum(map(len, addresses))
    is_full = len(addresses) >= _MANY and length > _MUCH * len(plain)
    return (len(plain) - length) / 2 if is_full else math.inf


def _preference(texts: Sequence[_Text]) -> int:
    return max(_PREFERENCE.get(text.kind, _OTHER) for text in texts)


def _written(texts: Sequence[_Text]) -> tuple[str, Markup]:
    """Return a body, as Markdown if any of its texts is formatted; what is said again once.

    Some programs send a text and the same as a page without calling them alternatives.
    """
    is_formatted = any(text.kind in _FORMATTED for text in texts)
    pieces: dict[str, str] = {}
    for text in texts:
        piece = _markdown(text)
        safe = safe_text(piece) if is_formatted and text.kind not in _FORMATTED else piece
        pieces.setdefault(_NO_LETTER.sub("", piece) or piece, safe)
    return joined(pieces.values(), "\n\n"), Markup.MARKDOWN if is_formatted else Markup.PLAIN


def _markdown(text: _Text) -> str:
    """Return a text as Markdown if it is formatted, or else as it is."""
    words, kind = text
    if kind == _HTML:
        from ragkit.reading.html import to_markdown

        return to_markdown(_NO_WORDS.sub("", _PICTURE.sub("", words)), Format.EML.label)
    if kind == _CALENDAR:
        from ragkit.reading.calendars import read_calendar

        return read_calendar(words, "").text.strip() or words
    if kind in _ENRICHED:
        return tidy(_ENRICHED_TAG.sub(r"\1", _LINE_ENDS.sub(_fewer, words)))
    return unarmoured(words) if "-----BEGIN PGP " in words else words


def _fewer(line_ends: re.Match[str]) -> str:
    """Return line ends of enriched text, of which one is a space, and each more a line."""
    return "\n" * (len(line_ends[0]) - 1) or " "


def text_of(part: Part) -> str:
    """Return the text of a part, decoded by its charset or else by its bytes."""
    data = payload_of(part)
    declared = part.get_content_charset() or declared_encoding(data)
    text = clean(_of_seven_bit(data, declared) or decode(data, declared)[0])
    if _FLOWED.search(str(part.get("Content-Type"))):
        text = _unfolded(text, str(part.get_param("delsp", "")).lower() == "yes")
    return tidy(text)


def _of_seven_bit(data: bytes, declared: str) -> str:
    """Return the text of an encoding whose bytes look like ASCII; ``""`` for another."""
    try:
        if codecs.lookup(declared).name.startswith(_SEVEN_BIT):
            return data.decode(declared)
    except (LookupError, UnicodeDecodeError, ValueError):
        pass
    return ""


def _unfolded(text: str, is_padded: bool) -> str:
    """Return a text whose paragraphs are lines again, after RFC 3676.

    A line that ends in a space goes on in the next one of as many quotes; of one that
    ``is_padded``, the space is none of the text.
    """
    lines: list[str] = []
    before = -1
    for line in text.split("\n"):
        quotes = _QUOTES.match(line)
        depth = quotes.end() if quotes else 0
        words = line[depth:].removeprefix(" ")
        goes_on = words.endswith(" ") and words != _SIGNATURE
        shown = words[:-1] if goes_on and is_padded else words
        if before == depth and words != _SIGNATURE:
            lines[-1] += shown
        else:
            lines.append(f"{'>' * depth} {shown}" if depth else shown)
        before = depth if goes_on else -1
    return "\n".join(lines)
