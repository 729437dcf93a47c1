"""Several streams on one upstream connection: what comes in one read leaves in one write, and nothing waits for more."""

import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from chaosproxy.http2.frames import DATA, frame
from chaosproxy.testing.h2_origin import serve_h2
from chaosproxy.testing.h2_peers import h2_client
from chaosproxy.testing.proxied import linked

NUMBERS = (1, 3, 5)


def run(act, count=3):
    """`act(upstream)` once `count` streams have their heads; what the client saw of it: the peer, and its later reads."""

    async def main():
        opened = set()

        async def answer(peer, stream):
            await peer.headers(stream, [(b":status", b"200")])
            opened.add(stream)
            if len(opened) == count:
                await wait_all_tasks_blocked()
                heads.append(len(client.recorder.pieces))
                await act(peer)
                for number in sorted(opened):
                    await peer.data(number, b"", end=True)

        heads = []

        async def serve(transport):
            await serve_h2(transport, answer)

        async with linked(None, serve, upstream="h2c://origin") as proxied, h2_client(proxied.connect()) as client:
            numbers = range(1, 2 * count, 2)
            for number in numbers:
                await client.request(number)
            await client.until(lambda: all(client.streams[number].ended for number in numbers))
            return client, [data for _, data in client.recorder.pieces[heads[0] :]]

    return trio.run(main, clock=MockClock(autojump_threshold=0))


def test_one_read_of_several_streams_is_one_write_of_as_many_frames():
    sent = b"".join(frame(DATA, 0, number, b"%d of %d" % (turn, number)) for turn in range(4) for number in NUMBERS)
    client, reads = run(lambda peer: peer.recorder.send(sent))
    assert reads[0] == sent
    for number in NUMBERS:
        assert [payload for _, payload in client.streams[number].frames] == [
            b"%d of %d" % (n, number) for n in range(4)
        ]


def test_several_reads_are_several_writes_each_at_its_moment():
    async def act(peer):
        for number in NUMBERS:
            await peer.data(number, b"%d" % number)
            await trio.sleep(0.25)

    client, reads = run(act)
    assert reads[:3] == [frame(DATA, 0, number, b"%d" % number) for number in NUMBERS]
    times = [client.streams[number].frames[0][0] for number in NUMBERS]
    assert [round(time - times[0], 6) for time in times] == [0, 0.25, 0.5]


def test_what_takes_more_than_may_wait_together_is_all_there_at_once():
    count, payload = 10, b"x" * 3000
    numbers = range(1, 2 * count, 2)
    sent = b"".join(frame(DATA, 0, number, payload) for _ in range(2) for number in numbers)
    client, _ = run(lambda peer: peer.recorder.send(sent), count)
    frames = [one for number in numbers for one in client.streams[number].frames]
    assert [data for _, data in frames] == [payload] * 20
    assert len({time for time, _ in frames}) == 1


def test_an_ending_of_the_connection_stands_behind_what_came_before_it():
    scenario = {"version": 1, "faults": [{"cut": {"at": {"bytes": 3}, "then": "fin"}}]}
    sent = frame(DATA, 0, 1, b"ab") + frame(DATA, 0, 3, b"cd") + frame(DATA, 0, 5, b"ef") + frame(DATA, 0, 1, b"gh")

    async def main():
        async def answer(peer, stream):
            await peer.headers(stream, [(b":status", b"200")])
            if stream == NUMBERS[-1]:
                await peer.recorder.send(sent)

        async def serve(transport):
            await serve_h2(transport, answer)

        async with linked(scenario, serve, upstream="h2c://origin") as proxied, h2_client(proxied.connect()) as client:
            for number in NUMBERS:
                await client.request(number)
            await client.until_ended()
            return {number: client.streams[number].body for number in NUMBERS}

    assert trio.run(main, clock=MockClock(autojump_threshold=0)) == {1: b"abg", 3: b"cd", 5: b"ef"}


def test_an_upstream_whose_every_event_goes_straight_on_is_credited_before_its_window_is_empty():
    async def act(peer):
        for _ in range(300):
            await peer.data(1, b"x" * 300)

    client, _ = run(act, 1)
    assert client.streams[1].body == b"x" * 90_000
