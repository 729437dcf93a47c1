"""The link blocks, ends and resets like a kernel's connection, so that virtual time hides no mistake."""

import pytest
import trio
import trio.testing

from chaosproxy.wire.links import link


def test_one_send_is_one_recv():
    near, far = link()
    near.send(b"one")
    near.send(b"two")
    assert (far.recv(100), far.recv(100), far.recv(100)) == (b"one", b"two", None)


def test_a_short_recv_leaves_the_rest_in_front():
    near, far = link()
    near.send(b"one")
    near.send(b"two")
    assert [far.recv(2) for _ in range(5)] == [b"on", b"e", b"tw", b"o", None]


async def test_room_is_bounded_and_writable_waits_for_the_reader():
    near, far = link(room=10)
    assert near.send(b"twelve bytes") == 10
    assert near.send(b"x") == 0
    async with trio.open_nursery() as nursery:
        nursery.start_soon(near.writable)
        await trio.testing.wait_all_tasks_blocked()
        assert nursery.child_tasks
        assert far.recv(4) == b"twel"
    assert near.send(b"es left") == 4


async def test_readable_waits_for_the_writer():
    near, far = link()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(far.readable)
        await trio.testing.wait_all_tasks_blocked()
        assert nursery.child_tasks
        near.send(b"x")
    assert far.recv(1) == b"x"


async def test_who_waits_for_the_writer_can_be_told_to_stop():
    _, far = link()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(far.readable)
        await trio.testing.wait_all_tasks_blocked()
        far.interrupt()
    assert far.recv(1) is None


def test_both_ways_have_room_of_their_own():
    near, far = link(room=3)
    assert (near.send(b"abcd"), far.send(b"wxyz")) == (3, 3)
    assert (near.recv(9), far.recv(9)) == (b"wxy", b"abc")


@pytest.mark.parametrize("end", ["fin", "cut"])
def test_after_a_fin_the_data_then_the_end_and_the_other_way_goes_on(end):
    near, far = link()
    near.send(b"last")
    getattr(near, end)()
    assert (far.recv(9), far.recv(9), far.recv(9)) == (b"last", b"", b"")
    assert far.send(b"answer") == 6
    assert near.recv(9) == b"answer"
    with pytest.raises(BrokenPipeError):
        near.send(b"more")


def test_a_reset_comes_behind_the_data_and_breaks_both_ways():
    near, far = link()
    near.send(b"last")
    near.rst()
    assert far.recv(9) == b"last"
    with pytest.raises(ConnectionResetError):
        far.recv(9)
    with pytest.raises(BrokenPipeError):
        far.send(b"x")


def test_closing_with_unread_data_resets_closing_without_is_a_fin():
    near, far = link()
    near.send(b"unread")
    far.close()
    with pytest.raises(ConnectionResetError):
        near.recv(9)
    near, far = link()
    far.close()
    assert near.recv(9) == b""


def test_writing_to_one_who_closed_succeeds_once_then_the_reset_comes():
    near, far = link()
    far.close()
    assert near.send(b"into the void") == 13
    with pytest.raises(BrokenPipeError):
        near.send(b"again")
    with pytest.raises(ConnectionResetError):
        near.recv(9)


@pytest.mark.parametrize("how", ["close", "rst"])
async def test_closing_wakes_whoever_waits_at_either_end(how):
    near, far = link(room=1)
    near.send(b"x")
    woken = []

    async def expect_closed(wait):
        with pytest.raises(trio.ClosedResourceError):
            await wait()
        woken.append("closed")

    async def expect_news(wait):
        await wait()
        woken.append("news")

    async with trio.open_nursery() as nursery:
        nursery.start_soon(expect_closed, near.readable)
        nursery.start_soon(expect_closed, near.writable)
        await trio.testing.wait_all_tasks_blocked()
        getattr(near, how)()
    near, far = link(room=1)
    near.send(b"x")
    async with trio.open_nursery() as nursery:
        nursery.start_soon(expect_news, near.readable)
        nursery.start_soon(expect_news, near.writable)
        await trio.testing.wait_all_tasks_blocked()
        getattr(far, how)()
    assert woken == ["closed", "closed", "news", "news"]
    for call in (lambda: far.recv(1), lambda: far.send(b"x")):
        with pytest.raises(trio.ClosedResourceError):
            call()


async def test_two_tasks_may_not_wait_for_the_same_thing_and_a_cancelled_one_makes_room():
    near, _ = link()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(near.readable)
        await trio.testing.wait_all_tasks_blocked()
        with pytest.raises(trio.BusyResourceError):
            await near.readable()
        nursery.cancel_scope.cancel()
    with trio.move_on_after(0.01) as waiting:
        await near.readable()
    assert waiting.cancelled_caught


async def test_time_is_virtual(autojump_clock):
    near, far = link()
    seen = []

    async def ticks():
        for tick in range(3):
            await trio.sleep(3600)
            near.send(b"%d" % tick)
        near.fin()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(ticks)
        while (data := far.recv(9)) != b"":
            if data is None:
                await far.readable()
            else:
                seen.append((trio.current_time(), data))
    assert seen == [(3600, b"0"), (7200, b"1"), (10800, b"2")]
