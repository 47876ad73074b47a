"""Finding damage of a write-ahead log, which SQLite ignores: it reads up to the first bad frame.

That is right after a crash, which may leave torn frames of an unfinished transaction. But if a
commit follows a bad frame, saved changes are damaged, and SQLite would drop them silently.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

_HEADER, _FRAME_HEADER = 32, 24
_MAGIC = 0x377F0682
_FRAMES_AT_ONCE = 4096
_USUAL_PAGE = 4096


def log_is_damaged(file: Path) -> bool:
    """Return whether a log has a valid commit behind a bad header or frame.

    It is read twice, so that a log being written by another process is not taken for damaged.
    """
    before = _look(file)
    return before is not None and before == _look(file)


def _look(file: Path) -> tuple[bytes, int] | None:
    """Return the header and the index of the first bad frame of a damaged log, else ``None``."""
    try:
        with file.open("rb") as log:
            header = log.read(_HEADER)
            if len(header) < _HEADER:
                return None
            words = np.frombuffer(header, ">u4")
            kind = ">u4" if int(words[0]) & 1 else "<u4"
            start = np.zeros((1, 2), dtype=np.uint32)
            summed = _checksums(np.frombuffer(header[:24], kind)[None], start)
            sound = int(words[0]) | 1 == _MAGIC | 1 and bool((summed == words[6:]).all())
            page = int(words[2]) if sound else _USUAL_PAGE
            bad, at = None if sound else -1, 0
            stored = words[6:][None].astype(np.uint32)
            while block := log.read((page + _FRAME_HEADER) * _FRAMES_AT_ONCE):
                good, commits, stored = _good_frames(
                    block, page, kind, words[4:6] if sound else None, stored
                )
                faults = np.flatnonzero(~good)
                if bad is None and len(faults):
                    bad = at + int(faults[0])
                if bad is not None and commits[max(0, bad + 1 - at) :].any():
                    return header, bad
                at += len(good)
    except OSError:
        return None
    return None


def _good_frames(
    block: bytes,
    page: int,
    kind: str,
    salts: NDArray[np.uint32] | None,
    before: NDArray[np.uint32],
) -> tuple[NDArray[np.bool_], NDArray[np.bool_], NDArray[np.uint32]]:
    """Return which frames are valid, which of these commit, bool (n,), and the last checksum.

    A frame is valid if its checksum follows from the one before it (``before`` the first), uint32
    (1, 2), and if it has the ``salts``, unless they are ``None``.
    """
    frames = np.frombuffer(block[: len(block) // (page + _FRAME_HEADER) * (page + _FRAME_HEADER)],
                           np.uint8).reshape(-1, page + _FRAME_HEADER)  # fmt: skip
    heads = np.ascontiguousarray(frames[:, :_FRAME_HEADER]).view(">u4")
    summed = np.ascontiguousarray(np.hstack([frames[:, :8], frames[:, _FRAME_HEADER:]])).view(kind)
    stated = np.vstack([before, heads[:, 4:6].astype(np.uint32)])
    good = (_checksums(summed, stated[:-1]) == stated[1:]).all(axis=1)
    if salts is not None:
        good &= (heads[:, 2:4] == salts).all(axis=1)
    return good, good & (heads[:, 1] != 0), stated[-1:]


def _checksums(words: NDArray[np.uint32], starts: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """Return SQLite's checksum of each row of words, (n, 2), begun with its start, (n, 2)."""
    weights, carried = _weights(words.shape[1])
    return words.astype(np.uint32) @ weights + starts.astype(np.uint32) @ carried


@lru_cache(maxsize=4)
def _weights(words: int) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
    """Return the weights of the words and of the start in a checksum, which is linear mod 2^32.

    SQLite adds two words at a time: ``a += x + b; b += y + a``.
    """
    weights = np.zeros((words, 2), dtype=np.uint32)
    power, most = [[1, 0], [0, 1]], 2**32
    for place in range(words - 2, -1, -2):
        (a, b), (c, d) = power
        weights[place] = (a + b) % most, (c + d) % most
        weights[place + 1] = b, d
        power = [[(a + b) % most, (a + 2 * b) % most], [(c + d) % most, (c + 2 * d) % most]]
    return weights, np.array(power, dtype=np.uint32).T
