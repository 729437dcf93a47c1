"""A client of an HTTP/2 connection whose session does something otherwise, in virtual time."""

import contextlib
from collections.abc import AsyncIterator

import trio

from chaosproxy.testing.h2_peers import WINDOW, H2Peer, h2_client
from chaosproxy.testing.peers import Origin
from chaosproxy.testing.proxied import Linked, linked
from tests.virtual.shipped import stream

LONG = 1000.0
"""Seconds of virtual time in which everything is over."""


def on_session(*faults: dict[str, object], **match: object) -> dict[str, object]:
    """A scenario of these faults on every client's connection, or on those that are meant."""
    return {"version": 1, "connections": [{"match": match or {"side": "client"}, "faults": list(faults)}]}


@contextlib.asynccontextmanager
async def client_of(
    *faults: dict[str, object], events: int = 5, window: int = WINDOW, script: list | None = None
) -> AsyncIterator[tuple[Linked, H2Peer, Origin]]:
    """The upstream answers with `events`, a second apart, or with `script`."""
    served = Origin(stream(events, 1) if script is None else script)
    async with (
        linked(on_session(*faults), served.serve) as proxied,
        h2_client(proxied.connect(), window=window) as client,
    ):
        yield proxied, client, served


async def whole(client: H2Peer, number: int) -> bool:
    """Ask on a stream, and whether its answer came to its end."""
    await client.request(number, "/sse")
    await client.until(lambda: client.streams[number].over, within=LONG)
    return client.streams[number].ended


def since(began: float) -> float:
    """Seconds, as exact as virtual time is."""
    return round(trio.current_time() - began, 3)
