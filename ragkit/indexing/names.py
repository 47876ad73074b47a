"""The words in the names of a document: of its file, its folders and its aliases."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import islice
from pathlib import PurePosixPath

from ragkit.indexes.tokenizer import index_tokens
from ragkit.types import Metadata

_MOST_NAME_TOKENS = 20
_MOST_FOLDER_TOKENS = 12
_ALIASES = ("aliases", "alias", "linkTitle", "shortTitle", "sidebar_label")
_JOINTS = re.compile(r"[_~+%(){}\[\],;=#!@]+")
# "report2019", but not "utf8", "FY2022" or "Q3".
_BEFORE_NUMBER = re.compile(r"(?<=[^\W\d_]{3})(?=\d\d)")


def name_tokens(path: str, metadata: Metadata) -> list[str]:
    """Return the distinct tokens of a file's name without its suffix, and of its aliases.

    Joined words also count separately. There are at most ``_MOST_NAME_TOKENS``.
    """
    aliases = [metadata[key] for key in _ALIASES if metadata.get(key)]
    listed = [
        alias for value in aliases for alias in (value if isinstance(value, list) else [value])
    ]
    return _tokens([PurePosixPath(path).stem, *map(str, listed)], _MOST_NAME_TOKENS)


def folder_tokens(path: str) -> list[str]:
    """Return the distinct tokens of a file's folders below the root, the nearest folder first.

    There are at most ``_MOST_FOLDER_TOKENS``, so that a deep path does not outweigh a title.
    """
    return _tokens(reversed(PurePosixPath(path).parts[:-1]), _MOST_FOLDER_TOKENS)


def _tokens(names: Iterable[str], most: int) -> list[str]:
    tokens = (
        token
        for name in names
        for form in (_BEFORE_NUMBER.sub(" ", _JOINTS.sub(" ", name)), name)
        for token in index_tokens(form)
        # A single letter or digit is no word; a single Chinese character is.
        if len(token) > 1 or not token.isascii()
    )
    return list(islice(dict.fromkeys(tokens), most))
