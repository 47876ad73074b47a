"""Labels that stand above their values, as on invoices, receipts and forms."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import replace
from itertools import zip_longest

from ragkit.answers import Source
from ragkit.indexes.tokenizer import index_tokens
from ragkit.results import Passage

_LABEL = re.compile(r"[^\W\d][^\d|]{1,79}(?:(?<![.!?:。])|(?<=[Nn][or]\.))")
_VALUE = re.compile(r"(?=\D*\d)[^|]{1,80}(?<![.!?:。])")

_AMOUNT = re.compile(
    r"(?!(?:19|20)\d\d$)[-+(]?(?:[A-Z]{0,3}[$€£¥]|[A-Z]{3}\s)?\s?"
    r"\d[\d.,\s\u2019']*(?:\s?(?:%|[$€£¥]|[A-Z]{3}))?\)?"
)


def with_labels(
    sources: Iterable[Source], passage: Passage, asked: Collection[str]
) -> list[Source]:
    """Return the sentences of a passage, each label as one with its value below it."""
    found: list[Source] = []
    for source in sources:
        label = found[-1] if found else source
        between = passage.text[label.end - passage.start : source.start - passage.start]
        if between.isspace() and _is_label_of(label.text, source.text, asked):
            text = f"{label.text}{between}{source.text}"
            found[-1] = replace(label, text=text, end=source.end)
        else:
            found.append(source)
    return found


def is_pair(header: str) -> bool:
    """Return whether the header of a table is a label with its figure: it has rows of them only."""
    cells = _cells(header)
    if len(cells) != 2 or not any(map(str.isalpha, cells[0])):
        return False
    return _AMOUNT.fullmatch(cells[1]) is not None


def labelled(row: Source, before: Source, after: Source, asked: Collection[str]) -> str:
    """Return the text of a row of a table, below a header that is the label of a value in it.

    The row is the first one, and the row after it, if there is one, has no value in that place.
    """
    if not row.header or before.header or before.text != row.header:
        return row.text
    below = after.text if after is not row and after.header == row.header else ""
    columns = zip_longest(*map(_cells, (row.header, row.text, below)), fillvalue="")
    if any(
        _VALUE.fullmatch(value)
        and not _VALUE.fullmatch(next_value)
        and not {*index_tokens(label)}.isdisjoint(asked)
        for label, value, next_value in columns
    ):
        return f"{row.header} {row.text}"
    return row.text


def _is_label_of(label: str, value: str, asked: Collection[str]) -> bool:
    """Return whether a short line without figures stands above one with figures.

    Of rows of tables, a cell that has one of the words that are asked for is compared with the one
    below it.
    """
    if not label.startswith("|"):
        return bool(_LABEL.fullmatch(label) and _VALUE.fullmatch(value))
    above, below = _cells(label), _cells(value)
    return not any(map(str.isdigit, label)) and any(
        _VALUE.fullmatch(lower) and not {*index_tokens(upper)}.isdisjoint(asked)
        for upper, lower in zip(above, below, strict=False)
    )


def _cells(row: str) -> list[str]:
    """Return the cells of a row of a table."""
    return [cell.strip() for cell in row.strip("|").split("|")]
