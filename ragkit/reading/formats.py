"""Which format a file has: by its content first, by its suffix second."""

from __future__ import annotations

import io
import re
import zipfile
from enum import StrEnum
from pathlib import PurePosixPath
from typing import Self

from ragkit.errors import ReadingError, SkippedError
from ragkit.reading.decode import looks_binary
from ragkit.reading.limits import damaged


class Format(StrEnum):
    """What a file holds: the value is its document's ``format``.

    A member also has the ``suffixes`` of its files, a ``label`` for people and, if it is a zip
    container, the ``part`` by which it is recognised.
    """

    suffixes: tuple[str, ...]
    label: str
    part: str

    def __new__(cls, value: str, suffixes: str = "", label: str = "file", part: str = "") -> Self:
        """Make a member; ``suffixes`` are separated by spaces."""
        member = str.__new__(cls, value)
        member._value_ = value
        member.suffixes = tuple(suffixes.split())
        member.label, member.part = label, part
        return member

    MARKDOWN = "markdown", ".md .markdown .mdown .mkd .qmd .rmd"
    MDX = "mdx", ".mdx"
    TEXT = "text", ".txt .text .log"
    RST = "rst", ".rst .rest"
    HTML = "html", ".html .htm .xhtml", "web page"
    PDF = "pdf", ".pdf", "PDF"
    DOCX = "docx", ".docx .docm", "Word document", "word/document.xml"
    PPTX = "pptx", ".pptx .pptm", "presentation", "ppt/presentation.xml"
    XLSX = "xlsx", ".xlsx .xlsm", "workbook", "xl/workbook.xml"
    EPUB = "epub", ".epub", "e-book", "META-INF/container.xml"
    EML = "eml", ".eml", "e-mail"
    CSV = "csv", ".csv .tsv", "table"
    IPYNB = "ipynb", ".ipynb", "notebook"
    JSON = "json", ".json", "JSON file"
    JSONL = "jsonl", ".jsonl .ndjson", "JSON file"
    YAML = "yaml", ".yaml .yml"
    TOML = "toml", ".toml"
    INI = "ini", ".ini .cfg .conf .properties"
    CODE = "code"
    MBOX = "mbox", ".mbox", "mailbox"
    EXPORT = "export", "", "archive"
    CONVERSATION = "conversation"


CONVERSATION_FORMATS = (Format.TEXT, Format.MARKDOWN, Format.JSON, Format.JSONL)
"""The formats whose files may hold a conversation."""

DOCUMENT_SUFFIXES = {suffix: member for member in Format for suffix in member.suffixes}
CODE_SUFFIXES = {
    ".py": "python", ".pyi": "python", ".js": "javascript", ".mjs": "javascript",
    ".cjs": "javascript", ".jsx": "javascript", ".ts": "typescript", ".tsx": "typescript",
    ".java": "java", ".kt": "kotlin", ".kts": "kotlin", ".scala": "scala", ".go": "go",
    ".rs": "rust", ".c": "c", ".h": "c", ".cc": "c++", ".cpp": "c++", ".cxx": "c++",
    ".hpp": "c++", ".hh": "c++", ".cs": "c#", ".swift": "swift", ".rb": "ruby", ".php": "php",
    ".pl": "perl", ".pm": "perl", ".lua": "lua", ".r": "r", ".jl": "julia", ".sh": "shell",
    ".bash": "shell", ".zsh": "shell", ".fish": "shell", ".ps1": "powershell", ".bat": "batch",
    ".sql": "sql", ".css": "css", ".scss": "css", ".less": "css", ".vue": "vue",
    ".svelte": "svelte", ".xml": "xml", ".xsd": "xml", ".graphql": "graphql", ".proto": "protobuf",
    ".tf": "terraform", ".dart": "dart", ".ex": "elixir", ".exs": "elixir", ".erl": "erlang",
    ".hs": "haskell", ".ml": "ocaml", ".clj": "clojure", ".el": "lisp", ".lisp": "lisp",
    ".vim": "vim", ".cmake": "cmake", ".gradle": "gradle", ".nim": "nim", ".zig": "zig",
    ".m": "objective-c", ".tex": "latex", ".bib": "bibtex",
}  # fmt: skip
_CODE_NAMES = {"makefile": "make", "dockerfile": "docker", "cmakelists.txt": "cmake"}
_SHEBANG = re.compile(rb"#![^\n]{0,100}?\b(python|bash|sh|zsh|node|ruby|perl|php)[\d.]*\b")
_SHEBANG_LANGUAGES = {"bash": "shell", "sh": "shell", "zsh": "shell", "node": "javascript"}
_MBOX = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*From [^\r\n]{1,300}\d\d:\d\d[^\r\n]{0,60}\r?\n"
    rb"[A-Za-z][\w-]{1,60}:[ \t]?[^\r\n]*\r?\n"
)
_EXPORT_DAY = re.compile(r"(?:.*/)?[^/]+/\d{4}-\d\d-\d\d\.json")
_EXPORT_FILE = re.compile(
    r"(?:[^/]+/)?(?:conversations\.json|result\.json|_chat\.txt|[^/]*WhatsApp[^/]*\.txt)"
)
_HTML_START = re.compile(
    rb"\s*(?:<\?xml[^>]{0,200}\?>\s*)?(?:<!--.{0,500}?-->\s*)?<(?:!doctype\s+html|html)\b",
    re.I | re.S,
)

