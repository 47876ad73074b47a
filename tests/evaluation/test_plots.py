"""Plots are well-formed SVG that shows every point where its values say."""

from __future__ import annotations

import runpy
from pathlib import Path
from xml.etree import ElementTree

_PLOTS = runpy.run_path(str(Path(__file__).resolve().parents[2] / "benchmarks" / "plots.py"))
Line, Panel, Point, draw = (_PLOTS[name] for name in ("Line", "Panel", "Point", "draw"))
_SVG = "{http://www.w3.org/2000/svg}"


def _circles(svg: str) -> list[tuple[float, float, str]]:
    """The points of all panels, without the legend: where they stand, and what they say."""
    drawn = ElementTree.fromstring(svg)
    return [
        (float(one.get("cx", "")), float(one.get("cy", "")), one.findtext(f"{_SVG}title") or "")
        for one in drawn.findall(f"{_SVG}g/{_SVG}circle")
    ]


def test_higher_values_stand_higher_and_logarithms_stand_evenly():
    points = [Point(100, 0.5), Point(1_000, 0.75), Point(10_000, 1.0)]
    circles = _circles(draw("Sweep", [Panel("Recall", [Line("exact", points)], x_log=True)]))
    (x1, y1, _), (x2, y2, _), (x3, y3, about) = circles
    assert abs((x2 - x1) - (x3 - x2)) < 0.2
    assert x2 - x1 > 100
    assert abs((y1 - y2) - (y2 - y3)) < 0.2
    assert y1 - y2 > 50
    assert about == "exact: 1"


def test_names_on_an_axis_have_points_with_intervals_and_no_line():
    line = Line("quality", [Point(0, 0.6, 0.5, 0.7), Point(1, 0.8, 0.75, 0.85)])
    svg = draw("Ablations", [Panel("nDCG", [line], names=("F0", "F1"))])
    assert "polyline" not in svg
    assert ">F0</text>" in svg
    assert [about for _x, _y, about in _circles(svg)] == ["quality: 0.6", "quality: 0.8"]
    upright = [
        one.get("d") for one in ElementTree.fromstring(svg).findall(f"{_SVG}g/{_SVG}path")
        if one.get("stroke") == "#0072b2"
    ]  # fmt: skip
    assert len(upright) == 2


def test_what_a_name_holds_stays_text_and_zero_has_no_logarithm():
    line = Line("<b>&", [Point(0, 0), Point(10, 10)])
    svg = draw("a < b", [Panel("", [line], x_log=True, y_log=True)])
    assert [about for _x, _y, about in _circles(svg)] == ["<b>&: 10"]
    assert ElementTree.fromstring(svg).findtext(f"{_SVG}title") == "a < b"


def test_one_name_has_one_colour_in_all_panels_and_one_place_in_the_legend():
    panels = [Panel("1", [Line("a", [Point(1, 1)]), Line("b", [Point(1, 2)])]),
              Panel("2", [Line("b", [Point(1, 3)])])]  # fmt: skip
    drawn = ElementTree.fromstring(draw("", panels))
    circles = drawn.findall(f"{_SVG}g/{_SVG}circle")
    colours = {one.findtext(f"{_SVG}title"): one.get("fill") for one in circles}
    assert colours["b: 2"] == colours["b: 3"] != colours["a: 1"]
    legend = drawn.findall(f"{_SVG}circle")
    assert [one.get("fill") for one in legend] == [colours["a: 1"], colours["b: 2"]]
