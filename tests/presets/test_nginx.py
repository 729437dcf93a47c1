"""nginx, row by row of what was measured on the real one: in virtual time, so that every figure is exact."""

import contextlib

import pytest
import trio

from chaosproxy.scenario.load import examine, load
from chaosproxy.testing.h2_peers import h2_client
from chaosproxy.testing.peers import Ending, Pause, RawClient
from chaosproxy.testing.proxied import linked
from chaosproxy.testing.recorder import Recorder
from tests.presets.seeing import LAST, answer, chunk, event, look, noise, stream_of

BOTH = ["http/1.1", "h2"]
EACH = [(20 * number, 1) for number in range(1, 61)]
"""60 events, each as it comes."""
WHOLE = [(1200, 60)]
"""The same, all at the end."""
HEADS = {"http/1.1": 1200, "h2": 0}
"""When the head comes of an answer that waits for its end."""
OFF = {"proxy_buffering": "off"}
HINT = b"X-Accel-Buffering: no\r\n"


def nginx(version="1.31", **parameters):
    return {"version": 1, "hops": [{"preset": f"nginx-{version}", **parameters}]}


# ---- what is held: the framing decides


@pytest.mark.parametrize("protocol", BOTH)
@pytest.mark.parametrize(
    ("framing", "parameters", "fields", "bursts"),
    [
        ("chunked", {}, b"", EACH),
        ("chunked", OFF, b"", EACH),
        ("close", {}, b"", WHOLE),
        ("cl", {}, b"", WHOLE),
        ("close", OFF, b"", EACH),
        ("cl", OFF, b"", EACH),
        # Larger buffers, no file, nothing postponed: no change for small chunks.
        ("chunked", {"proxy_buffer_size": "8k", "proxy_buffers": "8 8k"}, b"", EACH),
        ("chunked", {"proxy_max_temp_file_size": 0}, b"", EACH),
        ("chunked", {"postpone_output": 0}, b"", EACH),
        # The server has the last word.
        ("close", {}, HINT, EACH),
        ("cl", {}, HINT, EACH),
        ("close", OFF, b"X-Accel-Buffering: yes\r\n", WHOLE),
    ],
)
async def test_what_is_held(autojump_clock, protocol, framing, parameters, fields, bursts):
    seen = await look(nginx(**parameters), answer(framing, fields=fields), protocol)
    assert seen.bursts == bursts
    assert (seen.status, seen.end) == (200, ("clean", 1200))
    assert b"x-accel-buffering" not in seen.fields


async def test_the_type_of_the_answer_is_nothing_to_it(autojump_clock):
    plain = b"Content-Type: text/plain\r\n"
    assert (await look(nginx(), answer("chunked", content=plain))).bursts == EACH
    assert (await look(nginx(), answer("close", content=plain))).bursts == WHOLE


async def test_a_buffer_is_a_page_and_the_first_holds_the_head_too(autojump_clock):
    seen = await look(nginx(), answer("close", size=300, fields=b"X-Padding: 1234567890123456789012345678\r\n"))
    # A head of 93 bytes: 4,003 of the body and then 4,096 each are 13.3, 27, 40.7 and 54.3 events.
    assert seen.bursts == [(280, 13), (540, 13), (820, 14), (1100, 14), (1200, 6)]
    large = await look(nginx(), answer("close", size=2000, count=6))
    assert large.bursts == [(60, 2), (100, 2), (120, 2)]


async def test_a_chunk_that_fills_a_buffer_comes_late_by_its_last_part(autojump_clock):
    """`proxy_buffers 8 1k` and events of 2,000 bytes: each is complete when the next one comes."""
    one_k = {"proxy_buffer_size": "1k", "proxy_buffers": "8 1k"}
    seen = await look(nginx(**one_k), answer("chunked", size=2000, count=5))
    assert (seen.head, seen.bursts) == (20, [(40, 1), (60, 1), (80, 1), (100, 2)])
    fits = await look(nginx(), answer("chunked", size=2000, count=5))
    assert fits.bursts == [(20, 1), (40, 1), (60, 1), (80, 1), (100, 1)]
    assert (await look(nginx(**one_k, **OFF), answer("chunked", size=2000, count=5))).bursts == fits.bursts


