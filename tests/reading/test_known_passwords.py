"""Office files that Office opens without asking, since their password is known to all programs."""

from __future__ import annotations

import hashlib
import io
import struct

import pytest
from compound_files import compound_file, workbook_file
from cryptography.hazmat.decrepit.ciphers.algorithms import ARC4
from cryptography.hazmat.primitives.ciphers import Cipher
from msoffcrypto.format.ooxml import OOXMLFile
from office_files import slides_file
from olefile import OleFileIO
from openpyxl import Workbook
from reading_files import read

from ragkit.errors import LockedError, ReadingError

PROTECTED, ONLY_READ = "VelvetSweatshop", "/01Hannes Ruescher/01"
_BLOCK, _SALT, _CHECKED = 1024, bytes(range(16)), bytes(range(7, 23))
_FILE_PASS, _PLAIN, _SHEET = 0x2F, (0x809, 0x2F), 0x85


def workbook():
    book = Workbook()
    book.active.title = "Dues"
    book.active.append(["Boat", "Days"])
    book.active.append(["Canoe", 3])
    buffer = io.BytesIO()
    book.save(buffer)
    return buffer.getvalue()


def locked(data, password):
    """An Office file as Office locks it since 2010."""
    buffer = io.BytesIO()
    OOXMLFile(io.BytesIO(data)).encrypt(password, buffer)
    return buffer.getvalue()


def old_workbook(password):
    """A workbook that Excel 97 to 2003 locked with RC4; the names of its records stay readable."""
    first = hashlib.md5(password.encode("utf-16-le")).digest()[:5]
    start = hashlib.md5((first + _SALT) * 16).digest()[:5]

    def turned(data, at):
        turned = bytearray()
        for place, byte in enumerate(data, at):
            if place % _BLOCK == 0 or not turned:
                key = hashlib.md5(start + struct.pack("<I", place // _BLOCK)).digest()
                stream = Cipher(ARC4(key), None).encryptor()
                stream.update(bytes(place % _BLOCK))
            turned += stream.update(bytes([byte]))
        return bytes(turned)

    checked = turned(_CHECKED + hashlib.md5(_CHECKED).digest(), 0)
    about = struct.pack("<3H", 1, 1, 1) + _SALT + checked
    file = OleFileIO(io.BytesIO(workbook_file({"Dues": [["Boat"]]}, (_FILE_PASS, about))))
    cells = file.openstream("Workbook").read()
    written, at, is_locked = bytearray(), 0, False
    while at + 4 <= len(cells):
        kind, size = struct.unpack_from("<HH", cells, at)
        data, begin = cells[at + 4 : at + 4 + size], at + 4
        plain = 0 if is_locked and kind not in _PLAIN else size
        plain = 4 if kind == _SHEET and is_locked else plain
        written += cells[at:begin] + data[:plain] + turned(data[plain:], begin + plain)
        is_locked = is_locked or kind == _FILE_PASS
        at += 4 + size
    return compound_file({"Workbook": bytes(written)})


def test_a_workbook_that_is_only_protected_from_changes_is_read(tmp_path):
    text = read(tmp_path, "a.xlsx", locked(workbook(), PROTECTED)).text
    assert text == "## Dues\n\n| Boat | Days |\n| --- | --- |\n| Canoe | 3 |"


def test_a_presentation_that_is_only_to_be_read_is_read(tmp_path):
    plain = read(tmp_path, "a.pptx", slides_file()).text
    assert read(tmp_path, "b.pptx", locked(slides_file(), ONLY_READ)).text == plain


def test_an_old_workbook_that_is_only_protected_is_read(tmp_path):
    assert "Boat" in read(tmp_path, "a.xls", old_workbook(PROTECTED)).text


def test_what_has_a_password_of_its_own_stays_locked(tmp_path):
    for name, data in (
        ("a.xlsx", locked(workbook(), "a password")),
        ("a.xls", old_workbook("a password")),
    ):
        with pytest.raises(LockedError, match="is locked with a password"):
            read(tmp_path, name, data)


def test_a_file_that_breaks_off_says_so(tmp_path):
    data = locked(workbook(), PROTECTED)
    for size in range(600, len(data), 900):
        with pytest.raises(ReadingError, match=r"is (damaged|locked)"):
            read(tmp_path, "a.xlsx", data[:size])
