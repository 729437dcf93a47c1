"""A connection that carries exchanges, each on a stream of its own: who hears what comes on it.

Must not know: which side of the exchanges it is.
"""

from abc import abstractmethod
from typing import Generic, TypeVar

from chaosproxy.proxy.connection import FIRST, READ, Connection
from chaosproxy.proxy.hearing import StandIn
from chaosproxy.proxy.output import Spawn
from chaosproxy.session import Session
from chaosproxy.wire.transport import Transport
from chaosproxy.wire.wire import Wire

AnyListener = TypeVar("AnyListener")


class Carrier(Connection, Generic[AnyListener]):
    """`exchanges`: who hears each stream."""

    __slots__ = ("exchanges",)

    def __init__(
        self, transport: Transport, session: Session, number: int, spawn: Spawn, wire: Wire | None = None
    ) -> None:
        super().__init__(transport, session, number, spawn, wire)
        self.exchanges: dict[int, AnyListener] = {}

    def beware(self, *, faulty: bool) -> None:
        """An exchange begins on it; while one has faults as little is handled at once as can be: of HTTP/2 frames come
        whole."""
        if not faulty and len(self.exchanges) > 1:
            return
        if self.session.multiplexed:
            self.most = FIRST if faulty else READ
        else:
            self.sliced = faulty

    @abstractmethod
    def stand_in(self, listener: AnyListener) -> AnyListener:
        """Who hears, in the place of `listener`, what it is not to hear."""

    def deafen(self, stream: int) -> None:
        """Whatever the peer does on `stream` is not heard, until `hear`; on HTTP/1 nothing of it is read."""
        listener = self.exchanges.get(stream)
        if listener is None:
            return  # the peer has left, or its part is over: there is nothing to hear
        self.exchanges[stream] = self.stand_in(listener)
        if not self.session.multiplexed:
            self.read_nothing()

    def hear(self, stream: int, now: float) -> None:
        """Again; first what has been missed."""
        deaf = self.exchanges.get(stream)
        if isinstance(deaf, StandIn):
            self.exchanges[stream] = deaf.listener
            self.read_again()
            deaf.replay(now)

    def owes(self) -> bool:
        return bool(self.exchanges) and not self.broken
