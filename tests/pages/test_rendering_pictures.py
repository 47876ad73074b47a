"""Pictures of documents: those of its own folder, and no other file."""

from __future__ import annotations

from pathlib import Path

import pytest

from pages.parts import rendering
from pages.parts.rendering import Kind
from pages.parts.rendering.pictures import pictures_of

MARKDOWN = Kind("markdown")


def _picture(path: Path, size: tuple[int, int] = (3, 2)) -> None:
    from PIL import Image

    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new("RGB", size, "teal").save(path)


def test_pictures_of_the_documents_folder_are_drawn_with_their_words(tmp_path):
    root = tmp_path / "docs"
    _picture(root / "guide/img/a b.png")
    _picture(root / "logo.png", (2500, 40))
    picture = pictures_of(root, "guide/page.md")
    text = "![The *tide* gauge](img/a%20b.png) and ![logo](/logo.png)"
    html = rendering.blocks(
        text,
        (0, len(text)),
        [(text.index("tide"), text.index("tide") + 4)],
        MARKDOWN,
        picture=picture,
    )
    assert html.count('<img src="data:image/png;base64,') == 2 - html.count("data:image/jpeg")
    assert "*<mark>tide</mark>*" in html
    assert len(html) < 100_000


@pytest.mark.parametrize(
    "url",
    ["../secret.png", "/../secret.png", "..%2fsecret.png", "link.png", "deep/link/secret.png",
     "file:///etc/a.png", "https://evil.example/a.png", "//evil.example/a.png", "a.svg",
     "fake.png", "bomb.png", "folder.png", "a\\..\\secret.png", "\u0000.png", "x" * 5000 + ".png"],
    ids=lambda url: repr(url[:24]),
)  # fmt: skip
def test_no_other_file_is_ever_drawn(tmp_path, url):
    root = tmp_path / "docs"
    _picture(tmp_path / "secret.png")
    _picture(root / "a.png")
    (root / "link.png").symlink_to(tmp_path / "secret.png")
    (root / "deep").mkdir()
    (root / "deep/link").symlink_to(tmp_path)
    (root / "fake.png").write_text("<script>alert(1)</script>")
    (root / "a.svg").write_text("<svg onload='alert(1)'/>")
    (root / "folder.png").mkdir()
    _bomb(root / "bomb.png")
    picture = pictures_of(root, "page.md")
    assert picture(url) is None
    assert str(picture("a.png")).startswith("data:image/png;base64,")


def _bomb(path: Path) -> None:
    """Write the head of a picture of 60,000 by 60,000 points."""
    import struct
    import zlib

    def chunk(kind: bytes, data: bytes) -> bytes:
        check = zlib.crc32(kind + data)
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", check)

    size = struct.pack(">IIBBBBB", 60_000, 60_000, 8, 2, 0, 0, 0)
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", size) + chunk(b"IEND", b""))


def test_pictures_from_elsewhere_are_named_and_not_loaded():
    text = "![tide gauge](https://elsewhere.example/a.png)"
    html = rendering.blocks(text, (0, len(text)), (), MARKDOWN, picture=lambda _: None)
    assert "tide gauge" in html
    assert "picture at elsewhere.example, not loaded" in html
    assert "<img" not in html
