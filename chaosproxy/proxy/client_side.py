"""An exchange's client: what leaves the chain towards it, and its leaving.

Must not know: upstream connections.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from chaosproxy.chain.chain import Chain
from chaosproxy.journal.record import Ending
from chaosproxy.model.asked import Dribble, Linger
from chaosproxy.model.codes import code_name
from chaosproxy.model.messages import Abort, Data, End, Event, Goaway, ResponseHead, in_chunks
from chaosproxy.model.vocabulary import Framing, Manner, Peer
from chaosproxy.proxy import endings
from chaosproxy.proxy.channels import ClientChannel
from chaosproxy.proxy.observer import Observer
from chaosproxy.proxy.together import Together

TOO_LARGE = 431
EVENTS_PER_TURN = 256
"""So many events are sent, and the others have their turn: a fault may let go of thousands at one moment."""


@dataclass(frozen=True, slots=True)
class Unsent:
    """The rest of an answer of our own, and what the journal will call its end."""

    body: bytes
    ending: Ending
    detail: str


class ClientSide:
    """Delivers. `over` once the answer has ended for the client, one way or the other."""

    __slots__ = (
        "_head", "_is_h2", "_observer", "_shared", "bodiless", "connection", "head_sent", "more", "old", "over", "records",
        "response_ended", "silenced", "stream", "unsent", "upgrading",
    )  # fmt: skip

    def __init__(self, connection: ClientChannel, stream: int, observer: Observer) -> None:
        self.connection = connection
        self.stream = stream
        self.over = False
        self.head_sent = False
        self.more = False
        """There is more to send, in a further turn."""
        self.unsent: Unsent | None = None
        """The rest of an answer of our own, for which an HTTP/2 client has given no room yet."""
        self.response_ended = False
        """In a tunnel this way may have ended while the other goes on."""
        self.silenced: Ending | None = None
        self.bodiless = False
        """The request was a HEAD: an answer of our own has no body either."""
        self.old = False
        """The request came by HTTP/1.0: its answer has no chunks (RFC 9112 section 6.1)."""
        self.upgrading = False
        """The request asks for a tunnel: the session has withheld its end until the answer's head decides."""
        self._observer = observer
        self._is_h2 = connection.session.multiplexed
        self._shared = self._is_h2 and connection.wire is None  # a fault there may be looking at single writes
        self._head: ResponseHead | None = None
        """That of the chain, once it has been sent."""
        self.records = 0

    @property
    def room(self) -> float:
        """Body bytes that it takes at once."""
        if self.over or self.response_ended or self.silenced is not None or self.connection.blocked:
            return 0
        return self.connection.session.allowance(self.stream) if self._is_h2 else math.inf

    def send(self, pieces: Sequence[Data], records: int, together: Together | None) -> None:
        """Send body for which there is room, in one write; with it, and before, `records` in all. On HTTP/2 it may leave
        `together` with that of other streams."""
        self.records = records
        self.connection.session.send(self.stream, pieces)
        if together is not None and self._shared:
            together.add(self.connection, sum([len(piece.payload) for piece in pieces]))
        else:
            self.connection.flush()

    def pump(self, chain: Chain, upstream_protocol: str, now: float) -> None:
        """Send what stands at the exit of the response line, as far as the client takes it."""
        self.more = False
        if self.over or self.silenced is not None:
            return
        if self.unsent is not None:
            self._send_own(self.unsent, now)
            return
        line, left = chain.response, EVENTS_PER_TURN
        connection, session = self.connection, self.connection.session
        while line.waiting and not self.response_ended and self.silenced is None:
            room = 0 if connection.blocked else session.allowance(self.stream)
            events = line.take(now, room, self._is_h2, left)
            if not events:
                self.more = not left
                return
            left -= len(events)
            self._deliver(events, chain, upstream_protocol, now)

    def _deliver(self, events: list[Event], chain: Chain, upstream_protocol: str, now: float) -> None:
        sent: list[Event] = []
        ending: Ending | None = None
        detail = ""
        for event in events:
            match event:
                case Data():
                    self._observer.delivered(event.payload, now)
                case ResponseHead():
                    self.head_sent = True
                    self._head = event
                    if any(isinstance(one, Dribble) for one in event.asked):
                        self.connection.dribble()
                    self._observer.head_sent(event, now)
                case End():
                    made_here = chain.end_cause
                    ending = Ending("proxy", "clean", made_here) if made_here else Ending("upstream", "clean")
                case Abort():
                    replacement, ending = self._ending_of(event, upstream_protocol, now)
                    sent.extend(replacement)
                    detail = event.detail
                    continue
                case _:
                    pass
            sent.append(event)
        line = chain.response
        if line.records_out != self.records:
            self.records = line.records_out
            self._observer.events_out(self.records, now)
        if ending is not None and self._own_waits(sent, ending, detail, now):
            return
        self.connection.session.send(self.stream, sent)
        if ending is not None:
            self.response_ended = True
            if isinstance(sent[-1], End):
                ending = self._ended(ending)
            if ending.how == "silence":
                self.silenced = ending
                self._observer.ended(ending, now, detail)
            elif self._head is None or self._head.framing is not Framing.TUNNEL or not isinstance(sent[-1], End):
                self.done(ending, now, detail)
                return
        self.connection.flush()
        if any(isinstance(event, Goaway) for event in sent):
            self.connection.resume()  # streams above its last id are dead
        if self.upgrading and self.head_sent:
            self.upgrading = False
            self.connection.resume()

    def _own_waits(self, sent: list[Event], ending: Ending, detail: str, now: float) -> bool:
        """Whether some of it has to wait: an answer of our own stood in no line, which would have asked the client's windows
        (RFC 9113 section 6.9.1). If not it is counted, and still to be sent."""
        body = sent[-2] if self._head is None and len(sent) > 1 else None
        if not isinstance(body, Data):
            return False
        if self._is_h2 and len(body.payload) > self.connection.session.allowance(self.stream):
            self.connection.session.send(self.stream, sent[:-2])
            self._send_own(Unsent(body.payload, ending, detail), now)
            return True
        self._observer.delivered_own(body.payload, now)
        return False

    def _send_own(self, own: Unsent, now: float) -> None:
        """As much of it as the client takes now."""
        connection = self.connection
        room = 0 if connection.blocked else connection.session.allowance(self.stream)
        part, rest = own.body[:room], own.body[room:]
        self.unsent = Unsent(rest, own.ending, own.detail) if rest else None
        if part:
            self._observer.delivered_own(part, now)
            connection.session.send(self.stream, [Data(part)] if rest else [Data(part), End()])
        if rest:
            connection.flush()
        else:
            self.response_ended = True
            self.done(own.ending, now, own.detail)

    def _ended(self, ending: Ending) -> Ending:
        """The clean end is sent: as what it stands in the journal, and what was asked to be done then."""
        session, head = self.connection.session, self._head
        if head is None or session.multiplexed or head.framing is Framing.TUNNEL:
            return ending
        for one in head.asked:
            if isinstance(one, Linger):
                one.written = True
                self.connection.linger(one.seconds)
        # A fault has announced another length than the body had.
        return Ending("proxy", "fin", "framing") if head.literal and not session.in_full else ending

    @property
    def _chunked(self) -> bool:
        return self._head is not None and in_chunks(self._head) and (self._head.literal or not self.old)

    def _ending_of(self, abort: Abort, upstream_protocol: str, now: float) -> tuple[list[Event], Ending]:
        """What an Abort that has reached the client's end becomes there, and how the journal tells it."""
        protocol = self.connection.session.protocol
        if abort.origin is not Peer.UPSTREAM:
            return [abort], Ending("proxy", endings.how(abort, protocol, chunked=self._chunked), abort.cause)
        if not self.head_sent and not (self._is_h2 and endings.is_stream_reset(abort)):
            answer = endings.own_answer(abort.status, endings.reason(abort), close=False, bodiless=self.bodiless)
            self._sent_own(answer, now)
            return answer, Ending("proxy", "clean", abort.cause)
        passed = endings.passed_on(abort, upstream=upstream_protocol, client=protocol)
        by = "proxy" if abort.cause in ("malformed", "connection") else "upstream"
        return [passed], Ending(by, endings.how(passed, protocol, chunked=self._chunked), abort.cause)

    def refuse(self, abort: Abort, now: float) -> None:
        """The client broke a rule: an answer of our own if no head has gone out, else the end."""
        protocol = self.connection.session.protocol
        if self._is_h2:
            # The session has reset the stream, or answered a head that was too large, when it saw the mistake.
            how = "clean" if abort.status == TOO_LARGE else f"stream:{code_name(abort.code)}"
            self.done(Ending("proxy", how, abort.cause), now, abort.detail)
            return
        if self.head_sent:
            events: list[Event] = [abort]
            ending = Ending("proxy", endings.how(abort, protocol, chunked=self._chunked), abort.cause)
        else:
            events = endings.own_answer(abort.status, endings.refusal(abort), close=True, bodiless=self.bodiless)
            ending = Ending("proxy", "clean", abort.cause)
            self._sent_own(events, now)
            for event in events:
                if isinstance(event, Data):
                    self._observer.delivered_own(event.payload, now)
        self.connection.session.send(self.stream, events)
        self.done(ending, now, abort.detail)

    def _sent_own(self, answer: list[Event], now: float) -> None:
        head = answer[0]
        assert isinstance(head, ResponseHead)
        self.head_sent = True
        self._observer.head_sent(head, now)

    def abort(self, abort: Abort, now: float) -> None:
        """End it here and now, for a reason outside the chain (shutdown, a bug)."""
        if self.over:
            return
        self.connection.session.send(self.stream, [abort])
        how = endings.how(abort, self.connection.session.protocol, chunked=self._chunked)
        self.done(Ending("proxy", how, abort.cause), now, abort.detail)

    def cut_off(self, abort: Abort, now: float) -> None:
        """The whole connection was ended under it."""
        if self.over:
            return
        # It is the connection that ended, whatever spoke on it.
        ending = Ending("proxy", endings.how(abort, "http/1.1", chunked=self._chunked), abort.cause)
        if abort.manner is Manner.SILENCE:
            self.silenced = ending
            self._observer.ended(ending, now)
        else:
            self.done(ending, now, abort.detail)

    def tunnel_ended(self, now: float) -> None:
        """Both ways of the tunnel have ended."""
        if not self.over:
            self.done(Ending("upstream", "clean"), now)

    def gone(self, abort: Abort, now: float, silent: str | None = None) -> None:
        """The client has left. `silent`: which fault had fallen silent, if one has."""
        if self.over:
            return
        self.done(self._leaving(abort, self.silenced.cause if self.silenced else silent), now, abort.detail)

    def _leaving(self, abort: Abort, silent: str | None) -> Ending:
        if abort.origin is Peer.PROXY:  # another exchange's ending, or a fault of the session, has taken it along
            protocol = self.connection.session.protocol
            return Ending("proxy", endings.how(abort, protocol, chunked=self._chunked), abort.cause)
        by, _, how = abort.cause.partition(":")
        if by != "client":  # it broke its protocol, and the connection was ended for it
            return Ending("proxy", f"goaway:{code_name(abort.code)}" if self._is_h2 else "fin", abort.cause)
        return Ending("client", how, silent)

    def done(self, ending: Ending, now: float, detail: str = "") -> None:
        """The answer has ended for the client: the connection goes on to what is next."""
        self.over = True
        self._observer.ended(ending, now, detail)
        self.connection.flush()
        self.connection.release(self.stream)
