"""Words for numbers and months."""

from __future__ import annotations

from decimal import Decimal

from ragkit import months


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


UNITS = _words(
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
    "fifteen sixteen seventeen eighteen nineteen"
)
"""English words for 0 to 19."""

GERMAN_UNITS = _words(
    "null eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn "
    "fünfzehn sechzehn siebzehn achtzehn neunzehn"
)
"""German words for 0 to 19."""

TENS = _words("twenty thirty forty fifty sixty seventy eighty ninety")
"""English words for 20 to 90."""

GERMAN_TENS = _words("zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig")
"""German words for 20 to 90."""

ORDINALS = _words(
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth"
)
"""English words for the first to the twelfth."""

NUMBER_WORDS: dict[str, Decimal] = {
    **{word: Decimal(at) for at, word in enumerate(UNITS)},
    **{word: Decimal(at) for at, word in enumerate(GERMAN_UNITS)},
    **{word: Decimal(20 + 10 * at) for at, word in enumerate(TENS)},
    **{word: Decimal(20 + 10 * at) for at, word in enumerate(GERMAN_TENS)},
    **{word: Decimal(at) for at, word in enumerate(ORDINALS, start=1)},
    **dict.fromkeys(_words("ein eine einen einem einer a an once"), Decimal(1)),
    **dict.fromkeys(_words("twice pair"), Decimal(2)),
    **dict.fromkeys(_words("half halb halbe hälfte"), Decimal("0.5")),
    **dict.fromkeys(_words("quarter viertel"), Decimal("0.25")),
    "dozen": Decimal(12),
    "dreissig": Decimal(30),
}
"""The value of each word that is a number by itself."""

SCALES: dict[str, Decimal] = {
    **dict.fromkeys(_words("hundred hundert 百"), Decimal(100)),
    **dict.fromkeys(_words("thousand tausend k 千"), Decimal(1000)),
    **dict.fromkeys(_words("万"), Decimal(10**4)),
    **dict.fromkeys(_words("million millions millionen mio m mn"), Decimal(10**6)),
    **dict.fromkeys(_words("億 亿"), Decimal(10**8)),
    **dict.fromkeys(_words("billion milliarde milliarden mrd bn"), Decimal(10**9)),
    "dozen": Decimal(12),
}
"""What words and letters behind a number multiply it by."""

MONTHS: dict[str, int] = {
    **months.named("en", "de", "fr", "es", "it"),
    **months.shortened("en", "de"),
}
"""The number of a month by its name in five languages, and by what that is shortened to."""
