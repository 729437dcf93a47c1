"""One exchange through a preset of a managed hop, in virtual time, as a client sees it over HTTP/1.1 and over HTTP/2."""

import contextlib
from dataclasses import dataclass, field

import trio

from chaosproxy.testing.h2_peers import h2_client
from chaosproxy.testing.peers import Ending, Pause, RawClient
from chaosproxy.testing.proxied import Linked
from tests.virtual.shipped import SSE, chunk, complete, event

EVENT = chunk(event(1))
PING = chunk(b": ping\n\n")
"""A comment: bytes, and no event."""
LAST = b"0\r\n\r\n"
INTERNAL_ERROR = 0x2
ENDLESS = 20_000.0
"""Seconds after which nothing more is to be expected."""

MUTE = [Ending.OPEN]
"""A server that never answers."""
SILENT = [SSE, EVENT, Ending.OPEN]
"""One that says nothing more behind its first event."""


def late(seconds: float) -> list:
    """A head after so long, then silence."""
    return [Pause(seconds), SSE, Ending.OPEN]


def beats(every: float, until: float) -> list:
    """An event each so often, and a good end."""
    count = int(until / every)
    return [SSE, *[step for _ in range(count) for step in (EVENT, Pause(every))], LAST]


def large(size: int) -> list:
    """An answer of so many bytes at once."""
    return [SSE, chunk(b"x" * size), LAST]


@dataclass
class Seen:
    """What a client saw; times in seconds from its request."""

    status: int | None
    head: float | None
    how: str
    """`clean`, `abort`, `rst` or `silence`."""
    at: float | None
    """When it was over."""
    body: bytes = field(repr=False)


@dataclass
class Row:
    """What is to be seen."""

    preset: str
    script: list
    how: str
    at: float | None = None
    status: int | None = 200
    parameters: dict[str, object] = field(default_factory=dict)
    head: float | None = None
    method: str = "GET"

    def __str__(self) -> str:
        said = "".join(f" {key}={value}" for key, value in self.parameters.items())
        return f"{self.preset}{said} {self.status} {self.how} {self.at}"


def hop(row: Row) -> dict[str, object]:
    return {"version": 1, "hops": [{"preset": row.preset, **row.parameters}]}


async def over_h1(row: Row, proxied: Linked) -> Seen:
    async with RawClient(proxied.connect()) as client:
        began = trio.current_time()
        length = b"Content-Length: 0\r\n" if row.method == "POST" else b""
        await client.send(b"%s / HTTP/1.1\r\nHost: x\r\n%s\r\n" % (row.method.encode(), length))
        with trio.move_on_after(ENDLESS):
            while not complete(client.received) and await client.read():
                pass
        times = [round(time - began, 3) for time, _ in client.pieces]
        whole = complete(client.received)
        ended = None if client.ended_at is None else round(client.ended_at - began, 3)
        how = {None: "silence", Ending.FIN: "abort", Ending.RST: "rst"}[client.ending]
        return Seen(
            int(client.received.split()[1]) if times else None,
            times[0] if times else None,
            "clean" if whole else how,
            times[-1] if whole else ended,
            client.body,
        )


async def over_h2(row: Row, proxied: Linked) -> Seen:
    async with h2_client(proxied.connect(), window=2**30) as client:
        began = trio.current_time()
        heads: list[float] = []
        client.on_head = lambda _: heads.append(round(trio.current_time() - began, 3))
        await client.request(1, method=row.method)
        stream = client.streams[1]
        over: float | None = None
        with trio.move_on_after(ENDLESS):
            with contextlib.suppress(EOFError):
                await client.until(lambda: stream.ended or stream.reset is not None, within=2 * ENDLESS)
            over = round(trio.current_time() - began, 3)
        how = "clean" if stream.ended else "silence"
        if client.ending is not None:
            how = "rst" if client.ending is Ending.RST else "fin"
        elif stream.reset is not None:
            assert stream.reset == INTERNAL_ERROR
            how = "abort"
        status = int(dict(stream.heads[0])[b":status"]) if stream.heads else None
        return Seen(status, heads[0] if heads else None, how, over, stream.body)