_PICTURES = ("Pictures are not read.", "Text in a picture needs OCR first.")
_MEDIA = ("Sound and video are not read.", "Add a transcript as a text file instead.")
_ARCHIVE = ("Archives are not read.", "Unpack it into the folder.")
_PROGRAM = ("Programs and binary files are not read.", "Leave it out of the folder.")
_FONT = ("Fonts are not read.", "Leave it out of the folder.")
_DATABASE = ("Databases are not read.", "Export the tables as CSV.")

_MAGIC: tuple[tuple[bytes, tuple[str, str]], ...] = (
    (b"\x89PNG\r\n", _PICTURES), (b"\xff\xd8\xff", _PICTURES), (b"GIF87a", _PICTURES),
    (b"GIF89a", _PICTURES), (b"II*\x00", _PICTURES), (b"MM\x00*", _PICTURES),
    (b"8BPS", _PICTURES), (b"\x00\x00\x01\x00", _PICTURES), (b"\x00\x00\x00\x0cjP  ", _PICTURES),
    (b"ID3", _MEDIA), (b"OggS", _MEDIA), (b"fLaC", _MEDIA), (b"\x1aE\xdf\xa3", _MEDIA),
    (b"\x1f\x8b", _ARCHIVE), (b"BZh", _ARCHIVE), (b"\xfd7zXZ\x00", _ARCHIVE),
    (b"(\xb5/\xfd", _ARCHIVE), (b"7z\xbc\xaf\x27\x1c", _ARCHIVE), (b"Rar!\x1a\x07", _ARCHIVE),
    (b"\x7fELF", _PROGRAM), (b"MZ\x90\x00", _PROGRAM), (b"\xcf\xfa\xed\xfe", _PROGRAM),
    (b"\xca\xfe\xba\xbe", _PROGRAM), (b"\x00asm", _PROGRAM), (b"wOFF", _FONT), (b"wOF2", _FONT),
    (b"\x00\x01\x00\x00\x00", _FONT), (b"OTTO", _FONT), (b"SQLite format 3\x00", _DATABASE),
    (b"PAR1", _DATABASE),
)  # fmt: skip
_SKIPPED_SUFFIXES: dict[str, tuple[str, str]] = {
    f".{suffix}": reason
    for suffixes, reason in (
        ("png jpg jpeg gif bmp tif tiff webp svg ico heic avif psd", _PICTURES),
        ("mp3 mp4 m4a wav ogg flac avi mov mkv webm", _MEDIA),
        ("zip tar gz tgz bz2 xz 7z rar jar whl zst", _ARCHIVE),
        ("exe dll so dylib o a class pyc wasm bin iso dmg", _PROGRAM),
        ("ttf otf woff woff2", _FONT),
        ("sqlite sqlite3 db parquet feather mdb", _DATABASE),
    )
    for suffix in suffixes.split()
}
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_CONTAINERS = tuple(member for member in Format if member.part)
_OPEN_DOCUMENT = {".odt": "a .docx", ".ods": "an .xlsx", ".odp": "a .pptx"}


def readable_suffixes() -> frozenset[str]:
    """Return every suffix that has a reader, with its dot and in lower case."""
    return frozenset(DOCUMENT_SUFFIXES) | frozenset(CODE_SUFFIXES)


def code_language(name: str, data: bytes = b"") -> str:
    """Return the programming language that a file's name or first line shows, or ``""``."""
    path = PurePosixPath(name.lower())
    language = _CODE_NAMES.get(path.name) or CODE_SUFFIXES.get(path.suffix, "")
    if not language and data[:2] == b"#!" and (first := _SHEBANG.match(data)):
        interpreter = first[1].decode()
        language = _SHEBANG_LANGUAGES.get(interpreter, interpreter)
    return language


