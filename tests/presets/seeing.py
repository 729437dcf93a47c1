"""What a client and a server see of a machine between them, in virtual time: when, how much, and how it ended.

Times are whole milliseconds from the request on. The server's answers are scripts: a head, events at even times, an end.
"""

import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random

import trio

from chaosproxy.testing.h2_peers import H2Peer, h2_client
from chaosproxy.testing.peers import Ending, Origin, Pause, RawClient, Step
from chaosproxy.testing.proxied import Linked, linked

TYPE = b"Content-Type: text/event-stream\r\n"
LAST = b"0\r\n\r\n"
CANCEL = 0x8


def chunk(payload: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(payload), payload)


def event(number: int, size: int = 50) -> bytes:
    """One event of so many bytes."""
    text = b"data: %d " % number
    return text + b"x" * (size - len(text) - 2) + b"\n\n"


def noise(number: int, size: int = 500) -> bytes:
    """One that does not become smaller by compression."""
    text = Random(number).randbytes(size - 8).replace(b"\n", b"_")
    return b"data: " + text + b"\n\n"


def answer(
    framing: str,
    *,
    count: int = 60,
    size: int = 50,
    gap: float = 0.02,
    first: float | None = None,
    fields: bytes = b"",
    end: str = "clean",
    content: bytes = TYPE,
    make=event,
) -> list[Step]:
    """An event each `gap` seconds behind the head, `first` seconds before the first. `framing`: chunked, close, cl. `end`:
    clean, fin, rst, open; a length is then twice what comes."""
    events = [make(number, size) for number in range(1, count + 1)]
    length = count * size if end == "clean" else 2 * count * size
    framed = {"chunked": b"Transfer-Encoding: chunked\r\n", "close": b"", "cl": b"Content-Length: %d\r\n" % length}[
        framing
    ]
    steps: list[Step] = [b"HTTP/1.1 200 OK\r\n" + content + framed + fields + b"\r\n"]
    for number, one in enumerate(events):
        steps += [Pause(first if first is not None and number == 0 else gap)]
        steps.append(chunk(one) if framing == "chunked" else one)
    if end == "clean":
        steps += {"chunked": [LAST], "close": [Ending.FIN], "cl": []}[framing]
    elif end == "open":
        steps.append(Ending.OPEN)
    else:
        steps += [Pause(gap), Ending.RST if end == "rst" else Ending.FIN]
    return steps


def stream_of(*steps: Step) -> list[Step]:
    """A chunked answer of these steps, its head before them."""
    return [b"HTTP/1.1 200 OK\r\n" + TYPE + b"Transfer-Encoding: chunked\r\n\r\n", *steps]


@dataclass
class Seen:
    """What the client got."""

    protocol: str
    head: int | None = None
    status: int | None = None
    fields: dict[bytes, bytes] = field(default_factory=dict)
    bursts: list[tuple[int, int]] = field(default_factory=list)
    """When how many events could be read."""
    payload: bytes = b""
    ended: str = "open"
    """clean, fin (without its end), rst, reset:CODE."""
    at: int | None = None
    """When."""
    upstream: tuple[str | None, int | None] = (None, None)
    """How the connection to the server was ended by the machine, and when."""
    asked: bytes = b""
    """The request as the server saw it."""

    @property
    def events(self) -> int:
        return sum(count for _, count in self.bursts)

    @property
    def end(self) -> tuple[str, int | None]:
        return self.ended, self.at


def dechunked(body: bytes) -> bytes:
    """The payload of as many chunks as there are."""
    whole = b""
    while True:
        line, found, rest = body.partition(b"\r\n")
        size = int(line, 16) if found else 0
        whole += rest[:size]
        if size == 0 or len(rest) < size + 2:
            return whole
        body = rest[size + 2 :]


def _events(payload: bytes, *, gzip: bool) -> int:
    if gzip:
        payload = zlib.decompressobj(31).decompress(payload)
    return payload.count(b"\n\n")


def _bursts(seen: Seen, told: Sequence[tuple[int, bytes]]) -> None:
    """`told`: when which payload had come, in all."""
    gzip = seen.fields.get(b"content-encoding") == b"gzip"
    before = 0
    for time, payload in told:
        now = _events(payload, gzip=gzip)
        if now > before:
            if seen.bursts and seen.bursts[-1][0] == time:
                seen.bursts[-1] = (time, seen.bursts[-1][1] + now - before)
            else:
                seen.bursts.append((time, now - before))
        before = now
    seen.payload = told[-1][1] if told else b""


def _ms(time: float | None, began: float) -> int | None:
    return None if time is None else round((time - began) * 1000)


