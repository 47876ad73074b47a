"""Pictures of a document: files in its own source folder, small, and only of known formats."""

from __future__ import annotations

import base64
import io
import os
import stat
from functools import lru_cache
from pathlib import Path
from urllib.parse import unquote, urlsplit

from pages.parts.rendering.canvas import Picture

_MOST_BYTES, _MOST_PIXELS = 20_000_000, 50_000_000
_AS_IT_IS, _WIDEST, _HIGHEST = 250_000, 1200, 1600
_MOST_TOGETHER, _MOST_PICTURES = 3_000_000, 24
_TYPES = {"PNG": "png", "JPEG": "jpeg", "GIF": "gif", "WEBP": "webp"}
_SUFFIXES = (".png", ".jpg", ".jpeg", ".gif", ".webp")


def pictures_of(root: Path, path: str, *, here: bool = True) -> Picture:
    """Return a function that finds pictures of the document ``path`` in the folder ``root``.

    ``here``: the folder is this machine's, not another's that has the same name.
    It takes an address as the document gives it, and returns a ``data:`` address, or ``None``
    where there is no such picture, or too much of them already.
    """
    left = [_MOST_PICTURES if here else 0, _MOST_TOGETHER]

    def picture(url: str) -> str | None:
        file = _inside(root, path, url)
        if file is None or left[0] <= 0:
            return None
        left[0] -= 1
        try:
            source = _data_address(str(file), file.stat().st_mtime_ns)
        except OSError:
            return None
        if source is None or len(source) > left[1]:
            return None
        left[1] -= len(source)
        return source

    return picture


def _inside(root: Path, path: str, url: str) -> Path | None:
    """Return the file that an address names, if it lies in the folder after all links."""
    try:
        parts = urlsplit(url)
        named = unquote(parts.path)
        if parts.scheme or parts.netloc or "\\" in named or "\0" in named or not named:
            return None
        if not named.lower().endswith(_SUFFIXES):
            return None
        base = root if named.startswith("/") else root / Path(path).parent
        file = (base / named.lstrip("/")).resolve(strict=True)
        return file if file.is_relative_to(root.resolve(strict=True)) else None
    except (OSError, ValueError, RuntimeError):
        return None


@lru_cache(maxsize=32)
def _data_address(file: str, _changed: int) -> str | None:
    """Return a picture as a ``data:`` address, made smaller where it is large."""
    from PIL import Image

    data = _read(file)
    if data is None:
        return None
    try:
        with Image.open(io.BytesIO(data), formats=tuple(_TYPES)) as image:
            kind = image.format or ""
            width, height = image.size
            if kind not in _TYPES or width * height > _MOST_PIXELS:
                return None
            image.load()
            if len(data) > _AS_IT_IS or width > 2 * _WIDEST or height > 2 * _HIGHEST:
                image.thumbnail((_WIDEST, _HIGHEST))
                kind = "PNG" if image.mode in ("P", "LA", "RGBA", "PA") else "JPEG"
                buffer = io.BytesIO()
                image.convert("RGBA" if kind == "PNG" else "RGB").save(buffer, kind)
                data = buffer.getvalue()
    except (OSError, ValueError, SyntaxError, EOFError, Warning, Image.DecompressionBombError):
        return None
    return f"data:image/{_TYPES[kind]};base64,{base64.b64encode(data).decode('ascii')}"


def _read(file: str) -> bytes | None:
    """Return the bytes of an ordinary file of a bearable size, not through a link."""
    handle = os.open(
        file, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    )
    with os.fdopen(handle, "rb") as stream:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode) or status.st_size > _MOST_BYTES:
            return None
        return stream.read(_MOST_BYTES)
