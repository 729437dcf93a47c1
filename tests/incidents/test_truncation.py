"""Answers that end too early: what is on the wire, and who notices."""

from chaosproxy.testing.peers import Ending
from tests.incidents.readers import Made, careful, strict, trusting
from tests.virtual.shipped import chunk, event, stream, told


async def test_a_fin_without_the_last_chunk(autojump_clock):
    seen = await told("missing-last-chunk", stream(8, 1))
    assert (seen.events, seen.ending, seen.ended) == ([(0, 1), (1, 1), (2, 1)], Ending.FIN, 2)
    assert seen.body == chunk(event(1)) + chunk(event(2)) + chunk(event(3))
    assert trusting(seen) == Made("whole", "123")
    assert strict(seen) == careful(seen) == Made("broken", "123")
