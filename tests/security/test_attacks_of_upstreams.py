"""Upstreams that attack, through the whole proxy: honest streams beside them are on time, and nothing stays behind."""

import trio

from chaosproxy.http2.frames import ACK, frame
from chaosproxy.model import codes
from chaosproxy.testing.h2_origin import serve_h2
from chaosproxy.testing.h2_peers import H2Peer, h2_client
from chaosproxy.testing.peers import Ending
from chaosproxy.testing.proxied import linked
from tests.security.flooding import BEFORE_OUR_SETTINGS, UPSTREAMS
from tests.security.h2_frames import OK, SETTINGS, setting
from tests.security.h2_worlds import PERIOD, Odd, attacks, quiet, watched
from tests.virtual.shipped import event


class Attacking:
    """An upstream that is honest on its first connection and attacks on every other."""

    def __init__(self) -> None:
        self.attack = ""
        self.heard: list[Odd] = []
        self._count = 0

    async def serve(self, transport) -> None:
        self._count += 1
        if self._count == 1:
            await serve_h2(transport, self._stream)
            return
        odd = Odd(transport, client=False)
        self.heard.append(odd)
        first = frame(SETTINGS, 0, 0) + (b"" if self.attack in BEFORE_OUR_SETTINGS else frame(SETTINGS, ACK, 0))
        await odd.say(first)
        await odd.listen(lambda: odd.heard.statuses)
        await attacks(odd, UPSTREAMS[self.attack])
        odd.leave()

    async def _stream(self, peer: H2Peer, number: int) -> None:
        await peer.headers(number, [*OK, (b"content-type", b"text/event-stream")])
        for one in range(1, 4 * len(UPSTREAMS) + 1):
            await peer.data(number, event(one))
            await trio.sleep(PERIOD)
        await peer.data(number, b"data: [DONE]\n\n", end=True)


async def test_upstreams_that_attack(autojump_clock, shown):
    served = Attacking()
    ends = set[str]()
    both = ("h2c://honest", "h2c://attacking")
    async with linked(None, served.serve, upstream=both) as proxied, watched(proxied.connect()) as honest:
        pool = proxied.proxy._pool
        await honest.begun()
        for name in UPSTREAMS:
            if name == "a thousand interim heads on each of its streams":
                continue  # a hundred clients at once: with one it is the next
            served.attack = name
            pool._turn = 1
            async with h2_client(proxied.connect()) as asking:
                await asking.request(1)
                await asking.until(lambda asking=asking: asking.streams[1].over)
                seen = asking.streams[1]
                ends.add(f"{seen.status}" if seen.ended else codes.code_name(seen.reset or 0))
            odd = served.heard[-1]
            with trio.fail_after(20):
                while odd.ending is None:
                    await trio.sleep(PERIOD)
            assert odd.heard.goaways == [codes.ENHANCE_YOUR_CALM], name
        await honest.over(4 * len(UPSTREAMS))
        await quiet(proxied, 1, 1)
        assert not pool.upstreams[1].connections
    assert "internal" not in {record.end.cause for record in proxied.exchanges}
    shown(
        "attacks",
        "honest streams from another upstream, while an upstream attacks",
        tried=len(served.heard),
        must="each event at its moment; the attacked request ends, its connection is gone",
        happens=f"each event at its moment; the request ends with {' or '.join(sorted(ends))}",
    )


async def test_an_upstream_that_allows_no_stream(autojump_clock, shown):
    """It says so behind its first answer: that connection is closed, the next request has its own."""
    peers: list[H2Peer] = []

    async def serve(transport) -> None:
        async def answer(peer: H2Peer, number: int) -> None:
            if peer not in peers:
                peers.append(peer)
            await peer.headers(number, OK, end=True)
            await trio.sleep(1)
            await peer._write(setting(3, 0))

        await serve_h2(transport, answer)

    async with linked(None, serve, upstream="h2c://o") as proxied, h2_client(proxied.connect()) as client:
        for number in range(1, 21, 2):
            await client.request(number)
            await client.until(lambda number=number: client.streams[number].over)
            assert client.streams[number].status == 200
            await trio.sleep(5)
            assert not proxied.proxy._pool.upstreams[0].connections
        assert len(peers) == 10
        assert {peer.ending for peer in peers} == {Ending.FIN}
    shown(
        "attacks",
        "an upstream that allows no further stream (MAX_CONCURRENT_STREAMS 0)",
        tried=10,
        must="no connection to it is kept for nothing; the next request has one of its own",
        happens=f"{len(peers)} requests, {len(peers)} connections, each closed",
    )


async def test_an_upstream_that_never_opens_its_window(autojump_clock, shown):
    """An upload waits, its client is told so by its own window, and the sibling on the same connection is answered."""
    client_sent = 0

    async def answer(peer: H2Peer, number: int) -> None:
        if dict(peer.streams[number].heads[0])[b":path"] == b"/quick":
            await peer.headers(number, OK, end=True)
        else:
            await trio.sleep_forever()

    async def serve(transport) -> None:
        await serve_h2(transport, answer, window=0)

    async with (
        linked(None, serve, upstream="h2c://o") as proxied,
        h2_client(proxied.connect()) as client,
        trio.open_nursery() as nursery,
    ):
        await client.request(1, method="POST", end=False)

        async def upload() -> None:
            nonlocal client_sent
            while True:
                await client.data(1, b"x" * 1000)
                client_sent += 1000

        nursery.start_soon(upload)
        await trio.sleep(3600)
        assert 0 < client_sent < 256 * 1024
        await client.request(3, "/quick")
        await client.until(lambda: client.streams[3].ended)
        nursery.cancel_scope.cancel()
        await client.reset(1)
        await proxied.finished(2)
    shown(
        "attacks",
        "an upstream whose window never opens, and an upload",
        tried=1,
        must="the client is held back, the sibling on the same connection is answered",
        happens=f"held back after {client_sent // 1024} KiB, for an hour; answered",
    )
