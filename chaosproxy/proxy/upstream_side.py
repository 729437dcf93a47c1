"""An exchange's upstream: the request that leaves the chain towards it, the answer it sends, its ending.

Must not know: the client's connection.
"""

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from chaosproxy.chain.content import prepare
from chaosproxy.chain.endings import Ending
from chaosproxy.journal.record import Ending as Ended
from chaosproxy.model import headers as fields
from chaosproxy.model.messages import Abort, Data, End, Event, Interim, RequestHead, ResponseHead
from chaosproxy.model.places import Framing, Peer
from chaosproxy.proxy import endings
from chaosproxy.proxy.lane import Lane
from chaosproxy.proxy.plan import Plan
from chaosproxy.proxy.rewrite import for_upstream
from chaosproxy.proxy.upstream import Upstream
from chaosproxy.proxy.upstream_connection import CREDITED, UpstreamConnection


class Owner(Protocol):
    """The exchange, as its upstream side needs it."""

    def settle(self, now: float) -> None: ...
    def connected(self, now: float) -> None: ...
    def contain(self, act: Callable[..., None], *arguments: Any) -> None: ...
    def failed(self, error: Exception, now: float) -> None: ...


class UpstreamSide:
    """Dials, sends, receives. `over` once nothing further is sent or awaited."""

    def __init__(self, owner: Owner, plan: Plan, upstream: Upstream, client_protocol: str, lane: Lane) -> None:
        self.over = False
        self.request_ended = False
        """The request has gone out whole, or the rest of it is not wanted."""
        self.tunnel = False
        self.connection: UpstreamConnection | None = None
        self.protocol = "http/1.1"
        self._owner = owner
        self._plan = plan
        self._line = plan.chain.response
        self._upstream = upstream
        self._client_protocol = client_protocol
        self._observer = lane.observer
        self._lane = lane
        self.stream = 0
        self._head: RequestHead | None = None
        self._waiting = False
        self._end_early = False
        self._body_sent = False
        self._answered = False
        self._retried = False
        self.credit_at = 0
        """Once so many body bytes have come, the upstream is to be credited, though they went straight through."""

    # ---- the request

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
        address = connection.upstream.address
        self._observer.upstream_connected(
            protocol, connection.number, self.stream if connection.session.multiplexed else None, address.url, now
        )
        rewritten = for_upstream(head, address, host=plan.host, mount=plan.mount, identity=plan.identity)
        if plan.identity and not self._retried and fields.first(head.headers, b"accept-encoding") is not None:
            self._observer.removed("accept-encoding")
        if head.dribbles:
            connection.dribble()
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

    # ---- the answer

    def carry(self, data: bytes, now: float) -> bool:
        """What the upstream's connection has read, before it is given to the session; see `Shortcut`."""
        connection, room = self.connection, self._lane.client.room
        payload = connection.session.whole_piece(data) if room and connection is not None else None
        if payload is None:
            return False
        piece = Data(payload)
        try:
            if not self._lane.carry(piece, now, room):
                self._arrived([piece], now)
                self._owner.settle(now)
        except Exception as error:  # noqa: BLE001 - as `contain`, which would be one call more for every event
            self._owner.failed(error, now)
        return True

    def response_events(self, events: list[Event], now: float) -> None:
        """What the upstream sent."""
        pieces = [event for event in events if type(event) is Data]
        if self._plan.faulty:
            for piece in pieces:
                piece.size = None
        try:
            if len(pieces) < len(events):
                self._mixed(events, now)
            else:
                together = self.connection.together if self.connection is not None else None
                passed = self._lane.carry_all(pieces, now, together)
                if passed == len(pieces):
                    if self._line.bytes_in >= self.credit_at:
                        self.credit()
                    return
                self._arrived(pieces[passed:], now)
            self._owner.settle(now)
        except Exception as error:  # noqa: BLE001 - as in `carry`
            self._owner.failed(error, now)

    def _mixed(self, events: list[Event], now: float) -> None:
        """Not body alone."""
        line = self._line
        for event in events:
            if isinstance(event, Data):
                line.push([event], now)
                self._arrived([event], now)
                continue
            if self._retries(event):
                self._retry()
                return
            self._control(event, now)
            line.push_control(event, now)
            self._arrived((), now)  # it may have completed a last line

    def _arrived(self, pieces: Sequence[Data], now: float) -> None:
        for piece in pieces:
            self._observer.arrived(now, len(piece.payload))
        if self._line.records_in:
            self._observer.event_in(now)

    def _control(self, event: Event, now: float) -> None:
        match event:
            case ResponseHead():
                self._answered = True
                self._observer.response_head(event, now)
                self.tunnel = event.framing is Framing.TUNNEL
                if not self.tunnel:
                    prepare(self._line, event.headers, self._plan.records)
                if self.connection is not None and not self.connection.session.multiplexed:
                    self.connection.shortcut = self
                asked = self._head is not None and (self._head.upgrade or self._head.method == b"CONNECT")
                if asked and not self.tunnel and not self.request_ended:
                    self._send([End()])  # refused: the request was complete with its head
            case Interim():
                self._answered = True
            case End():
                if not self.tunnel:
                    self._finished(now)
            case Abort():
                self._observer.upstream_closed(endings.by_upstream(event, self.protocol), now, event.detail)
                self.leave()
            case _:
                pass

    def _finished(self, now: float) -> None:
        self._observer.upstream_closed(Ended("upstream", "clean"), now)
        if not self.request_ended and self.connection is not None:
            # Answered before the request was complete: the answer is delivered whole, no more is sent (RFC 9112 9.3).
            self.connection.session.abort(self.stream, Abort("upstream:early", Peer.PROXY, code=0))
            self.request_ended = True
        self.leave()

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

    # ---- the end

    def end(self, cause: str, now: float, wanted: Sequence[Ending] = ()) -> None:
        """Nobody wants the upstream any more: tell it at once, in the first of the `wanted` ways that it has."""
        if self.over:
            return
        self.over = True
        if self._waiting:
            self._upstream.forget(self)
        if self.connection is not None:
            abort = endings.of_upstream(wanted, cause, self.protocol)
            self.connection.end(self.stream, abort, now)
            how = endings.how(abort, self.protocol, Framing.NONE)
            self._observer.upstream_closed(Ended("proxy", how, cause), now)
            self._release()

    def leave(self) -> None:
        """Done with the upstream: both ways have ended."""
        self.over = True
        self._release()

    def tunnel_ended(self, now: float) -> None:
        """Both ways of the tunnel have ended."""
        if not self.over:
            self._observer.upstream_closed(Ended("upstream", "clean"), now)
            self.leave()

    def _release(self) -> None:
        connection, self.connection = self.connection, None
        if connection is not None:
            connection.shortcut = None
            connection.release(self.stream)

    def credit(self) -> None:
        """Tell the upstream how much of its answer was admitted."""
        admitted = self._line.take_admitted()
        self.credit_at = self._line.bytes_in + CREDITED
        if self.connection is not None:
            self.connection.credit(self.stream, admitted, wants=self._line.wants())
