"""The script of a text, and its language among common European ones."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter

SAMPLE_CHARACTERS = 4000
"""Of a longer text the beginning and the end are looked at."""

_RANGES: tuple[tuple[int, str], ...] = (
    (0x0041, "latin"),
    (0x0370, "greek"),
    (0x0400, "cyrillic"),
    (0x0530, "armenian"),
    (0x0590, "hebrew"),
    (0x0600, "arabic"),
    (0x0780, "indic"),
    (0x0E00, "thai"),
    (0x0E80, "asian"),
    (0x10A0, "georgian"),
    (0x1100, "hangul"),
    (0x1200, "african"),
    (0x1780, "asian"),
    (0x1C80, "latin"),
    (0x1F00, "greek"),
    (0x2000, "latin"),
    (0x2E80, "han"),
    (0xA000, "asian"),
    (0xAC00, "hangul"),
    (0xF900, "han"),
    (0xFB00, "latin"),
    (0xFB1D, "hebrew"),
    (0xFB50, "arabic"),
    (0xFF21, "latin"),
    (0xFF66, "han"),
    (0x10000, "other"),
    (0x20000, "han"),
)
_STARTS = [start for start, _ in _RANGES]
_COMMON_WORDS = {
    "english": "the of and to in is that for with as was are by this which from its their",
    "german": "der die das und ist nicht mit ein eine dem den des von zu auf für im sich auch",
    "french": "le la les des et est une un dans que qui pour sur du au avec par pas sont cette",
    "spanish": "el la los las de y que en un una por con para del se es como su al más",
    "italian": "il la le di e che un una per con del della non sono nel dei gli alla è anche",
    "portuguese": "o a os as de e que em um uma para com do da não no na por dos são",
    "dutch": "de het een en van is dat op te voor met niet zijn aan door ook wordt bij naar deze",
    "swedish": "och att det som en på är av för med till den inte har om ett var från kan vid",
    "polish": "w i na z do nie się jest to że o jak przez po od za są dla przy oraz",
}
_LANGUAGES: dict[str, tuple[str, ...]] = {}
for _language, _words in _COMMON_WORDS.items():
    for _word in _words.split():
        if len(_word) == 1:  # in code, these are names
            continue
        _LANGUAGES[_word] = (*_LANGUAGES.get(_word, ()), _language)
_WORD = re.compile(r"[^\W\d_]+")
_FEWEST_LETTERS = 8
_FEWEST_WORDS = 12
_FEWEST_KINDS = 3


def main_script(text: str) -> str:
    """Return the script of three in five letters, or ``""`` for short or mixed texts."""
    if text.isascii():
        letters = sum(map(str.isalpha, _sample(text)))
        return "latin" if letters >= _FEWEST_LETTERS else ""
    counts = Counter(_script(ord(letter)) for letter in _sample(text) if letter.isalpha())
    # A sign of Chinese or Japanese says as much as two or three letters.
    counts["han"] *= 2
    total = counts.total()
    if total < _FEWEST_LETTERS:
        return ""
    script, count = counts.most_common(1)[0]
    return script if count >= total * 0.6 else ""


def main_language(text: str) -> str:
    """Return the language whose common words are frequent and clearly lead, or ``""``."""
    words = _WORD.findall(_sample(text).casefold())
    if len(words) < _FEWEST_WORDS:
        return ""
    counts: Counter[str] = Counter()
    kinds: Counter[str] = Counter()
    for word, times in Counter(words).items():
        for language in _LANGUAGES.get(word, ()):
            counts[language] += times
            kinds[language] += 1
    (first, most), (_, second) = (*counts.most_common(2), ("", 0), ("", 0))[:2]
    enough = most >= 0.12 * len(words) and kinds[first] >= _FEWEST_KINDS
    return first if enough and most >= 2 * second else ""


def in_another_language(written: str, passage: str, document: str) -> bool:
    """Return whether a text is clearly in the language of neither passage nor document."""
    script = main_script(written)
    scripts = {main_script(passage), main_script(document)} - {""}
    if script and scripts and script not in scripts:
        return True
    language = main_language(written)
    languages = {main_language(passage), main_language(document)} - {""}
    return bool(language and languages and language not in languages)


def _script(code: int) -> str:
    at = bisect_right(_STARTS, code) - 1
    return _RANGES[at][1] if at >= 0 else "other"


def _sample(text: str) -> str:
    half = SAMPLE_CHARACTERS // 2
    return text if len(text) <= SAMPLE_CHARACTERS else f"{text[:half]} {text[-half:]}"
