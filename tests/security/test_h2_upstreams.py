"""What an upstream does wrong on HTTP/2: through a client's session, and through the whole proxy beside a sibling."""

from collections.abc import Awaitable, Callable

import trio

from chaosproxy.http2.frames import ACK, frame
from chaosproxy.model import codes
from chaosproxy.model.messages import End, RequestHead
from chaosproxy.model.vocabulary import Role
from chaosproxy.session import Closing
from chaosproxy.testing.h2_peers import H2Peer, h2_client
from chaosproxy.testing.peers import Ending
from chaosproxy.testing.proxied import linked
from tests.http2.conftest import Wire
from tests.security.h2_frames import OK, SETTINGS, Said, moved
from tests.security.h2_upstream_list import ANSWERS, FALL, RESET, TAKEN
from tests.security.h2_worlds import PERIOD
from tests.virtual.shipped import event

CUTS = (False, True)
FEW = 4


def client(bytewise: bool, streams: int) -> Wire:
    """Whose upstream has greeted, and that has asked for so many answers."""
    wire = Wire(Role.CLIENT, bytewise)
    wire.feed(frame(SETTINGS, 0, 0), frame(SETTINGS, ACK, 0))
    for _ in range(streams):
        wire.session.send(wire.session.open(), [RequestHead(b"GET", b"/", authority=b"a", final=True), End()])
    wire.written()
    return wire


def test_what_costs_the_connection_and_what_a_stream(shown):
    tried, found = 0, set[str]()
    for bytewise in CUTS:
        for name, (frames, code) in FALL.items():
            wire = client(bytewise, 1)
            wire.feed(frames(wire))
            last = wire.written()[-1]
            assert (last.kind, last.body[0], wire.session.closing) == ("GOAWAY", code, Closing.FIN), name
            assert not wire.session.reusable
            found.add(codes.code_name(code))
            tried += 1
        for name, (frames, code) in RESET.items():
            wire = client(bytewise, 2)
            wire.feed(frames(wire))
            assert [(one.stream, one.body) for one in wire.written() if one.kind == "RST_STREAM"] == [(1, code)], name
            assert (wire.session.closing, wire.session.reusable) == (None, True), name
            signals = wire.feed(wire.headers(3, (*OK, (b"x", b"in step")), end=True))
            assert signals[0][1].headers == ((b"x", b"in step"),), name
            tried += 1
    shown(
        "http2",
        "an upstream's broken frames and answers, as a client",
        tried=tried,
        must="a malformed answer costs its stream, a broken frame the connection, whole and byte by byte",
        happens=f"connection: {len(FALL)}, stream: {len(RESET)} ({', '.join(sorted(found))})",
    )


class Upstream:
    """An HTTP/2 origin: `/sse` is an honest stream; everything else is answered by `odd(peer, stream)`."""

    def __init__(self, odd: Callable[[H2Peer, int], Awaitable[None]]) -> None:
        self.peers: list[H2Peer] = []
        self._odd = odd

    async def serve(self, transport) -> None:
        peer = H2Peer(transport, client=False)
        peer._decoder.max_allowed_table_size = 2**32 - 1  # whatever is announced
        self.peers.append(peer)
        async with trio.open_nursery() as nursery:

            async def answer(stream: int) -> None:
                try:
                    if dict(peer.streams[stream].heads[0])[b":path"] == b"/sse":
                        await self._stream(peer, stream)
                    else:
                        await self._odd(peer, stream)
                except ConnectionError:
                    pass  # it has been left

            peer.on_head = lambda stream: nursery.start_soon(answer, stream)
            await peer.start()
            await peer.read()
            nursery.cancel_scope.cancel()
        transport.close()

    async def _stream(self, peer: H2Peer, stream: int) -> None:
        await peer.headers(stream, [*OK, (b"content-type", b"text/event-stream")])
        for number in range(1, FEW + 1):
            await peer.data(stream, event(number))
            await trio.sleep(PERIOD)
        await peer.data(stream, b"", end=True)


