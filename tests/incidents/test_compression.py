"""Encoders that gather: what is on the wire, and who notices."""

import zlib

from chaosproxy.testing.peers import Ending, Pause
from tests.incidents.readers import strict
from tests.virtual.shipped import GET, LAST, SSE, chunk, stream, told

PLAIN = GET.replace(b"Accept-Encoding: gzip\r\n", b"")


async def test_nothing_can_be_decoded_before_the_end(autojump_clock):
    seen = await told("gzip-until-end", stream(8, 1))
    assert b"\r\ncontent-encoding: gzip" in seen.raw.lower()
    assert [time for time, _ in seen.pieces] == [0, 8]
    assert zlib.decompress(seen.payload, 16 + zlib.MAX_WBITS).count(b"data: ") == 9


async def test_only_who_accepts_gzip_waits(autojump_clock):
    plain = await told("gzip-until-end", stream(3, 1), request=PLAIN)
    assert plain.events == [(0, 1), (1, 1), (2, 1), (3, 1)]
    assert b"content-encoding" not in plain.raw.lower()
    assert [time for time, _ in (await told("gzip-until-end", stream(3, 1))).pieces] == [0, 3]


async def test_heartbeats_stay_in_the_encoder(autojump_clock):
    pinging = [SSE, *[chunk(b": ping\n\n"), Pause(15)] * 10, chunk(b"data: 1\n\n"), LAST]
    seen = await told("gzip-swallows-pings", pinging)
    assert (seen.body, seen.ending, seen.ended) == (b"", Ending.FIN, 60)
    assert strict(seen).outcome == "broken"
    assert seen.record.end.cause == "timeout:idle"
    uncoded = await told("gzip-swallows-pings", pinging, request=PLAIN)
    assert (uncoded.whole, uncoded.count) == (True, 1)
