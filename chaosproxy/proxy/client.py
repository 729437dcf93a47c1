"""One client's connection: it makes an exchange of every request and passes the session's signals to it.

Must not know: rules, upstreams.
"""

import logging
import math
from typing import Protocol

import trio

from chaosproxy.model.messages import Abort, RequestHead
from chaosproxy.model.vocabulary import Manner, Peer
from chaosproxy.proxy.alarm import Alarm
from chaosproxy.proxy.carrier import Carrier
from chaosproxy.proxy.exchange import Exchange
from chaosproxy.proxy.hearing import ClientListener, DeafExchange
from chaosproxy.proxy.output import Spawn
from chaosproxy.proxy.patience import Patience
from chaosproxy.proxy.unasked import unasked
from chaosproxy.session import Arrived, Closed, Closing, Gone, Granted, Session, Signal, Stopped
from chaosproxy.wire import close
from chaosproxy.wire.hangup import HangupWatch
from chaosproxy.wire.transport import Transport
from chaosproxy.wire.wire import Wire

log = logging.getLogger("chaosproxy")


class Owner(Protocol):
    """Whoever makes exchanges of what clients ask."""

    alarm: Alarm

    def make_exchange(self, connection: "ClientConnection", stream: int, began: float, now: float) -> Exchange:
        """For the request on `stream`, whose first byte came at `began`."""
        ...

    def begin_exchange(
        self, exchange: Exchange, connection: "ClientConnection", first: RequestHead | Abort, now: float
    ) -> None:
        """`first` is its head, or what is wrong with it."""
        ...

    def client_closed(self, connection: "ClientConnection") -> None:
        """`connection` is gone."""
        ...


class Keepers(Protocol):
    """Who closes it when nothing runs."""

    def began(self) -> None:
        """A request has come."""
        ...

    def released(self, now: float) -> None:
        """An answer has ended."""
        ...

    def forget(self) -> None:
        """The connection is gone."""
        ...


