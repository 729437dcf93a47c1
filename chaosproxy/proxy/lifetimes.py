"""How long a client's connection is kept, where a fault says so: until it is old, or a while after an answer.

Must not know: which fault says it.
"""

import math
from collections.abc import Sequence

from chaosproxy.chain.connection_spec import Lifetime
from chaosproxy.chain.placed import Noted
from chaosproxy.http1.server import ServerConnection
from chaosproxy.model.messages import Abort
from chaosproxy.model.units import show_duration
from chaosproxy.model.vocabulary import Manner, Peer, Scope
from chaosproxy.proxy.alarm import Alarm
from chaosproxy.proxy.client import ClientConnection
from chaosproxy.proxy.connection_faults import HOP
from chaosproxy.wire.wire import Wire


class Keeper:
    """One connection's; what the alarm rings for it."""

    def __init__(self, connection: ClientConnection, wire: Wire, lifetime: Lifetime, alarm: Alarm) -> None:
        self.armed = math.inf
        self._connection, self._wire, self._lifetime, self._alarm = connection, wire, lifetime, alarm
        self._old = wire.began + lifetime.age if isinstance(connection.session, ServerConnection) else math.inf
        self._end = self._old + lifetime.grace
        self._idle = math.inf
        self._set(self._old)

    def _set(self, time: float) -> None:
        if time < self.armed:
            self._alarm.set(self, time)

    def forget(self) -> None:
        """The connection is gone."""
        self._alarm.forget(self)

    def released(self, now: float) -> None:
        """An answer has ended; if nothing else runs the connection has nothing to do."""
        if self._lifetime.idle == math.inf or self._connection.exchanges or not self._may_close():
            return
        self._note(
            "closed at once" if not self._lifetime.idle else f"closed {show_duration(self._lifetime.idle)} behind", now
        )
        self._idle = now + self._lifetime.idle
        if self._idle <= now:
            self._close()
        else:
            self._set(self._idle)

    def began(self) -> None:
        """A request has come in time."""
        self._idle = math.inf

    def ring(self, now: float) -> None:
        """Something may be due."""
        if self._old <= now:
            self._old = math.inf
            session = self._connection.session
            assert isinstance(session, ServerConnection)
            session.answers_once_more()
            self._note("old: the next answer is the last", now)
        if self._idle <= now:
            self._idle = math.inf
            self._close()
        if self._end <= now:
            self._end = math.inf
            self._wire.end(Abort(self._lifetime.fault, Peer.PROXY, Scope.CONNECTION, Manner.FIN))
        self._set(min(self._old, self._idle, self._end))

    def _may_close(self) -> bool:
        return self._connection.session.closing is None and not self._connection.broken

    def _close(self) -> None:
        connection = self._connection
        if self._may_close() and not connection.exchanges:
            connection.hasty = not connection.session.multiplexed
            connection.session.close()
            connection.flush()

    def _note(self, detail: str, now: float) -> None:
        self._wire.notes.take([Noted(now, self._lifetime.fault, HOP, "connection", "fired", detail)])


class Keepers:
    """Those of one connection."""

    def __init__(self, connection: ClientConnection, wire: Wire, lifetimes: Sequence[Lifetime], alarm: Alarm) -> None:
        self._all = [Keeper(connection, wire, lifetime, alarm) for lifetime in lifetimes]

    def began(self) -> None:
        """A request has come."""
        for keeper in self._all:
            keeper.began()

    def released(self, now: float) -> None:
        """An answer has ended."""
        for keeper in self._all:
            keeper.released(now)

    def forget(self) -> None:
        """The connection is gone."""
        for keeper in self._all:
            keeper.forget()
