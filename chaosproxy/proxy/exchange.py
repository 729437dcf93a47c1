"""One request and its answer: the mediator between a chain, its client side and its upstream side.

Everything here is synchronous. Something happens on one side, goes into the chain, and `settle` sends what has reached
an exit; what cannot be sent stays in the chain, whose room is the backpressure. The exchange is journalled when both
sides are over. A bug in one exchange ends that exchange, never the proxy.
"""

import math
from collections.abc import Callable
from functools import partial
from typing import Any

from chaosproxy.chain.content import prepare
from chaosproxy.journal.record import ExchangeRecord
from chaosproxy.model.messages import Abort, Data, End, Event, RequestHead
from chaosproxy.model.vocabulary import Manner, Peer, Scope
from chaosproxy.proxy.channels import ExchangeChannel
from chaosproxy.proxy.client_side import ClientSide
from chaosproxy.proxy.hearing import Ears
from chaosproxy.proxy.held import HeldRequest
from chaosproxy.proxy.house import House
from chaosproxy.proxy.lane import Lane
from chaosproxy.proxy.observer import Observer
from chaosproxy.proxy.plan import Plan
from chaosproxy.proxy.upstream import Upstream
from chaosproxy.proxy.upstream_side import UpstreamSide


class Exchange:
    """Made when a request head arrives; `begin` binds the plan."""

    __slots__ = (
        "_again", "_busy", "_connection", "_ears", "_finished", "_held", "_house", "_lane", "_plan",
        "_request_complete", "armed", "began", "client", "observer", "record", "upstream",
    )  # fmt: skip

    def __init__(
        self, house: House, connection: ExchangeChannel, stream: int, observer: Observer, began: float
    ) -> None:
        self.armed = math.inf
        self.record: ExchangeRecord = observer.record
        self.began = began
        self.observer = observer
        self.client = ClientSide(connection, stream, self.observer)
        self.upstream: UpstreamSide | None = None
        self._house = house
        self._connection = connection
        self.observer.meets("client", connection.wire)
        self._plan: Plan | None = None
        self._lane: Lane | None = None
        self._held: HeldRequest | None = None
        self._busy = False
        self._again = False
        self._finished = False
        self._request_complete = False
        """All of it has come: also where its End is withheld until a tunnel is granted, and has not entered the chain."""
        self._ears: Ears

    # ---- what happens

    def begin(self, head: RequestHead, plan: Plan, upstream: Upstream, now: float) -> None:
        """The request is in force under `plan`; its head enters the chain."""
        self._plan = plan
        self._connection.beware(faulty=plan.faulty)
        self.client.bodiless = head.method == b"HEAD"
        self.client.old = head.version == b"1.0"
        self.client.upgrading = bool(head.upgrade) or head.method == b"CONNECT"
        self._lane = lane = Lane(plan.chain.response, self.client, self.observer)
        protocol = self._connection.session.protocol
        self.upstream = UpstreamSide(self, plan, upstream, protocol, lane)
        self._ears = Ears(self._connection, self.client.stream, self.upstream)
        self.contain(self._begin, head, plan, now)

    def _begin(self, head: RequestHead, plan: Plan, now: float) -> None:
        plan.chain.start(now)
        if plan.faulty:
            plan.chain.alarm = partial(self._house.alarm.bring_forward, self)
        if plan.faulty and not head.final:
            prepare(plan.chain.request, head.headers, plan.records)
        if head.final:
            self._request_complete = True
            self.observer.request_end(now)
        plan.chain.request.push_control(head, now)
        self.settle(now)

    def refuse(self, abort: Abort, now: float) -> None:
        """The client broke a rule of its protocol: answered here if no head has gone out; the upstream is ended."""
        self._end(self.client.refuse, abort, now)

    def request_events(self, events: list[Event], now: float) -> None:
        """What the client sent behind the head."""
        self.contain(self._request_events, events, now)

    def _request_events(self, events: list[Event], now: float) -> None:
        plan = self._plan
        if plan is None:
            self._hold_more(events, now)
            return
        line, left = plan.chain.request, False
        pieces: list[Data] = []
        for event in events:
            if isinstance(event, Data):
                if plan.faulty:
                    event.size = None
                if self.observer.watches:
                    self.observer.asked(event.payload)
                pieces.append(event)
                continue
            if pieces:
                line.push(pieces, now)
                pieces = []
            if isinstance(event, Abort):
                if not event.cause.startswith("client:"):  # else its leaving is told apart, out of band
                    self.refuse(event, now)
                return
            if isinstance(event, End):
                self._request_complete = True
                self.observer.request_end(now)
                tunnel = self.upstream is not None and self.upstream.tunnel
                left = tunnel and not (self.half_closes or self._connection.session.multiplexed)
            line.push_control(event, now)
        if pieces:
            line.push(pieces, now)
        self.settle(now)
        if left:
            self._client_gone(Abort("client:fin", Peer.CLIENT, manner=Manner.FIN), now)

    def hold(self, held: HeldRequest) -> None:
        """Nothing begins before its body is complete."""
        self._held = held

    def _hold_more(self, events: list[Event], now: float) -> None:
        held = self._held
        if held is None:
            return
        abort = next((event for event in events if isinstance(event, Abort)), None)
        if abort is not None:  # nothing was begun, and nothing will be
            self._held = None
            if not abort.cause.startswith("client:"):
                self.refuse(abort, now)
            return
        self._connection.credit(self.client.stream, held.add(events), wants=True)
        if held.ready:
            self._held = None
            held.release(now)

    def client_gone(self, abort: Abort, now: float) -> None:
        """The client has left before its answer was complete."""
        self.contain(self._client_gone, abort, now)

    def _client_gone(self, abort: Abort, now: float) -> None:
        if self.client.over:
            return
        if abort.origin is Peer.CLIENT:
            self.observer.client_closed(now)
        plan = self._plan
        if plan is not None:
            half_closed = abort.manner is Manner.FIN and self._request_complete
            if half_closed and plan.chain.serves_half_close:
                return
            self.client.gone(abort, now, plan.chain.silent)
            plan.chain.hangup(now, abort.cause if abort.origin is Peer.CLIENT else "connection")
            self._ears.listen(plan.chain.unheard, now)  # an answer that is lost on its way is drained for nobody
            self.settle(now)
        else:
            self.client.gone(abort, now)
            self._finish_if_over(now)

    def connection_ended(self, abort: Abort, now: float) -> None:
        """A fault of the client's whole connection has ended it."""
        self._end(self.client.cut_off, abort, now)

    def client_writable(self, now: float) -> None:
        """The client takes more. Some clients say so for every event."""
        if self._plan is not None and (self.client.unsent or not self._plan.chain.response.idle(now)):
            self.contain(self.settle, now)

    def ring(self, now: float) -> None:
        """The alarm: something in the chain is due."""
        self.contain(self._ring, now)

    def _ring(self, now: float) -> None:
        if self._plan is not None and not self._finished:
            self._plan.chain.wake(now)
            self.settle(now)
            if not self._finished and self._ears.unheard:
                self._ears.listen(self._plan.chain.unheard, now)

    def shut_down(self, now: float) -> None:
        """The proxy is leaving: both sides end now."""
        self._end(self.client.abort, Abort("shutdown", Peer.PROXY, scope=Scope.STREAM, manner=Manner.RESET), now)

    @property
    def half_closes(self) -> bool:
        """A FIN of the client ends its way alone."""
        return self.upstream is not None and self.upstream.half_closes and self.client.silenced is None

    # ---- what follows

    def settle(self, now: float) -> None:
        """Send what has reached an exit, on both ways, until nothing more moves."""
        if self._busy:
            self._again = True
            return
        plan, upstream, client = self._plan, self.upstream, self.client
        if plan is None or upstream is None or self._finished:
            return
        chain, request, response = plan.chain, plan.chain.request, plan.chain.response
        self._busy = True
        try:
            while True:
                self._again = False
                if request.waiting:
                    upstream.pump(now)
                if response.waiting or client.more or client.unsent:
                    client.pump(chain, upstream.protocol, now)
                if chain.cancelled and not upstream.over and not (chain.last_words and upstream.awaits_last_words):
                    upstream.end(chain.cancel_cause, now, chain.upstream_endings)
                if response.moved and not upstream.over:
                    upstream.credit()
                if request.moved or client.over:
                    self._credit_client()
                if not self._again:
                    break
        finally:
            self._busy = False
        answered = upstream.answer_ended if client.over else client.response_ended and client.silenced is None
        if upstream.tunnel and upstream.request_ended and answered:
            upstream.tunnel_ended(now)
            client.tunnel_ended(now)
        if chain.notes:
            self.observer.take_notes(chain.notes)
            self._ears.listen(chain.unheard, now)
            if chain.asks_again is not None:
                upstream.ask_again(now)
                self.settle(now)
                return
        if client.over and upstream.over:
            self._finish_if_over(now)
        elif (due := now if client.more else chain.due) < self.armed:
            self._house.alarm.set(self, due)

    def connected(self, now: float) -> None:
        """The upstream's connection is there."""
        self._ears.connected(now)
        self.settle(now)

    def _credit_client(self) -> None:
        assert self._plan is not None
        line, over = self._plan.chain.request, self.client.over
        admitted = line.take_admitted()
        self._connection.credit(self.client.stream, 0 if over else admitted, wants=over or line.wants())

    def _finish_if_over(self, now: float) -> None:
        upstream = self.upstream
        if self._finished or not self.client.over or (upstream is not None and not upstream.over):
            return
        if self._plan is not None:
            chain = self._plan.chain
            chain.close(now)  # if a fault has a bug there, `failed` comes here once more
            self.observer.take_notes(chain.notes)
            self.observer.totals(chain.request, chain.response)
            del self._ears
        self._finished = True
        self._house.alarm.forget(self)
        self.observer.take_connection_notes()
        self._house.finished(self)
        self.upstream = None  # it knows us: without the circle nothing of this is left to the collector

    def _end(self, for_client: Callable[[Abort, float], None], abort: Abort, now: float) -> None:
        """Past the chain, on both sides; what it is `for_client` is that side's to say."""
        self._interrupt()
        for_client(abort, now)
        if self.upstream is not None:
            self.upstream.end(abort.cause, now)
        self._finish_if_over(now)

    def _interrupt(self) -> None:
        """Something happens that is no body at rest: see `Lane`."""
        if self._lane is not None:
            self._lane.close()

    def contain(self, act: Callable[..., None], *arguments: Any) -> None:
        """Run `act`; whatever it raises ends this exchange and is reported, and the proxy goes on."""
        try:
            self._interrupt()
            act(*arguments)
        except Exception as error:  # noqa: BLE001 - a bug here must not end the siblings
            self.failed(error, arguments[-1])

    def failed(self, error: Exception, now: float) -> None:
        """What should not have been has been: report it, and end this exchange alone."""
        self._house.bug(self, error)
        self._busy = False
        detail = f"{type(error).__name__}: {error}"
        try:
            self._end(self.client.abort, Abort("internal", Peer.PROXY, status=500, detail=detail), now)
        except Exception:  # noqa: BLE001 - what fails whenever it is asked is not asked at the end either
            self._plan = None
            self._finish_if_over(now)
