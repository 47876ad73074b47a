"""The formats of files, with their readers, suffixes and labels."""

from __future__ import annotations

import re
from enum import StrEnum
from pathlib import PurePosixPath
from typing import Self

_ODT, _ODS, _ODP, _ODG = (
    f"application/vnd.oasis.opendocument.{kind}"
    for kind in ("text", "spreadsheet", "presentation", "graphics")
)
_ODT_LABEL = "OpenDocument file"
_DOCX, _PPTX, _XLSX = "word/document.xml", "ppt/presentation.xml", "xl/workbook.xml"


class Format(StrEnum):
    """A format of files; its value becomes the document's ``format``.

    A member also has the name of its ``reader`` ("module.function" in this package), the
    ``suffixes`` of its files, a ``label`` for people and, if it is a zip container, the ``part`` by
    which it is recognised: the name of a file in it, or what the file "mimetype" says.
    """

    reader: str
    suffixes: tuple[str, ...]
    label: str
    part: str

    def __new__(
        cls, value: str, reader: str, suffixes: str = "", label: str = "file", part: str = ""
    ) -> Self:
        """Make a member from its value and attributes; ``suffixes`` are separated by spaces."""
        member = str.__new__(cls, value)
        member._value_ = value
        member.suffixes = tuple(suffixes.split())
        member.reader, member.label, member.part = reader, label, part
        return member

    MARKDOWN = "markdown", "markdown.read_markdown", ".md .markdown .mdown .mkd .qmd .rmd"
    MDX = "mdx", "markdown.read_markdown", ".mdx"
    TEXT = "text", "plain.read_text", ".txt .text .log"
    RST = "rst", "plain.read_rst", ".rst .rest"
    ASCIIDOC = "asciidoc", "plain.read_asciidoc", ".adoc .asciidoc"
    ORG = "org", "org.read_org", ".org"
    INFO = "info-manual", "plain.read_info", "", "manual of Info"
    MANUAL = "man-page", "manual.read_manual", "", "manual page"
    LATEX = "latex", "latex.reader.read_latex", ".tex .ltx .latex"
    BIBTEX = "bibtex", "bibtex.read_bibtex", ".bib", "bibliography"
    HTML = "html", "html.read_html", ".html .htm .xhtml", "web page"
    FB2 = "fb2", "fb2.read_book", ".fb2", "e-book"
    MOBI = "mobi", "mobi.read_mobi", ".mobi .azw .azw3 .prc", "e-book"
    OPML = "opml", "opml.read_outline", ".opml", "outline"
    MIND_MAP = "mind-map", "mind_maps.read_freemind", ".mm", "mind map"
    XMIND = "xmind", "mind_maps.read_xmind", ".xmind", "mind map"
    XML_DOCUMENT = (
        "xml-document",
        "xml_document.read_xml",
        ".rss .atom .dbk .docbook .dita .tei .ttml .nxml",
        "XML document",
    )
    MHTML = "mhtml", "mail.read_saved_page", ".mhtml .mht .webarchive", "web page"
    PDF = "pdf", "pdf.reader.read_pdf", ".pdf", "PDF"
    DOCX = "docx", "office.word.read_word", ".docx .docm .dotx", "Word document", _DOCX
    DOC = "doc", "office_97.doc.read_document", ".doc .dot", "Word document"
    XLS = "xls", "office_97.xls.read_workbook", ".xls .xlt", "workbook"
    XML_WORKBOOK = "xml-workbook", "office_97.xml_workbook.read_workbook", "", "workbook"
    PPT = "ppt", "office_97.ppt.read_slides", ".ppt .pps", "presentation"
    PPTX = "pptx", "office.slides.read_slides", ".pptx .pptm .ppsx .potx", "presentation", _PPTX
    XLSX = "xlsx", "office.workbooks.read_workbook", ".xlsx .xlsm .xltx", "workbook", _XLSX
    XLSB = "xlsb", "office.workbooks.read_workbook", ".xlsb", "workbook", "xl/workbook.bin"
    ODT = "odt", "open_document.text.read_text", ".odt .ott .fodt", _ODT_LABEL, _ODT
    ODS = "ods", "open_document.sheets.read_sheets", ".ods .ots .fods", "spreadsheet", _ODS
    ODP = "odp", "open_document.slides.read_slides", ".odp .otp .fodp", "presentation", _ODP
    ODG = "odg", "open_document.slides.read_slides", ".odg .otg .fodg", "drawing", _ODG
    VSDX = "vsdx", "office.visio.read_drawing", ".vsdx .vsdm .vstx", "drawing", "visio/document.xml"
    PAGES = "pages", "iwork.pages.read_document", ".pages", "Pages document"
    NUMBERS = "numbers", "iwork.numbers.read_sheets", ".numbers", "Numbers spreadsheet"
    KEYNOTE = "keynote", "iwork.keynote.read_slides", ".key", "Keynote presentation"
    HWP = "hwp", "hangul.hwp.read_hwp", ".hwp", "Hangul document"
    HWPX = "hwpx", "hangul.hwpx.read_hwpx", ".hwpx", "Hangul document", "application/hwp+zip"
    RTF = "rtf", "rtf.reader.read_rtf", ".rtf", "rich text file"
    EPUB = "epub", "html.read_epub", ".epub", "e-book", "META-INF/container.xml"
    MSG = "msg", "outlook.read_message", ".msg", "e-mail"
    ENEX = "enex", "enex.read_notes", ".enex", "export of notes"
    NOTES = "notes", "", "", "export of notes"
    KEEP_PAGE = "keep-page", "note_exports.read_keep_page", "", "note of Google Keep"
    JOPLIN = "joplin", "joplin.read_joplin", "", "note of Joplin"
    CLIPPINGS = "clippings", "clippings.read_clippings", "", "clippings of books"
    EML = "eml", "mail.read_mail", ".eml .emlx", "e-mail"
    CAPTIONS = "captions", "conversations.captions.read_captions", ".vtt .srt", "captions"
    CHAT_PAGE = "chat-page", "conversations.chat_page.read_chat_page", "", "chat"
    X_ARCHIVE = "x-archive", "conversations.posts.read_x_archive", "", "archive of X"
    TEXT_MESSAGES = (
        "text-messages",
        "conversations.text_messages.read_text_messages",
        "",
        "text messages",
    )
    CALENDAR = "calendar", "calendars.read_calendar", ".ics", "calendar"
    CONTACTS = "contacts", "calendars.read_contacts", ".vcf", "address book"
    STATEMENT = (
        "bank-statement",
        "statements.read_statement",
        ".qif .ofx .qfx .mt940 .sta",
        "bank statement",
    )
    CSV = "csv", "plain.read_csv", ".csv .tsv", "table"
    IPYNB = "ipynb", "notebook.read_notebook", ".ipynb", "notebook"
    JSON = "json", "plain.read_data", ".json .canvas", "JSON file"
    JSONL = "jsonl", "plain.read_data", ".jsonl .ndjson", "JSON file"
    YAML = "yaml", "plain.read_data", ".yaml .yml"
    TOML = "toml", "plain.read_data", ".toml"
    INI = "ini", "plain.read_data", ".ini .cfg .conf .properties"
    CODE = "code", "code.read_code"
    MBOX = "mbox", "mail.read_mbox", ".mbox", "mailbox"
    EXPORT = "export", "conversations.detection.read_archive", "", "archive"
    CONVERSATION = "conversation", ""
    RECORDS = "records", "", "", "data"


