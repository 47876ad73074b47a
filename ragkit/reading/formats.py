"""Which format a file has: by its content first, by its suffix second."""

from __future__ import annotations

import io
import re
import zipfile
from pathlib import PurePosixPath

from ragkit.errors import ReadingError, SkippedError
from ragkit.reading.decode import looks_binary
from ragkit.reading.limits import damaged

DOCUMENT_SUFFIXES = {
    ".md": "markdown", ".markdown": "markdown", ".mdown": "markdown", ".mkd": "markdown",
    ".qmd": "markdown", ".rmd": "markdown", ".mdx": "mdx",
    ".txt": "text", ".text": "text", ".log": "text", ".rst": "rst", ".rest": "rst",
    ".html": "html", ".htm": "html", ".xhtml": "html", ".pdf": "pdf",
    ".docx": "docx", ".docm": "docx", ".pptx": "pptx", ".pptm": "pptx", ".xlsx": "xlsx",
    ".xlsm": "xlsx", ".csv": "csv", ".tsv": "csv", ".epub": "epub", ".eml": "eml",
    ".mbox": "mbox",
    ".ipynb": "ipynb", ".json": "json", ".jsonl": "jsonl", ".ndjson": "jsonl",
    ".yaml": "yaml", ".yml": "yaml", ".toml": "toml", ".ini": "ini", ".cfg": "ini",
    ".conf": "ini", ".properties": "ini",
}  # fmt: skip
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
_CONTAINERS = {"docx", "pptx", "xlsx", "epub"}
_OPEN_DOCUMENT = {".odt": "a .docx", ".ods": "an .xlsx", ".odp": "a .pptx"}
NAMES = {
    "pdf": "PDF", "docx": "Word document", "pptx": "presentation", "xlsx": "workbook",
    "epub": "e-book", "eml": "e-mail", "ipynb": "notebook", "html": "web page",
    "csv": "table", "json": "JSON file", "jsonl": "JSON file", "mbox": "mailbox",
    "export": "archive",
}  # fmt: skip
"""What people call the files of a format, where the word "file" would not do."""


def readable_suffixes() -> frozenset[str]:
    """Every suffix, with its dot and in lower case, that has a reader."""
    return frozenset(DOCUMENT_SUFFIXES) | frozenset(CODE_SUFFIXES)


def code_language(name: str, data: bytes = b"") -> str:
    """The programming language that a file's name or first line tells, or an empty string."""
    path = PurePosixPath(name.lower())
    found = _CODE_NAMES.get(path.name) or CODE_SUFFIXES.get(path.suffix, "")
    if not found and data[:2] == b"#!" and (first := _SHEBANG.match(data)):
        word = first[1].decode()
        found = _SHEBANG_LANGUAGES.get(word, word)
    return found


def sniff(name: str, data: bytes) -> str:
    """Name the format of a file from its content and its name.

    Raises:
        SkippedError: pictures, sound, archives, programs and other binary files.
        ReadingError: content and name contradict each other, or an old format.
    """
    suffix = PurePosixPath(name.lower()).suffix
    by_suffix = DOCUMENT_SUFFIXES.get(suffix, "")
    found = _by_magic(suffix, data)
    if found:
        return found
    if suffix in _SKIPPED_SUFFIXES:
        raise SkippedError(*_SKIPPED_SUFFIXES[suffix])
    if by_suffix in _CONTAINERS or by_suffix == "pdf":
        if _HTML_START.match(data[:2000]):
            return "html"
        raise ReadingError(
            f"The name ends in {suffix}, but the content is something else.",
            "Give it the suffix that fits its content, or save it again.",
        )
    if looks_binary(data):
        raise _refusal(suffix, _PROGRAM)
    if by_suffix == "mbox" or (by_suffix in ("", "text") and _MBOX.match(data[:2000])):
        return "mbox"
    if by_suffix and by_suffix != "text":
        return by_suffix
    if _HTML_START.match(data[:2000]):
        return "html"
    return by_suffix or ("code" if code_language(name, data) else "text")


def _by_magic(suffix: str, data: bytes) -> str:
    """Recognise binary formats by their first bytes; refuse the ones without a reader."""
    start = data[:1024]
    if start.lstrip(b"\xef\xbb\xbf\r\n\t \x00").startswith(b"%PDF-"):
        return "pdf"
    if suffix == ".pdf" and (b"%PDF-" in data[:65_536] or b"endobj" in data[:65_536]):
        return "pdf"
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
    return ""


def _is_bitmap(start: bytes) -> bool:
    """Whether the bytes begin a BMP picture: "BM" alone also begins words."""
    return start[:2] == b"BM" and start[6:10] == b"\x00\x00\x00\x00"


def _refusal(suffix: str, reason: tuple[str, str]) -> SkippedError:
    """Refuse a kind of file; point out where a readable-looking name hides it."""
    sentence, cure = reason
    if suffix not in readable_suffixes():
        return SkippedError(sentence, cure)
    if reason == _PROGRAM:
        return SkippedError(f"The name ends in {suffix}, but the content is not text.", cure)
    kind = sentence.removesuffix(" are not read.").lower()
    return SkippedError(f"The name ends in {suffix}, but the content is that of {kind}.", cure)


def _zip_format(suffix: str, data: bytes) -> str:
    """Look inside a zip for the parts that make it an Office file or an e-book."""
    claimed = DOCUMENT_SUFFIXES.get(suffix, "")
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = set(archive.namelist())
    except (zipfile.BadZipFile, ValueError, NotImplementedError, UnicodeDecodeError):
        if claimed in _CONTAINERS:
            raise damaged(NAMES[claimed]) from None
        raise SkippedError(*_ARCHIVE) from None
    for kind, part in (
        ("docx", "word/document.xml"),
        ("pptx", "ppt/presentation.xml"),
        ("xlsx", "xl/workbook.xml"),
        ("epub", "META-INF/container.xml"),
    ):
        if part in members:
            return kind
    if suffix in _OPEN_DOCUMENT:
        raise ReadingError(
            "OpenDocument files are not read.", f"Save it as {_OPEN_DOCUMENT[suffix]} file."
        )
    if claimed in _CONTAINERS:
        raise damaged(NAMES[claimed])
    if suffix == ".zip" and _is_export(members):
        return "export"
    raise _refusal(suffix, _ARCHIVE)


def _is_export(members: set[str]) -> bool:
    """Whether the names of an archive's files are those of an export of conversations."""
    if any(map(_EXPORT_FILE.fullmatch, members)):
        return True
    lists = {"users.json", "channels.json"} & {PurePosixPath(one).name for one in members}
    return bool(lists) and any(map(_EXPORT_DAY.fullmatch, members))


def _old_office(suffix: str, data: bytes) -> ReadingError:
    """Tell a locked Office file from one of the formats before 2007."""
    if "EncryptedPackage".encode("utf-16-le") in data[:200_000] or suffix in (
        ".docx",
        ".xlsx",
        ".pptx",
    ):
        return ReadingError(
            "This file is locked with a password.",
            "Save a copy without a password, and put the copy in the folder.",
        )
    return ReadingError(
        "This is an Office format from before 2007, which is not read.",
        "Save it as .docx, .xlsx or .pptx.",
    )
