"""A client that asks once, over HTTP/1.1 or HTTP/2, and what it is told.

Must not know: what it should have been told.
"""

from dataclasses import dataclass

import trio

from chaosproxy.testing.h2_peers import h2_client
from chaosproxy.testing.peers import RawClient
from chaosproxy.testing.proxied import Linked
from chaosproxy.testing.recorder import QUIET, Ending
from tests.security.reading import read_answers

CLIENTS = ("h1", "h2")


@dataclass(frozen=True, slots=True)
class Told:
    """What a client was told: statuses, the last one's body, and whether that came to its end."""

    statuses: tuple[int, ...]
    body: bytes
    whole: bool
    received: bytes


async def ask(proxied: Linked, client: str, method: str, path: str = "/") -> Told:
    """What a client is told that asks once."""
    if client == "h1":
        async with RawClient(proxied.connect()) as old:
            await old.send(f"{method} {path} HTTP/1.1\r\nHost: a\r\n\r\n".encode())
            await old.read_all(QUIET)
            answers, rest = read_answers(old.received, method.encode(), ended=old.ending is Ending.FIN)
        assert not (rest and answers[-1].whole), old.received
        return Told(tuple(one.status for one in answers), answers[-1].body, answers[-1].whole, old.received)
    async with h2_client(proxied.connect()) as new:
        await new.request(1, path, method=method)
        stream = new.streams[1]
        await new.until(lambda: stream.over)
        await trio.sleep(QUIET)
        statuses = [int(value) for head in stream.heads for name, value in head if name == b":status"]
        return Told(tuple(statuses), stream.body, stream.ended and stream.reset is None, repr(stream).encode())
