"""The names of months and seasons in several languages, and what months are shortened to."""

from __future__ import annotations

ENGLISH = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip

_NAMES = {
    "en": " ".join(ENGLISH).lower(),
    "de": "januar februar märz april mai juni juli august september oktober november dezember",
    "fr": "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
    "es": "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre "
    "diciembre",
    "it": "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre "
    "dicembre",
    "pt": "janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro "
    "dezembro",
    "nl": "januari februari maart april mei juni juli augustus september oktober november december",
}
_SHORT = {
    "en": "jan feb mar apr may jun jul aug sep oct nov dec",
    "de": "jän febr mär apr mai juni juli aug sept okt nov dez",
    "fr": "janv févr mars avr mai juin juil août sept oct nov déc",
    "es": "ene feb mar abr may jun jul ago sept oct nov dic",
    "it": "gen feb mar apr mag giu lug ago sett ott nov dic",
    "pt": "jan fev mar abr mai jun jul ago set out nov dez",
    "nl": "jan feb mrt apr mei jun jul aug sep okt nov dec",
}
_SEASONS = {
    3: "spring frühling frühjahr printemps primavera lente",
    6: "summer sommer été verano estate zomer",
    9: "autumn fall herbst automne otoño autunno herfst",
    12: "winter hiver invierno inverno",
}


def seasons() -> dict[str, int]:
    """Return the number of the first month of each season by its lower-case names."""
    return {name: first for first, names in _SEASONS.items() for name in names.split()}


def months_later(year: int, month: int, count: int) -> tuple[int, int]:
    """Return a year and a month so many months later, or earlier where ``count`` is negative."""
    years, past = divmod(month - 1 + count, 12)
    return year + years, past + 1


def named(*languages: str) -> dict[str, int]:
    """Return the numbers of the months by their lower-case names, in some languages or all."""
    return _numbered(_NAMES, languages)


def shortened(*languages: str) -> dict[str, int]:
    """Return the numbers of the months by what their names are shortened to, without points."""
    return _numbered(_SHORT, languages)


def _numbered(names: dict[str, str], languages: tuple[str, ...]) -> dict[str, int]:
    return {
        name: number
        for language in languages or names
        for number, name in enumerate(names[language].split(), start=1)
    }
