"""Streams that fall silent, or only sound alive: what is on the wire, and who notices when."""

from chaosproxy.testing.peers import Ending
from tests.incidents.readers import gives_up_by_bytes, gives_up_by_content
from tests.virtual.shipped import stream, told


async def test_comments_keep_a_dead_stream_alive(autojump_clock):
    seen = await told("stall-comments", stream(8, 1), within=600)
    assert (seen.count, seen.ending) == (3, Ending.OPEN)
    assert [time for time, _ in seen.pieces if time > 2][:3] == [17, 32, 47]
    assert gives_up_by_bytes(seen, idle=60) is None
    assert gives_up_by_content(seen, idle=60) == 62
