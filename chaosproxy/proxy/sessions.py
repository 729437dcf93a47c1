"""The session of a connection: by the protocol, and by what `connections:` has it do otherwise; the latter's time.

Must not know: exchanges, which faults there are.
"""

import math

import trio

from chaosproxy.chain.conduct import Conduct
from chaosproxy.http1.session import Http1Session
from chaosproxy.http2.conducted import ConductedSession
from chaosproxy.http2.session import Http2Session
from chaosproxy.model.messages import Abort
from chaosproxy.model.vocabulary import Manner, Peer, Role, Scope
from chaosproxy.proxy.alarm import Alarm
from chaosproxy.proxy.bugs import report
from chaosproxy.proxy.connection import Connection
from chaosproxy.proxy.upstream_connection import UpstreamConnection
from chaosproxy.session import Session

_MANNERS = {"fin": Manner.FIN, "rst": Manner.RESET, "silence": Manner.SILENCE}


def session_of(protocol: str, role: Role, *, tls: bool, conduct: Conduct | None = None) -> Session:
    """For a connection that speaks `protocol`."""
    if protocol != "h2":
        return Http1Session(role, scheme=b"https" if tls else b"http")
    if conduct is not None:
        return ConductedSession(role, conduct, clock=trio.current_time)
    return Http2Session(role, clock=trio.current_time)


class SessionRing:
    """What the alarm rings for a session that does something otherwise; how such a connection is left."""

    def __init__(self, connection: Connection, conduct: Conduct, alarm: Alarm) -> None:
        self.armed = math.inf
        assert connection.wire is not None
        self._connection, self._conduct, self._alarm, self._wire = connection, conduct, alarm, connection.wire
        self._wire.on_close = self._forget
        conduct.on_due = self._set
        if isinstance(connection, UpstreamConnection):
            connection.portion = 1
        conduct.plan(trio.current_time())

    def _set(self, time: float) -> None:
        if time < self.armed:
            self._alarm.set(self, time)

    def _forget(self) -> None:
        self._conduct.on_due = None
        self._alarm.forget(self)

    def ring(self, now: float) -> None:
        """Something is due, or the connection is to be left."""
        session = self._connection.session
        assert isinstance(session, ConductedSession)
        try:
            self._connection.heard(session.wake(now), now)
        except Exception as error:  # noqa: BLE001 - the alarm rings for all, who must not end for one
            report("a fault of a session has failed", error)
            self._end(Abort("internal", Peer.PROXY, Scope.CONNECTION, detail=f"{type(error).__name__}: {error}"))
            return
        if self._conduct.parting is not None:
            fault, how = self._conduct.parting
            self._end(Abort(fault, Peer.PROXY, Scope.CONNECTION, _MANNERS[how]))

    def _end(self, abort: Abort) -> None:
        self._forget()
        self._wire.end(abort)
