from importlib import import_module

import pytest

from ragkit.reading.formats import DOCUMENT_SUFFIXES, Format, readable_suffixes
from ragkit.reading.readers import BYTE_READERS, TEXT_READERS


def test_each_format_has_one_reader():
    assert not BYTE_READERS.keys() & TEXT_READERS.keys()
    assert {*BYTE_READERS, *TEXT_READERS} == set(Format) - {Format.CONVERSATION}


@pytest.mark.parametrize("row", [*BYTE_READERS.values(), *TEXT_READERS.values()], ids=str)
def test_each_row_names_a_function_of_this_package(row):
    module, function = row
    assert callable(getattr(import_module(f"ragkit.reading.{module}"), function))


def test_no_two_formats_share_a_suffix():
    suffixes = [suffix for member in Format for suffix in member.suffixes]
    assert len(suffixes) == len(set(suffixes)) == len(DOCUMENT_SUFFIXES)
    assert set(suffixes) <= readable_suffixes()


def test_a_format_is_its_documents_word():
    assert Format.PDF == "pdf"
    assert f"{Format.XLSX}" == "xlsx"
    assert [member.part for member in Format if member.part] == [
        "word/document.xml",
        "ppt/presentation.xml",
        "xl/workbook.xml",
        "META-INF/container.xml",
    ]
