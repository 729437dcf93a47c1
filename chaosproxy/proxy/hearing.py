"""What an exchange does not hear while a machine of its chain is gone.

A stand-in takes the place of one side of the exchange at its connection and keeps what the session says, in order, until
the machine is back. On HTTP/1 the whole connection is not read meanwhile, so that a FIN stays in the kernel; on HTTP/2 it
is read for the sake of its other streams. Must not know: which fault it was, how long it lasts.
"""

from collections.abc import Callable
from typing import Generic, Protocol, TypeVar

from chaosproxy.chain.leaving import NOBODY
from chaosproxy.model.messages import Abort, Event
from chaosproxy.model.vocabulary import Peer


class ClientListener(Protocol):
    """Whoever hears the client's session on one stream: the exchange."""

    @property
    def half_closes(self) -> bool: ...
    def request_events(self, events: list[Event], now: float) -> None: ...
    def client_gone(self, abort: Abort, now: float) -> None: ...
    def client_writable(self, now: float) -> None: ...
    def connection_ended(self, abort: Abort, now: float) -> None: ...


class UpstreamListener(Protocol):
    """Whoever hears the upstream's session on one stream: the exchange's upstream side."""

    def response_events(self, events: list[Event], now: float) -> None:
        """Events of the answer, in order."""
        ...

    def upstream_writable(self, now: float) -> None:
        """More of the request may be sent."""
        ...

    def request_unwanted(self, now: float) -> None:
        """The upstream does not want the rest of the request."""
        ...


AnyListener = TypeVar("AnyListener")


class StandIn(Generic[AnyListener]):
    """Keeps calls meant for `listener`, to be made once the machine is back, at the time of that."""

    def __init__(self, listener: AnyListener) -> None:
        self.listener = listener
        self._calls: list[Callable[[float], None]] = []

    def keep(self, call: Callable[[float], None]) -> None:
        """Make it later."""
        self._calls.append(call)

    def replay(self, now: float) -> None:
        """Make them all."""
        for call in self._calls:
            call(now)


class DeafExchange(StandIn[ClientListener]):
    """Nobody hears the client. That its socket takes more, and what a fault does to its connection, is no word of its."""

    @property
    def half_closes(self) -> bool:
        return self.listener.half_closes

    def request_events(self, events: list[Event], _now: float) -> None:
        self.keep(lambda now: self.listener.request_events(events, now))

    def client_gone(self, abort: Abort, _now: float) -> None:
        self.keep(lambda now: self.listener.client_gone(abort, now))

    def client_writable(self, now: float) -> None:
        self.listener.client_writable(now)

    def connection_ended(self, abort: Abort, now: float) -> None:
        self.listener.connection_ended(abort, now)


class DeafUpstreamSide(StandIn[UpstreamListener]):
    """Nobody hears the upstream."""

    def response_events(self, events: list[Event], _now: float) -> None:
        self.keep(lambda now: self.listener.response_events(events, now))

    def upstream_writable(self, now: float) -> None:
        self.listener.upstream_writable(now)

    def request_unwanted(self, _now: float) -> None:
        self.keep(self.listener.request_unwanted)


class Hearer(Protocol):
    """A connection that can be made deaf to what comes for one stream."""

    def deafen(self, stream: int) -> None: ...
    def hear(self, stream: int, now: float) -> None: ...


class UpstreamEnd(Protocol):
    """The exchange's upstream side; its connection comes and goes."""

    @property
    def connection(self) -> Hearer | None: ...
    @property
    def stream(self) -> int: ...


class Ears:
    """Whom one exchange hears."""

    __slots__ = ("_client", "_stream", "_upstream", "unheard")

    def __init__(self, client: Hearer, stream: int, upstream: UpstreamEnd) -> None:
        self.unheard = NOBODY
        self._client, self._stream = client, stream
        self._upstream = upstream

    def listen(self, unheard: frozenset[Peer], now: float) -> None:
        """From now on all but these."""
        before, self.unheard = self.unheard, unheard
        for peer in before ^ unheard:
            self._turn(peer, now, hears=peer in before)

    def connected(self, now: float) -> None:
        """The upstream has got its connection, which may be while it is not heard."""
        if Peer.UPSTREAM in self.unheard:
            self._turn(Peer.UPSTREAM, now, hears=False)

    def _turn(self, peer: Peer, now: float, *, hears: bool) -> None:
        connection, stream = self._client, self._stream
        if peer is Peer.UPSTREAM:
            if self._upstream.connection is None:
                return  # there is nothing to hear yet, or no more
            connection, stream = self._upstream.connection, self._upstream.stream
        if hears:
            connection.hear(stream, now)
        else:
            connection.deafen(stream)
