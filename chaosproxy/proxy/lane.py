"""The straight lane: body that goes from the upstream's read to the client's write while everything between is at rest.

It is for what a stream is most of the time, and exists for speed alone: a process that sleeps between events finds its
caches cold, and pays for every function and object on the way. So pieces that go straight through (`carry_all`) skip the
line's queues; and once one has, the lane is open for reads (`carry`): such as are one chunk or one DATA frame and nothing
else go out at once, between equal versions as they came, and what passed is only counted here.
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
from chaosproxy.session import Incoming, Session

_NO_TIMES = array("d")
_NO_SIZES = array("I")
KEPT = 256
"""Marks that wait here at most, or as many as one read makes."""
LEAST_CHUNK = 6
LEAST_RECORD = 2
"""Bytes of the shortest there is."""
CRLF = 2


class Owner(Protocol):
    """The upstream side, to which belongs what does not go straight through."""

    credit_at: int
    """Once the line has been brought so many bytes, the sender is to be credited."""

    def admitted(self, pieces: Sequence[Data], now: float) -> None:
        """The line has pieces that did not go straight through."""
        ...

    def credit(self) -> None: ...
    def failed(self, error: Exception, now: float) -> None: ...


class Lane:
    """One exchange's."""

    __slots__ = (
        "_begin", "_behind", "_bytes", "_chunks", "_client", "_credit_at", "_due", "_find", "_inside", "_last_record",
        "_limited", "_line", "_make", "_most_bytes", "_most_chunks", "_most_records", "_owner", "_parts", "_records", "_sizes",
        "_times", "_upstream", "incoming", "observer",
    )  # fmt: skip

    def __init__(self, line: Line, client: ClientSide, observer: Observer) -> None:
        self._line = line
        self._client = client
        self.observer = observer
        self._owner: Owner | None = None
        """There while the lane is open."""
        self._upstream: Session
        self.incoming: Incoming | None = None
        """The upstream's frames, once there has been a lane for them."""
        self._begin: Callable[[bytes], int] = whole_chunk
        """Where the payload begins in a read that is one chunk or frame; 0: it is something else."""
        self._behind = CRLF
        """Bytes behind the payload."""
        self._make: Callable[[bytes], bytes] | None = None
        """What makes of a payload what the client is sent; None: the read as it came is that."""
        self._parts = self._inside = False
        """Whether chunks may come in parts; and whether one is under way."""
        self._find: Callable[[bytes], tuple[int, ...]] | None = None
        self._due = math.inf
        self._most_bytes = self._most_records = self._most_chunks = math.inf
        """As much as may pass before a place has to be asked."""
        self._limited = False
        """There are places which that may be true of."""
        self._credit_at = math.inf
        """As much as may pass before the upstream is to be credited."""
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

    def begin_again(self) -> None:
        """What follows comes from another stream, perhaps of another connection, which may speak another version."""
        self.incoming, self._begin, self._behind = None, whole_chunk, CRLF

    def open(self, owner: Owner, upstream: Session, stream: int, *, parts: bool) -> bool:
        """All of a read has just gone straight through. If what follows on `stream` of `upstream` is as plain as that, it
        may be carried from now on; `parts`: also chunks that come in parts. Whether it may."""
        line, client = self._line, self._client
        find = line.records.feed if line.records is not None else None
        if (
            client.connection.blocked
            or self.observer.watches
            or (find is not None and not self.observer.has_seen_an_event)
        ):
            return False
        if not (self._opens_for_frames(upstream, stream) if upstream.multiplexed else self._opens(upstream, parts)):
            return False
        self._owner, self._upstream, self._find, self._due = owner, upstream, find, line.due
        self._look_ahead(owner)
        if self._times is _NO_TIMES:
            self._times, self._sizes = array("d"), array("I")
        return True

    def _opens(self, upstream: Session, parts: bool) -> bool:
        """For the chunks of an HTTP/1.1 upstream."""
        client, left = self._client, upstream.open_chunk
        session = client.connection.session
        if left is None or (left and (session.multiplexed or not parts)):
            return False
        self._make = session.framer(client.stream) if session.multiplexed else None
        self._parts, self._inside = parts, left > 0
        return self._make is not None or session.repeats_chunks(client.stream, left)

    def _opens_for_frames(self, upstream: Session, stream: int) -> bool:
        """For the frames of an HTTP/2 one."""
        incoming = self.incoming = self.incoming or upstream.incoming(stream)
        if incoming is None:
            return False
        self._make = self._client.connection.session.framer(self._client.stream)
        self._begin, self._behind = incoming.take, 0
        return self._make is not None

    def _look_ahead(self, owner: Owner) -> None:
        """How much may pass from here on."""
        limits = self._most_bytes, self._most_records, self._most_chunks = passing.limits(self._line)
        self._limited = min(limits) < math.inf
        if self.incoming is not None:
            self._credit_at = owner.credit_at - self._line.bytes_in

    def carry(self, data: bytes, now: float) -> bool:
        """What the upstream's connection has read (not empty), before its session is given it; see `Shortcut`."""
        owner = self._owner
        if owner is None:
            return False
        start = self._begin(data) if now < self._due and not self._inside else 0
        if not start:
            return (now < self._due and self._carry_more(data, now, owner)) or self._closed()
        try:
            size = len(data) - start - self._behind
            make, find = self._make, self._find
            ends: tuple[int, ...] = ()
            if make is not None or find is not None:
                payload = data[start : start + size]
                if find is not None:
                    ends = find(payload)
            total, chunks, records = self._bytes + size, self._chunks + 1, self._records + len(ends)
            if self._limited and (
                total >= self._most_bytes or chunks >= self._most_chunks or records >= self._most_records
            ):
                self._stopped((Data(data[start : start + size], ends),), now, owner)
                return True
            connection = self._client.connection
            if make is not None:
                # Others share the connection, so that it may be full.
                data = make(payload) if not (connection.blocked or connection.broken) else b""
                if not data:
                    self._stopped((Data(payload, ends),), now, owner)
                    return True
            if ends:
                self._records, self._last_record = records, now
            self._bytes, self._chunks = total, chunks
            self._sizes.append(size)
            self._times.append(now)
            if not connection.write(data):
                self.close()
            if chunks >= KEPT or total >= self._credit_at:
                self._go_on(owner)
        except Exception as error:  # noqa: BLE001 - as `Exchange.contain`
            owner.failed(error, now)
        return True

    def _stopped(self, pieces: Sequence[Data], now: float, owner: Owner) -> None:
        """The pieces go the long way, with what has been found in them."""
        self.close()
        passing.stopped(self._line, pieces, now)
        owner.admitted(pieces, now)

    def fits(self, size: int, now: float) -> bool:
        """Frames of a read that is frames and nothing else, `size` bytes in all, may be carried."""
        return (
            self._owner is not None
            and now < self._due
            and not (self._limited and self._may_meet_a_limit(size))
            and size <= self._client.room
        )

    def _may_meet_a_limit(self, size: int) -> bool:
        return (
            self._bytes + size >= self._most_bytes
            or self._chunks + size // LEAST_CHUNK >= self._most_chunks
            or self._records + size // LEAST_RECORD >= self._most_records
        )

    def carry_several(self, payloads: Sequence[bytes], now: float, together: Together | None) -> bool:
        """Neighbouring frames of a read that `fits`, which have been taken. False: the lane has been closed since."""
        owner, client, find = self._owner, self._client, self._find
        if owner is None:
            return False
        try:
            pieces = [Data(payload, find(payload) if find is not None else ()) for payload in payloads]
            if client.connection.blocked or client.connection.broken:
                self._stopped(pieces, now, owner)
                return True
            for piece in pieces:
                if piece.ends:
                    self._records += len(piece.ends)
                    self._last_record = now
                self._bytes += len(piece.payload)
                self._sizes.append(len(piece.payload))
                self._times.append(now)
            self._chunks += len(pieces)
            client.send(pieces, client.records, together)
            if self._chunks >= KEPT or self._bytes >= self._credit_at:
                self._go_on(owner)
        except Exception as error:  # noqa: BLE001 - as `Exchange.contain`
            owner.failed(error, now)
        return True

    def _carry_more(self, data: bytes, now: float, owner: Owner) -> bool:
        """The same for several chunks and parts of such, unless a limit may lie in them."""
        size = len(data)
        if self._make is not None or self._may_meet_a_limit(size):
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
            if not self._client.connection.write(data):
                self.close()
            elif len(self._sizes) >= KEPT:
                self._go_on(owner)
        except Exception as error:  # noqa: BLE001 - as `Exchange.contain`
            owner.failed(error, now)
        return True

    def _go_on(self, owner: Owner) -> None:
        """Enough has been counted, or the upstream is to be credited."""
        self._hand_over()
        if self.incoming is not None and self._line.bytes_in >= owner.credit_at:
            owner.credit()
        self._look_ahead(owner)

    def _closed(self) -> bool:
        self.close()
        return False

    def close(self) -> None:
        """Hand over what has been counted; reads take the long way again, until one has gone straight through."""
        if self._owner is not None:
            self._owner = None
            self._hand_over()

    def _hand_over(self) -> None:
        if not self._sizes:
            return
        passing.passed(self._line, self._bytes, self._records, self._chunks, self._times[-1])
        self._client.connection.session.chunk_is_open(self._upstream.open_chunk or 0)
        self._client.records = self._line.exit.records_out
        self.observer.have_passed(self._times, self._sizes, self._last_record if self._records else None)
        self._bytes = self._records = self._chunks = 0
        del self._times[:], self._sizes[:]