BYTE_FORMATS = (
    Format.PDF, Format.DOCX, Format.XLSX, Format.PPTX, Format.ODT, Format.ODS, Format.ODP,
    Format.DOC, Format.XLS, Format.PPT, Format.MSG, Format.RTF, Format.EPUB, Format.EML,
    Format.MBOX, Format.MHTML, Format.ENEX, Format.EXPORT, Format.XLSB, Format.XML_WORKBOOK,
    Format.ODG, Format.VSDX, Format.MOBI, Format.XMIND, Format.HWP, Format.HWPX, Format.PAGES,
    Format.NUMBERS, Format.KEYNOTE,
)  # fmt: skip
"""Formats whose readers take (data, name, limits); all others take (clean text, name, format).

The reader of PDFs also takes pages that were read already.
"""

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
    ".m": "objective-c",
}  # fmt: skip
_CODE_NAMES = {"makefile": "make", "dockerfile": "docker", "cmakelists.txt": "cmake"}
_SHEBANG = re.compile(rb"#![^\n]{0,100}?\b(python|bash|sh|zsh|node|ruby|perl|php)[\d.]*\b")
_SHEBANG_LANGUAGES = {"bash": "shell", "sh": "shell", "zsh": "shell", "node": "javascript"}

SLACK_DAY = re.compile(r"(?:.*/)?[^/]+/\d{4}-\d\d-\d\d\.json")
"""The day of a channel in an export of Slack."""


def readable_suffixes() -> frozenset[str]:
    """Return every suffix that has a reader, with its dot and in lower case."""
    return frozenset(DOCUMENT_SUFFIXES) | frozenset(CODE_SUFFIXES)


def may_have_attachments(name: str) -> bool:
    """Return whether a file may hold mails or notes, by its name; many mailboxes have no suffix."""
    suffix = PurePosixPath(name.lower()).suffix
    kinds = (Format.EML, Format.MSG, Format.MBOX, Format.ENEX)
    return DOCUMENT_SUFFIXES.get(suffix) in kinds or suffix not in readable_suffixes()


def code_language(name: str, data: bytes = b"") -> str:
    """Return the programming language that a file's name or first line shows, or ``""``."""
    path = PurePosixPath(name.lower())
    language = _CODE_NAMES.get(path.name) or CODE_SUFFIXES.get(path.suffix, "")
    if not language and data[:2] == b"#!" and (first := _SHEBANG.match(data)):
        interpreter = first[1].decode()
        language = _SHEBANG_LANGUAGES.get(interpreter, interpreter)
    return language
