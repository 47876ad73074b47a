"""Writes documents of Hangul in both forms, for tests of their readers."""

from __future__ import annotations

import struct
import zlib

from compound_files import compound_file
from office_files import zipped

PARAGRAPH, TEXT, CONTROL, LIST, TABLE, EQUATION, STYLE = 66, 67, 71, 72, 77, 88, 26
PACKED = 1
_SIGNS = {"\n": "\n", "\t": "\t" + "\0" * 7}


def record(tag, level, data=b""):
    size = min(len(data), 0xFFF)
    head = struct.pack("<I", tag | level << 10 | size << 20)
    return head + (struct.pack("<I", len(data)) if size == 0xFFF else b"") + data


def said(text, level=0, style=0, controls=()):
    """A paragraph; "\\x11" and other signs of controls stand for eight units each."""
    letters = "".join(
        letter + "\0" * 6 + letter if letter in "\x02\x0b\x0f\x10\x11\x12" else
        _SIGNS.get(letter, letter)
        for letter in text + "\r"
    )  # fmt: skip
    head = bytes(10) + bytes([style]) + bytes(11)
    return (
        record(PARAGRAPH, level, head)
        + (record(TEXT, level + 1, letters.encode("utf-16-le")) if text else b"")
        + record(68, level + 1, bytes(8))
        + b"".join(controls)
    )


def control(kind, level, inside=b"", data=bytes(12)):
    return record(CONTROL, level, kind.encode()[::-1] + data) + inside


def listed(level, inside, at=(0, 0)):
    """A list of paragraphs, such as a cell of a table at a row and a column."""
    place = struct.pack("<HHHH", at[1], at[0], 1, 1)
    return record(LIST, level, struct.pack("<II", 1, 0) + place) + inside


def style(korean, english):
    names = (struct.pack("<H", len(name)) + name.encode("utf-16-le") for name in (korean, english))
    return record(STYLE, 0, b"".join(names) + bytes(8))


STYLES = style("바탕글", "Normal") + style("개요 1", "Outline 1") + style("개요 2", "Outline 2")


def hwp_file(*sections, flags=PACKED, styles=STYLES):
    """A document of version 5 from the records of its sections."""

    def stored(records):
        packer = zlib.compressobj(9, zlib.DEFLATED, -15)
        return packer.compress(records) + packer.flush() if flags & PACKED else records

    streams = {"FileHeader": b"HWP Document File".ljust(36, b"\0") + struct.pack("<I", flags)}
    streams["DocInfo"] = stored(styles)
    for number, section in enumerate(sections):
        streams[f"BodyText/Section{number}"] = stored(section)
    return compound_file(streams)


HEAD = (
    '<hh:head xmlns:hh="http://www.hancom.co.kr/hwpml/2011/head"><hh:styles>'
    '<hh:style id="0" name="바탕글" engName="Normal"/><hh:style id="1" name="개요 1" engName="x"/>'
    '<hh:style id="2" name="제목2" engName="Outline 2"/></hh:styles></hh:head>'
)
PACKAGE = (
    '<opf:package xmlns:opf="http://www.idpf.org/2007/opf/"><opf:metadata><opf:title>{}</opf:title>'
    '<opf:meta name="creator" content="text">김안나</opf:meta>'
    '<opf:meta name="CreatedDate" content="text">2024-05-01T09:00:00Z</opf:meta>'
    "</opf:metadata></opf:package>"
)


def hwpx_file(*sections, title=""):
    """A document of the newer form from the XML of its sections' paragraphs."""
    spaces = (
        'xmlns:hp="http://www.hancom.co.kr/hwpml/2011/paragraph" '
        'xmlns:hs="http://www.hancom.co.kr/hwpml/2011/section"'
    )
    parts = {
        "mimetype": "application/hwp+zip",
        "META-INF/container.xml": "<container/>",
        "Contents/header.xml": HEAD,
        "Contents/content.hpf": PACKAGE.format(title),
    }
    for number, section in enumerate(sections):
        parts[f"Contents/section{number}.xml"] = f"<hs:sec {spaces}>{section}</hs:sec>"
    return zipped(parts)


def p(*parts, style=0):
    inside = "".join(part if part.startswith("<") else f"<hp:t>{part}</hp:t>" for part in parts)
    return f'<hp:p styleIDRef="{style}"><hp:run>{inside}</hp:run></hp:p>'
