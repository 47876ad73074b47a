"""Values of cells as Numbers shows them: numbers, sums of money, dates and durations."""

from __future__ import annotations

import re
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING

from ragkit.reading.iwork.cells import DATE, DURATION, TRUTH, StoredCell, date_of
from ragkit.reading.office.number_formats import NumberFormat, parse
from ragkit.reading.reading_parts import box

if TYPE_CHECKING:
    from ragkit.reading.iwork.protobuf import Message

_MONEY, _PERCENT, _CHECKBOX = 257, 258, 263
_PLAIN = (256, _MONEY, _PERCENT)
_AUTOMATIC_PLACES = 253
_MOST_PLACES, _EXACT = 10, 15
_BEFORE = {"USD": "$", "GBP": "£", "JPY": "¥"}
_AFTER = {"EUR": "€"}
_QUOTED = re.compile("'[^']*'")
_CODE = re.compile("[A-Z]{3}")


def shown(cell: StoredCell, formatted: Message) -> str:
    """Return the number, date, duration or truth of a cell as its format shows it."""
    if cell.kind == DATE and cell.seconds is not None:
        return _date(cell.seconds, formatted.text(14))
    if cell.number is None:
        return ""
    if cell.kind == TRUTH:
        is_true = bool(cell.number)
        if formatted.number(1) == _CHECKBOX:
            return box(done=is_true)
        return "TRUE" if is_true else "FALSE"
    if cell.kind == DURATION:
        return _duration(cell.number)
    return _number(cell.number, formatted)


def _number(value: Decimal, formatted: Message) -> str:
    """Return a number with its decimals, thousands, sign of money or of percents."""
    plain = f"{_exact(value):f}"
    kind, places = formatted.number(1), formatted.number(2, _AUTOMATIC_PLACES)
    if kind not in _PLAIN:
        return plain
    if places > _MOST_PLACES:
        digits = plain if kind != _PERCENT else f"{_exact(value.scaleb(2)):f}"
        places = len(digits.partition(".")[2])
    code = "#,##0" if formatted.number(5) else "0"
    code += f".{'0' * places}" if places else ""
    currency = formatted.text(3)
    if kind == _PERCENT:
        code += "%"
    elif kind == _MONEY and _CODE.fullmatch(currency):
        sign = _BEFORE.get(currency, "")
        code = f'"{sign}"{code}' if sign else f'{code} "{_AFTER.get(currency, currency)}"'
    form = parse(code)
    return (form or NumberFormat()).shown(plain) or plain


def _exact(value: Decimal) -> Decimal:
    """Return a number of no more digits than count, without zeros at its end."""
    try:
        rounded = Decimal(f"{value:.{_EXACT}g}") if len(value.as_tuple().digits) > _EXACT else value
    except InvalidOperation:
        return value
    return (
        rounded.to_integral_value()
        if rounded == rounded.to_integral_value()
        else (rounded.normalize())
    )


def _date(seconds: float, form: str) -> str:
    """Return a date in ISO format, with its time if that is shown or says something."""
    moment = date_of(seconds)
    if moment is None:
        return ""
    letters = _QUOTED.sub("", form)
    has_time = (
        any(map("hHkKms".__contains__, letters))
        if form
        else moment.time().isoformat() != ("00:00:00")
    )
    if has_time and form and not any(map("yMdE".__contains__, letters)):
        return moment.strftime("%H:%M:%S").removesuffix(":00")
    date = moment.date().isoformat()
    if not has_time:
        return date
    return f"{date} {moment.strftime('%H:%M:%S').removesuffix(':00')}"


def _duration(seconds: Decimal) -> str:
    """Return a duration in hours, minutes and seconds."""
    whole = int(abs(seconds))
    sign = "-" if seconds < 0 else ""
    return f"{sign}{whole // 3600}:{whole // 60 % 60:02}:{whole % 60:02}"
