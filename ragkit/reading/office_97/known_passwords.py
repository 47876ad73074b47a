"""Office files whose password is known, so that Office opens them without asking for it.

Excel locks a workbook with it where its sheets are only protected from changes, and PowerPoint a
presentation that is only to be read. After "[MS-OFFCRYPTO]: Office Document Cryptography Structure"
of Microsoft, 2.4.2.3.
"""

from __future__ import annotations

import io

_PASSWORDS = ("VelvetSweatshop", "/01Hannes Ruescher/01")


class _InMemory:
    """Stands for ``tempfile``: a process that reads may write no file, not even a temporary one."""

    TemporaryFile = io.BytesIO


def opened_without_asking(data: bytes) -> bytes | None:
    """Return a locked file without its lock; ``None`` if its password is somebody's own."""
    import msoffcrypto
    from msoffcrypto.format import ppt97, xls97

    ppt97.tempfile = xls97.tempfile = _InMemory
    for password in _PASSWORDS:
        opened = io.BytesIO()
        try:
            file = msoffcrypto.OfficeFile(io.BytesIO(data))
            checks = {"verify_password": True} if file.format == "ooxml" else {}
            file.load_key(password=password, **checks)
            file.decrypt(opened)
        except (MemoryError, RecursionError):
            raise
        except Exception:  # noqa: BLE001, S112 - not the password, or damage of any kind
            continue
        return opened.getvalue()
    return None
