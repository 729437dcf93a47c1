"""One connection to an upstream, with the exchanges that use it now.

Must not know: how it was dialled, who waits for one.
"""

import logging
from typing import Protocol

from chaosproxy.model.messages import Abort
from chaosproxy.model.vocabulary import Peer, Scope
from chaosproxy.proxy.address import UpstreamAddress
from chaosproxy.proxy.carrier import Carrier
from chaosproxy.proxy.hearing import DeafUpstreamSide, UpstreamListener
from chaosproxy.proxy.lane import Lane
from chaosproxy.proxy.lane import Owner as LaneOwner
from chaosproxy.proxy.lanes import Lanes
from chaosproxy.proxy.output import Spawn
from chaosproxy.proxy.together import Together
from chaosproxy.session import Arrived, Closed, Closing, Gone, Granted, Session, Signal, Stopped
from chaosproxy.wire.plain import receive_less
from chaosproxy.wire.transport import Transport
from chaosproxy.wire.wire import Wire

log = logging.getLogger("chaosproxy")

CREDITED = 4096
"""Body bytes that are credited together where nothing is held back: a small part of an HTTP/2 window."""


class Requester(UpstreamListener, Protocol):
    """What asks for an upstream connection and then uses one stream of it."""

    def upstream_ready(self, connection: "UpstreamConnection", now: float) -> None:
        """A connection that can open a stream now."""
        ...

    def upstream_failed(self, reason: str, now: float) -> None:
        """No connection could be made; one line why."""
        ...


class Owner(Protocol):
    """Whoever hands the connection out."""

    address: UpstreamAddress

    def serve(self) -> None:
        """Hand connections to whoever waits."""
        ...

    def released(self, connection: "UpstreamConnection") -> None:
        """An exchange has left `connection`."""
        ...

    def lost(self, connection: "UpstreamConnection") -> None:
        """`connection` takes no further requests."""
        ...


