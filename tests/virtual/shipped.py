"""A shipped scenario as a client meets it, in virtual time: what came, when, and how it ended."""

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pytest
import trio

from chaosproxy.journal.record import ExchangeRecord
from chaosproxy.testing.peers import Ending, Origin, Pause, RawClient
from chaosproxy.testing.proxied import linked

GET = b"GET /sse HTTP/1.1\r\nHost: x\r\nAccept-Encoding: gzip\r\n\r\n"
SSE = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
LAST = b"0\r\n\r\n"
DONE = b"[DONE]"


@pytest.fixture(autouse=True)
def no_knobs(monkeypatch):
    """The files as they are, whatever the environment of the test run says; a test sets its knobs behind it."""
    for name in [name for name in os.environ if name.startswith("CHAOS_")]:
        monkeypatch.delenv(name)


def chunk(payload: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(payload), payload)


def event(number: int) -> bytes:
    return b"data: %d\n\n" % number


def stream(count: int, apart: float, *, first: float = 0.0) -> list:
    """A head at once, `count` events, the first after `first` seconds and then one each `apart`, `[DONE]`, the end."""
    script: list = [SSE, Pause(first)]
    for number in range(1, count + 1):
        script += [chunk(event(number)), Pause(apart)]
    return [*script, chunk(b"data: %s\n\n" % DONE), LAST]


def anthropic(messages: Sequence[Mapping[str, object]]) -> list[bytes]:
    """Events as the Messages API sends them, each a chunk."""
    return [
        chunk(b"event: %s\ndata: %s\n\n" % (str(one["type"]).encode(), json.dumps(one).encode())) for one in messages
    ]


def unchunked(body: bytes) -> bytes:
    """What is in the chunks of a body."""
    payload = b""
    while body:
        size, _, body = body.partition(b"\r\n")
        payload += body[: int(size, 16)]
        body = body[int(size, 16) + 2 :]
    return payload


def complete(received: bytes) -> bool:
    """Whether an answer is over by its own framing, of a raw HTTP/1.1 client."""
    head, _, body = received.partition(b"\r\n\r\n")
    fields = dict(line.partition(b": ")[::2] for line in head.lower().split(b"\r\n")[1:])
    if b"transfer-encoding" in fields:
        return body.endswith(LAST)
    return b"content-length" in fields and len(body) >= int(fields[b"content-length"])


@dataclass
class Told:
    """What a client saw; times in seconds from its request."""

    head: float | None
    """When the status line came."""
    status: int | None
    events: list[tuple[float, int]]
    """`(time, how many came then)`."""
    raw: bytes
    pieces: list[tuple[float, bytes]]
    """`(time, bytes)` of each read."""
    body: bytes
    whole: bool
    """Over by its own framing: the last chunk came, or as many bytes as were announced."""
    ending: Ending
    ended: float | None
    watched: float
    """How long the client watched, if nothing ended before."""
    record: ExchangeRecord | None
    origin: Origin
    """What the upstream saw."""
    began: float
    """When the request was sent, by the clock."""

    @property
    def count(self) -> int:
        return sum(count for _, count in self.events)

    @property
    def hung_up(self) -> tuple[Ending | None, float | None]:
        """How and when the first connection to the upstream was ended by the proxy."""
        peer = self.origin.peers[0]
        return peer.ending, None if peer.ended_at is None else round(peer.ended_at - self.began, 3)

    @property
    def payload(self) -> bytes:
        """The body without its chunks, if it has some."""
        head = self.raw.partition(b"\r\n\r\n")[0].lower()
        return unchunked(self.body) if b"\r\ntransfer-encoding: chunked" in head else self.body


async def told(scenario, script, *, within: float = 10_000.0, request: bytes = GET) -> Told:
    """What the scenario makes of an origin's script, told by a client that keeps its connection for `within` seconds."""
    served = Origin(script)
    async with linked(scenario, served.serve) as proxied, RawClient(proxied.connect()) as client:
        began = trio.current_time()
        await client.send(request)
        with trio.move_on_after(within):
            while not complete(client.received) and await client.read():
                pass
        pieces = [(round(time - began, 3), data) for time, data in client.pieces]
        whole, ending = complete(client.received), client.ending or Ending.OPEN
        over = proxied.proxy.journal.total or ending is not Ending.OPEN or whole
        record = await proxied.last(within=10_000) if over else None
        return Told(
            head=pieces[0][0] if pieces else None,
            status=int(client.received.split()[1]) if pieces else None,
            events=[(time, data.count(b"data: ")) for time, data in pieces if b"data: " in data],
            raw=client.received,
            pieces=pieces,
            body=client.body,
            whole=whole,
            ending=ending,
            ended=None if client.ended_at is None else round(client.ended_at - began, 3),
            watched=within,
            record=record,
            origin=served,
            began=began,
        )
