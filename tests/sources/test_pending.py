"""When a change is told of, by a clock that the test holds."""

from __future__ import annotations

import pytest

from ragkit.sources.pending import LONGEST_FACTOR, Pending, Released, signature_of

QUIET = 2.0


@pytest.fixture
def waiting(tmp_path):
    return Pending(tmp_path, QUIET)


def test_a_path_that_is_noted_again_and_again_is_released_in_the_end(waiting):
    longest = QUIET * LONGEST_FACTOR
    for second in range(int(longest)):
        (waiting.root / "log.txt").write_text("x" * second)
        waiting.note("log.txt", signature_of(waiting.root / "log.txt"), float(second))
        assert waiting.release(second + 0.5) is None
    assert waiting.next_release() == longest
    assert waiting.release(longest - 0.1) is None
    assert waiting.release(longest) == Released(("log.txt",))
    assert waiting.next_release() is None
