"""Where tasks wait under the faults of a connection: a ring reaches all of them, and so does the end."""

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
