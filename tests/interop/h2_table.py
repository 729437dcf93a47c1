"""What real HTTP/2 and gRPC clients report of each fault of the session, of a call and of the connection: the rows, and the run.

All rows are played at once, each by a proxy of its own in this process, in front of one origin that answers by the last
segment of the path. Rules: nothing depends on how fast anybody is: faults come at a stream or an event, and what must not be
whole is asked for an answer that never ends.
"""

import contextlib
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import trio

from chaosproxy.testing.h2_origin import h2_origin
from chaosproxy.testing.h2_peers import H2Peer
from chaosproxy.testing.proxied import proxy_on
from chaosproxy.wire import tls
from tests.interop import grpc_askers, http_askers
from tests.interop.asked import EVENTS, WHOLE, Asked

PATIENCE, HASTE = 30.0, 3.0
"""Seconds after which a client gives up: where it should not have to, and where it has to."""
UPLOAD = 200_000
LATE = 2.0
"""Seconds of silence in the middle of an answer: long enough for who pings every 50 ms, and for those who do not."""


@dataclass(frozen=True, slots=True)
class Row:
    """One fault."""

    fault: str
    """As a scenario has it, and as the page shows it."""
    asked: str = "whole"
    """`whole`: four events; `open`: two, and no end; `late`: four, with a pause; `upload`: four, behind `UPLOAD` bytes."""
    hop: bool = False
    waits: bool = False
    """Somebody waits for ever."""
    fickle: bool = False
    """What a client says of it depends on which of two things it meets first."""
    tls: bool = False
    either: Mapping[str, tuple[str, ...]] = field(default_factory=dict, compare=False)
    """Of a client what it may say, one or the other: it is told two things at once, and meets either first."""

    @property
    def scenario(self) -> str:
        if self.hop:
            return f"version: 1\nfaults:\n  - {self.fault}\n"
        return f"version: 1\nconnections:\n  - match: {{side: client}}\n    faults:\n      - {self.fault}\n"


SESSION = (
    Row("goaway: {stream: 1, last: 0, then: fin}"),
    Row("goaway: {stream: 1, then: keep}"),
    Row("goaway: {stream: 1}"),
    Row("goaway: {stream: 1, double: true}"),
    Row("goaway: {stream: 1, then: fin, grace: 300ms}", "open"),
    Row("goaway: {at: {event: 2}}", hop=True),
    Row("refuse: {}"),
    Row("refuse: {streams: 1}"),
    Row("settings: {max_concurrent_streams: 0}", waits=True, fickle=True),
    Row("settings: {delay: 300ms}"),
    Row("settings: {acknowledge: forever}"),
    Row("window: withhold", "upload", waits=True),
    Row("window: {mode: trickle, rate: 1MiB/s}", "upload"),
    Row("ping: {min_interval: 1h, strikes: 0}", "late"),
    Row("garbage: {then: fin}"),
    Row("garbage: {then: hang}", waits=True),
    Row("garbage: {stream: 1}", waits=True),
    Row("frames: {data: 1, padding: 100}", hop=True),
    Row("frames: {reset: NO_ERROR}", hop=True),
    Row("cut: {at: {event: 2}, then: {stream: INTERNAL_ERROR}}", hop=True),
    Row("cut: {at: {event: 2}, then: {stream: NO_ERROR}}", hop=True),
)
CALLS = (
    Row("grpc_status: {at: request, code: RESOURCE_EXHAUSTED}", hop=True),
    Row("grpc_status: {at: {event: 2}, code: UNAVAILABLE}", hop=True),
    Row("grpc_status: {at: {event: 2}, code: OK}", hop=True),
    Row("grpc_status: {at: {bytes: 8}, code: OK}", hop=True),
    Row("strip: trailers", hop=True, waits=True),
    Row("respond: 503", hop=True),
)
CONNECTION = (
    Row("accept: {refuse: true}", fickle=True),
    Row("accept: 300ms"),
    Row("tls: expired", tls=True),
    Row("tls: wrong_host", tls=True),
    Row("tls: unknown_authority", tls=True),
    Row("tls: {stall: 300ms}", tls=True),
    Row("tls: {alpn: false}", tls=True),
    Row("age: {max: 100ms, grace: 200ms}", "open", fickle=True),
    Row("cut: {at: {event: 2}, then: rst}", hop=True, fickle=True),
    Row("cut: {at: {event: 2}, then: fin}", hop=True),
    Row("blackhole: {at: {time: 500ms}}", "late", waits=True),
    Row("stall: {at: {bytes: 100}, for: 300ms}"),
    Row("keepalive: 0s", either={"grpclib": (WHOLE, "StreamTerminatedError")}),
    Row("latency: 100ms"),
    Row("bandwidth: 64KiB/s"),
    Row("resegment: {bytes: 7}"),
)
GROUPS = {"The session": SESSION, "The call": CALLS, "The connection": CONNECTION}
ROWS = tuple(row for rows in GROUPS.values() for row in rows)
CLIENTS = {**grpc_askers.ASKERS, **http_askers.ASKERS}
"""By name; each asks all rows, and answers with a report of each."""
GRPC = frozenset(grpc_askers.ASKERS)

