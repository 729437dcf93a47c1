"""The signals that end a command: what one does depends on how far that is."""

import os
import signal
import threading
import time

import pytest
import trio

from chaosproxy.cli import ends as module
from chaosproxy.cli.ends import ENDS, Ends


@pytest.fixture
def ends():
    """In the test's own process, whose signals are its own again afterwards."""
    numbers = [getattr(signal, name) for name in ENDS]
    before = {number: signal.getsignal(number) for number in numbers}
    with Ends() as made:
        yield made
    assert {signal.getsignal(number) for number in numbers} == {signal.SIG_IGN}
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.parametrize("name", ENDS)
def test_before_there_is_anything_to_end_it_leaves(ends, name):
    with pytest.raises(SystemExit) as left:
        os.kill(os.getpid(), getattr(signal, name))
    assert left.value.code == 0


def test_one_that_comes_before_the_run_listens_is_found_there(ends):
    ends.hold()
    os.kill(os.getpid(), signal.SIGTERM)

    async def main():
        with ends.listening():
            with trio.fail_after(20):
                await ends.heard()
                os.kill(os.getpid(), signal.SIGINT)
                await ends.heard(2)
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)  # nobody waits for it any more

    trio.run(main)
    assert ends.count == 2


def test_what_takes_long_behind_the_run_is_ended_by_one_that_came_when_it_was_taken_down(ends, monkeypatch):
    ends.hold()

    async def main():
        with ends.listening():
            pass

    trio.run(main)
    signal.pthread_kill(threading.main_thread().ident, signal.SIGTERM)
    assert ends.count == 0
    ends.over()
    assert ends.count == 1
    monkeypatch.setattr(module, "LONG", -1.0)
    with pytest.raises(SystemExit):
        os.kill(os.getpid(), signal.SIGTERM)


def test_what_takes_long_behind_the_last_exchange_is_ended_too(ends, monkeypatch):
    ends.hold()
    ends.close()
    os.kill(os.getpid(), signal.SIGTERM)
    monkeypatch.setattr(module, "LONG", 0.0)
    began = time.monotonic()
    while time.monotonic() == began:
        pass
    with pytest.raises(SystemExit) as left:
        os.kill(os.getpid(), signal.SIGTERM)
    assert left.value.code == 3


def test_who_ignores_the_end_of_its_terminal_goes_on_doing_so():
    before = {number: signal.getsignal(number) for number in (getattr(signal, name) for name in ENDS)}
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with Ends() as ends:
            os.kill(os.getpid(), signal.SIGHUP)
            assert (ends.count, signal.getsignal(signal.SIGHUP)) == (0, signal.SIG_IGN)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
