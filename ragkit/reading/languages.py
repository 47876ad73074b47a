"""The human language of a document: as the document declares it, or else detected from its prose.

It is named by its two-letter code, without a country. A programming language is instead named in
the field ``language`` of a document's metadata.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

from ragkit.reading.formats import CODE_SUFFIXES, Format

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ragkit.types import Reading

_LANGUAGES = """
af afr Afrikaans, am amh Amharic, ar ara Arabic, az aze Azerbaijani, be bel Belarusian,
bg bul Bulgarian, bn ben Bengali, bs bos Bosnian, ca cat Catalan, cs ces Czech, cy cym Welsh,
da dan Danish, de deu German, el ell Greek, en eng English, eo epo Esperanto, es spa Spanish,
et est Estonian, eu eus Basque, fa pes Persian, fi fin Finnish, fr fra French, ga gle Irish,
gl glg Galician, gu guj Gujarati, he heb Hebrew, hi hin Hindi, hr hrv Croatian, hu hun Hungarian,
hy hye Armenian, id ind Indonesian, is isl Icelandic, it ita Italian, ja jpn Japanese,
jv jav Javanese, ka kat Georgian, kk kaz Kazakh, km khm Khmer, kn kan Kannada, ko kor Korean,
la lat Latin, lb ltz Luxembourgish, lt lit Lithuanian, lv lav Latvian, mk mkd Macedonian,
ml mal Malayalam, mn mon Mongolian, mr mar Marathi, ms msa Malay, mt mlt Maltese, my mya Burmese,
ne nep Nepali, nl nld Dutch, no nob Norwegian, or ori Odia, pa pan Punjabi, pl pol Polish,
pt por Portuguese, ro ron Romanian, ru rus Russian, si sin Sinhala, sk slk Slovak,
sl slv Slovenian, sn sna Shona, sq sqi Albanian, sr srp Serbian, sv swe Swedish, sw swa Swahili,
ta tam Tamil, te tel Telugu, th tha Thai, tk tuk Turkmen, tl tgl Tagalog, tr tur Turkish,
uk ukr Ukrainian, ur urd Urdu, uz uzb Uzbek, vi vie Vietnamese, yi yid Yiddish, zh cmn Chinese,
zu zul Zulu
"""
_NATIVE = """
am አማርኛ, ar العربية, az azərbaycanca, be беларуская, bg български, bn বাংলা, bs bosanski, ca català,
cs čeština česky, cy cymraeg, da dansk, de deutsch, el ελληνικά, es español castellano, et eesti,
eu euskara, fa فارسی farsi, fi suomi, fr français, ga gaeilge, gl galego, gu ગુજરાતી, he עברית,
hi हिन्दी, hr hrvatski, hu magyar, hy հայերեն, is íslenska, it italiano, ja 日本語, ka ქართული,
kk қазақша, km ខ្មែរ, kn ಕನ್ನಡ, ko 한국어, la latina, lb lëtzebuergesch, lt lietuvių, lv latviešu,
mk македонски, ml മലയാളം, mn монгол, mr मराठी, ms melayu, mt malti, ne नेपाली, nl nederlands,
no norsk, pa ਪੰਜਾਬੀ, pl polski, pt português, ro română, ru русский, si සිංහල, sk slovenčina,
sl slovenščina, sq shqip, sr српски srpski, sv svenska, sw kiswahili, ta தமிழ், te తెలుగు, th ไทย,
tr türkçe, uk українська, ur اردو, uz o'zbekcha, vi việt, zh 中文 汉语 漢語 mandarin
"""
"""What their speakers call them, and other names."""

_OTHERS = {"nb": "no", "nn": "no", "nor": "no", "zho": "zh", "fas": "fa", "fil": "tl"}
"""Other codes of the same languages."""

PROGRAMMING = frozenset(CODE_SUFFIXES.values()) | {Format.JSON, Format.YAML, Format.TOML}
"""The names of programming languages that files are known by."""

_NO_PROSE = frozenset(
    (Format.CODE, Format.CSV, Format.XLSX, Format.XLSB, Format.XLS, Format.ODS, Format.NUMBERS,
     Format.JSON, Format.JSONL, Format.YAML, Format.TOML, Format.INI, Format.RECORDS)
)  # fmt: skip
_NO_WORDS = re.compile(
    r"\A---\n.{0,9000}?^---\n|^(```|~~~(?!~~)).*?(?:^\1|\Z)|`[^`\n]*`|<[^<>\n]{1,300}>"
    r"|\]\([^()\s]{1,500}\)",
    re.MULTILINE | re.DOTALL,
)
"""Front matter, fences, code in a line, tags, targets of links."""

_NO_WORD = re.compile(r"[\d/@_=\\{}|]")
_LOOKED_AT, _SAMPLE, _FEWEST_LETTERS = 12_000, 2000, 60
_LEAST_CONFIDENCE = 0.5
_LETTERS_OF_CJK = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
_CJK = re.compile(f"[{_LETTERS_OF_CJK}]")
_WORD = re.compile(rf"[{_LETTERS_OF_CJK}]+|[^\s{_LETTERS_OF_CJK}]+")
_WORTH = 3
"""A Chinese, Japanese or Korean character counts as several letters."""


@cache
def _codes() -> Mapping[str, str]:
    """Map two- and three-letter codes, English and native names to two-letter codes.

    They are in lower case, and without accents.
    """
    codes = dict(_OTHERS)
    for short, *names in map(str.split, _NATIVE.split(",")):
        codes |= dict.fromkeys(map(_plain, names), short)
    for short, long, name in map(str.split, _LANGUAGES.split(",")):
        codes |= dict.fromkeys((short, long, name.lower()), short)
    return codes


@cache
def language_names() -> Mapping[str, str]:
    """Return the English name of each language, by its code."""
    return {short: name for short, _, name in map(str.split, _LANGUAGES.split(","))}


def language_code(written: str) -> str:
    """Return the code of a language written like "Deutsch", "German", "deu" or "de-AT", or ""."""
    plain = _plain(written.strip())
    return _codes().get(plain) or _codes().get(re.split("[-_]", plain)[0], "")


def _plain(name: str) -> str:
    letters = unicodedata.normalize("NFKD", name.lower())
    return "".join(letter for letter in letters if not unicodedata.combining(letter))


def with_language(reading: Reading) -> Reading:
    """Return a reading with the code of its declared or else its detected language."""
    code, metadata = language_code(reading.language), reading.metadata
    declared = metadata.get("language")
    if isinstance(declared, str) and (declared_code := language_code(declared)):
        code = code or declared_code
        metadata = {key: value for key, value in metadata.items() if key != "language"}
    if not code and reading.format not in _NO_PROSE:
        code = _recognised(reading.text)
    return replace(reading, language=code, metadata=metadata)


def _recognised(text: str) -> str:
    """Return the language of a text's first prose; ``""`` if there is too little, or in doubt."""
    words = _WORD.findall(_NO_WORDS.sub(" ", text[:_LOOKED_AT]))
    plain = [word for word in words if not _NO_WORD.search(word)]
    eastern = [word for word in plain if _CJK.match(word)]
    letters = sum(map(len, eastern)) * _WORTH
    others = sum(map(str.isalpha, "".join(plain))) - letters // _WORTH
    if letters + others < _FEWEST_LETTERS:
        return ""
    # Terms in Latin letters among them would be taken for the language.
    sample = " ".join(eastern if letters > others else plain)[:_SAMPLE]
    try:
        return language_code(_detected(sample))
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException:  # noqa: BLE001 - out of memory or a panic in Rust: the text is read
        return ""


def _detected(sample: str) -> str:
    """Return the three-letter code of the detected language, or ``""``."""
    import kreuzberg

    config = kreuzberg.ExtractionConfig(
        use_cache=False,
        enable_quality_processing=False,
        language_detection=kreuzberg.LanguageDetectionConfig(
            enabled=True, min_confidence=_LEAST_CONFIDENCE, detect_multiple=False
        ),
    )
    codes = kreuzberg.extract_bytes_sync(sample.encode(), "text/plain", config).detected_languages
    return str(codes[0]) if codes else ""
