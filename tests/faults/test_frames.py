"""`frames`: what is on the wire, that the windows hold, and that the answer is the same."""

import pytest
import trio

from chaosproxy.testing.h2_peers import PREFACE, h2_client
from chaosproxy.testing.peers import Origin
from chaosproxy.testing.proxied import linked
from chaosproxy.testing.recorder import Recorder
from tests.faults.sessions import LONG
from tests.faults.test_garbage import GET, SETTINGS
from tests.incidents.asking import ask
from tests.virtual.shipped import stream

SIZED = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nX-Long: %s\r\nContent-Length: 1000\r\n\r\n" % (b"v" * 300)
ANSWER = [SIZED, b"x" * 1000]
NO_ERROR, HEADERS, DATA, RST, CONTINUATION = 0, 1, 0, 3, 9


def scenario(**fault: object) -> dict[str, object]:
    return {"version": 1, "faults": [{"frames": fault}]}


async def frames_of(fault: dict[str, object]) -> list[tuple[int, int, int, bytes]]:
    """`(kind, flags, stream, payload)` of all that comes on stream 1."""
    async with linked(scenario(**fault), Origin(ANSWER).serve) as proxied:
        peer = Recorder(proxied.connect())
        await peer.send(PREFACE + SETTINGS + GET)
        data = b""
        with trio.move_on_after(30):
            while piece := await peer.read():
                data += piece
    found = []
    while data:
        size, kind, flags, number = int.from_bytes(data[:3], "big"), data[3], data[4], int.from_bytes(data[5:9], "big")
        found.append((kind, flags, number, data[9 : 9 + size]))
        data = data[9 + size :]
    return [one for one in found if one[2] == 1]


async def test_data_in_small_frames(autojump_clock):
    found = [payload for kind, _, _, payload in await frames_of({"data": 300}) if kind == DATA and payload]
    assert [len(payload) for payload in found] == [300, 300, 300, 100]


async def test_padding_is_in_each_frame(autojump_clock):
    found = [(flags, payload) for kind, flags, _, payload in await frames_of({"padding": 7}) if kind == DATA]
    assert [(flags & 0x8, len(payload), payload[0]) for flags, payload in found if len(payload) > 8] == [(8, 1008, 7)]
    assert found[-1][0] & 0x1, "the end"


async def test_the_head_goes_on_in_continuation_frames(autojump_clock):
    found = await frames_of({"block": 50})
    head = [one for one in found if one[0] in (HEADERS, CONTINUATION)]
    assert [kind for kind, *_ in head] == [HEADERS, *[CONTINUATION] * (len(head) - 1)]
    assert len(head) > 2
    assert all(len(payload) == 50 for *_, payload in head[:-1])
    assert [flags & 0x4 for _, flags, *_ in head] == [0] * (len(head) - 1) + [4]


async def test_a_reset_behind_the_end(autojump_clock):
    kinds = [kind for kind, *_ in await frames_of({"reset": "NO_ERROR"})]
    assert kinds in ([HEADERS, DATA, RST], [HEADERS, DATA, DATA, RST])


@pytest.mark.parametrize(
    ("fault", "size"),
    [({"data": 3}, 3000), ({"padding": 255}, 200_000), ({"data": 500, "padding": 100, "reset": "CANCEL"}, 100_000)],
)
async def test_the_answer_is_the_same_and_its_siblings_live(autojump_clock, fault, size):
    served = Origin(stream(8, 1), [b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % size, b"x" * size])
    async with linked(scenario(**fault), served.serve) as proxied, h2_client(proxied.connect()) as client:
        await client.request(1, "/sse")
        await trio.sleep(0.5)
        await client.request(3)
        await client.until(lambda: client.streams[1].over and client.streams[3].over, within=LONG)
        assert client.streams[1].body.count(b"data: ") == 9
        assert client.streams[3].body == b"x" * size
        assert (client.streams[1].ended, client.streams[3].ended, client.goaways) == (True, True, [])
        record = (await proxied.finished(2))[0]
    assert (record.end.how, [one.fault for one in record.faults]) == ("clean", ["frames"])


async def test_padding_gives_way_to_a_narrow_window(autojump_clock):
    served = Origin(ANSWER)
    async with (
        linked(scenario(padding=255), served.serve) as proxied,
        h2_client(proxied.connect(), window=10) as client,
    ):
        await client.request(1)
        await client.until(lambda: client.streams[1].over, within=LONG)
        assert client.streams[1].body == b"x" * 1000


async def test_on_http1_there_is_nothing_to_do(autojump_clock):
    async with linked(scenario(padding=9), Origin(stream(2, 1)).serve) as proxied:
        assert (await ask(proxied, LONG)).whole
        record = await proxied.last()
    assert [(one.fault, one.reason) for one in record.not_fired] == [("frames", "protocol")]


def test_what_makes_no_sense_is_refused(refused):
    refused("frames: {}", 13, "nothing to write otherwise")
    refused("frames: {padding: 256}", 23, "255")
    refused("frames: {data: 0}", 20, "1")
    refused("frames: {reset: NOPE}", 21, "NO_ERROR")
