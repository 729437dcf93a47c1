"""The end of a request's line that can be wound back: what was taken stands there again, as if nobody had been there."""

import pytest

from chaosproxy.chain.exit import WINDOW
from chaosproxy.chain.tape import KEPT, Tape
from chaosproxy.model.messages import Data, End, RequestHead

HEAD = RequestHead(b"POST", b"/")


def tape(*payloads):
    made = Tape()
    made.control(HEAD, 0.0)
    for payload in payloads:
        made.data(Data(payload, (len(payload),)), 0.0)
    return made


def texts(events):
    return [event.payload if isinstance(event, Data) else type(event) for event in events]


def test_everything_is_there_again_in_order_and_counted_once():
    one = tape(b"ab", b"cd")
    assert texts(one.take()) == [RequestHead, b"ab", b"cd"]
    one.data(Data(b"ef"), 0.0)
    one.control(End(), 0.0)
    assert one.holds_all()
    one.wind_back()
    assert (one.size, one.bytes_out, one.records_out) == (6, 0, 0)
    assert texts(one.take()) == [RequestHead, b"ab", b"cd", b"ef", End]
    assert (one.size, one.bytes_out, one.records_out) == (0, 6, 2)


@pytest.mark.parametrize("room", [1, 2, 3, 4, 5])
def test_a_piece_that_was_taken_in_part_is_there_whole_and_once(room):
    one = tape(b"abc", b"def")
    one.take(room, split=True)
    one.wind_back()
    taken = texts(one.take())
    assert taken[0] is RequestHead
    assert b"".join(taken[1:]) == b"abcdef"
    assert one.size == 0


def test_more_than_once():
    one = tape(b"ab")
    for _ in range(3):
        assert texts(one.take()) == [RequestHead, b"ab"]
        assert one.holds_all()
        one.wind_back()
    assert texts(one.take()) == [RequestHead, b"ab"]


def test_a_long_one_is_not_kept_but_what_is_wanted_is():
    half = b"x" * (KEPT // 2)
    long = tape(half, half, b"y")
    long.take()
    assert not long.holds_all()
    wanted = tape(half, half)
    wanted.take()
    assert wanted.holds_all()
    wanted.data(Data(b"y"), 0.0)
    wanted.take()
    wanted.wind_back()
    assert sum(len(text) for text in texts(wanted.take())[1:]) == KEPT + 1
    assert not wanted.holds_all(), "it is wanted until it was wound back, and too long now"


def test_what_was_wound_back_counts_as_what_waits():
    one = tape(b"x" * WINDOW)
    assert not one.has_room(0.0)
    one.take()
    assert one.has_room(0.0)
    one.wind_back()
    assert not one.has_room(0.0)
