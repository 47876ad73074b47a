"""What the Evaluate page says of an ablation; text of people and models is only ever text."""

from __future__ import annotations

from pages.parts.evaluate import ablation_html as html
from pages.parts.evaluate import charts
from ragkit.evaluation.ablation_figures import AblationFigures, Cell
from ragkit.evaluation.background import AblationStatus
from ragkit.evaluation.metrics import Metric, PairedDifference
from ragkit.indexing.progress import Progress


def cell(name, value, difference=None, **changed):
    metrics = (Metric("ndcg@10", value, value - 0.1, value + 0.1), Metric("mrr", 0.5, 0.4, 0.6))
    values = {"metrics": metrics, "difference": difference, "p50": 12.0, "p95": 1400.0, **changed}
    return Cell("Vectors", name, f"{name}  <i>", questions=4, **values)


CELLS = (
    cell("V0", 0.5),
    cell("V1", 0.7, PairedDifference(0.2, 0.1, 0.3, 0.01), tokens=1234, seconds=90.0),
    cell("V2", 0.32, PairedDifference(-0.2, -0.3, -0.1, 0.04), index_bytes=54_000),
    cell("V3", 0.6, PairedDifference(0.1, -0.1, 0.3, 0.4)),
    Cell("Vectors", "V5", "V5  x", "no <b>model</b> reranks"),
    Cell("Vectors", "V6", "V6  y", "no <b>model</b> reranks"),
)
FIGURES = AblationFigures(
    "mine", CELLS, notices=("<b>told</b>",), questions='4 questions of "<i>"', at=0.0
)


def test_the_table_says_what_is_better_and_what_it_takes():
    told = html.table("Vectors", CELLS, FIGURES)
    assert "<i>" not in told
    assert "<b>0.700</b><small>0.60 – 0.80</small>" in told
    assert "<b>▲ +0.200</b><small>+0.10 to +0.30, p 0.010</small>" in told
    assert '<b class="rk-worse">▼ -0.200</b>' in told
    assert "<td>+0.100<small>-0.10 to +0.30, p 0.400</small></td>" in told
    assert "<td>1,234<small>90.0 s</small></td>" in told
    assert "<td>12 ms<small>1.4 s</small></td>" in told
    assert "<td>54 kB</td>" in told
    assert told.count("<tr>") == 1 + 4
    assert told.count("rk-notice") == 1
    assert "Not run: V5  x; V6  y. no &lt;b&gt;model&lt;/b&gt; reranks" in told
    only = html.table("Vectors", CELLS[4:], FIGURES)
    assert "<table" not in only


def test_the_chart_shows_what_is_better_and_what_is_worse_than_the_first():
    rows = html.chart_rows(CELLS, "ndcg@10")
    changes = ["no clear change", "better", "worse", "no clear change"]
    assert [row["change"] for row in rows] == changes
    assert [row["difference"] for row in rows] == ["first", "+0.200", "-0.200", "+0.100"]
    drawn = charts.parts_chart(rows, "nDCG@10").to_dict()
    assert drawn["layer"][0]["encoding"]["x"]["scale"]["domain"] == [0.2, 0.8]
    assert "V1  <i>: 0.700, better; V2  <i>: 0.320, worse" in drawn["description"]


def test_it_says_what_was_asked_how_far_it_is_and_how_it_ended():
    told = html.about(FIGURES)
    assert "4 questions of &quot;&lt;i&gt;&quot; · 1970-01-01" in told
    assert "<summary>1 note</summary><ul><li>&lt;b&gt;told&lt;/b&gt;</li>" in told
    now = AblationStatus(running=True, progress=Progress("Asking: F2 (3 of 26)", 4, 20, "a<b>?"))
    line = html.progress_line(now)
    assert "<b>F2 (3 of 26): 4 of 20</b> · <bdi>a&lt;b&gt;?</bdi>" in line
    assert "Preparing" in html.progress_line(AblationStatus(running=True))
    assert html.ended(AblationStatus()) == ""
    assert "Stopped. What was measured is kept" in html.ended(AblationStatus(stopped=True))
    failed = AblationStatus(problem="No <model>.", cure="Get one.")
    assert 'role="alert">No &lt;model&gt;. Get one.' in html.ended(failed)
