"""Decodes and cleans text: encodings, line ends, control characters, Unicode form."""

from __future__ import annotations

import codecs
import contextlib
import re
import unicodedata
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_ISO_2022_JP = re.compile(rb"\x1b\$[@B]|\x1b\([BJI]")
_BINARY_CONTROLS = re.compile(rb"[\x01-\x08\x0e-\x1a\x1c-\x1f]")
_NON_ASCII = re.compile(rb"[\x80-\xff]")
# In order of preference among encodings that explain the bytes equally well.
_CANDIDATES = (
    "cp1252", "cp932", "euc_jp", "gb18030", "big5", "cp949", "cp1251", "koi8_r", "cp866",
    "cp1253", "cp1255", "cp1256", "cp1254", "cp1250", "utf_16_le", "utf_16_be", "cp874", "cp437",
)  # fmt: skip
_EAST_ASIAN = ("big5", "cp932", "euc_jp", "cp949", "gb18030")
_EASTERN = re.compile("[\u3000-\u30ff\u4e00-\u9fff\uac00-\ud7a3\uff00-\uffef]")
# Hebrew letters in Windows-1255 have only these bytes; Cyrillic and Greek use others as well.
_HEBREW = re.compile(rb"[\xe0-\xfa]")
_NOT_HEBREW = re.compile(rb"[\x80-\xdf\xfb-\xffA-Za-z]")
# What stands in no word: a letter of another alphabet, or a sign of a table that was drawn; quotes,
# dashes and the like stand beside letters in all alphabets, lines of tables too.
_FOREIGN = "\u0370-\u200f\u2070-\u209f\u2150-\u2501\u2503-\u2550\u2552-\U0003ffff"
_MIXED = re.compile(
    rf"[a-zA-Z][{_FOREIGN}]|[{_FOREIGN}][a-zA-Z]"
    r"|[¹³£¥][^\W\d_]|[^\W\d_]¿|[a-zß-ÿ]Ÿ"  # signs, and letters where words have none
    r"|[^\W\d_][‚„]|[^\W\d_][†‡ˆ‰•“”‹›€™¡¢£¤¥¦§¨«¬¯°±¶»¼½¾][^\W\d_]"
    r"|[a-zß-ÿ][À-Þ][a-zß-ÿ]|([À-ÿ])\1\1|Ђ\d"
)
_EASTERN_RUN = re.compile("[\u3040-\u9fff\uac00-\ud7a3]{2}")
_ENCODED_WORDS = re.compile(
    r"(=\?[\w.:-]{1,40})\?[bq]\?[^?\s]*\?=(?:\s+\1\?[bq]\?[^?\s]*\?=)*", re.I
)
_CHARSET = re.compile(
    rb"<(?:meta|\?xml)\b[^>]{0,300}?(?:charset|encoding)\s*=\s*[\"']?([\w.:-]{2,40})", re.I
)
_CODING = re.compile(rb"(?:#[^\r\n]{0,200}\r?\n)?#[^\r\n]{0,100}?coding[:=][ \t]*([\w.-]{2,40})")
# Labels of the WHATWG's encoding standard that Python does not know.
_LABELS = {
    "windows-31j": "cp932", "windows-949": "cp949", "ks_c_5601-1989": "cp949", "ksc_5601": "cp949",
    "cseuckr": "cp949", "csksc56011987": "cp949", "iso-ir-149": "cp949", "windows-874": "cp874",
    "dos-874": "cp874", "iso885911": "cp874", "gb_2312": "gb18030", "gb_2312-80": "gb18030",
    "csgb2312": "gb18030", "cn-big5": "big5hkscs", "x-x-big5": "big5hkscs",
    "cseucpkdfmtjapanese": "euc_jp", "koi": "koi8_r", "koi8": "koi8_r", "koi8-ru": "koi8_u",
    "mac": "mac_roman", "csmacintosh": "mac_roman", "mac-ukrainian": "mac_cyrillic",
    "iso88591": "cp1252", "iso88592": "iso8859_2", "csisolatin9": "iso8859_15",
    "sun_eu_greek": "iso8859_7", "iso-8859-6-e": "iso8859_6", "iso-8859-6-i": "iso8859_6",
    "csiso88596e": "iso8859_6", "csiso88596i": "iso8859_6", "iso-8859-8-e": "iso8859_8",
    "iso-8859-8-i": "iso8859_8", "csiso88598e": "iso8859_8", "csiso88598i": "iso8859_8",
    "logical": "iso8859_8", "visual": "iso8859_8",
}  # fmt: skip
# Encodings that hold another one, and that files mean which name the other, as in browsers.
_WIDER = {
    "iso8859-1": "cp1252", "iso8859-9": "cp1254", "iso8859-11": "cp874", "tis-620": "cp874",
    "gb2312": "gb18030", "gbk": "gb18030", "big5": "big5hkscs", "shift_jis": "cp932",
    "euc_kr": "cp949",
}  # fmt: skip
_SAMPLE = 200_000
_SHORT = 16
_DOUBTFUL = 0.5
_SOME_GUESSED = "The encoding was guessed as {}; if letters look wrong, save the file as UTF-8."
SOME_REPLACED = "Some bytes are not valid text and were replaced with \N{REPLACEMENT CHARACTER}."

