"""What the journal counts is what a raw reader saw, to the byte and the event, whatever the faults and wherever the reads
were cut; and what is not cut short comes whole."""

import contextlib

import trio
from hypothesis import given, settings
from hypothesis import strategies as st
from trio.testing import MockClock

from chaosproxy.testing.peers import RawClient
from chaosproxy.testing.proxied import linked
from chaosproxy.testing.recorder import Recorder

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"

places = st.one_of(
    st.just("headers"),
    st.builds(lambda n: {"event": n}, st.integers(1, 8)),
    st.builds(lambda n: {"event": n, "every": 2}, st.integers(1, 4)),
    st.builds(lambda n: {"bytes": n}, st.integers(1, 90)),
    st.builds(lambda n: {"time": f"{n}00ms"}, st.integers(1, 20)),
)
holding = st.one_of(
    st.builds(lambda n: {"latency": f"{n}ms"}, st.integers(1, 900)),
    st.builds(lambda n: {"latency": {"delay": "300ms", "jitter": f"{n}ms"}}, st.integers(1, 300)),
    st.builds(lambda at, n: {"stall": {"at": at, "for": f"{n}00ms"}}, places, st.integers(1, 20)),
    st.builds(lambda n: {"pace": {"events": n, "every": "70ms"}}, st.integers(1, 3)),
    st.builds(lambda n: {"pace": {"bytes": n, "every": "30ms"}}, st.integers(1, 30)),
    st.builds(lambda n: {"bandwidth": f"{n}B/s"}, st.integers(50, 2000)),
    st.builds(lambda n: {"buffer": f"{n}"}, st.integers(1, 64)),
    st.builds(lambda n: {"buffer": {"events": n, "every": "400ms"}}, st.integers(1, 4)),
)
ending = st.one_of(
    st.builds(lambda at, then: {"cut": {"at": at, "then": then}}, places, st.sampled_from(["clean", "fin", "rst"])),
    st.builds(lambda n: {"timeout": {"idle": f"{n}00ms", "then": "clean"}}, st.integers(1, 9)),
)
hops = st.lists(st.lists(st.one_of(holding, holding, ending), min_size=1, max_size=3), min_size=1, max_size=3)


def decoded(raw: bytes) -> bytes:
    """The content of chunks, as far as it came."""
    body = b""
    while raw:
        size, _, raw = raw.partition(b"\r\n")
        body, raw = body + raw[: int(size or b"0", 16)], raw[int(size or b"0", 16) + 2 :]
    return body


@settings(max_examples=40)
@given(
    hops=hops,
    number=st.integers(0, 14),
    cuts=st.lists(st.tuples(st.integers(1, 60), st.sampled_from([0.0, 0.0, 0.05, 0.7])), max_size=8),
)
def test_the_journal_counts_what_a_reader_saw(hops, number, cuts):
    body = b"".join(b"data: %d\n\n" % one for one in range(number))
    stream = (
        b"".join(b"%x\r\ndata: %d\n\n\r\n" % (len(b"data: %d\n\n" % one), one) for one in range(number)) + b"0\r\n\r\n"
    )

    async def serve(transport) -> None:
        peer = Recorder(transport)
        await peer.read()
        await peer.send(HEAD)
        left = stream
        with contextlib.suppress(ConnectionError):  # a fault has ended it
            for size, pause in cuts:
                await peer.send(left[:size])
                await trio.sleep(pause)
                left = left[size:]
            await peer.send(left)
        await trio.sleep(300)

    async def main() -> None:
        document = {"version": 1, "hops": [{"faults": faults} for faults in hops]}
        async with linked(document, serve) as proxied, RawClient(proxied.connect()) as client:
            await client.send(b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            await client.read_all(120)
            record = await proxied.last(within=120)
            seen = decoded(client.body)
            assert record.response.status == 200
            assert body.startswith(seen)
            assert record.response.bytes_out == len(seen)
            assert record.response.events_out == seen.count(b"\n\n")
            if not any("cut" in fault or "timeout" in fault for faults in hops for fault in faults):
                assert seen == body
                assert (record.response.bytes_in, record.response.events_in) == (len(body), number)

    trio.run(main, clock=MockClock(autojump_threshold=0))