_MESSAGE = b"\0\0\0\0\x09data: 1\n\n"
_EVENT = b"data: 1\n\n"


async def answer(peer: H2Peer, stream: int) -> None:
    """Four records 50 ms apart, and their end; otherwise by the path. Of a call they are messages, and a status follows."""
    head = dict(peer.streams[stream].heads[0])
    name = head[b":path"].rpartition(b"/")[2]
    call = head.get(b"content-type", b"").startswith(b"application/grpc")
    if name == b"upload":
        with contextlib.suppress(EOFError):  # it has left
            await peer.until(lambda: peer.streams[stream].ended, within=2 * PATIENCE)
    kind = b"application/grpc" if call else b"text/event-stream"
    await peer.headers(stream, [(b":status", b"200"), (b"content-type", kind)])
    for number in range(EVENTS):
        if number == 2 and name == b"open":
            return
        await trio.sleep(LATE if number == 2 and name == b"late" else 0.05)
        await peer.data(stream, _MESSAGE if call else _EVENT)
    if call:
        await peer.headers(stream, [(b"grpc-status", b"0")], end=True)
    else:
        await peer.data(stream, b"", end=True)


async def _between(row: Row, url: str, place: Path, *, task_status: trio.TaskStatus[Asked]) -> None:
    """One proxy, until cancelled, and what is to be asked there."""
    ca = place / f"{ROWS.index(row)}.pem"
    context = tls.server_context("auto", ["127.0.0.1"], ca)[0] if row.tls else None
    async with proxy_on(row.scenario, url, server_tls=context) as proxied:
        task_status.started(
            Asked(
                proxied.url,
                row.asked,
                PATIENCE,
                upload=place / "upload",
                ca=ca if row.tls else None,
                pings=row.fault.startswith("ping"),
            )
        )
        await trio.sleep_forever()


@contextlib.asynccontextmanager
async def _proxies(rows: Sequence[Row], place: Path) -> AsyncIterator[dict[Row, Asked]]:
    async with h2_origin(answer) as url, trio.open_nursery() as nursery:
        (place / "upload").write_bytes(b"x" * UPLOAD)
        yield {row: await nursery.start(_between, row, url, place) for row in rows}
        nursery.cancel_scope.cancel()


def asks(client: str, row: Row) -> bool:
    """Who speaks no gRPC makes no call."""
    return client in GRPC or row not in CALLS


async def reports(
    place: Path, rows: Sequence[Row] = ROWS, waiting: Collection[tuple[str, str]] | None = None
) -> dict[tuple[str, str], str]:
    """What each client says of each row: `{(fault, client): words}`. Files are put into `place`; of whom it is known that it
    waits, `waiting`, need not be waited for."""
    found: dict[tuple[str, str], str] = {}

    async def ask(client: str, everything: Mapping[Row, Asked]) -> None:
        mine = [row for row in rows if asks(client, row)]
        asked = [replace(everything[row], patience=patience(row, client)) for row in mine]
        for row, words in zip(mine, await CLIENTS[client](asked), strict=True):
            either = row.either.get(client, ())
            found[row.fault, client] = " or ".join(either) if words in either else words

    def patience(row: Row, client: str) -> float:
        if waiting is None:
            return PATIENCE / 2 if row.waits else PATIENCE
        return HASTE if (row.fault, client) in waiting else PATIENCE

    async with _proxies(rows, place) as everything, trio.open_nursery() as nursery:
        for client in CLIENTS:
            nursery.start_soon(ask, client, everything)
    return found