class UpstreamConnection(Carrier[UpstreamListener]):
    """Signals of the session go to the exchange on their stream."""

    __slots__ = ("lanes", "portion", "together", "upstream", "used")

    def __init__(
        self,
        transport: Transport,
        session: Session,
        number: int,
        spawn: Spawn,
        upstream: Owner,
        wire: Wire | None = None,
    ) -> None:
        super().__init__(transport, session, number, spawn, wire)
        self.upstream = upstream
        self.portion = CREDITED
        """Body bytes of a stream that are credited together; less where its window may be smaller than usual."""
        self.together: Together | None = None
        """While a read is handled that has something for several streams."""
        self.lanes = Lanes(self) if session.multiplexed else None
        if self.lanes is not None:
            self.shortcut = self.lanes
        self.used = False
        """It has carried an exchange before, so that an end before any answer may be a race with its idle timeout."""

    def _fed(self, signals: list[Signal], now: float) -> None:
        if len(signals) < 2:
            super()._fed(signals, now)
            return
        self.together = Together()
        super()._fed(signals, now)
        together, self.together = self.together, None
        together.flush()

    def handle(self, signal: Signal, now: float) -> None:
        if type(signal) is Arrived:  # the hot path: ahead of the others, and looked at once
            exchange = self.exchanges.get(signal.stream)
            if exchange is not None:
                exchange.response_events(signal.events, now)
            return
        match signal:
            case Granted(stream):
                if stream:
                    exchange = self.exchanges.get(stream)
                    if exchange is not None:
                        exchange.upstream_writable(now)
                else:
                    self.writable(now)
            case Stopped(stream):
                exchange = self.exchanges.get(stream)
                if exchange is not None:
                    exchange.request_unwanted(now)
            case Closed(detail):
                if detail and (self._left or not self.over):  # else it has only left
                    # No exchange need have been told.
                    log.warning("upstream connection %d broke HTTP: %s", self.number, detail)
                self.over = True
                self.upstream.lost(self)
            case Arrived() | Gone():  # seen to above; the server role's alone
                pass

    def straighten(self, lane: Lane, stream: int, owner: LaneOwner, *, parts: bool) -> None:
        """All of a read for `stream` has gone straight through: `lane` may be for the next."""
        if not lane.open(owner, self.session, stream, parts=parts):
            return
        if self.lanes is None:
            self.shortcut = lane
        elif lane.incoming is not None:
            self.lanes.add(lane, lane.incoming)

    def silent(self) -> bool:
        """Whether it has said nothing since its last answer. What has come and was not read yet would be taken for the
        answer to the next request (it can be no more than the beginning of one: HTTP/1 has no numbers)."""
        if self.used and not self.session.multiplexed and not self.paused:
            self._read()
        return self.session.reusable and not self.over

    def take(self, listener: UpstreamListener) -> int:
        """A stream of its own for `listener`, until `release`."""
        stream = self.session.open()
        self.exchanges[stream] = listener
        return stream

    def narrow(self, nbytes: int) -> None:
        """Take no more than so many bytes from the peer at a time, and have the system hold little more; HTTP/1 only, for
        the exchange that it now carries, which is its last. (On HTTP/2 the stream's window does it.)"""
        if self.session.multiplexed:
            return
        self.most = self._portion = nbytes
        if self.transport.descriptor is not None:
            receive_less(self.transport.descriptor, nbytes)
        self.session.close()

    def end(self, stream: int, abort: Abort, now: float) -> None:
        """The exchange on `stream` ends it. Where that ends the whole connection, its siblings lose it too."""
        self.session.abort(stream, abort)
        if abort.scope is Scope.CONNECTION:
            taken_along = Abort("connection", Peer.UPSTREAM, Scope.CONNECTION, abort.manner)
            for signal in self.session.resume():
                self.handle(Arrived(signal.stream, [taken_along]) if isinstance(signal, Arrived) else signal, now)

    def stand_in(self, listener: UpstreamListener) -> UpstreamListener:
        return DeafUpstreamSide(listener)

    def writable(self, now: float) -> None:
        for exchange in list(self.exchanges.values()):
            exchange.upstream_writable(now)
        if (
            not self.exchanges
            and self.session.multiplexed
            and not self.session.reusable
            and self.session.closing is None
        ):
            self.session.close()  # it has nothing to do, and takes nothing further: the upstream allows no stream

    def failed(self) -> None:
        """Whoever waits for an answer is told that none will come."""
        for signal in self.session.lost("rst"):
            self.handle(signal, self.now())

    def closed(self, *, lost: bool) -> None:
        self.over = True
        self.shortcut = self.lanes = None  # they know us
        self.upstream.lost(self)

    async def _finish(self) -> None:
        # A client that is gone is gone at once: no lingering, which would hide it from an upstream that only writes.
        if self._ending is Closing.RST or self.wire is not None:
            await super()._finish()
        elif not self.broken:
            self.transport.fin()

    def leave_to(self, listener: UpstreamListener, stream: int, lane: Lane) -> None:
        """The exchange on `stream` has left it; `listener` hears the rest."""
        self._bend(lane)
        self.exchanges[stream] = listener

    def _bend(self, lane: Lane) -> None:
        """Nothing goes straight through `lane` any more."""
        if self.lanes is None:
            self.shortcut = None
        else:
            self.lanes.remove(lane)

    def release(self, stream: int, lane: Lane | None = None) -> None:
        """The exchange on `stream` is done with this connection."""
        self.exchanges.pop(stream, None)
        if lane is not None:
            self._bend(lane)
        self.used = True
        self.read_again()
        if not self.session.reusable and not self.exchanges and self.session.closing is None:
            self.session.close()
        self.flush()
        if self.blocked and self.session.closing is Closing.FIN:
            self.leave()  # what it has not taken of the request is not wanted any more, and may never be taken
        self.upstream.released(self)