def of_h1(client: RawClient, began: float) -> Seen:
    """What a raw client has seen."""
    seen = Seen("http/1.1")
    head, _, body = client.received.partition(b"\r\n\r\n")
    if not client.pieces:
        return seen
    seen.head, seen.status = _ms(client.pieces[0][0], began), int(head.split()[1])
    seen.fields = {
        name.lower(): value for name, _, value in (line.partition(b": ") for line in head.split(b"\r\n")[1:])
    }
    chunked = b"transfer-encoding" in seen.fields
    told, raw = [], b""
    for time, data in client.pieces:
        raw += data
        so_far = raw.partition(b"\r\n\r\n")[2]
        told.append((_ms(time, began) or 0, dechunked(so_far) if chunked else so_far))
    _bursts(seen, told)
    whole = body.endswith(LAST) if chunked else len(body) >= int(seen.fields.get(b"content-length", b"99999999"))
    if whole or client.ending is not None:
        last = client.pieces[-1][0] if whole else client.ended_at
        seen.ended, seen.at = "clean" if whole else str(client.ending), _ms(last, began)
    return seen


def of_h2(peer: H2Peer, began: float, stream: int = 1) -> Seen:
    """What was seen on a stream."""
    seen, found = Seen("h2"), peer.streams[stream]
    seen.status = found.status
    seen.fields = dict(found.heads[-1]) if found.heads else {}
    told, raw = [], b""
    for time, data in found.frames:
        raw += data
        told.append((_ms(time, began) or 0, raw))
    _bursts(seen, told)
    if found.over:
        seen.ended = "clean" if found.ended else f"reset:{found.reset}"
    return seen


async def look(
    scenario: object,
    script: Sequence[Step],
    protocol: str = "http/1.1",
    *,
    asks: bytes = b"",
    leave: tuple[float, str] | None = None,
    within: float = 100.0,
) -> Seen:
    """Ask once, and look for `within` seconds. `asks`: fields of the request. `leave`: when the client does, and how: fin,
    rst, half (and it reads on), stream (RST_STREAM)."""
    served = Origin(script)
    async with linked(scenario, served.serve) as proxied:  # type: ignore[arg-type]
        began = trio.current_time()
        asking = _ask_h1 if protocol == "http/1.1" else _ask_h2
        seen = await asking(proxied, asks, leave, within)
        await trio.sleep(100)
        peer = served.peers[0]
        seen.upstream = (None if peer.ending is None else str(peer.ending), _ms(peer.ended_at, began))
        seen.asked = served.requests[0].head
        return seen


async def _ask_h1(proxied: Linked, asks: bytes, leave: tuple[float, str] | None, within: float) -> Seen:
    began = trio.current_time()
    async with RawClient(proxied.connect()) as client:
        await client.send(b"GET /sse HTTP/1.1\r\nHost: x\r\n" + asks + b"\r\n")

        async def read_all() -> None:
            while of_h1(client, began).ended != "clean" and await client.read():
                pass

        with trio.move_on_after(within if leave is None else leave[0]):
            await read_all()
        if leave is not None and leave[1] == "half":
            client.transport.fin()
            with trio.move_on_after(within):
                await read_all()
        elif leave is not None:
            seen = of_h1(client, began)
            if leave[1] == "fin":
                client.transport.close()
            else:
                await client.leave(Ending(leave[1]))
            return seen
        return of_h1(client, began)


async def _close(client: H2Peer) -> None:
    """As a process that ends: nothing is read any more."""
    client._reading.cancel()
    await client._stopped.wait()
    client.recorder.transport.close()


async def _ask_h2(proxied: Linked, asks: bytes, leave: tuple[float, str] | None, within: float) -> Seen:
    began = trio.current_time()
    async with h2_client(proxied.connect()) as client:
        heads: list[float] = []
        client.on_head = lambda _: heads.append(trio.current_time())
        fields = [(b":method", b"GET"), (b":scheme", b"http"), (b":path", b"/sse"), (b":authority", b"x")]
        fields += [
            (name.lower(), value)
            for name, found, value in (line.partition(b": ") for line in asks.split(b"\r\n"))
            if found
        ]
        await client.headers(1, fields, end=True)
        with trio.move_on_after(within if leave is None else leave[0]):
            await client.until(lambda: client.streams[1].over, within=1000)
        at = _ms(trio.current_time(), began)
        if leave is not None and leave[1] == "stream":
            await client.reset(1, CANCEL)
        elif leave is not None:
            await (_close(client) if leave[1] == "fin" else client.leave(Ending(leave[1])))
        seen = of_h2(client, began)
        seen.head = _ms(heads[0], began) if heads else None
        seen.at = at if client.streams[1].over else None
        return seen
