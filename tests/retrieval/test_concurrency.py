"""Two things at once: both are done, errors are told, and nobody waits behind others."""

from __future__ import annotations

import threading

import pytest

from ragkit.retrieval.concurrency import Beside


@pytest.mark.parametrize("processors", [1, 2])
def test_both_are_done(processors):
    assert Beside(processors).both(lambda: "here", lambda: "beside") == ("here", "beside")


def test_two_processors_work_at_once():
    met = threading.Barrier(2)
    here, beside = Beside(2).both(
        lambda: met.wait(60) + threading.get_ident() * 2,
        lambda: met.wait(60) + threading.get_ident() * 2,
    )
    assert here // 2 != beside // 2


def test_one_processor_takes_turns_in_one_thread():
    threads = Beside(1).both(threading.get_ident, threading.get_ident)
    assert set(threads) == {threading.get_ident()}


def test_what_no_thread_has_begun_is_done_here():
    work = Beside(2)
    busy, free = threading.Semaphore(0), threading.Event()

    def block() -> None:
        busy.release()
        free.wait(60)

    others = [
        threading.Thread(target=work.both, args=(free.wait, block), daemon=True) for _ in range(2)
    ]
    for one in others:
        one.start()
        assert busy.acquire(timeout=60)
    try:
        assert work.both(lambda: 1, threading.get_ident) == (1, threading.get_ident())
    finally:
        free.set()
        for one in others:
            one.join()


@pytest.mark.parametrize("fails", ["here", "beside"])
@pytest.mark.parametrize("processors", [1, 2])
def test_an_error_of_either_is_raised(fails, processors):
    def work(name: str) -> str:
        if name == fails:
            raise ValueError(name)
        return name

    with pytest.raises(ValueError, match=fails):
        Beside(processors).both(lambda: work("here"), lambda: work("beside"))
