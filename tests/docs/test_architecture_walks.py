"""The walks of docs/architecture.md are walked: the functions that they name are called, in the order in which they stand."""

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import trio

import chaosproxy
from chaosproxy.testing.h2_origin import serve_h2
from chaosproxy.testing.h2_peers import h2_client
from chaosproxy.testing.peers import Origin, Pause, RawClient
from chaosproxy.testing.proxied import linked
from chaosproxy.testing.recorder import Ending

PACKAGE = Path(chaosproxy.__file__).parent
PAGE = Path(__file__).parents[2] / "docs" / "architecture.md"
WALK = re.compile(r"<!-- walk: (\S+) -->\n```yaml\n(.*?)```\n\n(.*?)\n\n", re.DOTALL)
ROW = re.compile(r"^\| (?:`([^`]+)`)? ?\| `([^`]+)` \| \S.* \|$")
GET = b"GET /stream HTTP/1.1\r\nhost: origin\r\n\r\n"
OK = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
EVENTS = [b"data: %d\n\n" % number for number in range(1, 5)]
Call = tuple[str, str]


def walks() -> dict[str, tuple[str, list[Call]]]:
    """Each walk's scenario, and the functions that it names with their files."""
    found = {}
    for name, scenario, table in WALK.findall(PAGE.read_text(encoding="utf-8")):
        calls: list[Call] = []
        for row in table.splitlines()[2:]:
            cells = ROW.match(row)
            assert cells is not None, row
            calls.append((cells[1] or calls[-1][0], cells[2]))
        found[name] = (scenario, calls)
    return found


@contextmanager
def traced() -> Iterator[list[Call]]:
    """Every function of the package that is entered, generators and coroutines each time that they go on."""
    calls: list[Call] = []
    beginning = f"{PACKAGE}/"
    before = sys.getprofile()

    def note(frame, event, _):
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(beginning):
            calls.append((code.co_filename.removeprefix(beginning), code.co_qualname))

    sys.setprofile(note)
    try:
        yield calls
    finally:
        sys.setprofile(before)


def not_walked(walk: list[Call], calls: list[Call]) -> list[Call]:
    """The rest of the walk, from the first function on that is not called behind those in front of it."""
    ahead = iter(calls)
    for index, step in enumerate(walk):
        if step not in ahead:
            return walk[index:]
    return []


def chunk(event: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(event), event)


async def http1(scenario):
    origin = Origin([OK, *(step for event in EVENTS for step in (Pause(0.05), chunk(event))), Pause(60)])
    async with linked(scenario, origin.serve) as proxied, RawClient(proxied.connect()) as client:
        await client.send(GET)
        await client.read_until(b"0\r\n\r\n")
        record = await proxied.last()
    assert record.response.events_out == 3
    assert (record.end.by, record.end.how, record.end.cause) == ("proxy", "clean", "cut")


async def h2(scenario):
    async def answer(peer, stream):
        await peer.headers(stream, [(b":status", b"200"), (b"content-type", b"text/event-stream")])
        await trio.sleep(0.1)
        await peer.data(stream, EVENTS[0])
        await trio.sleep(0.1)
        await peer.data(stream, b"data: %b\n\n" % b"long".ljust(9000))
        await trio.sleep(0.1)
        await peer.data(stream, EVENTS[1], end=True)

    async with linked(scenario, lambda transport: serve_h2(transport, answer), upstream="h2c://origin") as proxied:
        async with h2_client(proxied.connect(), window=8000) as client:
            await client.request(1)
            await client.until(lambda: client.streams[1].ended)
        record = await proxied.last()
    assert record.response.events_out == 3


async def left(scenario):
    origin = Origin([OK, Pause(0.1), chunk(EVENTS[0]), Pause(3600)])
    async with linked(scenario, origin.serve) as proxied, RawClient(proxied.connect()) as client:
        await client.send(GET)
        await client.read_until(EVENTS[0])
        await client.leave(Ending.FIN)
        record = await proxied.last()
        await origin.requests[0].gone.wait()
    assert (record.end.by, record.end.how) == ("client", "fin")
    assert origin.requests[0].left_at < 2


@pytest.mark.parametrize(("name", "happens"), [("http/1.1", http1), ("h2", h2), ("left", left)])
async def test_a_walk_goes_where_the_page_says(name, happens, autojump_clock):
    scenario, walk = walks()[name]
    with traced() as calls:
        await happens(scenario)
    lost = not_walked(walk, calls)
    assert not lost, (
        f"docs/architecture.md: {' '.join(lost[0])} is not called here any more; walk the code, mend the page"
    )


def test_every_walk_is_walked():
    assert sorted(walks()) == ["h2", "http/1.1", "left"]


def test_a_function_out_of_order_is_noticed():
    assert not_walked([("a", "f"), ("a", "g")], [("a", "g"), ("b", "g"), ("a", "f"), ("a", "h")]) == [("a", "g")]
