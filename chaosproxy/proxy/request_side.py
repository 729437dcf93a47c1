"""The request of an exchange as it leaves the chain: a connection for it, what is sent on that, and when it is sent again.

Must not know: the answer, the client's connection.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, Protocol

from chaosproxy.model import headers as fields
from chaosproxy.model.messages import Abort, Data, End, Event, RequestHead
from chaosproxy.model.vocabulary import Peer
from chaosproxy.proxy import endings
from chaosproxy.proxy.lane import Lane
from chaosproxy.proxy.plan import Plan
from chaosproxy.proxy.rewrite import for_upstream
from chaosproxy.proxy.upstream import Upstream
from chaosproxy.proxy.upstream_connection import UpstreamConnection


class Owner(Protocol):
    """The exchange, as its upstream side needs it."""

    def settle(self, now: float) -> None: ...
    def connected(self, now: float) -> None: ...
    def contain(self, act: Callable[..., None], *arguments: Any) -> None: ...
    def failed(self, error: Exception, now: float) -> None: ...


class RequestSide(ABC):
    """Dials and sends. `over` once nothing further is sent or awaited."""

    def __init__(self, owner: Owner, plan: Plan, upstream: Upstream, client_protocol: str, lane: Lane) -> None:
        self.over = False
        self.request_ended = False
        """The request has gone out whole, or the rest of it is not wanted."""
        self.connection: UpstreamConnection | None = None
        self.stream = 0
        self.protocol = "http/1.1"
        self._owner = owner
        self._plan = plan
        self._line = plan.chain.response
        self._upstream = upstream
        self._client_protocol = client_protocol
        self._observer = lane.observer
        self._lane = lane
        self._head: RequestHead | None = None
        self._waiting = False
        """For a connection."""
        self._end_early = False
        """The request was complete before there was one."""
        self._body_sent = False
        self._answered = False
        self._retried = False

    @abstractmethod
    def response_events(self, events: list[Event], now: float) -> None:
        """What the upstream sent."""

    def pump(self, now: float) -> None:
        """Send what stands at the exit of the request line, as far as the upstream takes it."""
        line = self._plan.chain.request
        if self.over or self.request_ended:
            while line.waiting and line.take(now):
                pass  # nobody wants it; the client is drained
            return
        if self.connection is None:
            if self._head is None and line.waiting and not self._plan.chain.cancelled:
                for event in line.take(now, 0):
                    if isinstance(event, RequestHead):
                        self._head = event
                    elif isinstance(event, End):
                        self._end_early = True
                self._acquire(fresh=False)
            return
        while line.waiting and self.connection is not None and not self.request_ended:
            room = 0 if self.connection.blocked else self.connection.session.allowance(self.stream)
            events = line.take(now, room, self.connection.session.multiplexed)
            if not events:
                return
            self._send(events)

    @property
    def awaits_last_words(self) -> bool:
        """Something of the request stands at the exit, and there is, or will be, a connection to send it on."""
        return bool(self._plan.chain.request.waiting) and (self._waiting or self.connection is not None)

    def _acquire(self, *, fresh: bool) -> None:
        self._waiting = True
        self._upstream.acquire(self, self._client_protocol, fresh=fresh)

    def _send(self, events: list[Event]) -> None:
        assert self.connection is not None
        for event in events:
            if isinstance(event, Data):
                self._body_sent = True
            elif isinstance(event, End):
                self.request_ended = True
        self.connection.session.send(self.stream, events)
        self.connection.flush()

    def upstream_ready(self, connection: UpstreamConnection, now: float) -> None:
        """A connection for the request: open a stream on it and send."""
        self._owner.contain(self._ready, connection, now)

    def _ready(self, connection: UpstreamConnection, now: float) -> None:
        self._waiting = False
        head, plan, protocol = self._head, self._plan, connection.session.protocol
        assert head is not None
        if (head.upgrade or head.method == b"CONNECT") and protocol != self._client_protocol:
            why = "the upstream speaks another version of HTTP: an upgrade cannot be translated"
            self.fail(501, why, "protocol", now)
            connection.upstream.serve()
            return
        self.connection, self.protocol = connection, protocol
        self._observer.meets("upstream", connection.wire)
        self.stream = connection.take(self)
        connection.beware(faulty=plan.faulty)
        address = connection.upstream.address
        self._observer.upstream_connected(
            protocol, connection.number, self.stream if connection.session.multiplexed else None, address.url, now
        )
        rewritten = for_upstream(head, address, host=plan.host, mount=plan.mount, identity=plan.identity)
        if plan.identity and fields.first(head.headers, b"accept-encoding") is not None:
            self._observer.removed("accept-encoding")
        if head.asked:
            connection.dribble()
        if plan.faulty and plan.chain.narrow:
            connection.narrow(plan.chain.narrow)
        events: list[Event] = [rewritten]
        if self._end_early:
            events.append(End())
        else:
            room = connection.session.allowance(self.stream)
            events.extend(plan.chain.request.take(now, room, connection.session.multiplexed))
        self._send(events)
        self._owner.connected(now)

    def upstream_failed(self, reason: str, now: float) -> None:
        """No connection could be made."""
        self._waiting = False
        self._owner.contain(self.fail, 502, reason, "upstream:unreachable", now)

    def upstream_writable(self, now: float) -> None:
        """More of the request may be sent."""
        self._owner.contain(self._owner.settle, now)

    def request_unwanted(self, now: float) -> None:
        """The upstream wants no more of the request: the rest is drained."""
        self.request_ended = True
        self._owner.contain(self._owner.settle, now)

    def fail(self, status: int, reason: str, cause: str, now: float) -> None:
        """There will be no answer: one of our own instead."""
        self.over = True
        self._line.push_control(Abort(cause, Peer.UPSTREAM, status=status, detail=reason), now)
        self._owner.settle(now)

    def _retries(self, event: Event) -> bool:
        """Once more on a fresh connection, if nothing would be sent twice."""
        if not isinstance(event, Abort) or self._retried or self._answered or self._body_sent:
            return False
        return endings.may_retry(event, used=self.connection is not None and self.connection.used)

    def _retry(self) -> None:
        self._retried = True
        self._end_early = self.request_ended
        self.request_ended = False
        self._observer.retried()
        self._release()
        self._acquire(fresh=True)

    def _begin_again(self) -> None:
        """As if nothing had been sent."""
        self.over = self.request_ended = self._end_early = self._body_sent = self._answered = self._waiting = False
        self._head = None

    def _release(self) -> None:
        connection, self.connection = self.connection, None
        if connection is not None:
            connection.release(self.stream, self._lane)