@pytest.mark.parametrize(
    ("version", "parameters", "line", "closes"),
    [
        ("1.22", {}, b"GET /sse HTTP/1.0", True),
        ("1.22", {"proxy_http_version": "1.1"}, b"GET /sse HTTP/1.1", False),
        ("1.31", {}, b"GET /sse HTTP/1.1", False),
        ("1.31", {"proxy_http_version": 1.0}, b"GET /sse HTTP/1.0", True),
    ],
)
async def test_the_version_in_which_it_asks(autojump_clock, version, parameters, line, closes):
    seen = await look(nginx(version, **parameters), answer("chunked"))
    assert seen.asked.startswith(line + b"\r\n")
    assert (b"\r\nConnection: close\r\n" in seen.asked) is closes
    assert seen.bursts == EACH, "chunks pass, whoever sends them"


async def test_alone_it_asks_for_the_servers_name(autojump_clock):
    assert b"\r\nHost: origin\r\n" in (await look("nginx-1.22", answer("chunked"))).asked
    assert b"\r\nHost: x\r\n" in (await look(nginx("1.22"), answer("chunked"))).asked


async def test_two_of_them_hold_twice(autojump_clock):
    """The one nearer the client asks in HTTP/1.0 too, and gets no chunks from the one in front of it."""
    two = {"version": 1, "hops": [{"preset": "nginx-1.22"}, {"preset": "nginx-1.22"}]}
    seen = await look(two, answer("chunked", size=300))
    assert seen.head == seen.bursts[0][0] == 280
    both = {"version": 1, "hops": [{"preset": "nginx-1.22", **OFF}, {"preset": "nginx-1.22", **OFF}]}
    assert (await look(both, answer("chunked"))).bursts == EACH


# ---- when the client sees the head


HELD = {"count": 21, "gap": 0.02, "first": 1.0}
"""The head at 0, the first event at 1,000 ms, the end at 1,400."""


@pytest.mark.parametrize(
    ("framing", "parameters", "h1", "h2", "first"),
    [
        ("chunked", {}, 1000, 0, 1000),
        ("close", {}, 1400, 0, 1400),
        ("cl", {}, 1400, 0, 1400),
        ("chunked", OFF, 0, 0, 1000),
        ("close", OFF, 0, 0, 1000),
        ("chunked", {"postpone_output": 0}, 0, 0, 1000),
        ("close", {"postpone_output": 0}, 0, 0, 1400),
    ],
)
async def test_the_head(autojump_clock, framing, parameters, h1, h2, first):
    for protocol, head in (("http/1.1", h1), ("h2", h2)):
        seen = await look(nginx(**parameters), answer(framing, **HELD), protocol)
        assert (seen.head, seen.bursts[0][0], seen.events) == (head, first, 21)


async def test_what_its_head_says(autojump_clock):
    fields = b"Server: uvicorn\r\nX-Accel-Limit-Rate: 100\r\nX-Own: 1\r\n"
    seen = await look(nginx(), answer("chunked", fields=fields))
    assert (seen.fields[b"server"], seen.fields[b"x-own"]) == (b"nginx/1.31.3", b"1")
    assert b"x-accel-limit-rate" not in seen.fields
    assert (await look(nginx("1.22"), answer("chunked"))).fields[b"server"] == b"nginx/1.22.1"
    assert (await look(nginx(server_tokens="off"), answer("chunked"))).fields[b"server"] == b"nginx"
    for framing in ("chunked", "close"):
        assert (await look(nginx(), answer(framing))).fields[b"transfer-encoding"] == b"chunked"
    assert (await look(nginx(), answer("cl"))).fields[b"content-length"] == b"3000"


# ---- gzip


ASKS = b"Accept-Encoding: gzip\r\n"
GZIP = {"gzip": "on", "gzip_types": "text/event-stream application/json"}


