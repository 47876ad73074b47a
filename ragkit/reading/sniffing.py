"""Recognises the format of a file by its content first and its suffix second."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import PurePosixPath
from typing import IO

from ragkit.errors import ReadingError, SkippedError
from ragkit.reading.decode import looks_binary
from ragkit.reading.formats import (
    DOCUMENT_SUFFIXES,
    SLACK_DAY,
    Format,
    code_language,
    readable_suffixes,
)
from ragkit.reading.iwork.kinds import is_iwork, kind_of, legacy_kind
from ragkit.reading.limits import damaged, locked, too_old
from ragkit.reading.office_97.compound import is_compound, opened
from ragkit.reading.zip_container import folder_around, unpacking, usual_name

# A time with its year, before which a zone may stand: sentences that begin so name no year there.
_MBOX = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*From [^\r\n]{1,300}?(?:"
    rb"\d\d:\d\d(?::\d\d)?(?:[ \t]+(?:[A-Z]{2,5}|[+-]\d{4})){0,2}[ \t]+(?:19|20)\d\d\b"
    rb"|\b(?:19|20)\d\d(?:[-/]\d\d[-/]\d\d)?[ \tT]+\d\d:\d\d"
    rb")[^\r\n]{0,60}\r?\n"
    rb"[A-Za-z][\w-]{1,60}:[ \t]?[^\r\n]*\r?\n"
)
_HEADERS = re.compile(
    rb"(?:\xef\xbb\xbf)?(?:[A-Za-z][\w-]{0,75}:[^\r\n]*\r?\n(?:[ \t][^\r\n]*\r?\n)*){4,400}"
    rb"(?=\r?\n|\Z)"
)
_OF_MAIL = re.compile(rb"^(from|date|subject|message-id|received|return-path|to):", re.I | re.M)
_FEWEST_OF_MAIL = 4
_EXPORT_FILE = re.compile(
    r"(?:[^/]+/)?(?:conversations\.json|result\.json|_chat\.txt|[^/]*WhatsApp[^/]*\.txt)"
)
_HTML_START = re.compile(
    rb"\s*(?:<\?xml[^>]{0,200}\?>\s*)?(?:<!--.{0,500}?-->\s*)?<(?:!doctype\s+html|html)\b",
    re.I | re.S,
)
_CLIPPINGS = re.compile(
    rb"(?:\xef\xbb\xbf)?[^\r\n]{1,500}\r?\n(?:-|\xe2\x80\x93) [^\r\n|]*\d[^\r\n|]*\|[^\r\n]*\r?\n"
    rb".*?\n={10}[ \t]*\r?(?:\n|\Z)",
    re.S,
)
_JOPLIN = re.compile(rb"\n?id: [0-9a-f]{32}\r?\n(?:[a-z_]+:[^\n]*\n){3,60}type_: \d+\s*\Z")
_INFO = re.compile(rb"^\x1f\r?\nFile: [^\n]{1,300}, +Node: ", re.M)
_MANUAL = re.compile(rb"^\.(?:TH|Dd)[ \t]+\S", re.M)
_STATEMENT = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*(?:!Type:(?:Bank|CCard|Cash|Invst|Oth )|OFXHEADER:\s?100)"
    rb"|(?:\A|.{0,500}?\n):20:[^\r\n]*\r?\n(?::21:[^\r\n]*\r?\n)?:25:",
    re.S,
)
_XML_STATEMENT = re.compile(rb".{0,500}?<\w*:?Document\s[^<>]*:camt\.05[234]\.", re.S)
_CHAT_PAGE = (b'class="page_body chat_page"', b"chatlog__message", b"_a6-g", b"_2lej uiBoxWhite")
"""What pages have that may be chats of Telegram, Discord or Facebook, near their beginning."""
_KEEP_PAGE = re.compile(
    rb"<div class=\"note[\w ]*\"><div class=\"heading\"><div class=\"meta-icons\">"
)
_X_ARCHIVE = re.compile(rb"\s*window\.YTD\.\w+\.part\d+\s*=")
_TEXT_MESSAGES = re.compile(rb".{0,1000}?<smses\s", re.S)
_XML_START = re.compile(rb"(?:\xef\xbb\xbf)?\s*<\?xml")

_SITE_INDEX = re.compile(
    rb"Search\.setIndex\(|\{\"config\":\{.{0,2000}?\},\"docs\":\[\{\"location\":", re.S
)
"""How the index for the search box of a documentation by Sphinx or MkDocs begins."""

_OF_SITE = ("The search index of a web site repeats its pages.", "Add the pages themselves.")
_ARCHIVE = ("Archives are not read.", "Unpack it into the folder.")
_PROGRAM = ("Programs and binary files are not read.", "Leave it out of the library.")
_PICTURES = ("Pictures are not read.", "Text in a picture needs OCR first.")
_MEDIA = ("Sound and video are not read.", "Add a transcript as a text file instead.")
_REFUSED: tuple[tuple[tuple[str, str], str, tuple[bytes, ...]], ...] = (
    (_PICTURES, ".png .jpg .jpeg .gif .bmp .tif .tiff .webp .svg .ico .heic .avif .psd",
     (b"\x89PNG\r\n", b"\xff\xd8\xff", b"GIF87a", b"GIF89a", b"II*\x00", b"MM\x00*", b"8BPS",
      b"\x00\x00\x01\x00", b"\x00\x00\x00\x0cjP  ")),
    (_MEDIA, ".mp3 .mp4 .m4a .wav .ogg .flac .avi .mov .mkv .webm",
     (b"ID3", b"OggS", b"fLaC", b"\x1aE\xdf\xa3")),
    (_ARCHIVE, ".zip .tar .gz .tgz .bz2 .xz .7z .rar .jar .whl .zst",
     (b"\x1f\x8b", b"BZh", b"\xfd7zXZ\x00", b"(\xb5/\xfd", b"7z\xbc\xaf\x27\x1c", b"Rar!\x1a\x07")),
    (_PROGRAM, ".exe .dll .so .dylib .o .a .class .pyc .wasm .bin .iso .dmg",
     (b"\x7fELF", b"MZ\x90\x00", b"\xcf\xfa\xed\xfe", b"\xca\xfe\xba\xbe", b"\x00asm")),
    (("Fonts are not read.", "Leave it out of the library."), ".ttf .otf .woff .woff2",
     (b"wOFF", b"wOF2", b"\x00\x01\x00\x00\x00", b"OTTO")),
    (("Databases are not read.", "Export the tables as CSV."),
     ".sqlite .sqlite3 .db .parquet .feather .mdb", (b"SQLite format 3\x00", b"PAR1")),
)  # fmt: skip
"""Kinds of files that are not read: the reason and its cure, the suffixes, the first bytes."""
_REFUSED_STARTS = (
    *((re.compile(b"|".join(map(re.escape, magics))), reason) for reason, _, magics in _REFUSED),
    (re.compile(rb"RIFF.{4}(?:WAVE|AVI )|.{4}ftyp", re.S), _MEDIA),
    (re.compile(rb"RIFF.{4}WEBP|BM.{4}\0{4}", re.S), _PICTURES),
    (re.compile(rb".{257}ustar", re.S), _ARCHIVE),
)
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
"""What all those files have in their first bytes: texts, too, may begin with "ID3" or "OTTO"."""

_STREAMS = {
    "WordDocument": Format.DOC, "Workbook": Format.XLS, "Book": Format.XLS,
    "PowerPoint Document": Format.PPT, "__properties_version1.0": Format.MSG,
    "BodyText/Section0": Format.HWP,
}  # fmt: skip
"""The streams by which a compound file is known."""

_BARE_WORKBOOKS = (b"\x09\x00", b"\x09\x02", b"\x09\x04", b"\x09\x08")
"""How workbooks of Excel 2 to 4 begin, which are in no compound file."""

_OLD_DOCUMENTS = (b"\x9b\xa5", b"\xdb\xa5", b"\x31\xbe\x00\x00", b"\xfe\x37\x00")
"""How documents of Word 1 and 2, of Word for DOS and of the first ones for the Mac begin."""

_OLD_HANGUL = b"HWP Document File V"
_FLAT = re.compile(
    rb"\s*(?:<\?xml[^<>]{0,200}>\s*)?<office:document\s[^<>]*?office:mimetype=\"([^\"<>]{1,100})\""
)
_XML_WORKBOOK = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*(?:<\?[^<>]{0,200}\?>\s*|<!--.{0,500}?-->\s*){0,5}<(?:\w{1,20}:)?Workbook\s"
    rb"[^<>]*?\"urn:schemas-microsoft-com:office:spreadsheet\"",
    re.S,
)
_AS_TEXT = {
    Format.XLS: Format.CSV, Format.DOC: Format.TEXT, Format.RTF: Format.TEXT,
    Format.MSG: Format.TEXT,
}  # fmt: skip
_LONGEST_ROOT, _LONGEST_HEADERS, _LONGEST_STYLE = 20_000, 64_000, 100_000
_CONTAINERS = tuple(member for member in Format if member.part)
_IWORK = (Format.PAGES, Format.NUMBERS, Format.KEYNOTE)
_KNOWN_BY_BYTES = frozenset(
    (*_CONTAINERS, *_IWORK, *_STREAMS.values(), Format.PDF, Format.RTF, Format.MOBI, Format.XMIND)
)
"""Formats whose files are told by their first bytes, whatever they are called."""


def sniff(name: str, data: bytes) -> Format:
    """Return the format of a file.

    Raises:
        SkippedError: it is a picture, sound, an archive, a program or another binary file.
        ReadingError: its content contradicts its suffix, or its format is not supported.
    """
    suffix = PurePosixPath(name.lower()).suffix
    by_suffix = DOCUMENT_SUFFIXES.get(suffix)
    by_magic = _by_magic(suffix, data)
    if by_magic is not None:
        return by_magic
    if by_suffix is Format.KEYNOTE:  # keys of certificates are called so, too
        suffix, by_suffix = "", None
    _check_wanted(suffix, data)
    if by_suffix in _KNOWN_BY_BYTES:
        return _despite_its_name(suffix, data)
    has_name_of_text = by_suffix is not None or bool(code_language(name, data))
    if looks_binary(data, has_name_of_text=has_name_of_text):
        raise _refusal(suffix, _PROGRAM)
    if by_content := _text_format(suffix, data):
        return by_content
    if by_suffix is not None and by_suffix is not Format.TEXT:
        return by_suffix
    if _HTML_START.match(data[:2000]):
        return Format.HTML
    if suffix == ".xml" or (suffix == ".page" and data.lstrip()[:1] == b"<"):
        return Format.XML_DOCUMENT
    return by_suffix or (Format.CODE if code_language(name, data) else Format.TEXT)


def _text_format(suffix: str, data: bytes) -> Format | None:
    """Return the format of a text by its content, where names do not say it."""
    by_suffix = DOCUMENT_SUFFIXES.get(suffix)
    if by_suffix is Format.MBOX:
        return by_suffix
    for names, has_content, file_format in _BY_CONTENT:
        if (by_suffix in names or suffix in names) and has_content(data):
            return file_format
    return None


def _check_wanted(suffix: str, data: bytes) -> None:
    """Raise a ``SkippedError`` for a suffix of files that are not read, and an index of a site."""
    for reason, suffixes, _ in _REFUSED:
        if suffix in suffixes.split():
            raise SkippedError(*reason)
    if suffix in (".js", ".json") and _SITE_INDEX.match(data[:3000]):
        raise SkippedError(*_OF_SITE)


def _despite_its_name(suffix: str, data: bytes) -> Format:
    """Return what a file is that is called an Office file, but is none; applications export such.

    Raises:
        ReadingError: it is nothing that is known.
    """
    if _HTML_START.match(data[:2000]):
        return Format.HTML
    start = data[:2000].lower()
    if b"mime-version:" in start and b"multipart/related" in start:
        return Format.MHTML
    text_format = _AS_TEXT.get(DOCUMENT_SUFFIXES[suffix])
    if text_format and not looks_binary(data) and not _XML_START.match(data[:100]):
        return text_format
    raise ReadingError(
        f"The name ends in {suffix}, but the content is something else.",
        "Rename it to match its content, or save it again.",
    )


def _by_magic(suffix: str, data: bytes) -> Format | None:
    """Return the format of known first bytes, or ``None``; refuse formats without a reader."""
    start = data[:1024]
    if start.lstrip(b"\xef\xbb\xbf\r\n\t \x00").startswith(b"%PDF-"):
        return Format.PDF
    if suffix == ".pdf" and (b"%PDF-" in data[:65_536] or b"endobj" in data[:65_536]):
        return Format.PDF
    if start.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return zip_format(suffix, io.BytesIO(data))
    if office := _office_format(suffix, data):
        return office
    if start.startswith(b"{\\rtf"):
        return Format.RTF
    if start[60:68] in (b"BOOKMOBI", b"TEXtREAd"):
        return Format.MOBI
    if start.startswith(b"bplist00") and suffix == ".webarchive":
        return Format.MHTML
    if _CONTROL.search(start):
        for magic, reason in _REFUSED_STARTS:
            if magic.match(start):
                raise _refusal(suffix, reason)
    return None


def _refusal(suffix: str, reason: tuple[str, str]) -> SkippedError:
    """Return the error for a kind of file; if its suffix promises otherwise, name the suffix."""
    sentence, cure = reason
    if suffix not in readable_suffixes():
        return SkippedError(sentence, cure)
    if reason == _PROGRAM:
        return SkippedError(f"The name ends in {suffix}, but the content is not text.", cure)
    kind = sentence.removesuffix(" are not read.").lower()
    return SkippedError(f"The name ends in {suffix}, but the content is that of {kind}.", cure)


def zip_format(suffix: str, stream: IO[bytes]) -> Format:
    """Return the format of a zip file, recognised by its members: Office, e-book or chat export.

    Raises:
        SkippedError: it is a plain archive of files.
        ReadingError: it is damaged, or its format is not supported.
    """
    claimed = DOCUMENT_SUFFIXES.get(suffix)
    try:
        with unpacking(SkippedError(*_ARCHIVE)), zipfile.ZipFile(stream) as archive:
            names = archive.namelist()
            if claimed is Format.EPUB:
                folder = folder_around(names, claimed.part)
                names = [name.removeprefix(folder) for name in names]
            members = set(map(usual_name, names))
            kind = _mimetype(archive) if "mimetype" in archive.namelist() else ""
            iwork = _iwork_format(archive, claimed) if is_iwork(names) else None
    except SkippedError:
        if claimed in (*_CONTAINERS, *_IWORK):
            raise damaged(claimed.label) from None
        raise
    by_part = next((container for container in _CONTAINERS if container.part in members), None)
    if found := _of_kind(kind) or by_part or iwork:
        return found
    if claimed is Format.XMIND and members & {"content.json", "content.xml"}:
        return Format.XMIND
    if claimed in (*_CONTAINERS, Format.PAGES, Format.NUMBERS):
        raise damaged(claimed.label)
    if suffix == ".zip" and _is_export(members):
        return Format.EXPORT
    raise _refusal(suffix, _ARCHIVE)


def _iwork_format(archive: zipfile.ZipFile, claimed: Format | None) -> Format | None:
    """Return the format of a document of iWork; what is damaged is what its name claims."""
    with suppress(ReadingError), unpacking(ReadingError("The document cannot be read.")):
        if found := kind_of(archive):
            return found
    return claimed if claimed in _IWORK else None


def _of_kind(kind: str) -> Format | None:
    """Return the OpenDocument format that a file says it has; templates have that of documents."""
    usual = kind.removesuffix("-template").replace("text-master", "text")
    return next((container for container in _CONTAINERS if container.part == usual), None)


def _mimetype(archive: zipfile.ZipFile) -> str:
    """Return what a container says that it is, as OpenDocument files do."""
    damage = ReadingError("The type of the file cannot be read.")
    with suppress(ReadingError), unpacking(damage), archive.open("mimetype") as stream:
        return stream.read(100).decode("ascii", "replace").strip()
    return ""


def _is_export(members: set[str]) -> bool:
    """Return whether an archive with these members is an export of conversations."""
    if any(map(_EXPORT_FILE.fullmatch, members)):
        return True
    lists = {"users.json", "channels.json"} & {PurePosixPath(member).name for member in members}
    return bool(lists) and any(map(SLACK_DAY.fullmatch, members))


def _office_format(suffix: str, data: bytes) -> Format | None:
    """Return the format of an Office file that is no zip; ``None`` for another file."""
    if is_compound(data):
        return _compound_format(suffix, data)
    if suffix in Format.DOC.suffixes and data.startswith(_OLD_DOCUMENTS):
        raise too_old("Word", "6.0", ".docx")
    if data.startswith(_OLD_HANGUL):
        raise too_old("Hangul", "5.0", ".hwpx")
    if suffix in Format.XLS.suffixes and data.startswith(_BARE_WORKBOOKS):
        return Format.XLS
    if _XML_WORKBOOK.match(data[:_LONGEST_ROOT]):
        return Format.XML_WORKBOOK
    flat = _FLAT.match(data[:_LONGEST_ROOT])
    return _of_kind(flat[1].decode("ascii", "replace")) if flat else None


def _compound_format(suffix: str, data: bytes) -> Format:
    """Return the format of a compound file, as Office before 2007 and Outlook write them.

    Raises:
        SkippedError: it is of another program.
        ReadingError: it is locked or damaged.
    """
    claimed = DOCUMENT_SUFFIXES.get(suffix)
    with opened(data, claimed.label if claimed else "file") as file:
        if file.exists("EncryptedPackage"):
            raise locked("file")
        found = next((member for stream, member in _STREAMS.items() if file.exists(stream)), None)
    if found is None:
        raise damaged(claimed.label) if claimed else SkippedError(*_PROGRAM)
    return found


# -- texts by their content --------------------------------------------------------------------


def _is_mail(data: bytes) -> bool:
    """Return whether a file begins with the headers of a mail: folders of mails give no suffix."""
    headers = _HEADERS.match(data[:_LONGEST_HEADERS])
    found = {name.lower() for name in _OF_MAIL.findall(headers[0])} if headers else set()
    return len(found) >= _FEWEST_OF_MAIL and b"from" in found


def _is_manual(data: bytes) -> bool:
    return data.lstrip()[:1] in b".'" and _MANUAL.search(data[:30_000]) is not None


def _is_chat_page(data: bytes) -> bool:
    return any(data.find(mark, 0, _LONGEST_STYLE) >= 0 for mark in _CHAT_PAGE)


def _is_legacy(data: bytes, kind: Format) -> bool:
    """Return whether a file is the XML of a document of iWork that is a folder."""
    return legacy_kind(data) is kind


_PLAIN = (None, Format.TEXT)
_BY_CONTENT: tuple[
    tuple[tuple[Format | str | None, ...], Callable[[bytes], object], Format], ...
] = (
    (_PLAIN, lambda data: _MBOX.match(data[:2000]), Format.MBOX),
    (_PLAIN, _is_manual, Format.MANUAL),
    (_PLAIN, lambda data: _STATEMENT.match(data[:2000]), Format.STATEMENT),
    ((".xml",), lambda data: _XML_STATEMENT.match(data[:2000]), Format.STATEMENT),
    *(((".xml", ".apxl"), partial(_is_legacy, kind=kind), kind) for kind in _IWORK),
    ((".xml",), lambda data: _TEXT_MESSAGES.match(data[:2000]), Format.TEXT_MESSAGES),
    ((Format.TEXT,), lambda data: _CLIPPINGS.match(data[:30_000]), Format.CLIPPINGS),
    ((Format.HTML,), _is_chat_page, Format.CHAT_PAGE),
    ((Format.HTML,), lambda data: _KEEP_PAGE.search(data[:40_000]), Format.KEEP_PAGE),
    ((".js",), lambda data: _X_ARCHIVE.match(data[:200]), Format.X_ARCHIVE),
    (
        (Format.MARKDOWN,),
        lambda data: _JOPLIN.match(data, max(data.rfind(b"\nid: "), 0)),
        Format.JOPLIN,
    ),
    ((None,), lambda data: _INFO.search(data[:30_000]), Format.INFO),
    ((None,), _is_mail, Format.EML),
)
"""What a name says (a format, a suffix, or nothing), what tells of its content, and the format."""