async def test_a_broken_answer_costs_its_stream_and_no_sibling(autojump_clock, shown):
    """The sibling is another client's, on the same connection to the upstream."""
    ends: set[str] = set()

    async def odd(peer: H2Peer, stream: int) -> None:
        frames, _ = RESET[name]
        await peer._write(moved(frames(Said(peer._encoder)), stream - 1))

    served = Upstream(odd)
    async with (
        linked(None, served.serve, upstream="h2c://o") as proxied,
        h2_client(proxied.connect()) as honest,
        h2_client(proxied.connect()) as asking,
    ):
        for number, (name, (_, code)) in enumerate(RESET.items()):
            stream, began = 2 * number + 1, trio.current_time()
            await honest.request(stream, "/sse")
            await trio.sleep(PERIOD / 2)
            asking.stalled.add(stream)
            await asking.request(stream, "/odd")
            await trio.sleep(PERIOD / 4)
            await asking.credit(stream, 1 << 20)  # not before: it would take what is more than the window
            await asking.until(lambda stream=stream: asking.streams[stream].over)
            await honest.until(lambda stream=stream: honest.streams[stream].over)
            seen, odd_one = honest.streams[stream], asking.streams[stream]
            assert [round((time - began) / PERIOD, 6) for time, _ in seen.frames] == list(range(FEW)), name
            assert (seen.body, seen.ended) == (b"".join(map(event, range(1, FEW + 1))), True), name
            (peer,) = served.peers
            resets = {one: peer.streams[one].reset for one in peer.streams if peer.streams[one].reset is not None}
            assert list(resets.values()) == [RESET[one][1] for one in list(RESET)[: number + 1]], name
            assert (peer.goaways, code) == ([], resets[max(resets)]), name
            if odd_one.reset is None:
                assert (odd_one.status, odd_one.body[:11]) == (502, b"chaosproxy:"), name
                ends.add("502 before the head")
            else:
                assert (odd_one.status in (200, 204, 304), odd_one.ended) == (True, False), name
                ends.add("RST_STREAM behind it")
        assert (honest.goaways, asking.goaways) == ([], [])
    shown(
        "http2",
        "an upstream's broken answers, beside a sibling of another client on the same connection",
        tried=len(RESET),
        must="RST_STREAM of that stream alone, a 502 or an unclean end for its client; the sibling on time",
        happens=f"RST_STREAM of that stream alone, {' or '.join(sorted(ends))}; every byte at its moment",
    )


async def test_a_broken_frame_costs_the_connection_and_the_next_request_has_another(autojump_clock, shown):
    async def odd(peer: H2Peer, stream: int) -> None:
        await peer._write(moved(FALL[name][0](Said(peer._encoder)), stream - 1))

    served = Upstream(odd)
    ends: set[str] = set()
    async with linked(None, served.serve, upstream="h2c://o") as proxied, h2_client(proxied.connect()) as asking:
        for number, (name, (_, code)) in enumerate(FALL.items()):
            stream = 4 * number + 1
            await asking.request(stream, "/odd")
            await asking.until(lambda stream=stream: asking.streams[stream].over)
            broken = served.peers[-1]
            with trio.fail_after(100):
                assert await broken.until_ended() is Ending.FIN, name
            assert [one for one, _ in broken.goaways] == [code], name
            ends.add(f"{asking.streams[stream].status}" if asking.streams[stream].reset is None else "an unclean end")
            await asking.request(stream + 2, "/sse")
            await asking.until(lambda stream=stream: asking.streams[stream + 2].ended)
            assert asking.streams[stream + 2].body == b"".join(map(event, range(1, FEW + 1))), name
            await served.peers[-1].goaway(2**31 - 1)  # each case has a connection of its own
            await trio.sleep(1)
        assert asking.goaways == []
    assert "internal" not in {record.end.cause for record in proxied.exchanges}
    shown(
        "http2",
        "an upstream's broken frames, through the proxy",
        tried=len(FALL),
        must="GOAWAY with the code of RFC 9113 and FIN; an answer or an end for the client; the next request has a new connection",
        happens=f"GOAWAY, FIN; {', '.join(sorted(ends))}; a new connection",
    )


async def test_what_an_upstream_may_say(autojump_clock, shown):
    cases = {**TAKEN, **ANSWERS}

    async def odd(peer: H2Peer, stream: int) -> None:
        said = Said(peer._encoder)
        await peer._write(moved(cases[name](said), stream - 1))
        if name in TAKEN:
            await peer._write(said.headers(stream, OK) + said.data(stream, b"ok", end=True))

    served = Upstream(odd)
    answers: set[str] = set()
    async with linked(None, served.serve, upstream="h2c://o") as proxied, h2_client(proxied.connect()) as asking:
        for number, name in enumerate(cases):
            stream = 2 * number + 1
            await asking.request(stream, "/odd")
            await asking.until(lambda stream=stream: asking.streams[stream].over)
            seen = asking.streams[stream]
            assert (seen.status, seen.body, seen.ended) == (200, b"ok", True), name
            answers.add(str(seen.status))
    assert all(peer.streams[stream].reset is None for peer in served.peers for stream in peer.streams)
    shown(
        "http2",
        "what is unusual and allowed of an upstream",
        tried=len(cases),
        must="its answer passes",
        happens=", ".join(sorted(answers)),
    )