@pytest.mark.parametrize("protocol", BOTH)
@pytest.mark.parametrize(
    ("parameters", "framing", "fields", "bursts"),
    [
        (GZIP, "chunked", b"", WHOLE),
        (GZIP, "close", b"", WHOLE),
        ({**GZIP, **OFF}, "chunked", b"", EACH),
        (GZIP, "chunked", HINT, EACH),
        ({**GZIP, **OFF}, "chunked", b"X-Accel-Buffering: yes\r\n", WHOLE),
    ],
)
async def test_compressed(autojump_clock, protocol, parameters, framing, fields, bursts):
    seen = await look(nginx(**parameters), answer(framing, fields=fields), protocol, asks=ASKS)
    assert seen.fields[b"content-encoding"] == b"gzip"
    assert (seen.bursts, seen.end) == (bursts, ("clean", 1200))
    assert b"vary" not in seen.fields
    if bursts == WHOLE:
        assert seen.head == HEADS[protocol]


async def test_compressed_where_it_is_asked_for_and_of_a_type_that_is(autojump_clock):
    for asks, parameters in ((b"", GZIP), (ASKS, {"gzip": "on"}), (ASKS, {})):
        seen = await look(nginx(**parameters), answer("chunked"), asks=asks)
        assert (b"content-encoding" in seen.fields, seen.bursts) == (False, EACH)
    varied = await look(nginx(**GZIP, gzip_vary="on"), answer("chunked"), asks=ASKS)
    assert varied.fields[b"vary"] == b"Accept-Encoding"
    html = await look(nginx(gzip="on"), answer("chunked", content=b"Content-Type: text/html\r\n"), asks=ASKS)
    assert html.fields[b"content-encoding"] == b"gzip"
    anything = await look(nginx(gzip="on", gzip_types="*"), answer("chunked"), asks=ASKS)
    assert anything.fields[b"content-encoding"] == b"gzip"


async def test_what_cannot_be_compressed_comes_a_block_at_a_time(autojump_clock):
    """68 events of 500 bytes: one emission of some 12 KB or more in mid-stream, and the rest at the end."""
    seen = await look(nginx(**GZIP), answer("chunked", count=68, size=500, make=noise), asks=ASKS)
    assert seen.head == seen.bursts[0][0]
    assert 600 < seen.head < 800
    assert seen.bursts[-1][0] == 1360
    assert 2 <= len(seen.bursts) <= 4


# ---- failures


BROKEN = {"http/1.1": "fin", "h2": "reset:2"}
"""What an answer that broke off is to its client."""


@pytest.mark.parametrize("protocol", BOTH)
@pytest.mark.parametrize("parameters", [{}, OFF])
async def test_silence_in_mid_stream(autojump_clock, protocol, parameters):
    """Events 350 ms apart: the timer is moved by each."""
    script = answer("chunked", count=3, gap=0.35, end="open")
    seen = await look(nginx(**parameters, proxy_read_timeout="2s"), script, protocol)
    assert (seen.events, seen.end, seen.upstream) == (3, (BROKEN[protocol], 3050), ("fin", 3050))


@pytest.mark.parametrize(
    ("gap", "count", "silence"),
    [(0.02, 30, (1700, 2000)), (0.1, 10, (1700, 2000)), (0.35, 5, (2000, 2000))],
)
async def test_its_timer_is_lazy(autojump_clock, gap, count, silence):
    script = answer("chunked", count=count, gap=gap, end="open")
    seen = await look(nginx(proxy_read_timeout="2s"), script)
    assert silence[0] <= seen.at - seen.bursts[-1][0] <= silence[1]
    assert seen.ended == "fin"


@pytest.mark.parametrize("protocol", BOTH)
@pytest.mark.parametrize("parameters", [{}, OFF])
async def test_silence_before_the_head(autojump_clock, protocol, parameters):
    seen = await look(nginx(**parameters, proxy_read_timeout="2s"), [Pause(4), *answer("chunked")], protocol)
    assert (seen.status, seen.head, seen.end, seen.upstream) == (504, 2000, ("clean", 2000), ("fin", 2000))
    assert (seen.fields[b"content-type"], seen.fields[b"server"]) == (b"text/html", b"nginx/1.31.3")
    assert b"504 Gateway Time-out" in seen.payload


