"""What these tests begin with: a scenario of some faults, and a client of either version of HTTP on a real socket."""

import contextlib
from collections.abc import AsyncIterator

from chaosproxy.testing.h2_peers import H2Peer, h2_client
from chaosproxy.testing.peers import RawClient
from chaosproxy.testing.proxied import Proxied
from chaosproxy.wire import dial


def faults(*those: dict[str, object]) -> dict[str, object]:
    """One rule, one hop."""
    return {"version": 1, "faults": list(those)}


@contextlib.asynccontextmanager
async def h2(proxied: Proxied) -> AsyncIterator[H2Peer]:
    async with h2_client(await dial.connect("127.0.0.1", proxied.port, None)) as client:
        yield client


async def connected(proxied: Proxied) -> RawClient:
    return await RawClient.connect("127.0.0.1", proxied.port)
