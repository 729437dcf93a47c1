"""Whatever course an exchange takes, in any pair of protocols: it is journalled once, its bytes are a prefix of what was
sent, an unfinished answer looks unfinished, and nothing of it stays behind."""

import contextlib
from dataclasses import dataclass

import trio
import trio.testing
from hypothesis import given, settings
from hypothesis import strategies as st
from trio.testing import MockClock

from chaosproxy.testing.h2_origin import serve_h2
from chaosproxy.testing.h2_peers import h2_client
from chaosproxy.testing.peers import Ending, RawClient
from chaosproxy.testing.proxied import linked
from chaosproxy.testing.recorder import Recorder

PIECE = b"data: %d\n\n"
HOW = ["clean", "fin", "rst"]

endings = st.sampled_from(
    ["abort", "clean", "fin", "rst", "fin_mid_chunk", {"stream": "CANCEL"}, {"goaway": "NO_ERROR"}, {"status": 503}]
)
places = st.one_of(
    st.sampled_from(["request", "headers", "body", "end"]),
    st.builds(lambda n: {"event": n}, st.integers(1, 6)),
    st.builds(lambda n: {"bytes": n}, st.integers(1, 60)),
    st.builds(lambda n: {"time": f"{n}00ms"}, st.integers(1, 40)),
)
faults = st.one_of(
    st.builds(lambda at, then: {"cut": {"at": at, "then": then}}, places, endings),
    st.builds(lambda n: {"buffer": f"{n}"}, st.integers(1, 64)),
    st.builds(lambda n: {"buffer": {"events": n}}, st.integers(1, 4)),
    st.builds(lambda n: {"timeout": {"idle": f"{n}00ms"}}, st.integers(1, 30)),
    st.sampled_from([{"client_abort": "ignore"}, {"client_abort": "on_next_write"}]),
)
scenarios = st.one_of(
    st.none(), st.lists(faults, min_size=1, max_size=3).map(lambda found: {"version": 1, "faults": found})
)
pauses = st.sampled_from([0.0, 0.0, 0.1, 0.7, 2.0])


@dataclass(frozen=True)
class Course:
    """What either side does."""

    pieces: list[float]
    """A pause in front of each piece."""
    ending: str
    framed: bool
    """Chunked, or delimited by the connection's end."""
    client_leaves: float | None
    how: str


courses = st.builds(
    Course,
    pieces=st.lists(pauses, max_size=6),
    ending=st.sampled_from(HOW),
    framed=st.booleans(),
    client_leaves=st.one_of(st.none(), st.sampled_from([0.0, 0.05, 0.5, 1.5])),
    how=st.sampled_from(["fin", "rst"]),
)


def h1_upstream(course: Course):
    async def serve(transport) -> None:
        peer = Recorder(transport)
        try:
            while await peer.read():
                framing = b"Transfer-Encoding: chunked\r\n" if course.framed else b""
                await peer.send(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n" + framing + b"\r\n")
                for number, pause in enumerate(course.pieces):
                    await trio.sleep(pause)
                    piece = PIECE % number
                    await peer.send(b"%x\r\n%s\r\n" % (len(piece), piece) if course.framed else piece)
                if course.ending != "clean" or not course.framed:
                    await peer.leave(Ending.RST if course.ending == "rst" else Ending.FIN)
                    return
                await peer.send(b"0\r\n\r\n")
        except ConnectionError:
            pass
        finally:
            transport.close()

    return serve


def h2_upstream(course: Course):
    async def answer(peer, stream) -> None:
        await peer.headers(stream, [(b":status", b"200"), (b"content-type", b"text/event-stream")])
        for number, pause in enumerate(course.pieces):
            await trio.sleep(pause)
            await peer.data(stream, PIECE % number)
        if course.ending == "clean":
            await peer.data(stream, b"", end=True)
        elif course.ending == "fin":
            await peer.reset(stream, 0x8)
        else:
            await peer.leave(Ending.RST)

    return lambda transport: serve_h2(transport, answer)


async def h1_client(transport, course: Course) -> tuple[bytes, bool | None]:
    """The body received, and whether it came to a clean end; None where HTTP/1 cannot tell."""
    async with RawClient(transport) as client:
        await client.send(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        await client.read_all(60 if course.client_leaves is None else course.client_leaves)
        if course.client_leaves is not None and course.how == "rst" and client.ending is None:
            client.transport.rst()
    if b"chunked" not in client.head.lower():
        if b"content-length" in client.head.lower():  # an answer of the proxy's own
            return client.body, True
        return client.body, None if client.ending is Ending.FIN and client.head else False
    body, rest = b"", client.body
    while True:
        size, found, rest = rest.partition(b"\r\n")
        if not found or not size.strip():
            return body, False
        if int(size, 16) == 0:
            return body, rest.startswith(b"\r\n")
        body += rest[: int(size, 16)]
        rest = rest[int(size, 16) + 2 :]


async def h2_peer(transport, course: Course) -> tuple[bytes, bool]:
    async with h2_client(transport) as client:
        await client.request(1)
        stream = client.streams[1]
        with trio.move_on_after(60 if course.client_leaves is None else course.client_leaves):
            while not stream.over and client.ending is None:
                await client._news.park()
        if course.client_leaves is not None and not stream.over and client.ending is None:
            with contextlib.suppress(ConnectionError):  # the proxy may end it all at this very instant
                await client.reset(1)
            await trio.sleep(0)
    return stream.body, stream.ended


@settings(max_examples=200)
@given(course=courses, scenario=scenarios, client=st.sampled_from(["h1", "h2"]), upstream=st.sampled_from(["h1", "h2"]))
def test_any_course(course, scenario, client, upstream):
    async def main() -> None:
        serve, url = (h1_upstream(course), "http://o") if upstream == "h1" else (h2_upstream(course), "h2c://o")
        whole = b"".join(PIECE % number for number in range(len(course.pieces)))
        async with linked(scenario, serve, upstream=url) as proxied:
            talk = h1_client if client == "h1" else h2_peer
            body, clean = await talk(proxied.connect(), course)
            record = await proxied.last(within=120)
            await trio.sleep(5)  # endings take up to two seconds, for whoever does not read on
            assert proxied.proxy.journal.total == 1
            assert not proxied.proxy._exchanges
            assert not proxied.proxy._clients
            assert sum(len(pool.connections) for pool in proxied.proxy._pool.upstreams) <= 1
            own = record.response.status in (502, 503, 504)
            assert own or whole.startswith(body)
            assert record.end is not None
            if not own and clean and body != whole:
                assert (record.end.by, record.end.how) == ("proxy", "clean"), "only a fault truncates cleanly"
                assert any(fired.fault == "cut" and "clean" in fired.detail for fired in record.faults)
            if record.end.how == "clean" and course.client_leaves is None:
                assert clean is not False
            if (
                course.ending != "clean"
                and not own
                and record.end.by == "upstream"
                and (course.framed or upstream == "h2")
            ):
                assert not clean

    trio.run(main, clock=MockClock(autojump_threshold=0))