def sniff(name: str, data: bytes) -> Format:
    """Return the format of a file, by its content first and its name second.

    Raises:
        SkippedError: pictures, sound, archives, programs and other binary files.
        ReadingError: content and name contradict each other, or an old format.
    """
    suffix = PurePosixPath(name.lower()).suffix
    by_suffix = DOCUMENT_SUFFIXES.get(suffix)
    by_magic = _by_magic(suffix, data)
    if by_magic is not None:
        return by_magic
    if suffix in _SKIPPED_SUFFIXES:
        raise SkippedError(*_SKIPPED_SUFFIXES[suffix])
    if by_suffix in _CONTAINERS or by_suffix is Format.PDF:
        if _HTML_START.match(data[:2000]):
            return Format.HTML
        raise ReadingError(
            f"The name ends in {suffix}, but the content is something else.",
            "Give it the suffix that fits its content, or save it again.",
        )
    if looks_binary(data):
        raise _refusal(suffix, _PROGRAM)
    if by_suffix is Format.MBOX:
        return by_suffix
    if by_suffix in (None, Format.TEXT) and _MBOX.match(data[:2000]):
        return Format.MBOX
    if by_suffix is not None and by_suffix is not Format.TEXT:
        return by_suffix
    if _HTML_START.match(data[:2000]):
        return Format.HTML
    return by_suffix or (Format.CODE if code_language(name, data) else Format.TEXT)


def _by_magic(suffix: str, data: bytes) -> Format | None:
    """Return the binary format that the first bytes show; refuse those without a reader."""
    start = data[:1024]
    if start.lstrip(b"\xef\xbb\xbf\r\n\t \x00").startswith(b"%PDF-"):
        return Format.PDF
    if suffix == ".pdf" and (b"%PDF-" in data[:65_536] or b"endobj" in data[:65_536]):
        return Format.PDF
    if start.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return _zip_format(suffix, data)
    if start.startswith(_OLE):
        raise _old_office(suffix, data)
    if start.startswith(b"{\\rtf"):
        raise ReadingError("Rich text (RTF) is not read.", "Save it as .docx.")
    for magic, reason in _MAGIC:
        if start.startswith(magic):
            raise _refusal(suffix, reason)
    if start[4:8] == b"ftyp" or (start[:4] == b"RIFF" and start[8:12] in (b"WAVE", b"AVI ")):
        raise _refusal(suffix, _MEDIA)
    if (start[:4] == b"RIFF" and start[8:12] == b"WEBP") or _is_bitmap(start):
        raise _refusal(suffix, _PICTURES)
    if start[257:262] == b"ustar":
        raise _refusal(suffix, _ARCHIVE)
    return None


def _is_bitmap(start: bytes) -> bool:
    """Return whether the bytes begin a BMP picture: "BM" alone also begins words."""
    return start[:2] == b"BM" and start[6:10] == b"\x00\x00\x00\x00"


def _refusal(suffix: str, reason: tuple[str, str]) -> SkippedError:
    """Return the refusal of a kind of file, naming a suffix that promises something readable."""
    sentence, cure = reason
    if suffix not in readable_suffixes():
        return SkippedError(sentence, cure)
    if reason == _PROGRAM:
        return SkippedError(f"The name ends in {suffix}, but the content is not text.", cure)
    kind = sentence.removesuffix(" are not read.").lower()
    return SkippedError(f"The name ends in {suffix}, but the content is that of {kind}.", cure)


def _zip_format(suffix: str, data: bytes) -> Format:
    """Return the Office or e-book format that the parts of a zip file show."""
    claimed = DOCUMENT_SUFFIXES.get(suffix)
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = set(archive.namelist())
    except (zipfile.BadZipFile, ValueError, NotImplementedError, UnicodeDecodeError):
        if claimed in _CONTAINERS:
            raise damaged(claimed.label) from None
        raise SkippedError(*_ARCHIVE) from None
    for container in _CONTAINERS:
        if container.part in members:
            return container
    if suffix in _OPEN_DOCUMENT:
        raise ReadingError(
            "OpenDocument files are not read.", f"Save it as {_OPEN_DOCUMENT[suffix]} file."
        )
    if claimed in _CONTAINERS:
        raise damaged(claimed.label)
    if suffix == ".zip" and _is_export(members):
        return Format.EXPORT
    raise _refusal(suffix, _ARCHIVE)


def _is_export(members: set[str]) -> bool:
    """Return whether the names of an archive's files are those of an export of conversations."""
    if any(map(_EXPORT_FILE.fullmatch, members)):
        return True
    lists = {"users.json", "channels.json"} & {PurePosixPath(member).name for member in members}
    return bool(lists) and any(map(_EXPORT_DAY.fullmatch, members))


def _old_office(suffix: str, data: bytes) -> ReadingError:
    """Return the refusal of a locked Office file, or of one of the formats before 2007."""
    encrypted = "EncryptedPackage".encode("utf-16-le") in data[:200_000]
    if encrypted or suffix in (".docx", ".xlsx", ".pptx"):
        return ReadingError(
            "This file is locked with a password.",
            "Save a copy without a password, and put the copy in the folder.",
        )
    return ReadingError(
        "This is an Office format from before 2007, which is not read.",
        "Save it as .docx, .xlsx or .pptx.",
    )