_LINE_ENDS = re.compile("\r\n?|[\x0b\x0c\x85\u2028\u2029]")
_ANSI = re.compile(r"\x1b\[[0-9;]{0,20}[A-Za-z]")
_CONTROLS = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x9f]")
_NO_TEXT = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x9f\ufffd]")
_NEEDS_CLEANING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]|\\A\ufeff")
_SURROGATES = re.compile("[\ud800-\udfff]")


def declared_encoding(data: bytes) -> str:
    """Return the encoding that markup, or a program in its first lines, declares, or ``""``."""
    start = data[:4096]
    charset = _CODING.match(start) if start.startswith(b"#") else None
    if charset is None and start.lstrip()[:1] == b"<":
        charset = _CHARSET.search(start)
    return charset[1].decode("ascii") if charset else ""


def decode(data: bytes, declared: str = "") -> tuple[str, tuple[str, ...]]:
    """Decode the bytes of a text file; return the text and warnings for people.

    Tried in this order: a byte order mark, UTF-16 and UTF-32 without one, strict UTF-8, the
    ``declared`` encoding, mostly valid UTF-8, and the likeliest legacy encoding.
    """
    for mark, encoding in _BOMS:
        if data.startswith(mark):
            return _replacing(data, encoding)
    wide = _wide_encoding(data)
    if wide:
        return _replacing(data, wide)
    is_japanese = _ISO_2022_JP.search(data[:_SAMPLE]) and not _NON_ASCII.search(data)
    first = ("iso2022_jp",) if is_japanese else ()
    if (text := _faultless(data, (*first, "utf-8", *_meant(declared)))) is not None:
        return text, ()
    if _mostly_utf8(data):
        return data.decode("utf-8", "replace"), (SOME_REPLACED,)
    return _guessed(data)


