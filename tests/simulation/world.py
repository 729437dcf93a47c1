"""The world of one seed: a scenario, what the upstream answers, what the clients do. All of it is drawn from the seed.

Rules: pure data; what is said on a wire follows from it alone. Must not know: the proxy, what becomes of it.
"""

from dataclasses import dataclass, replace
from random import Random
from typing import Any

from tests.simulation import scenarios

PATIENCE = 300.0
"""Seconds after which every client leaves."""
QUIET = 1.0
"""Seconds for which a client that has everything waits whether more comes."""
Pieces = tuple[tuple[float, bytes], ...]
"""What is said, with the pause in front of each."""

TYPES = {
    "sse": b"text/event-stream",
    "lines": b"application/x-ndjson",
    "text": b"text/plain",
    "grpc": b"application/grpc",
}
RECORDS = {
    "sse": [
        b"data: 1\n\n", b": c\n\n", b"id: 3\ndata: 3\n\n", b"event: ping\ndata: {}\n\n", b"data: x\n\n", b"retry: 5\n\n",
        b'data: {"n":3}\n\n', b'data: {"choices":[{"index":0,"delta":{"content":"wo"}}]}\n\n', b"data: [DONE]\n\n",
        b'data: {"choices":[],"usage":{"total_tokens":3}}\n\n',
    ],
    "lines": [b'{"n":3}\n', b"\n", b'{"done":false,"response":"wo"}\n', b'{"done":true}\n'],
    "text": [b"plain", b"x3", b"data: 3\n\n"],
    "grpc": [b"\0\0\0\0\x03abc", b"\0\0\0\0\0", b"\0\0\0\0\x14" + b"x" * 20],
}  # fmt: skip
SILENT = (b":", b"retry", b"\n")
"""What is no event begins like this."""


@dataclass(frozen=True)
class Answer:
    """What the upstream does with one request."""

    number: int
    early: bool
    """It begins at the request's head, not at its end."""
    lead: float
    interims: tuple[int, ...]
    status: int
    kind: str
    framing: str
    """chunked, length or close; over HTTP/2 a length or none."""
    records: tuple[bytes, ...]
    pieces: Pieces
    """Chunks or DATA frames."""
    missing: bytes
    """What an answer that breaks off would have said further."""
    write: int
    """HTTP/1: bytes of each write, 0: as they come."""
    trailers: bool
    ending: str
    """clean, fin, rst, reset, goaway, silence, garbage; stray: clean, with something behind it."""
    last_pause: float
    close: bool

    @property
    def body(self) -> bytes:
        return b"".join([piece for _, piece in self.pieces])

    @property
    def whole(self) -> bool:
        """It comes to the end that it announced."""
        return self.ending in ("clean", "stray")


@dataclass(frozen=True)
class Ask:
    """One request."""

    number: int
    method: bytes
    path: bytes
    pause: float
    framing: str
    pieces: Pieces
    gzip: bool
    expect: bool
    split: int
    """HTTP/1: bytes of the head in a write of their own; HTTP/2: nothing."""
    broken: str
    """How it breaks HTTP, if it does: head, body."""

    @property
    def body(self) -> bytes:
        return b"".join([piece for _, piece in self.pieces])


@dataclass(frozen=True)
class Client:
    """One connection of a client."""

    protocol: str
    starts: float
    asks: tuple[Ask, ...]
    together: bool
    """HTTP/1: pipelined; HTTP/2: streams side by side."""
    leaves: float | None
    how: str
    """fin, rst, close (without reading what is there); on HTTP/2 also reset: each stream."""
    half: bool
    """HTTP/1: its way is shut behind its last request."""
    nap: float
    """Behind each read."""
    window: int = 65_535
    """HTTP/2: bytes of a stream that it takes ahead of what it has read."""


@dataclass(frozen=True)
class World:
    """Everything that one seed decides."""

    seed: int
    document: dict[str, Any] | None
    upstream: str
    room: int
    dials: tuple[float | None, ...]
    """How long each connection to the upstream takes, again from the first behind the last; None: it is refused."""
    answers: dict[int, Answer]
    clients: tuple[Client, ...]

    @property
    def asks(self) -> dict[int, Ask]:
        return {ask.number: ask for client in self.clients for ask in client.asks}


def _pause(random: Random) -> float:
    return random.choice([0.0, 0.0, 0.0, 0.05, 0.1, 0.5, 1.1])


def _cut(random: Random, data: bytes) -> Pieces:
    found = []
    while data:
        size = random.choice([1, 5, 9, 20, 60, 400, 5000, 50_000])
        found.append((_pause(random), data[:size]))
        data = data[size:]
    return tuple(found)


