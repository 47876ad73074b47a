"""The sample library is whole, its questions are answerable, its binaries can be built again."""

from __future__ import annotations

import hashlib
import html
import importlib.util
import json
import re
import zipfile
from collections import Counter
from email import message_from_bytes, policy
from pathlib import Path

import pypdf
import pytest
import yaml

from ragkit.reading import read_file
from ragkit.settings import ReadingSettings

SAMPLE = Path(__file__).resolve().parents[1] / "sample_data"
LIBRARY = SAMPLE / "library"
KINDS = {
    "exact term",
    "paraphrase",
    "number",
    "identifier",
    "other language",
    "section",
    "whole document",
}
ARCHIVES = {".xlsx", ".pptx", ".docx", ".epub"}


def documents() -> list[Path]:
    return sorted(path for path in LIBRARY.rglob("*") if path.is_file())


def questions() -> list[dict]:
    text = (SAMPLE / "questions.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def archive_text(path: Path) -> str:
    """The character data of every XML part, tags taken out."""
    parts = []
    with zipfile.ZipFile(path) as archive:
        for name in archive.namelist():
            if name.endswith((".xml", ".xhtml")):
                parts.append(re.sub(r"<[^>]+>", "", archive.read(name).decode("utf-8")))
    return html.unescape("\n".join(parts))


def pdf_text(path: Path) -> str:
    pages = pypdf.PdfReader(path).pages
    return re.sub(r"\s+", " ", " ".join(page.extract_text() for page in pages))


def mail_text(path: Path) -> str:
    message = message_from_bytes(path.read_bytes(), policy=policy.default)
    return "\n".join(
        part.get_content() for part in message.walk() if part.get_content_maintype() == "text"
    )


def notebook_text(path: Path) -> str:
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return "\n".join("".join(cell["source"]) for cell in cells)


def document_text(path: Path) -> str:
    if path.suffix in ARCHIVES:
        return archive_text(path)
    readers = {".pdf": pdf_text, ".eml": mail_text, ".ipynb": notebook_text}
    if path.suffix in readers:
        return readers[path.suffix](path)
    return path.read_text(encoding="utf-8")


def load_script():
    spec = importlib.util.spec_from_file_location("make_binary", SAMPLE / "make_binary.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_library_is_varied_and_small() -> None:
    paths = documents()
    assert len(paths) >= 25
    assert {path.suffix for path in paths} >= {
        *(".md", ".pdf", ".xlsx", ".csv", ".pptx", ".eml", ".epub", ".py", ".rs", ".json"),
        *(".ipynb", ".html", ".rst", ".docx"),
    }
    assert all(path.stat().st_size > 500 for path in paths)
    total = sum(path.stat().st_size for path in SAMPLE.rglob("*") if path.is_file())
    assert total < 1_500_000


def test_there_are_forty_questions_of_every_kind() -> None:
    judged = questions()
    assert len(judged) == 40
    assert len({question["id"] for question in judged}) == 40
    assert len({question["text"] for question in judged}) == 40
    counts = Counter(question["kind"] for question in judged)
    assert set(counts) == KINDS
    assert min(counts.values()) >= 4


@pytest.mark.parametrize("question", questions(), ids=lambda question: question["id"])
def test_quotes_stand_in_their_documents(question: dict) -> None:
    assert set(question) <= {"id", "text", "kind", "relevant", "note"}
    assert max(judgment["grade"] for judgment in question["relevant"]) == 2
    for judgment in question["relevant"]:
        assert set(judgment) == {"path", "grade", "quote"}
        assert judgment["grade"] in {1, 2}
        path = LIBRARY / judgment["path"]
        assert path.is_file(), judgment["path"]
        assert "\n" not in judgment["quote"]
        assert judgment["quote"] in document_text(path), judgment["path"]


def test_front_matter_is_readable() -> None:
    languages = set()
    for path in LIBRARY.rglob("*.md"):
        text = path.read_text(encoding="utf-8")
        matter = yaml.safe_load(text.split("---\n")[1])
        assert matter["title"], path.name
        assert matter["tags"], path.name
        assert 2025 <= matter["date"].year <= 2026, path.name
        languages.add(matter["language"])
    assert languages == {"en", "de", "ja", "fr"}


def test_authentication_chapter_has_twelve_full_sections() -> None:
    text = (LIBRARY / "handbook/security.md").read_text(encoding="utf-8")
    chapter = text.split("## Authentication\n", 1)[1]
    sections = chapter.split("\n### ")[1:]
    assert len(sections) == 12
    assert all(180 <= len(section.split()) <= 320 for section in sections)


def test_duplicates_and_near_duplicates_are_what_they_claim() -> None:
    digests = Counter(hashlib.sha256(path.read_bytes()).hexdigest() for path in documents())
    assert sorted(digests.values(), reverse=True)[:2] == [2, 1]
    assert (LIBRARY / "archive/onboarding.md").read_bytes() == (
        LIBRARY / "handbook/onboarding.md"
    ).read_bytes()
    first = (LIBRARY / "notes/contract-v1.md").read_text(encoding="utf-8").splitlines()
    second = (LIBRARY / "notes/contract-v2.md").read_text(encoding="utf-8").splitlines()
    differing = sum(left != right for left, right in zip(first, second, strict=True))
    assert 1 <= differing <= 10


@pytest.mark.parametrize(
    ("path", "absent", "present"),
    [
        ("meetings/2025-11-18-ines-nora-chat.md", r"promot", "Chief of Staff"),
        ("meetings/2025-12-09-hosting-sync.md", r"expensive|\bcosts?\b|\bprices?\b", "4,310"),
        ("meetings/2026-01-20-ploen-debrief.md", r"forg[eo]t|left behind", "not in the van"),
        ("meetings/2026-02-10-lyon-visit.md", r"phone|\bcall", "0176 040690 27"),
    ],
)
def test_implicit_meaning_stays_implicit(path: str, absent: str, present: str) -> None:
    text = (LIBRARY / path).read_text(encoding="utf-8")
    assert re.search(absent, text, re.IGNORECASE) is None
    assert present in text


def test_conversation_has_thirty_messages_in_order() -> None:
    text = (LIBRARY / "conversations/2026-03-14-ines-and-rui.md").read_text(encoding="utf-8")
    times = re.findall(r"^\*\*[^*]+\*\* · (\d{4}-\d\d-\d\d \d\d:\d\d)$", text, re.MULTILINE)
    assert len(times) == 30
    assert times == sorted(times)
    assert all(word in text for word in ("Kanazawa", "tz_localize", "chouriço"))


@pytest.mark.parametrize(
    ("path", "platform", "messages", "speaker"),
    [
        ("WhatsApp Chat with Oberhafen move.txt", "WhatsApp", 15, "Sami Haddad"),
        ("slack/field-team/2026-04-14.json", "Slack", 7, "Haruka Mori"),
        ("support-ystad-2026-04.jsonl", "", 8, "Greta Holm"),
        ("2026-03-14-ines-and-rui.md", "transcript", 30, "Rui Carvalho"),
    ],
)
def test_exports_are_read_as_conversations(
    path: str, platform: str, messages: int, speaker: str
) -> None:
    reading = read_file(LIBRARY / "conversations" / path, path, ReadingSettings())
    assert reading.format == "conversation"
    assert reading.metadata.get("platform", "") == platform
    assert reading.metadata["messages"] == len(reading.messages) == messages
    assert speaker in reading.metadata["participants"]
    assert all(one.at.startswith("2026-0") for one in reading.messages)
    assert reading.warnings == ()


def test_paper_has_bookmarks_and_page_labels() -> None:
    reader = pypdf.PdfReader(LIBRARY / "papers/drift-compensation.pdf")
    assert reader.page_labels == ["i", "1", "2", "3"]
    assert "Table 1." in reader.pages[2].extract_text()
    assert "Figure 1." in reader.pages[2].extract_text()
    top = reader.outline[1]
    assert [entry.title for entry in top if not isinstance(entry, list)][:3] == [
        "Abstract",
        "1 Introduction",
        "2 Sensors and sites",
    ]


def test_notebook_and_python_compile() -> None:
    compile((LIBRARY / "code/heron_client.py").read_text(encoding="utf-8"), "heron_client", "exec")
    cells = json.loads((LIBRARY / "code/drift_check.ipynb").read_text(encoding="utf-8"))["cells"]
    for cell in cells:
        if cell["cell_type"] == "code":
            compile("".join(cell["source"]), cell["id"], "exec")


def test_binaries_are_built_again_byte_for_byte(tmp_path: Path) -> None:
    script = load_script()
    built = script.build_all(tmp_path)
    assert len(built) == 5
    for path in built:
        committed = LIBRARY / path.relative_to(tmp_path)
        assert path.read_bytes() == committed.read_bytes(), committed.name