@pytest.mark.parametrize("protocol", BOTH)
@pytest.mark.parametrize(
    ("framing", "end", "parameters", "events", "ended"),
    [
        # FIN: in mid-chunks it is seen; of a body that ends with its connection it is the end.
        ("chunked", "fin", {}, 30, None),
        ("chunked", "fin", OFF, 30, None),
        ("close", "fin", {}, 30, "clean"),
        ("close", "fin", OFF, 30, "clean"),
        ("cl", "fin", {}, 30, None),
        ("cl", "fin", OFF, 30, None),
        # RST: never passed on as one; what waits in a buffer is lost.
        ("chunked", "rst", {}, 30, None),
        ("chunked", "rst", OFF, 30, None),
        ("close", "rst", OFF, 30, None),
        ("close", "rst", {}, 0, None),
        ("cl", "rst", {}, 0, None),
    ],
)
async def test_an_answer_that_breaks_off(autojump_clock, protocol, framing, end, parameters, events, ended):
    seen = await look(nginx(**parameters), answer(framing, count=30, end=end), protocol)
    assert (seen.status, seen.events, seen.end) == (200, events, (ended or BROKEN[protocol], 620))


@pytest.mark.parametrize("protocol", BOTH)
@pytest.mark.parametrize("ending", [Ending.FIN, Ending.RST])
async def test_a_server_that_breaks_off_before_its_head(autojump_clock, protocol, ending):
    seen = await look(nginx(), [Pause(0.5), ending], protocol)
    assert (seen.status, seen.end) == (502, ("clean", 500))
    assert b"502 Bad Gateway" in seen.payload
    assert seen.fields[b"server"] == b"nginx/1.31.3"


async def test_asked_in_http_1_0_a_server_that_dies_looks_as_if_it_had_ended(autojump_clock):
    for protocol in BOTH:
        seen = await look(nginx("1.22"), answer("close", count=30, end="fin"), protocol)
        assert (seen.events, seen.ended) == (30, "clean")


# ---- the client goes away


@pytest.mark.parametrize(
    ("protocol", "how"), [("http/1.1", "fin"), ("http/1.1", "rst"), ("h2", "stream"), ("h2", "fin"), ("h2", "rst")]
)
@pytest.mark.parametrize("parameters", [{}, OFF])
async def test_a_client_that_leaves_is_gone_at_once(autojump_clock, protocol, how, parameters):
    streaming = await look(nginx(**parameters), answer("chunked"), protocol, leave=(0.49, how))
    assert streaming.upstream == ("fin", 490)
    idle = await look(nginx(**parameters), answer("chunked", count=3, end="open"), protocol, leave=(2.0, how))
    assert idle.upstream == ("fin", 2000)


@pytest.mark.parametrize(
    ("protocol", "how"), [("http/1.1", "fin"), ("http/1.1", "rst"), ("h2", "stream"), ("h2", "fin"), ("h2", "rst")]
)
@pytest.mark.parametrize("parameters", [{}, OFF])
async def test_or_at_the_next_write(autojump_clock, protocol, how, parameters):
    ignoring = nginx(**parameters, proxy_ignore_client_abort="on")
    streaming = await look(ignoring, answer("chunked"), protocol, leave=(0.49, how))
    assert streaming.upstream[0] == "fin"
    assert 500 <= streaming.upstream[1] <= 540, "behind one to three events"
    events = [step for number in range(2, 10) for step in (chunk(event(number)), Pause(0.02))]
    late = stream_of(Pause(0.1), chunk(event(1)), Pause(4), *events, Pause(4), LAST)
    idle = await look(ignoring, late, protocol, leave=(0.5, how))
    assert idle.upstream[0] == "fin"
    assert 4100 <= idle.upstream[1] <= 4140


async def test_a_client_that_half_closes(autojump_clock):
    left = await look(nginx(), answer("chunked"), leave=(0.49, "half"))
    assert (left.events, left.end, left.upstream) == (24, ("fin", 490), ("fin", 490))
    served = await look(nginx(proxy_ignore_client_abort="on"), answer("chunked"), leave=(0.49, "half"))
    assert (served.events, served.ended) == (60, "clean")


# ---- the client does not read


PIECE = chunk(event(1, 20_000))
PIECES = 200
"""4 MB."""


