"""Pages of PDFs over HTTP: behind the guard, with words and marks, or why there are none."""

from __future__ import annotations

import pytest
from small_library import add, sync
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.testclient import TestClient
from tesseract_stand_in import TesseractStandIn, hocr, scanned_pdf

from ragkit.background.ocr import TextRecognition
from ragkit.library import Library
from ragkit.settings import Settings
from ragkit.surfaces.http import pdf_pages
from ragkit.surfaces.http.api_token import ApiToken
from ragkit.surfaces.http.guard import Guard
from ragkit.surfaces.http.place import Place
from ragkit.surfaces.http.shared import SharedLibrary

PORT = 8599


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    from reportlab.pdfgen.canvas import Canvas

    folder = tmp_path_factory.mktemp("papers")
    canvas = Canvas(str(folder / "herons.pdf"), pagesize=(600, 800))
    canvas.drawString(60, 700, "The grey heron stands in the reeds and waits for the evening.")
    canvas.showPage()
    canvas.drawString(60, 400, "Herons fish; a Grey  Heron fishes alone.")
    canvas.setPageRotation(90)
    canvas.showPage()
    canvas.save()
    (folder / "notes.md").write_text("# Notes\n\nNothing about birds.\n", "utf-8")
    return folder


@pytest.fixture(scope="module")
def client(files, tmp_path_factory):
    settings = Settings(
        library=tmp_path_factory.mktemp("library") / "here", models={"embedder": "hash"}
    )
    with Library.open(settings, create=True) as library:
        add(library, files)
        ids = {record.path: record.id for record in library.documents.list()}
        guard = Middleware(Guard, place=Place(PORT), token=ApiToken(files / "token"))
        app = Starlette(routes=pdf_pages.routes(SharedLibrary(settings)), middleware=[guard])
        with TestClient(app, base_url=f"http://localhost:{PORT}") as client:
            client.ids, client.settings = ids, settings
            yield client


def asked(client, path="", name="herons.pdf", **query):
    return client.get(f"/_ragkit/pdf/{client.ids[name]}{path}", params=query)


def test_pages_have_labels_and_sizes_as_they_are_turned(client):
    pages = asked(client).json()["pages"]
    assert [page["label"] for page in pages] == ["1", "2"]
    # The second lies on its side in the file, 800 by 600, and is turned upright.
    assert [page["size"] for page in pages] == [[600, 800], [600, 800]]


def test_a_page_has_a_picture_words_a_frame_and_marks(client):
    answer = asked(client, "/1", width=700, chunk=1, find="heron type:pdf")
    assert answer.headers["cache-control"] == "no-store"
    page = answer.json()
    assert page["picture"].startswith("data:image/png;base64,iVBOR")
    assert page["size"][0] == 800
    words = "".join(word for word, *_ in page["words"])
    assert words.startswith("The grey heron stands in the reeds")
    assert [words[start:end] for start, end in page["marks"]] == ["heron"]
    [(left, top, right, bottom)] = page["frames"]
    assert (left, top) == (pytest.approx(0.1, abs=0.01), pytest.approx(0.11, abs=0.02))
    assert right > 0.5
    assert bottom < 0.15


def test_a_cited_sentence_is_framed_on_each_of_its_pages_and_nothing_else_is(client, files):
    with Library.open(client.settings) as library:
        text = library.documents.get(client.ids["herons.pdf"]).text
    start, end = text.index("waits for"), text.index(" a Grey")
    for number, first in (("1", "waits "), ("2", "Herons ")):
        page = asked(client, f"/{number}", width=700, span=f"{start}-{end}").json()
        [frame] = page["frames"]
        assert page["marks"] == []
        assert [word for word, *edges in page["words"] if edges[:2] == frame[:2]] == [first]
    # The same words at another place of the page.
    again = text.index("Heron fishes")
    one = asked(client, "/2", span=f"{again}-{again + 5}").json()["frames"]
    other = text.index("Herons fish")
    assert one != asked(client, "/2", span=f"{other}-{other + 6}").json()["frames"]
    assert asked(client, "/1", span=f"{again}-{again + 5}").json()["frames"] == []


def test_a_scanned_page_has_the_words_that_were_recognised(tmp_path, monkeypatch):
    folder = tmp_path / "scans"
    folder.mkdir()
    (folder / "scan.pdf").write_bytes(scanned_pdf(""))
    settings = Settings(library=tmp_path / "library", models={"embedder": "hash"})
    program = TesseractStandIn(tmp_path / "bin", {1700: hocr(["The lantern is lit", "at dusk."])})
    monkeypatch.setenv("PATH", program.path)
    with Library.open(settings, create=True) as library:
        add(library, folder)
        TextRecognition(library.writer()).work()
        sync(library)
        [record] = library.documents.list()
        app = Starlette(routes=pdf_pages.routes(SharedLibrary(settings)))
        with TestClient(app, base_url=f"http://localhost:{PORT}") as client:
            page = client.get(f"/_ragkit/pdf/{record.id}/1", params={"chunk": 1, "find": "lit"})
    words = page.json()["words"]
    assert [word for word, *_ in words] == ["The ", "lantern ", "is ", "lit ", "at ", "dusk. "]
    # Two lines from 200 pixels on, of 1,667 by 2,222, with feet at 300 and 360.
    assert words[0][1:] == pytest.approx([0.12, 0.117, 0.156, 0.135], abs=0.001)
    assert [frame[0] for frame in page.json()["frames"]] == pytest.approx([0.12, 0.12], abs=0.001)
    assert page.json()["marks"] == [[len("The lantern is "), len("The lantern is lit")]]


def test_words_are_counted_in_any_case_and_over_any_spaces(client):
    assert asked(client, "/find", words="grey heron").json() == {"counts": [1, 1]}
    assert asked(client, "/find", words=" HERON ").json() == {"counts": [1, 2]}
    assert asked(client, "/find", words=" ").json() == {"counts": []}


def test_what_is_not_there_is_said(client):
    assert asked(client, "/3").status_code == 404
    assert asked(client, name="notes.md").json() == {
        "problem": "This document has no pages.", "cure": "",
    }  # fmt: skip
    assert client.get("/_ragkit/pdf/999").status_code == 404


def test_a_file_that_is_gone_leaves_its_text(client, files):
    away = (files / "herons.pdf").rename(files / "away")
    try:
        pages = asked(client, version="later").json()["pages"]
        page = asked(client, "/2", width=2000).json()
    finally:
        away.rename(files / "herons.pdf")
    assert [page["label"] for page in pages] == ["1", "2"]
    assert page["problem"] == "herons.pdf is no longer where it was."
    assert "fishes alone" in page["text"]
    assert "picture" not in page


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"host": "evil.example"}, 421),
        ({"origin": "http://evil.example"}, 403),
        ({"sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors"}, 403),
        ({"sec-fetch-site": "same-origin"}, 200),
    ],
)
def test_the_guard_stands_before_the_pages(client, headers, status):
    address = f"/_ragkit/pdf/{client.ids['herons.pdf']}/find?words=heron"
    assert client.get(address, headers=headers).status_code == status
