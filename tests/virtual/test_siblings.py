"""Streams of one HTTP/2 connection: whatever befalls some of them, the others get their bytes at their moments."""

from collections import Counter

import trio
from hypothesis import given, settings
from hypothesis import strategies as st
from trio.testing import MockClock

from chaosproxy.testing.h2_origin import serve_h2
from chaosproxy.testing.h2_peers import h2_client
from chaosproxy.testing.peers import Ending
from chaosproxy.testing.proxied import linked
from chaosproxy.testing.recorder import Recorder

FATES = ["whole", "reset by the upstream", "reset by the client", "stalled", "cut", "silent", "never answered"]
PIECE = b"0123456789" * 100
PIECES = 8

SCENARIO = {
    "version": 1,
    "rules": [
        {"match": {"path": "/cut"}, "faults": [{"cut": {"at": {"bytes": 2500}}}]},
        {"match": {"path": "/silent"}, "faults": [{"cut": {"at": {"bytes": 2500}, "then": "silence"}}]},
    ],
}

plans = st.lists(st.tuples(st.sampled_from(FATES), st.sampled_from([0.0, 0.1, 0.5])), min_size=2, max_size=8)


def by_moment(frames: list[tuple[float, bytes]], began: float) -> Counter[float]:
    """The bytes of each moment: where the connection's window ends, a frame is cut in two."""
    found: Counter[float] = Counter()
    for time, payload in frames:
        found[round(time - began, 6)] += len(payload)
    return found


def path(fate: str) -> str:
    return "/" + fate.replace(" ", "-")


async def h2_answer(peer, stream: int) -> None:
    asked = dict(peer.streams[stream].heads[0])[b":path"].decode()
    if asked == path("never answered"):
        return
    size = 200_000 if asked == path("stalled") else len(PIECE)
    await peer.headers(stream, [(b":status", b"200")])
    for number in range(PIECES):
        if number == 3 and asked == path("reset by the upstream"):
            await peer.reset(stream, 0x2)
            return
        for start in range(0, size, 10_000):
            await peer.data(stream, (PIECE * (size // len(PIECE)))[start : start + 10_000])
        await trio.sleep(1)
    await peer.data(stream, b"", end=True)


async def h1_answer(transport) -> None:
    peer = Recorder(transport)
    try:
        while asked := await peer.read():
            if path("never answered").encode() in asked:
                await peer.read()
                return
            piece = PIECE * 200 if path("stalled").encode() in asked else PIECE
            await peer.send(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % (PIECES * len(piece)))
            for number in range(PIECES):
                if number == 3 and path("reset by the upstream").encode() in asked:
                    await peer.leave(Ending.RST)
                    return
                await peer.send(piece)
                await trio.sleep(1)
    except ConnectionError:
        pass
    finally:
        transport.close()


@settings(max_examples=60)
@given(plan=plans, upstream=st.sampled_from(["h1", "h2"]))
def test_siblings(plan, upstream):
    streams = {1 + 2 * index: fate for index, (fate, _) in enumerate(plan)}
    began: dict[int, float] = {}

    async def main() -> None:
        if upstream == "h1":
            serve, url = h1_answer, "http://o"
        else:
            serve, url = (lambda transport: serve_h2(transport, h2_answer)), "h2c://o"
        async with linked(SCENARIO, serve, upstream=url) as proxied, h2_client(proxied.connect()) as client:
            client.stalled.update(number for number, fate in streams.items() if fate == "stalled")
            for number, (fate, pause) in zip(streams, plan, strict=True):
                await trio.sleep(pause)
                began[number] = trio.current_time()
                await client.request(number, path(fate))
            await trio.sleep(2.5)
            for number, fate in streams.items():
                if fate == "reset by the client":
                    await client.reset(number)
            await trio.sleep(60)
            for number, fate in streams.items():
                seen = client.streams[number]
                if fate == "whole":
                    assert by_moment(seen.frames, began[number]) == dict.fromkeys(range(PIECES), len(PIECE))
                assert seen.ended is (fate == "whole")
                assert seen.reset == (0x2 if fate in ("cut", "reset by the upstream") else None)
                if fate == "stalled":
                    assert len(seen.body) == 65535
                if fate in ("cut", "silent"):
                    assert len(seen.body) == 2500
            assert client.ending is None
            over = {"whole", "reset by the upstream", "reset by the client", "cut"}
            assert proxied.proxy.journal.total == sum(fate in over for fate in streams.values())
            await client.leave(Ending.FIN)
            await proxied.finished(len(streams))
            await trio.sleep(5)
            assert not proxied.proxy._clients

    trio.run(main, clock=MockClock(autojump_threshold=0))
