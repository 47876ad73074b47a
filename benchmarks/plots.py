"""Plots as SVG, written here: panels of lines or dots over numbers or names, with intervals."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape

_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#b8860b", "#56b4e9", "#444444", "#8e6bbf",
            "#117733", "#999999")  # fmt: skip
"""Told apart by those who do not see all colours as well."""

_WIDTH, _HEIGHT = 440, 250
_LEFT, _RIGHT, _TOP, _BOTTOM = 58, 12, 28, 44
_LINE, _LETTER = 15, 6.2
_STEPS = (1, 2, 2.5, 5, 10)
_MOST_TICKS = 5


@dataclass(frozen=True, slots=True)
class Point:
    """A value ``y`` at ``x``, with its interval if it has one."""

    x: float
    y: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Line:
    """Points of one name; all panels draw the same name in the same colour."""

    name: str
    points: Sequence[Point]


@dataclass(frozen=True, slots=True)
class Panel:
    """One pair of axes.

    With ``names``, ``x`` counts them from 0 and points are not joined. Of a logarithmic axis,
    values that are not above 0 are left out.
    """

    title: str
    lines: Sequence[Line]
    x_label: str = ""
    y_label: str = ""
    names: Sequence[str] = ()
    x_log: bool = False
    y_log: bool = False


@dataclass(frozen=True, slots=True)
class _Axis:
    """Where values from ``low`` to ``high`` stand, from ``start`` on, over ``length`` pixels."""

    low: float
    high: float
    start: float
    length: float
    log: bool

    @classmethod
    def over(cls, values: Iterable[float], start: float, length: float, log: bool) -> _Axis:
        """Return an axis with room for all values."""
        found = [value for value in values if value > 0 or not log]
        low, high = min(found, default=1.0), max(found, default=1.0)
        if low == high:
            low, high = (low / 2, high * 2) if log else (low - 0.5, high + 0.5)
        if log:
            return cls(low / 1.15, high * 1.15, start, length, log)
        room = (high - low) * 0.06
        return cls(0.0 if 0 <= low < room * 6 else low - room, high + room, start, length, log)

    def at(self, value: float) -> float:
        """Return where a value stands."""
        low, high = self.low, self.high
        if self.log:
            low, high, value = math.log10(low), math.log10(high), math.log10(value)
        return self.start + (value - low) / (high - low) * self.length

    def ticks(self) -> list[float]:
        """Return the round values that are named."""
        if self.log:
            low, high = math.floor(math.log10(self.low)), math.ceil(math.log10(self.high))
            parts = (1,) if high - low > 3 else (1, 2, 5)
            found = [part * 10.0**power for power in range(low, high + 1) for part in parts]
        else:
            rough = (self.high - self.low) / _MOST_TICKS
            scale = 10.0 ** math.floor(math.log10(rough))
            step = next(one * scale for one in _STEPS if one * scale >= rough)
            first = math.ceil(self.low / step)
            found = [number * step for number in range(first, first + 2 * _MOST_TICKS)]
        return [value for value in found if self.low <= value <= self.high]


def draw(title: str, panels: Sequence[Panel], columns: int = 2) -> str:
    """Return an SVG of panels in rows, under a title and above one legend for all."""
    columns = min(columns, max(len(panels), 1))
    names = list(dict.fromkeys(line.name for panel in panels for line in panel.lines))
    colours = {name: _COLOURS[at % len(_COLOURS)] for at, name in enumerate(names)}
    width, top = columns * _WIDTH, 34
    rows = -(-len(panels) // columns)
    legend, legend_height = _legend(colours, width, top + rows * _HEIGHT)
    height = top + rows * _HEIGHT + legend_height
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}" font-family="sans-serif" font-size="11" fill="#222">',
        f"<title>{escape(title)}</title>",
        f'<rect width="{width}" height="{height}" fill="#fff"/>',
        _text(12, 22, title, size=14),
    ]
    for at, panel in enumerate(panels):
        row, column = divmod(at, columns)
        parts.append(f'<g transform="translate({column * _WIDTH} {top + row * _HEIGHT})">')
        parts += [*_panel(panel, colours), "</g>"]
    return "\n".join([*parts, *legend, "</svg>", ""])


def _panel(panel: Panel, colours: dict[str, str]) -> list[str]:
    points = [point for line in panel.lines for point in line.points]
    bottom = _HEIGHT - _BOTTOM
    across = [point.x for point in points]
    if panel.names:
        across = [-0.5, len(panel.names) - 0.5]
    x = _Axis.over(across, _LEFT, _WIDTH - _LEFT - _RIGHT, panel.x_log)
    upward = [value for one in points for value in (one.y, one.low, one.high) if value is not None]
    y = _Axis.over(upward, bottom, _TOP - bottom, panel.y_log)
    parts = [_text(_LEFT, 16, panel.title, size=12)]
    for value in y.ticks():
        parts.append(_stroke(_LEFT, y.at(value), _WIDTH - _RIGHT, y.at(value), "#e4e4e4"))
        parts.append(_text(_LEFT - 6, y.at(value) + 4, _short(value), anchor="end"))
    if panel.names:
        marks = [(float(at), name) for at, name in enumerate(panel.names)]
    else:
        marks = [(value, _short(value)) for value in x.ticks()]
    for place, name in marks:
        parts.append(_stroke(x.at(place), bottom, x.at(place), bottom + 4, "#888"))
        parts.append(_text(x.at(place), bottom + 16, name, anchor="middle"))
    parts.append(_stroke(_LEFT, bottom, _WIDTH - _RIGHT, bottom, "#888"))
    parts.append(_text((_LEFT + _WIDTH) / 2, bottom + 34, panel.x_label, anchor="middle"))
    middle = (_TOP + bottom) / 2
    turned = f' transform="rotate(-90 14 {middle:.1f})"'
    parts.append(_text(14, middle, panel.y_label, anchor="middle", more=turned))
    # Points of several lines at one name stand beside each other.
    aside = min(60 / max(len(panel.names), 1), 9) if panel.names else 0.0
    for at, line in enumerate(panel.lines):
        shift = (at - (len(panel.lines) - 1) / 2) * aside
        parts += _line(line, x, y, colours[line.name], shift, joined=not panel.names)
    return parts


def _line(
    line: Line, x: _Axis, y: _Axis, colour: str, shift: float, *, joined: bool
) -> Iterable[str]:
    drawn = [one for one in line.points if (one.x > 0 or not x.log) and (one.y > 0 or not y.log)]
    places = [(x.at(one.x) + shift, y.at(one.y)) for one in drawn]
    if joined and len(places) > 1:
        path = " ".join(f"{across:.1f},{up:.1f}" for across, up in places)
        yield f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="1.6"/>'
    for one, (across, up) in zip(drawn, places, strict=True):
        if one.low is not None and one.high is not None and (one.low > 0 or not y.log):
            yield _stroke(across, y.at(one.low), across, y.at(one.high), colour)
        about = f"<title>{escape(line.name)}: {_short(one.y)}</title>"
        yield f'<circle cx="{across:.1f}" cy="{up:.1f}" r="2.8" fill="{colour}">{about}</circle>'


def _legend(colours: dict[str, str], width: int, top: int) -> tuple[list[str], int]:
    parts, across, up = [], 14.0, top + 8.0
    for name, colour in colours.items():
        wide = 24 + len(name) * _LETTER
        if across + wide > width and across > 14:
            across, up = 14.0, up + _LINE
        parts.append(f'<circle cx="{across:.1f}" cy="{up - 4:.1f}" r="4" fill="{colour}"/>')
        parts.append(_text(across + 9, up, name))
        across += wide
    return parts, int(up - top + 12)


def _stroke(x1: float, y1: float, x2: float, y2: float, colour: str) -> str:
    return f'<path d="M{x1:.1f} {y1:.1f}L{x2:.1f} {y2:.1f}" stroke="{colour}"/>'


def _text(x: float, y: float, text: str, *, size: int = 0, anchor: str = "", more: str = "") -> str:
    sized = f' font-size="{size}" font-weight="bold"' if size else ""
    anchored = f' text-anchor="{anchor}"' if anchor else ""
    return f'<text x="{x:.1f}" y="{y:.1f}"{sized}{anchored}{more}>{escape(text)}</text>'


def _short(value: float) -> str:
    """Write a number in few letters: 0.97, 12, 3k, 1.2M."""
    for least, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= least:
            return f"{value / least:.3g}{letter}"
    return f"{value:.3g}"
