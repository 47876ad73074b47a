"""The small library that the browser tests look at."""

from __future__ import annotations

from pathlib import Path

HOSTILE = """# <img src=x onerror=alert(1)> Grobnik

<script>window.stolen = true</script> ![spy](http://spy.invalid/track.png)
<iframe src="http://spy.invalid/frame"></iframe> [link](javascript:alert(2)) zero\u200bwidth
and \u202eright to left\u202c text about grobnik valves. $x^2$ :material/home: :red[red]
"""

PLANS = """# Tariffs

| Tariff | Cancelling |
| --- | --- |
| Basic | never |
| Wombat, yearly | within *thirty* days |

```python
def wombat_tariff(days: int) -> bool:
    return days <= 30
```
"""


def write_files(folder: Path) -> None:
    """Write a handful of documents of several kinds."""
    for name in ("handbook", "notes", "code", "archive"):
        (folder / name).mkdir(parents=True)
    (folder / "handbook/refund-policy.md").write_text(
        "# Refund policy\n\nA customer can return a buoy within 30 days and receives a full "
        "refund of the price.\n",
        "utf-8",
    )
    (folder / "handbook/security.md").write_text(_security(), "utf-8")
    (folder / "notes/kaiyo.md").write_text(
        "# 海洋観測メモ\n\n水温センサーは毎朝六時に校正します。部品は大津にあります。\n",
        "utf-8",
    )
    (folder / "notes/harbour.txt").write_text(
        "The harbour office in Ploen opens at nine and keeps the keys of the boat shed.\n", "utf-8"
    )
    (folder / "code/decoder.py").write_text(
        'def decode_settings(frame: bytes) -> int:\n    """Read the drift offset."""\n'
        "    return int.from_bytes(frame[2:4], 'little', signed=True)\n",
        "utf-8",
    )
    (folder / "notes/hostile.md").write_text(HOSTILE, "utf-8")
    (folder / "notes/plans.md").write_text(PLANS, "utf-8")
    (folder / "notes/gauges.csv").write_text(
        "gauge,town,height\n" + "".join(f"G-{row},Wremen {row},{row}.5\n" for row in range(40)),
        "utf-8",
    )
    (folder / "notes/oneline.txt").write_text("quagga " + "mussel" * 60_000, "utf-8")
    _pdf(folder / "archive/drift-report.pdf")


def _security() -> str:
    """A document of many chunks, of which the second, fifth and seventh are about OAuth."""
    topics = [
        "doors and badges", "OAuth tokens", "laptops", "visitors", "OAuth refresh", "backups",
        "OAuth scopes", "paper shredding", "fire drills", "parking", "kitchen", "plants",
    ]  # fmt: skip
    parts = ["# Security handbook\n"]
    for number, topic in enumerate(topics, start=1):
        words = f"Rule {number} about {topic} is kept by everyone in the house without exception. "
        parts.append(f"## {topic.capitalize()}\n\n{words * 9}\n")
    return "\n".join(parts)


def _pdf(file: Path) -> None:
    from reportlab.lib.pagesizes import A4
    from reportlab.pdfgen.canvas import Canvas

    canvas = Canvas(str(file), pagesize=A4)
    canvas.setTitle("Drift report")
    pages = [
        "Introduction. This report describes the drift of oxygen sensors over one season.",
        "Method. Bottles were filled at dawn and compared with the foil of each sensor.",
        "Result. The zanderfoil coating lost nine percent of its signal in warm water.",
    ]
    for line in pages:
        canvas.setFont("Helvetica", 12)
        for row in range(14):
            canvas.drawString(72, 760 - 22 * row, f"{line} Paragraph {row + 1} of the page.")
        canvas.showPage()
    canvas.save()
