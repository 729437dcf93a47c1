"""Where tasks wait under the faults of a connection: a ring reaches all of them, and so does the end."""

import contextlib

import pytest
import trio

from chaosproxy.wire.waiting import Waiting


async def test_a_ring_and_the_end_reach_whoever_waits(autojump_clock):
    waiting = Waiting()
    looked, ended = [], []

    async def one(name: str) -> None:
        await waiting.on(None)
        looked.append(name)
        with pytest.raises(trio.ClosedResourceError):
            await waiting.on(trio.sleep_forever)
        ended.append(name)

    async with trio.open_nursery() as nursery:
        for name in ("writer", "closer"):
            nursery.start_soon(one, name)
        await trio.sleep(1)
        waiting.ring()
        await trio.sleep(1)
        assert sorted(looked) == ["closer", "writer"]
        waiting.close()
    assert sorted(ended) == ["closer", "writer"]


@pytest.mark.parametrize("ending", ["takes", "is cancelled", "fails"])
async def test_what_is_below_bears_one_at_a_time_and_the_next_has_its_turn(ending, autojump_clock):
    waiting, moments = Waiting(), []
    below = trio.lowlevel.ParkingLot()

    async def writable() -> None:
        assert not len(below), "another task is already writing"
        await below.park()
        if ending == "fails" and not moments:
            raise ConnectionResetError

    async def one(scope: trio.CancelScope) -> None:
        with scope, contextlib.suppress(ConnectionResetError):
            await waiting.on(writable)
        moments.append(trio.current_time())

    first = trio.CancelScope()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(one, first)
        await trio.sleep(1)
        nursery.start_soon(one, trio.CancelScope())
        began = trio.current_time()
        await trio.sleep(1)
        first.cancel() if ending == "is cancelled" else below.unpark()
        await trio.sleep(1)
        below.unpark()
    assert [moment - began for moment in moments] == [1, 2]
