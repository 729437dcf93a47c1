"""The lanes of one HTTP/2 connection to an upstream: a read that is plain DATA frames and nothing else, to whom they belong.

Rules: either all of a read is carried, or nothing of it has been touched. As on the long way the whole read is counted
before anything is made of it, neighbours of one stream leave in one write, and what is for several streams leaves together.
Must not know: what a lane does with a frame.
"""

from typing import Protocol

from chaosproxy.http2.straight import cut
from chaosproxy.model.messages import Data
from chaosproxy.proxy.lane import Lane
from chaosproxy.proxy.together import Together
from chaosproxy.session import Arrived, Incoming, Signal


class Upstream(Protocol):
    """The connection."""

    together: Together | None

    def handle(self, signal: Signal, now: float) -> None: ...


class Lanes:
    """A `Shortcut`."""

    __slots__ = ("_by_kind", "_connection")

    def __init__(self, connection: Upstream) -> None:
        self._by_kind: dict[bytes, tuple[Lane, Incoming]] = {}
        self._connection = connection

    def add(self, lane: Lane, incoming: Incoming) -> None:
        """It is open for these."""
        self._by_kind[incoming.kind] = lane, incoming

    def remove(self, lane: Lane) -> None:
        """Its stream is done with the connection."""
        if lane.incoming is not None:
            self._by_kind.pop(lane.incoming.kind, None)

    def carry(self, data: bytes, now: float) -> bool:
        """See `Shortcut`."""
        found = self._by_kind.get(data[3:9])
        if found is None:
            return False
        if data[:3] == (len(data) - 9).to_bytes(3, "big"):  # one frame: its length (RFC 9113 section 4.1)
            return found[0].carry(data, now)
        return self._carry_several(data, now)

    def _carry_several(self, data: bytes, now: float) -> bool:
        runs = self._runs(data, now)
        if not runs or not runs[0][0].take_all(runs, len(data)):
            return False
        connection, together = self._connection, None
        if len(runs) > 1:
            connection.together = together = Together()
        for incoming, payloads in runs:
            found = self._by_kind.get(incoming.kind)
            if found is None or not found[0].carry_several(payloads, now, together):  # those before it have ended it
                connection.handle(Arrived(incoming.stream, [Data(payload) for payload in payloads]), now)
        if together is not None:
            connection.together = None
            together.flush()
        return True

    def _runs(self, data: bytes, now: float) -> list[tuple[Incoming, list[bytes]]]:
        """The payloads, neighbours of one stream together; none if anything in the read is not for an open lane."""
        runs: list[tuple[Incoming, list[bytes]]] = []
        last, payloads, size = b"", list[bytes](), len(data)
        for kind, payload in cut(data):
            if kind == last:
                payloads.append(payload)
                continue
            found = self._by_kind.get(kind)
            if found is None or not found[0].fits(size, now):
                return []
            last, payloads = kind, [payload]
            runs.append((found[1], payloads))
        return runs
