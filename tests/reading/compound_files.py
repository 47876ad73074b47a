"""Writes compound files, as Office before 2007 and Outlook do, for tests of their readers."""

from __future__ import annotations

import struct
from itertools import pairwise

SECTOR, MINI, CUTOFF = 512, 64, 4096
FREE, END, IS_FAT, NONE = 0xFFFFFFFF, 0xFFFFFFFE, 0xFFFFFFFD, 0xFFFFFFFF


def compound_file(streams):  # noqa: C901 - one file, from top to bottom
    """A file with streams by their paths ("folder/name"); short ones stand in the mini stream."""
    entries, children = [["Root Entry", 5, b""]], {"": []}
    numbers = {"": 0}
    for path, data in streams.items():
        parts = path.split("/")
        for depth in range(1, len(parts) + 1):
            inside = "/".join(parts[:depth])
            if inside not in numbers:
                numbers[inside] = len(entries)
                is_stream = depth == len(parts)
                entries.append(
                    [parts[depth - 1], 2 if is_stream else 1, data if is_stream else b""]
                )
                children["/".join(parts[: depth - 1])].append(inside)
                children[inside] = []
    chains, mini, mini_fat, sectors, fat = {}, b"", [], b"", []

    def add(data):
        nonlocal sectors
        first, count = len(fat), -(-len(data) // SECTOR)
        sectors += data.ljust(count * SECTOR, b"\0")
        fat.extend([*range(first + 1, first + count), END] if count else [])
        return first if count else END

    for number, (_, kind, data) in enumerate(entries):
        if kind == 2 and len(data) < CUTOFF:
            count = -(-len(data) // MINI)
            chains[number] = len(mini_fat) if count else END
            mini_fat += [*range(len(mini_fat) + 1, len(mini_fat) + count), END] if count else []
            mini += data.ljust(count * MINI, b"\0")
        elif kind == 2:
            chains[number] = add(data)
    chains[0], entries[0][2] = add(mini), mini
    right, child = {}, {}
    for path, inside in children.items():
        ordered = sorted(inside, key=lambda one: (len(one), one.upper()))
        if ordered:
            child[numbers[path]] = numbers[ordered[0]]
        for one, other in pairwise(ordered):
            right[numbers[one]] = numbers[other]
    directory = b""
    for number, (name, kind, data) in enumerate(entries):
        wide = name.encode("utf-16-le") + b"\0\0"
        directory += wide.ljust(64, b"\0") + struct.pack(
            "<HBBIII16sIQQIQ", len(wide), kind, 1, NONE, right.get(number, NONE),
            child.get(number, NONE), b"", 0, 0, 0, chains.get(number, 0 if kind == 1 else END),
            len(data),
        )  # fmt: skip
    while len(directory) % SECTOR:
        directory += bytes(64) + struct.pack(
            "<HBBIII16sIQQIQ", 0, 0, 0, *[NONE] * 3, b"", 0, 0, 0, 0, 0
        )
    first_directory = add(directory)
    packed = struct.pack(f"<{len(mini_fat)}I", *mini_fat)
    packed += b"\xff" * (-len(packed) % SECTOR)
    first_mini = add(packed)
    count = next(n for n in range(1, 100) if (len(fat) + n) * 4 <= n * SECTOR)
    table = [*fat, *[IS_FAT] * count]
    table += [FREE] * (count * SECTOR // 4 - len(table))
    header = struct.pack(
        "<8s16sHHHHH6sIIIIIIIII", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", b"", 0x3E, 3, 0xFFFE, 9, 6,
        b"", 0, count, first_directory, 0, CUTOFF, first_mini, len(packed) // SECTOR, END, 0,
    )  # fmt: skip
    difat = [len(fat) + number for number in range(count)] + [FREE] * (109 - count)
    return header + struct.pack("<109I", *difat) + sectors + struct.pack(f"<{len(table)}I", *table)


def word_file(text, *, locked=False, claimed=0, **streams):
    """A DOC file of one piece of text in Windows' Latin code page.

    It claims to have more letters than it has.
    """
    head = bytearray(0x800)
    flags = 0x0200 | (0x0100 if locked else 0)  # the table stream is 1Table
    struct.pack_into("<HHHHHH", head, 0, 0xA5EC, 0xC1, 0, 0x409, 0, flags)
    struct.pack_into("<H", head, 0x20, 14)  # counts of the parts of the header
    struct.pack_into("<H", head, 0x3E, 22)
    length = len(text) + claimed
    struct.pack_into("<i", head, 0x4C, length)
    struct.pack_into("<H", head, 0x98, 0x5D)
    piece = struct.pack("<BIIIHIH", 2, 16, 0, max(length, 0), 0, 0x800 * 2 | 1 << 30, 0)
    struct.pack_into("<II", head, 0x1A2, 0, len(piece))
    body = bytes(head) + text.encode("cp1252")
    return compound_file({"WordDocument": body, "1Table": piece, **streams})


def old_word_file(text, *, kind=0xA5DC, language=0x409, machine=0, flags=0, count=None):
    """A DOC file as Word 95 wrote it; ``text`` are the bytes of ``count`` characters."""
    head = bytearray(0x300)
    struct.pack_into("<4H", head, 0, kind, 0x68, 0, language)
    head[0x12] = machine
    struct.pack_into("<2I", head, 0x18, len(head), len(head) + len(text))
    struct.pack_into("<H", head, 0xA, flags)
    struct.pack_into("<I", head, 0x34, len(text) if count is None else count)
    return compound_file({"WordDocument": bytes(head) + text})


def _record(kind, data, instance=0, *, holds=False):
    version = instance << 4 | (0xF if holds else 0)
    return struct.pack("<HHI", version, kind, len(data)) + data


def _outline(slide):
    """The texts of a slide that stand in the list of slides: kinds and texts."""
    return b"".join(
        _record(0x0F9F, struct.pack("<I", kind)) + _record(0x0FA0, text.encode("utf-16-le"))
        for kind, text in slide
    )


def _slide(slide, comment):
    """A slide whose shapes refer to the outline, and a comment: its author and its text."""
    references = [_record(0x0F9E, struct.pack("<I", at)) for at in range(len(slide))]
    boxes = [_record(0xF00D, reference, holds=True) for reference in references]
    shapes = b"".join(_record(0xF004, box, holds=True) for box in boxes)
    said = b"".join(_record(4026, text.encode("utf-16-le"), at) for at, text in enumerate(comment))
    tags = _record(5003, _record(12000, said, holds=True)) if comment else b""
    return _record(1006, shapes + tags, holds=True)


def slides_file(*slides, locked=False, order=None, comment=(), directory=True):
    """A PPT file with slides of texts of some kinds (0: a title, 1: a list, 4: another).

    They are listed in an ``order``. Before them stands an outdated slide, and each has a comment.
    """
    stream = _record(1006, _record(4000, "Outdated".encode("utf-16-le")), holds=True)
    places = []
    for slide in slides:
        places.append(len(stream))
        stream += _slide(slide, comment)
    listed = b"".join(
        _record(1011, struct.pack("<5I", number + 1, 0, 0, 256 + number, 0))
        + _outline(slides[number])
        for number in order or range(len(slides))
    )
    places.append(len(stream))
    stream += _record(1000, _record(0x0FF0, listed, holds=True), holds=True)
    entries = struct.pack(f"<{len(places) + 1}I", len(places) << 20 | 1, *places)
    at = len(stream)
    stream += _record(6002, entries)
    edit = len(stream)
    stream += _record(4085, struct.pack("<7I", 0, 0, 0, at, len(places), 0, 0))
    user = struct.pack("<III", 20, 0, edit if directory else 1 << 30)
    user = user[:4] + (b"\xdf\xc4\xd1\xf3" if locked else bytes(4)) + user[8:]
    return compound_file(
        {"PowerPoint Document": stream, "Current User": _record(0x0FF6, user + bytes(16))}
    )


def summary(page=1252, **values):
    """What a file says of itself, by the numbers of its properties ("p2"): texts and times."""
    packed = {1: struct.pack("<IHH", 2, page % 65536, 0)}
    for number, value in values.items():
        if isinstance(value, int):
            packed[int(number[1:])] = struct.pack("<IQ", 64, value)
        else:
            text = value.encode("utf-8" if page == 65001 else f"cp{page}") + b"\0"
            text += bytes(-len(text) % 4)
            packed[int(number[1:])] = struct.pack("<II", 30, len(text)) + text
    places, body = b"", b""
    for number, data in packed.items():
        places += struct.pack("<II", number, 8 + 8 * len(packed) + len(body))
        body += data
    section = struct.pack("<II", 8 + len(places) + len(body), len(packed)) + places + body
    return struct.pack("<HHI16sI16sI", 0xFFFE, 0, 0, b"", 1, b"", 48) + section


def workbook_file(sheets, *records, drawn=()):
    """An XLS file of sheets of rows of texts, by their names, and more records: kinds and data.

    Each sheet ends with the records that are ``drawn`` on it.
    """

    def record(kind, data):
        return struct.pack("<HH", kind, len(data)) + data

    begin = struct.pack("<HHHHII", 0x0600, 0x0005, 0x0DBB, 0x07CC, 0, 6)
    bodies = []
    for rows in sheets.values():
        cells = b"".join(
            record(
                0x0204,
                struct.pack("<HHHHB", row, column, 0, len(value), 1) + value.encode("utf-16-le"),
            )
            for row, values in enumerate(rows)
            for column, value in enumerate(values)
        )
        of_sheet = begin[:2] + b"\x10\0" + begin[4:]
        more = b"".join(record(kind, data) for kind, data in drawn)
        bodies.append(record(0x0809, of_sheet) + cells + more + record(0x000A, b""))
    names = [struct.pack("<BBBB", 0, 0, len(name), 1) + name.encode("utf-16-le") for name in sheets]
    more = b"".join(record(kind, data) for kind, data in records)
    length = len(record(0x0809, begin)) + len(more) + len(record(0x000A, b""))
    at = length + sum(len(record(0x0085, bytes(4) + name)) for name in names)
    globals_ = record(0x0809, begin) + more
    for name, body in zip(names, bodies, strict=True):
        globals_ += record(0x0085, struct.pack("<I", at) + name)
        at += len(body)
    return compound_file({"Workbook": globals_ + record(0x000A, b"") + b"".join(bodies)})


def mail_streams(folder="", sent=0, **texts):
    """The streams of a mail in a folder: texts by the numbers of their properties ("p0037")."""
    properties = bytes(24 if folder else 32)
    properties += struct.pack("<IIQ", 0x00390040, 6, sent)
    streams = {f"{folder}__properties_version1.0": properties}
    for number, text in texts.items():
        streams[f"{folder}__substg1.0_{number[1:]}001F"] = text.encode("utf-16-le")
    return streams