def _records(random: Random, kind: str) -> tuple[bytes, ...]:
    count = random.choice([0, 1, 2, 4, 6, 9])
    found = [random.choice(RECORDS[kind]) for _ in range(count)]
    if kind == "sse" and count and random.random() < 0.03:
        found.insert(0, b"data: " + b"y" * random.choice([3000, 70_000]) + b"\n\n")
    return tuple(found)


def _answer(random: Random, number: int, upstream: str) -> Answer:
    pick, chance = random.choice, random.random
    kind = pick(["sse", "sse", "sse", "lines", "text", *(["grpc"] if upstream == "h2" else [])])
    status = pick([200] * 12 + [201, 404, 500, 204, 304])
    records = () if status in (204, 304) else _records(random, kind)
    breaks = ["fin", "rst", "silence", "garbage", *(["reset", "goaway"] if upstream == "h2" else [])]
    ending = pick(breaks) if chance() < 0.2 else pick(["clean"] * 20 + ["stray"])
    framing = pick(["chunked", "chunked", "length", "close"] if upstream == "h1" else ["chunked", "length"])
    body = b"".join(records)
    kept = random.randint(0, len(body)) if ending not in ("clean", "stray") else len(body)
    if framing == "close" and ending in ("fin", "garbage", "stray"):
        ending, kept = "clean", len(body)
    if ending == "stray" and upstream == "h2":
        ending = "clean"
    return Answer(
        number=number,
        early=chance() < 0.2,
        lead=_pause(random),
        interims=tuple(pick([100, 103, 102]) for _ in range(random.randint(1, 2))) if chance() < 0.1 else (),
        status=status,
        kind=kind,
        framing="none" if status in (204, 304) else framing,
        records=records,
        pieces=_cut(random, body[:kept]),
        missing=body[kept:] + (b"" if ending in ("clean", "stray") else b"more"),
        write=pick([0, 0, 1, 7, 100]) if len(body) < 1000 else 0,
        trailers=chance() < 0.1 and framing == "chunked",
        ending=ending,
        last_pause=_pause(random),
        close=chance() < 0.1,
    )


def _ask(random: Random, number: int, protocol: str, *, last: bool) -> Ask:
    pick, chance = random.choice, random.random
    method = pick([b"GET", b"GET", b"POST", b"POST", b"HEAD"])
    body = (
        pick([b"", b"hello world", b'{"stream": true}', b"data: 3\n\n" * 3, b"u" * 3000]) if method == b"POST" else b""
    )
    framing = pick(["length", "chunked"]) if body else "none"
    broken = pick(["head", "body"]) if last and chance() < 0.06 else ""
    prefix = pick([b"/", b"/", b"/a/", b"/m/", b"/v1/messages/"])
    return Ask(
        number=number,
        method=method,
        path=prefix + b"%d" % number,
        pause=_pause(random),
        framing=framing,
        pieces=_cut(random, body),
        gzip=chance() < 0.3,
        expect=bool(body) and protocol == "h1" and chance() < 0.2,
        split=random.randint(1, 30) if chance() < 0.2 else 0,
        broken="" if broken == "body" and framing != "chunked" else broken,
    )


def _client(random: Random, numbers: list[int]) -> Client:
    pick, chance = random.choice, random.random
    protocol = pick(["h1", "h2"])
    together = chance() < 0.4
    hows = ["fin", "rst", "close", *(["reset", "reset"] if protocol == "h2" else [])]
    return Client(
        protocol=protocol,
        starts=pick([0.0, 0.0, 0.3]),
        asks=tuple(_ask(random, number, protocol, last=number == numbers[-1]) for number in numbers),
        together=together,
        leaves=pick([0.0, 0.05, 0.5, 1.5, 4.0]) if chance() < 0.35 else None,
        how=pick(hows),
        half=protocol == "h1" and chance() < 0.05,
        nap=pick([0.0, 0.0, 0.0, 0.2]),
    )


def world(seed: int) -> World:
    """The world of `seed`, always the same."""
    random = Random(seed)
    upstream = random.choice(["h1", "h2"])
    clients, count = [], 0
    for _ in range(random.choice([1, 1, 2, 3])):
        numbers = [count + index for index in range(1, random.choice([1, 1, 2, 3, 5]) + 1)]
        count = numbers[-1]
        clients.append(_client(random, numbers))
        if clients[-1].protocol == "h2" and not clients[-1].nap:
            window = Random(f"window of {numbers[0]} in {seed}").choice([65_535] * 8 + [300, 20])
            clients[-1] = replace(clients[-1], window=window)
    return World(
        seed=seed,
        document=scenarios.scenario(random, seed),
        upstream=upstream,
        room=random.choice([65536, 65536, 65536, 1000, 150]),
        dials=tuple(random.choice([0.0, 0.0, 0.0, 0.2, None if random.random() < 0.1 else 0.0]) for _ in range(4)),
        answers={number: _answer(random, number, upstream) for number in range(1, count + 1)},
        clients=tuple(clients),
    )
