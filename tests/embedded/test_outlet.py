"""Lines to a reader who is slow, late, or gone: nobody waits, each line is whole."""

import contextlib
import os
import threading
import tty
from pathlib import Path

import pytest

from chaosproxy.embedded import outlet
from chaosproxy.embedded.outlet import Outlet, outlets_of

LINE = b"x" * 999 + b"\n"
WITHIN = 20.0


@pytest.fixture
def pipe():
    ends = list(os.pipe())
    yield ends
    for end in ends:
        with contextlib.suppress(OSError):  # the test has
            os.close(end)


def everything(reading):
    with os.fdopen(os.dup(reading), "rb") as file:
        return file.read()


def test_what_is_taken_is_written_at_once(pipe):
    reading, writing = pipe
    out = Outlet(writing)
    out.write(LINE)
    assert os.read(reading, 10_000) == LINE
    assert "chaosproxy output" not in [thread.name for thread in threading.enumerate()]


def test_a_reader_that_comes_late_has_every_line_in_order(pipe):
    reading, writing = pipe
    out = Outlet(writing)
    lines = [b"%06d" % number + LINE for number in range(500)]
    for line in lines:
        out.write(line)
    got: list[bytes] = []
    reader = threading.Thread(target=lambda: got.append(everything(reading)))
    reader.start()
    out.finish(WITHIN)
    os.close(writing)
    reader.join(WITHIN)
    assert got == [b"".join(lines)]
    assert out.lost == 0


def test_what_there_is_no_room_for_is_left_out_whole_and_counted(pipe, monkeypatch):
    monkeypatch.setattr(outlet, "ROOM", 20_000)
    reading, writing = pipe
    out = Outlet(writing)
    lines = [b"%06d" % number + LINE for number in range(200)]
    for line in lines:
        out.write(line)
    assert out.lost > 0
    got: list[bytes] = []
    reader = threading.Thread(target=lambda: got.append(everything(reading)))
    reader.start()
    out.finish(WITHIN)
    out.write(b"the last\n")
    out.finish(WITHIN)
    os.close(writing)
    reader.join(WITHIN)
    *came, last = got[0].splitlines(keepends=True)
    assert came == lines[: len(came)]
    assert len(came) + out.lost == len(lines)
    assert last == b"the last\n"


def test_a_line_longer_than_the_room_is_not_torn(pipe, monkeypatch):
    monkeypatch.setattr(outlet, "ROOM", 10)
    reading, writing = pipe
    out = Outlet(writing)
    long = b"y" * 200_000 + b"\n"
    out.write(long)
    got: list[bytes] = []
    reader = threading.Thread(target=lambda: got.append(everything(reading)))
    reader.start()
    out.finish(WITHIN)
    os.close(writing)
    reader.join(WITHIN)
    assert got == [long]


def test_the_end_does_not_wait_for_who_never_reads(pipe):
    reading, writing = pipe
    out = Outlet(writing)
    for _ in range(200):
        out.write(LINE)
    out.finish(0.0)
    assert out.lost > 0
    os.close(reading)  # the thread that waits is let go
    out.finish(WITHIN)


def test_a_reader_that_has_left_is_an_error_each_time(pipe):
    reading, writing = pipe
    out = Outlet(writing)
    os.close(reading)
    for _ in range(2):
        with pytest.raises(BrokenPipeError):
            out.write(LINE)


def test_a_reader_that_leaves_while_it_is_waited_for_is_told_with_the_next_line(pipe):
    reading, writing = pipe
    out = Outlet(writing)
    for _ in range(100):
        out.write(LINE)
    os.close(reading)
    out.finish(WITHIN)
    lost = out.lost
    assert lost > 0
    with pytest.raises(BrokenPipeError):
        out.write(LINE)
    assert out.lost == lost


def test_a_file_takes_everything_at_once(tmp_path):
    with (tmp_path / "file").open("wb") as file:
        out = Outlet(file.fileno())
        out.write(LINE * 100)
        assert (tmp_path / "file").read_bytes() == LINE * 100


def test_two_streams_to_one_place_have_one_between_them(pipe):
    """Each would else take the room that the other was told of."""
    _, writing = pipe
    with os.fdopen(os.dup(writing), "wb") as one, os.fdopen(os.dup(writing), "wb") as two:
        first, second = outlets_of(one, two)
        assert first is second is not None
    assert outlets_of(None, object()) == [None, None]


@pytest.fixture
def terminal():
    """What a program writes to, and what a person reads: as it is written, nothing is made of it."""
    reading, writing = os.openpty()
    tty.setraw(writing)
    yield reading, writing
    for end in (reading, writing):
        with contextlib.suppress(OSError):  # the test has
            os.close(end)


def test_a_terminal_that_is_held_holds_nobody_up_and_nothing_is_lost_when_it_goes_on(terminal):
    """It says that it takes something, and then waits with a part of a line."""
    reading, writing = terminal
    out = Outlet(writing)
    lines = [b"%06d" % number + LINE for number in range(100)]
    for line in lines:
        out.write(line)
    got = b""
    while len(got) < len(b"".join(lines)):
        got += os.read(reading, 65536)
    out.finish(WITHIN)
    assert got == b"".join(lines)
    assert out.lost == 0


def test_the_end_does_not_wait_for_a_terminal_that_is_held(terminal):
    reading, writing = terminal
    out = Outlet(writing)
    for _ in range(100):
        out.write(LINE)
    out.finish(0.0)
    out.write(LINE)
    assert out.lost > 1
    os.close(reading)  # the thread that waits is let go
    out.finish(WITHIN)


def test_without_a_thread_the_lines_wait_for_one(pipe, monkeypatch):
    reading, writing = pipe
    out = Outlet(writing)
    lines = [b"%06d" % number + LINE for number in range(200)]

    def none_left(self):
        raise RuntimeError("can't start new thread")

    before = len(list(Path("/dev/fd").iterdir()))
    with monkeypatch.context() as full:
        full.setattr(threading.Thread, "start", none_left)
        for line in lines[:-1]:
            out.write(line)
    assert len(list(Path("/dev/fd").iterdir())) == before
    got: list[bytes] = []
    reader = threading.Thread(target=lambda: got.append(everything(reading)))
    reader.start()
    out.write(lines[-1])
    out.finish(WITHIN)
    os.close(writing)
    reader.join(WITHIN)
    assert got == [b"".join(lines)]
    assert out.lost == 0


def test_without_a_thread_what_was_not_taken_is_counted_at_the_end(pipe, monkeypatch):
    reading, writing = pipe
    out = Outlet(writing)

    def none_left(self):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", none_left)
    for _ in range(200):
        out.write(LINE)
    out.finish(WITHIN)
    os.close(writing)
    came = everything(reading).count(b"\n")
    assert came + out.lost == 200
    assert out.lost > 0


def test_an_owner_may_close_while_the_thread_still_writes(pipe):
    """Another file that gets the number has not a byte of it."""
    reading, writing = pipe
    out = Outlet(writing)
    for _ in range(200):
        out.write(LINE)
    other_reading, other = os.pipe()
    os.dup2(other, writing)
    got: list[bytes] = []
    reader = threading.Thread(target=lambda: got.append(everything(reading)))
    reader.start()
    out.finish(WITHIN)
    reader.join(WITHIN)
    os.set_blocking(other_reading, False)
    with pytest.raises(BlockingIOError):
        os.read(other_reading, 1)
    os.close(other)
    os.close(other_reading)
    assert got == [LINE * 200]
