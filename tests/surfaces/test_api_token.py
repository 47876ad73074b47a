"""The token of a library: who has it, and who can read it."""

from __future__ import annotations

import os
import stat

import pytest

from ragkit.errors import LibraryError
from ragkit.surfaces.http.api_token import ApiToken


@pytest.fixture
def file(tmp_path):
    return tmp_path / "token"


def test_a_token_is_made_once_and_is_its_owners_alone(file):
    token = ApiToken(file).ensure()
    assert len(token) == 43  # 32 random bytes
    assert ApiToken(file).ensure() == token
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert ApiToken(file).admits(token)
    for wrong in ("", token[:-1], f"{token}x", token.swapcase(), "é", "\ud800"):
        assert not ApiToken(file).admits(wrong)


def test_without_a_token_nothing_is_admitted(file):
    assert not ApiToken(file).admits("")
    file.write_text("")
    file.chmod(0o600)
    assert not ApiToken(file).admits("")


def test_a_new_token_counts_at_once_and_the_old_one_no_more(file):
    kept = ApiToken(file)
    old = kept.ensure()
    assert kept.admits(old)
    new = ApiToken(file).renew()
    assert (kept.admits(old), kept.admits(new)) == (False, True)


def test_a_token_that_others_can_read_counts_no_more_and_is_replaced(file, tmp_path):
    kept = ApiToken(file)
    token = kept.ensure()
    assert kept.admits(token)
    file.chmod(0o640)
    assert not kept.admits(token)
    assert kept.ensure() != token
    file.rename(tmp_path / "elsewhere")
    file.symlink_to(tmp_path / "elsewhere")
    assert not ApiToken(file).admits((tmp_path / "elsewhere").read_text().strip())


@pytest.mark.skipif(os.name == "nt", reason="folders are not files on POSIX alone")
def test_a_token_that_cannot_be_kept_is_an_error_with_a_cure(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(LibraryError, match=r"token cannot be written.*permissions"):
        ApiToken(tmp_path / "file" / "token").ensure()