def looks_binary(data: bytes, *, has_name_of_text: bool = True) -> bool:
    """Return whether bytes are not text in any encoding: too many control characters or zeros.

    Programs that break off leave zeros in texts; without the name of a text, one is too many.
    """
    sample = data[:65_536]
    if any(sample.startswith(mark) for mark, _ in _BOMS):
        return False
    if wide := _wide_encoding(sample):
        text = sample.decode(wide, "replace")
        return len(_NO_TEXT.findall(text)) > max(10, len(text) // 20)
    controls = len(_BINARY_CONTROLS.findall(sample))
    zeros = sample.count(0)
    most_zeros = len(sample) // 3 if has_name_of_text else 0
    return controls > max(10, len(sample) // 20) or zeros > most_zeros


def clean(text: str) -> str:
    """Return text as it is stored: NFC, line feeds only, no control characters."""
    if _NEEDS_CLEANING.search(text):
        text = _LINE_ENDS.sub("\n", text.removeprefix("\ufeff"))
        text = _CONTROLS.sub("", _ANSI.sub("", text))
        text = _SURROGATES.sub("\N{REPLACEMENT CHARACTER}", text)
    return unicodedata.normalize("NFC", text)


def with_whole_words(header: str) -> str:
    """Return a header in which encoded words that follow each other are one, of UTF-8.

    A letter may begin in one and end in the next, which the standard library reads in subjects
    only; a space between them is none of the text. Nor does it know what labels mean ("gb2312").
    """
    return _ENCODED_WORDS.sub(_as_one_word, header)


def _as_one_word(words: re.Match[str]) -> str:
    from base64 import b64encode
    from email.errors import HeaderParseError
    from email.header import decode_header

    try:
        [(data, charset)] = decode_header(words[0])
    except (HeaderParseError, ValueError):
        return words[0]
    if (text := _faultless(data, _meant(charset or ""))) is not None:
        data, charset = text.encode(), "utf-8"
    return f"=?{charset}?b?{b64encode(data).decode()}?="


def code_page(number: int) -> str:
    """Return the encoding of a code page of Windows; of an unknown one the western one."""
    try:
        return codecs.lookup(f"cp{number}").name if number != 65001 else "utf-8"
    except LookupError:
        return "cp1252"


def _meant(declared: str) -> tuple[str, ...]:
    """Return the encodings that a declared name may mean, the likeliest first.

    None if it is unknown, a form of Unicode (tried already) or ASCII, which the file is not in.
    """
    label = declared.strip().lower()
    label = _LABELS.get(label.removeprefix("x-"), _LABELS.get(label, label))
    for known in (label, label.removeprefix("x-")):
        try:
            name = codecs.lookup(known).name
        except (LookupError, ValueError):  # a name with a zero in it
            continue
        if name.startswith("utf") or name == "ascii":
            return ()
        return (_WIDER[name], name) if name in _WIDER else (name,)
    return ()


def _faultless(data: bytes, encodings: Iterable[str]) -> str | None:
    """Return a text in the first of these encodings in which there is no fault."""
    for encoding in encodings:
        with contextlib.suppress(UnicodeError, LookupError):
            return data.decode(encoding)
    return None


def _replacing(data: bytes, encoding: str) -> tuple[str, tuple[str, ...]]:
    """Decode with a known encoding; warn if something had to be replaced."""
    text = data.decode(encoding, "replace")
    wrong = "\N{REPLACEMENT CHARACTER}" in text
    return text, (SOME_REPLACED,) if wrong else ()


def _wide_encoding(data: bytes) -> str:
    """Recognise UTF-16 or UTF-32 without a byte order mark by the positions of zeros, or ``""``."""
    sample = data[:4096]
    sample = sample[: len(sample) // 4 * 4]
    if len(sample) < 8:
        return ""
    zeros = [sample[start::4].count(0) * 4 / len(sample) for start in range(4)]
    if min(zeros[2:]) > 0.9 and zeros[0] < 0.5:
        return "utf-32-le"
    if min(zeros[:2]) > 0.9 and zeros[3] < 0.5:
        return "utf-32-be"
    even, odd = (zeros[0] + zeros[2]) / 2, (zeros[1] + zeros[3]) / 2
    if odd > 0.4 and even < 0.1:
        return "utf-16-le"
    if even > 0.4 and odd < 0.1:
        return "utf-16-be"
    return _eastern_utf16(sample)


def _eastern_utf16(sample: bytes) -> str:
    """Recognise UTF-16 without zeros, as Chinese, Japanese and Korean have it, or ``""``."""
    try:
        # The end of the sample may cut a UTF-8 character in two.
        codecs.getincrementaldecoder("utf-8")().decode(sample)
    except UnicodeDecodeError:
        for encoding in ("utf-16-le", "utf-16-be"):
            text = sample.decode(encoding, "replace")
            if any(letter in "\n \u3000\u3001\u3002" for letter in text) and _ideographic(text, 97):
                return encoding
    return ""


def _mostly_utf8(data: bytes) -> bool:
    """Return whether the valid multi-byte sequences of UTF-8 outnumber the broken bytes."""
    sample = data[:_SAMPLE]
    text = sample.decode("utf-8", "replace")
    broken = text.count("\N{REPLACEMENT CHARACTER}")
    whole = sum(1 for letter in text if letter > "\x7f") - broken
    return whole > broken


def _guessed(data: bytes) -> tuple[str, tuple[str, ...]]:
    """Decode with the legacy encoding that explains the bytes best."""
    import charset_normalizer

    sample = data[:_SAMPLE]
    hebrew = len(_HEBREW.findall(sample))
    if hebrew >= 40 and len(_NOT_HEBREW.findall(sample)) * 50 < hebrew:
        return data.decode("cp1255", "replace"), (_SOME_GUESSED.format(_shown("cp1255")),)
    matches = charset_normalizer.from_bytes(sample, cp_isolation=list(_CANDIDATES))
    ranked = sorted(
        (round(match.chaos + _unlikely(str(match)), 2), -match.coherence, order, encoding)
        for match in matches
        if (encoding := match.encoding) in _CANDIDATES
        and (len(sample) >= _SHORT or not encoding.startswith("utf"))
        for order in (_CANDIDATES.index(encoding),)
    )
    if ranked and ranked[0][0] >= _DOUBTFUL:
        # Of a few words, the western encoding may not be among the matches at all.
        western = sample.decode("cp1252", "replace")
        ranked.insert(0, (_unlikely(western), 0.0, 0, "cp1252"))
        ranked.sort()
    for *_, encoding in ranked:
        text = data.decode(encoding, "replace")
        broken = text.count("\N{REPLACEMENT CHARACTER}")
        if broken * 100 <= len(text):
            note = (SOME_REPLACED,) if broken else ()
            return text, (_SOME_GUESSED.format(_shown(encoding)), *note)
    for encoding in _EAST_ASIAN:
        try:
            text = data.decode(encoding)
        except UnicodeDecodeError:
            continue
        if _ideographic(text):
            return text, (_SOME_GUESSED.format(_shown(encoding)),)
    likeliest = min(("cp1252", "cp437"), key=lambda encoding: _doubt(sample, encoding))
    text, replaced = _replacing(data, likeliest)
    return text, (_SOME_GUESSED.format(_shown(likeliest)), *replaced)


def _doubt(sample: bytes, encoding: str) -> float:
    """Return a penalty for signs of a wrong alphabet and for bytes that mean nothing."""
    text = sample.decode(encoding, "replace")
    broken = text.count("\N{REPLACEMENT CHARACTER}")
    return _unlikely(text) + broken / max(len(_NON_ASCII.findall(sample)), 1)


def _unlikely(text: str) -> float:
    """Return a penalty for signs of a wrong alphabet.

    These are mostly capital letters, and words of Latin letters with one of another alphabet among
    them ("M\u044cller").
    """
    upper = sum(1 for letter in text if letter > "\x7f" and letter.isupper())
    lower = sum(1 for letter in text if letter > "\x7f" and letter.islower())
    words = [word for word in text.split() if not word.isascii()]
    mixed = sum(1 for word in words if _MIXED.search(word) and not _EASTERN_RUN.search(word))
    return (0.5 if upper > 20 and upper > lower else 0.0) + mixed / max(len(words), 1)


def _ideographic(text: str, percent: int = 90) -> bool:
    """Return whether more than ``percent`` of the non-ASCII characters are East Asian."""
    beyond = [letter for letter in text[:20_000] if letter > "\x7f"]
    return len(_EASTERN.findall("".join(beyond))) * 100 > len(beyond) * percent


def _shown(encoding: str) -> str:
    """Return the common name of an encoding."""
    if re.fullmatch(r"cp125\d", encoding):
        return f"Windows-{encoding[2:]}"
    return {"cp932": "Shift JIS", "cp949": "EUC-KR"}.get(
        encoding, encoding.upper().replace("_", "-")
    )
