"""The straight lane: body that goes from the upstream's read to the client's write while everything between is at rest.

It is for what a stream is most of the time, and exists for speed alone: a process that sleeps between events finds its
caches cold, and pays for every function and object on the way. So pieces that go straight through (`carry_all`) skip the
line's queues; and once one has, the lane is open for reads (`carry`): such as are one chunk and nothing else go out as
they came, and what passed is only counted here.
Rules: what the lane has counted belongs to the line, the journal and the client's side. Whoever is about to look at
them, or to change what the lane takes for granted, closes it first; nobody has to open it.
Must not know: what the long way does, the upstream's connection.
"""

import math
from array import array
from collections.abc import Callable, Sequence
from typing import Protocol

from chaosproxy.chain import passing
from chaosproxy.chain.line import Line
from chaosproxy.http1.chunked import whole_chunk
from chaosproxy.model.messages import Data
from chaosproxy.proxy.client_side import ClientSide
from chaosproxy.proxy.observer import Observer
from chaosproxy.proxy.together import Together
from chaosproxy.session import Session

_NO_TIMES = array("d")
_NO_SIZES = array("I")
KEPT = 256
"""Marks that wait here at most, or as many as one read makes."""
LEAST_CHUNK = 6
LEAST_RECORD = 2
"""Bytes of the shortest there is."""


class Owner(Protocol):
    """The upstream side, to which belongs what does not go straight through."""

    def admitted(self, piece: Data, now: float) -> None:
        """The line has a piece that a limit lies in."""
        ...

    def failed(self, error: Exception, now: float) -> None: ...


class Lane:
    """One exchange's."""

    __slots__ = (
        "_bytes", "_chunks", "_client", "_due", "_find", "_frames", "_inside", "_last_record", "_line", "_most_bytes",
        "_most_chunks", "_most_records", "_owner", "_parts", "_records", "_sizes", "_times", "_upstream", "observer",
    )  # fmt: skip

    def __init__(self, line: Line, client: ClientSide, observer: Observer) -> None:
        self._line = line
        self._client = client
        self.observer = observer
        self._owner: Owner | None = None
        """There while the lane is open."""
        self._upstream: Session
        self._parts = self._inside = self._frames = False
        """Whether chunks may come in parts; whether one is under way; and whether they become DATA frames."""
        self._find: Callable[[bytes], tuple[int, ...]] | None = None
        self._due = math.inf
        self._most_bytes = self._most_records = self._most_chunks = math.inf
        """As much as may pass before a place has to be asked."""
        self._bytes = self._records = self._chunks = 0
        self._last_record = 0.0
        self._times, self._sizes = _NO_TIMES, _NO_SIZES

    def carry_all(self, pieces: Sequence[Data], now: float, together: Together | None) -> int:
        """All pieces of a read go into the line. How many of them, the first, have gone on to the client."""
        line, client = self._line, self._client
        room, passed = client.room, 0
        for piece in pieces:
            if not line.pass_through(piece, now, room):
                break
            self.observer.passed(piece, now)
            room -= len(piece.payload)
            passed += 1
        if passed:
            client.send(pieces[:passed], line.exit.records_out, together)
        if len(pieces) > passed + 1:
            line.push(pieces[passed + 1 :], now)  # the one before is in the line already
        return passed

    def open(self, owner: Owner, upstream: Session, *, parts: bool) -> None:
        """All of a read has just gone straight through. If chunks follow on `upstream`, and the client's are the same or
        frames, they may be carried from now on; `parts`: also those that come in parts."""
        line, client = self._line, self._client
        session, left = client.connection.session, upstream.open_chunk
        find = line.records.feed if line.records is not None else None
        if left is None or (left and (session.multiplexed or not parts)):
            return
        if not session.multiplexed and not session.repeats_chunks(client.stream, left):
            return
        if client.connection.blocked or (find is not None and not self.observer.has_seen_an_event):
            return
        self._owner, self._upstream, self._parts, self._inside = owner, upstream, parts, left > 0
        self._frames = session.multiplexed
        self._find, self._due = find, line.due
        self._most_bytes, self._most_records, self._most_chunks = passing.limits(line)
        if self._times is _NO_TIMES:
            self._times, self._sizes = array("d"), array("I")

    def carry(self, data: bytes, now: float) -> bool:
        """What the upstream's connection has read (not empty), before its session is given it; see `Shortcut`."""
        owner = self._owner
        if owner is None:
            return False
        start = whole_chunk(data) if now < self._due and not self._inside else 0
        if not start:
            return (now < self._due and self._carry_more(data, now, owner)) or self._closed()
        size = len(data) - start - 2
        if self._bytes + size >= self._most_bytes or self._chunks + 1 >= self._most_chunks:
            return self._closed()
        if self._frames and self._client.room < size:  # others share the connection and its window
            return self._closed()
        payload = data[start:-2] if self._frames or self._find is not None else b""
        try:
            if self._find is not None:
                ends = self._find(payload)
                if ends:
                    if self._records + len(ends) >= self._most_records:
                        self.close()
                        piece = Data(payload, ends)
                        passing.stopped(self._line, piece, now)
                        owner.admitted(piece, now)
                        return True
                    self._records += len(ends)
                    self._last_record = now
            self._bytes += size
            self._chunks += 1
            self._sizes.append(size)
            self._times.append(now)
            if self._frames:
                self._client.send((Data(payload),), self._client.records, None)
            elif not self._client.connection.write(data):
                self.close()
            if self._chunks == KEPT:
                self.close()
        except Exception as error:  # noqa: BLE001 - as `Exchange.contain`
            owner.failed(error, now)
        return True

    def _carry_more(self, data: bytes, now: float, owner: Owner) -> bool:
        """The same for several chunks and parts of such, unless a limit may lie in them."""
        size = len(data)
        if self._frames or (
            self._bytes + size >= self._most_bytes
            or self._chunks + size // LEAST_CHUNK >= self._most_chunks
            or self._records + size // LEAST_RECORD >= self._most_records
        ):
            return False
        ranges = self._upstream.scan_chunks(data, parts=self._parts)
        if ranges is None:
            return False
        try:
            find = self._find
            for start, stop in ranges:
                if find is not None and (ends := find(data[start:stop])):
                    self._records += len(ends)
                    self._last_record = now
                self._bytes += stop - start
                self._sizes.append(stop - start)
                self._times.append(now)
            self._inside = ranges[-1][1] == size
            self._chunks += len(ranges) - self._inside
            if not self._client.connection.write(data) or len(self._sizes) >= KEPT:
                self.close()
        except Exception as error:  # noqa: BLE001 - as `Exchange.contain`
            owner.failed(error, now)
        return True

    def _closed(self) -> bool:
        self.close()
        return False

    def close(self) -> None:
        """Hand over what has been counted; reads take the long way again, until one has gone straight through."""
        if self._owner is None:
            return
        self._owner = None
        if not self._sizes:
            return
        passing.passed(self._line, self._bytes, self._records, self._chunks, self._times[-1])
        self._client.connection.session.chunk_is_open(self._upstream.open_chunk or 0)
        self._client.records = self._line.exit.records_out
        self.observer.have_passed(self._times, self._sizes, self._last_record if self._records else None)
        self._bytes = self._records = self._chunks = 0
        del self._times[:], self._sizes[:]