class Flood:
    """A server that sends as fast as it is let, and counts."""

    def __init__(self) -> None:
        self.sent = 0
        self.left_at: float | None = None

    async def serve(self, transport) -> None:
        peer = Recorder(transport)
        try:
            await peer.read()
            await peer.send(stream_of()[0])
            for _ in range(PIECES):
                await peer.send(PIECE)
                self.sent += 1
            await peer.send(LAST)
            await peer.read()
        except ConnectionError:
            pass
        self.left_at = trio.current_time()
        transport.close()


@contextlib.asynccontextmanager
async def unread(protocol, **parameters):
    """The flood, what a client that reads nothing has for itself, and when it began."""
    flood = Flood()
    async with linked(nginx(**parameters), flood.serve) as proxied:
        began = trio.current_time()
        if protocol == "h2":
            async with h2_client(proxied.connect()) as client:
                client.stalled.add(1)
                await client.request(1, "/")
                yield flood, proxied, client, began
            return
        async with RawClient(proxied.connect()) as client:
            await client.send(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            yield flood, proxied, client, began


@pytest.mark.parametrize("protocol", BOTH)
@pytest.mark.parametrize(
    ("parameters", "most"),
    [({}, PIECES), (OFF, 20), ({"proxy_max_temp_file_size": 0}, 20), ({"proxy_max_temp_file_size": "2m"}, 130)],
)
async def test_what_is_not_read_is_taken_from_the_server_or_not(autojump_clock, protocol, parameters, most):
    never = {"send_timeout": "1h", "proxy_read_timeout": "1h"}
    async with unread(protocol, **parameters, **never) as (flood, _, client, _):
        await trio.sleep(100)
        assert flood.sent == PIECES if most == PIECES else most - 30 < flood.sent <= most
        if protocol == "h2":
            assert len(client.streams[1].body) == 65_535
            return
        while not (await client.read()).endswith(LAST):
            pass
        assert flood.sent == PIECES


@pytest.mark.parametrize("parameters", [OFF, {"proxy_max_temp_file_size": 0}])
async def test_a_client_that_reads_nothing_is_given_up(autojump_clock, parameters):
    async with unread("http/1.1", **parameters, send_timeout="2s") as (flood, proxied, client, began):
        record = await proxied.last(within=100)
        assert (record.end.by, record.end.how, record.end.cause) == ("proxy", "fin", "timeout:blocked")
        assert record.times.end == pytest.approx(2)
        await trio.sleep(10)
        assert flood.left_at - began == pytest.approx(2)
        assert await client.read_all(within=1000) is Ending.FIN
        assert not client.received.endswith(LAST)
    async with unread("h2", **parameters, send_timeout="2s") as (flood, _, client, began):
        await client.until(lambda: client.streams[1].over, within=1000)
        assert trio.current_time() - began == pytest.approx(2)
        assert (client.streams[1].reset, len(client.streams[1].body)) == (1, 65_535)
        assert client.goaways == []


# ---- what cannot be


@pytest.mark.parametrize(
    ("parameters", "column", "said"),
    [
        ("proxy_buffers: 8", 44, "found the number 8: quote it if it is text"),
        ("proxy_buffers: 8x4k", 44, "expected a number and a size: 8 4k"),
        ("proxy_buffers: 0 4k", 44, "expected a number and a size: 8 4k"),
        ("proxy_buffers: 8 4parsec", 44, "expected a number and a size: 8 4k"),
        ("proxy_buffer_size: 0", 48, "a buffer has at least one byte"),
        ("proxy_buffering: false", 46, "expected one of on, off"),
        ("proxy_http_version: 2", 49, "expected one of 1.0, 1.1"),
        ("gzip_comp_level: 10", 46, "a whole number from 1 to 9"),
        ("proxy_read_timout: 60s", 29, "did you mean 'proxy_read_timeout'?"),
    ],
)
def test_a_mistake_has_its_place(parameters, column, said):
    _, (problem,) = examine(f"version: 1\nhops: [{{preset: nginx-1.22, {parameters}}}]\n")
    assert (problem.line, problem.column) == (2, column)
    assert said in problem.message


def test_what_its_settings_come_to():
    assert len(load("nginx-1.22").rules[0].faults) == len(load("nginx-1.31").rules[0].faults) + 1
    everything = nginx(gzip="on", proxy_ignore_client_abort="on", proxy_buffers="4 8k", proxy_http_version="1.0")
    assert len(load(everything).rules[0].faults) < 16
