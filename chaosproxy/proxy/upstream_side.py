"""An exchange's upstream: the answer it sends, its ending.

Must not know: the client's connection.
"""

import math
from collections.abc import Sequence

from chaosproxy.chain.content import prepare
from chaosproxy.chain.endings import Ending
from chaosproxy.journal.record import Ending as Ended
from chaosproxy.model.messages import Abort, Data, End, Event, Interim, ResponseHead
from chaosproxy.model.vocabulary import Framing, Peer
from chaosproxy.proxy import endings
from chaosproxy.proxy.lane import Lane
from chaosproxy.proxy.orphan import Orphan
from chaosproxy.proxy.plan import Plan
from chaosproxy.proxy.request_side import Owner, RequestSide
from chaosproxy.proxy.upstream import Upstream


class UpstreamSide(RequestSide):
    """What the upstream says, and how it is left."""

    def __init__(self, owner: Owner, plan: Plan, upstream: Upstream, client_protocol: str, lane: Lane) -> None:
        super().__init__(owner, plan, upstream, client_protocol, lane)
        self.tunnel = False
        self.answer_ended = False
        """In a tunnel the upstream has ended its way, and the other may go on."""
        self.credit_at = 0
        """Once so many body bytes have come, the upstream is to be credited, though they went straight through."""

    @property
    def half_closes(self) -> bool:
        """In a tunnel the client may end its way and still be answered; not where nothing of the answer can come any more."""
        if not self.tunnel or self._plan.chain.silent:
            return False
        line = self._line
        return not self.over or bool(line.waiting) or line.blocked or line.due < math.inf

    # ---- the answer

    def admitted(self, pieces: Sequence[Data], now: float) -> None:
        """Pieces have come that did not go straight through."""
        self._arrived(pieces, now)
        self._owner.settle(now)

    def failed(self, error: Exception, now: float) -> None:
        """See `Exchange.failed`."""
        self._owner.failed(error, now)

    def response_events(self, events: list[Event], now: float) -> None:
        self._lane.close()
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
                    if self.connection is not None:
                        self.connection.straighten(self._lane, self.stream, self, parts=not self._plan.faulty)
                    return
                self._arrived(pieces[passed:], now)
            self._owner.settle(now)
        except Exception as error:  # noqa: BLE001 - as `contain`, which would be one call more for every event
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
            if self._plan.chain.asks_again is not None:
                return  # what else this one says is lost
            self._arrived((), now)  # it may have completed a last line

    def _arrived(self, pieces: Sequence[Data], now: float) -> None:
        for piece in pieces:
            self._observer.arrived(piece.payload, now)
        if self._line.records_in:
            self._observer.events_in(self._line.records_in, now)

    def _control(self, event: Event, now: float) -> None:
        match event:
            case ResponseHead():
                self._answered = True
                self._observer.response_head(event, now)
                self.tunnel, self.answer_ended = event.framing is Framing.TUNNEL, False
                if not self.tunnel and not event.final:
                    prepare(self._line, event.headers, self._plan.records)
                asked = self._head is not None and (self._head.upgrade or self._head.method == b"CONNECT")
                if asked and not self.tunnel and not self.request_ended:
                    self._send([End()])  # refused: the request was complete with its head
            case Interim():
                self._answered = True
            case End():
                self.answer_ended = True
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
            how = endings.how(abort, self.protocol)
            self._observer.upstream_closed(Ended("proxy", how, cause), now)
            self._release()

    def ask_again(self, now: float) -> None:
        """Another upstream, or the same once more, gets the same request; this one is left."""
        again, connection = self._plan.chain.asks_again, self.connection
        if again is not None and again.leaves_open and connection is not None and self.request_ended:
            connection.leave_to(Orphan(connection, self.stream), self.stream, self._lane)
            self.connection = None
        self.end("retry_upstream", now)
        self._lane.begin_again()
        self._observer.retried()
        self._line.take_admitted()  # was this one's
        self._upstream = self._upstream.following
        self._begin_again()
        self._plan.chain.ask_again()

    def leave(self) -> None:
        """Done with the upstream: both ways have ended."""
        self.over = True
        self._release()

    def tunnel_ended(self, now: float) -> None:
        """Both ways of the tunnel have ended."""
        if not self.over:
            self._observer.upstream_closed(Ended("upstream", "clean"), now)
            self.leave()

    def credit(self) -> None:
        """Tell the upstream how much of its answer was admitted."""
        admitted = self._line.take_admitted()
        self.credit_at = self._line.bytes_in
        if self.connection is not None:
            self.credit_at += self.connection.portion
            self.connection.credit(self.stream, admitted, wants=self._line.wants())