class ClientConnection(Carrier[ClientListener]):
    """Signals of the session go to the exchange on their stream; a new stream gets one from the owner."""

    __slots__ = (
        "_again", "_newest", "_owner", "_pending", "_resuming", "_seen", "_staying", "_watch",
        "first_byte", "first_stream", "hasty", "keepers",
    )  # fmt: skip

    def __init__(
        self,
        transport: Transport,
        session: Session,
        number: int,
        spawn: Spawn,
        owner: Owner,
        wire: Wire | None = None,
        watch: HangupWatch | None = None,
    ) -> None:
        super().__init__(transport, session, number, spawn, wire)
        if wire is not None:
            wire.on_end = self._ended_by_fault
        self.first_stream = 0
        self.hasty = False
        """When it is closed nobody waits for what may be under way: it is answered by a reset."""
        self.keepers: Keepers | None = None
        self._pending: Patience | None = None
        self._owner = owner
        self._watch = watch
        self._newest = 0
        self._seen = 0
        self.first_byte: float | None = None
        """When the first byte came of something that is not complete, while nothing runs: a request's head, a frame, what
        HTTP/2 begins with."""
        self._resuming = False
        self._again = False
        self._staying: trio.CancelScope | None = None
        """Of who waits for that time to pass."""

    def handle(self, signal: Signal, now: float) -> None:
        match signal:
            case Arrived(stream, events):
                exchange = self.exchanges.get(stream)
                if exchange is not None:
                    exchange.request_events(events, now)
                elif stream > self._newest:
                    self._open(stream, signal, now)
            case Gone(stream, abort):
                exchange = self.exchanges.get(stream)
                if exchange is not None:
                    exchange.client_gone(abort, now)
            case Granted(stream):
                exchange = self.exchanges.get(stream)
                if exchange is not None:
                    exchange.client_writable(now)
                elif not stream:
                    self.writable(now)
            case Stopped():
                pass
            case Closed(detail):
                if detail and not self.over:  # else it has only left
                    log.warning("client connection %d broke HTTP: %s", self.number, detail)
                self.over = True

    def _open(self, stream: int, signal: Arrived, now: float) -> None:
        self._newest = stream
        if not self.first_stream:
            self.first_stream = stream
        if self.keepers is not None:
            self.keepers.began()
        began = now if self.first_byte is None or self.session.multiplexed else self.first_byte
        self.first_byte = None
        first = signal.events[0]
        assert isinstance(first, RequestHead | Abort)
        exchange = self.exchanges[stream] = self._owner.make_exchange(self, stream, began, now)
        exchange.contain(self._owner.begin_exchange, exchange, self, first, now)
        if len(signal.events) > 1:
            exchange.request_events(signal.events[1:], now)

    def read_done(self, now: float) -> None:
        """Bytes that opened nothing were the beginning of something, or its end."""
        if self._newest == self._seen and not self.exchanges:
            if not self.session.unfinished:
                self.first_byte = None
            else:
                if self.first_byte is None:
                    self.first_byte = now
                self._wait_for_the_rest(self.first_byte)
        self._seen = self._newest

    def _wait_for_the_rest(self, began: float) -> None:
        if self.wire is not None:
            return  # a fault of the connection takes the time that it likes
        if self._pending is None:
            self._pending = Patience(self, self._owner.alarm)
        self._pending.begin(began)

    def overdue(self, now: float) -> None:
        """The rest has not come in time."""
        if not self.over:
            self.heard(self.session.overdue(), now)

    def writable(self, now: float) -> None:
        for exchange in list(self.exchanges.values()):
            exchange.client_writable(now)

    def release(self, stream: int) -> None:
        """The answer on `stream` has ended for the client: on to what it has sent meanwhile."""
        if self.exchanges.pop(stream, None) is None:
            return
        self.read_again()
        self.resume()
        self.flush()
        if not self.exchanges:
            self.read_done(self.now())  # a further request may have begun meanwhile
        if self.keepers is not None:
            self.keepers.released(self.now())
        if self.over and not self.exchanges and not self._closes_behind_what_is_written():
            self.leave()

    def linger(self, seconds: float) -> None:
        """The answer that has just ended is the last for so long: a FIN waits; where none is due it comes then, if nothing
        further has been asked. 0: it waits no more."""
        self._stay_no_longer()
        self.lingering = seconds
        if 0 < seconds < math.inf and self.session.closing is None:
            self._staying = trio.CancelScope()
            self._spawn(self._close_later, seconds, self._newest, self._staying)

    async def _close_later(self, seconds: float, stream: int, scope: trio.CancelScope) -> None:
        with scope:
            await trio.sleep(seconds)
            if self._newest == stream and self.session.closing is None:
                self.lingering = 0.0
                self.session.close()
                self.flush()

    async def _finish(self) -> None:
        if self.hasty and not self.broken:
            self.transport.fin()
            return
        if self.lingering and self._ending is Closing.FIN and not self.broken:
            with trio.move_on_after(self.lingering) as self._staying:
                await close.until_left(self.transport)
        await super()._finish()

    def _stay_no_longer(self) -> None:
        if self._staying is not None:
            self._staying.cancel()

    def owes(self) -> bool:
        return super().owes() or (self.blocked and self._closes_behind_what_is_written())

    def _closes_behind_what_is_written(self) -> bool:
        """The answer is whole and has its end: a client that has half closed still reads it, at its own pace."""
        return self.session.closing is not None and not self.broken

    def stand_in(self, listener: ClientListener) -> ClientListener:
        return DeafExchange(listener)

    def resume(self) -> None:
        """What the client had sent ahead: pipelined requests, one after another, the first bytes of a tunnel. A loop, so
        that a thousand short requests are not a thousand frames deep."""
        if self._resuming:
            self._again = True
            return
        self._resuming = True
        try:
            while True:
                self._again = False
                now = self.now()
                for signal in self.session.resume():
                    self.handle(signal, now)
                if not self._again:
                    return
        finally:
            self._resuming = False

    def pause(self) -> None:
        """Stop reading; the client's leaving is noticed all the same, where the system can tell."""
        super().pause()
        descriptor = self.transport.descriptor
        if self._watch is not None and descriptor is not None and not self.deaf:
            self._watch.add(descriptor, self._left_unread)

    def half_closed(self) -> None:
        """A client that closed all of it answers what it is still sent by a reset, which nobody would read."""
        descriptor = self.transport.descriptor
        if self._watch is not None and descriptor is not None and not self.broken and self.session.closing is None:
            self._watch.add(descriptor, self._left_unread, resets_only=True)

    def unpause(self) -> None:
        descriptor = self.transport.descriptor
        if self._watch is not None and descriptor is not None:
            self._watch.remove(descriptor)
        super().unpause()

    def _left_unread(self, reset: bool) -> None:
        """The client has left behind a body that nobody reads."""
        if self.wire is not None and not self.wire.hears:
            return  # nor sees
        if not reset and any(exchange.half_closes for exchange in self.exchanges.values()):
            return  # there a FIN is the end of one way, and stands behind what is unread
        now = self.now()
        for exchange in list(self.exchanges.values()):
            exchange.client_gone(Abort("client:rst" if reset else "client:fin", Peer.CLIENT, manner=Manner.FIN), now)
        self.broken = reset
        self.leave()

    def _ended_by_fault(self, abort: Abort) -> None:
        """A fault of the whole connection has ended it: every exchange on it ends with it."""
        now = self.now()
        for exchange in list(self.exchanges.values()):
            exchange.connection_ended(abort, now)
        if abort.manner is not Manner.SILENCE:
            self.broken = True
            self.leave()

    def closed(self, *, lost: bool) -> None:
        self.over = True
        self._stay_no_longer()
        if not self.first_stream:
            unasked(self.number, self.wire)
        if self._pending is not None:
            self._pending.forget()
            self._pending = None  # it knows us
        if self.keepers is not None:
            self.keepers.forget()
        now = self.now()
        gone = Abort("client:rst", Peer.CLIENT) if lost else Abort("connection", Peer.PROXY)
        for exchange in list(self.exchanges.values()):
            exchange.client_gone(gone, now)
        self._owner.client_closed(self)
