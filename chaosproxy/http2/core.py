"""What the reading and the writing half of a session share: its streams, its signals, and every way for them to end.

Rules: each live stream that something takes along is told exactly once: in band with an Abort while its message is still
arriving, out of band with Gone (server role) or Stopped (client role) once that is complete. Signals gather here until the
driver's next call collects them. Must not know: frames' contents, heads, windows.
"""

from chaosproxy.http2 import frames
from chaosproxy.http2.floods import RESET, Bucket
from chaosproxy.http2.mistakes import ConnectionFault
from chaosproxy.http2.output import Output
from chaosproxy.http2.streams import Death, Part, Stream, Streams
from chaosproxy.model.codes import INTERNAL_ERROR, REFUSED_STREAM
from chaosproxy.model.messages import Abort, Event, Goaway
from chaosproxy.model.vocabulary import Manner, Peer, Role, Scope
from chaosproxy.session import Arrived, Closed, Closing, Gone, Granted, Signal, Stopped

_GRANTED = Granted(0)


class Core:
    """One connection's state."""

    __slots__ = (
        "bucket",
        "closing",
        "failed",
        "goaway_received",
        "last_accepted",
        "leaving",
        "output",
        "peer",
        "role",
        "signals",
        "streams",
        "told_closed",
        "useful",
    )

    def __init__(self, role: Role, output: Output, bucket: Bucket) -> None:
        self.role = role
        self.peer = Peer.CLIENT if role is Role.SERVER else Peer.UPSTREAM
        self.output = output
        self.bucket = bucket
        self.streams = Streams(role)
        self.signals: list[Signal] = []
        self.closing: Closing | None = None
        self.failed = False
        """Whatever still arrives is not looked at."""
        self.leaving = False
        """The connection closes with its last stream."""
        self.goaway_received = False
        self.last_accepted = frames.LARGEST_WINDOW
        """Server role: streams above this id are not taken (section 6.8)."""
        self.told_closed = False
        self.useful = False
        """Body bytes have passed since the last PING: a peer that probes its bandwidth is no flood."""

    def collect(self) -> list[Signal]:
        """The signals so far; the caller owns them."""
        signals = self.signals
        self.signals = []
        return signals

    def arrived(self, number: int, event: Event) -> None:
        """An event in band; neighbours of one stream share a signal."""
        signals = self.signals
        if signals:
            last = signals[-1]
            if type(last) is Arrived and last.stream == number:
                last.events.append(event)
                return
        signals.append(Arrived(number, [event]))

    def granted(self) -> None:
        """Any stream may have more to send now; said once, however often in a row."""
        if not self.signals or self.signals[-1] is not _GRANTED:
            self.signals.append(_GRANTED)

    def abort(
        self, cause: str, code: int, detail: str = "", *, manner: Manner = Manner.RESET, status: int = 0
    ) -> Abort:
        """An Abort that the peer has caused. Its scope is always the stream: what happened to one connection must not be
        repeated on the other side's, which other exchanges may share."""
        status = status or (400 if self.role is Role.SERVER and cause == "malformed" else 502)
        return Abort(cause, self.peer, manner=manner, code=code, status=status, detail=detail)

    def tell(self, stream: Stream, abort: Abort, *, out_of_band: bool = False) -> None:
        """The stream's end, to the driver."""
        if self.role is Role.SERVER and (out_of_band or stream.silent or stream.receiving is Part.OVER):
            self.signals.append(Gone(stream.number, abort))
        elif stream.silent:
            pass
        elif stream.receiving is Part.OVER:
            self.signals.append(Stopped(stream.number))
        else:
            self.arrived(stream.number, abort)

    def bury(self, stream: Stream, death: Death) -> None:
        """The stream is over; the connection too, if it was waiting for that."""
        self.streams.bury(stream, death)
        self.output.drop(stream.wire)
        self.leave_if_idle()

    def leave_if_idle(self) -> None:
        if self.leaving and not len(self.streams) and self.closing is None:
            self.closing = Closing.FIN

    def fail_stream(self, stream: Stream, abort: Abort) -> None:
        """The peer's mistake, or a refusal, that costs one stream."""
        self.output.control(frames.reset(stream.wire, abort.code))
        self.tell(stream, abort)
        self.bury(stream, Death.RESET_BY_US)
        self.bucket.charge("reset", RESET)

    def refuse(self, wire: int, code: int) -> None:
        """Reset a stream that never came to life here."""
        self.output.control(frames.reset(wire, code))
        self.streams.note(wire, Death.RESET_BY_US)
        self.bucket.charge("reset", RESET)

    def give_back(self, number: int, cause: str) -> None:
        """Client role: a stream that was reserved can no longer be opened here; it may be tried elsewhere."""
        self.streams.reserved.discard(number)
        self.arrived(number, self.abort(cause, REFUSED_STREAM))

    def fail(self, fault: ConnectionFault) -> None:
        """The peer's mistake that costs the connection (section 5.4.1): GOAWAY, then FIN."""
        last = self.streams.opened if self.role is Role.SERVER else self.streams.promised
        self.output.control(frames.goaway(fault.code, min(last, self.last_accepted), frames.brief(fault.detail)))
        code = fault.code if self.role is Role.SERVER else INTERNAL_ERROR
        self.end_all(self.abort(fault.cause, code, fault.detail), out_of_band=True)
        self.failed = True
        self.closing = self.closing or Closing.FIN
        self.close(fault.detail)

    def end_all(self, abort: Abort, *, spare: Stream | None = None, out_of_band: bool = False) -> None:
        """The connection is over for every live stream but `spare`."""
        for stream in list(self.streams.by_wire.values()):
            if stream is not spare:
                self.tell(stream, abort, out_of_band=out_of_band)
                self.bury(stream, Death.RESET_BY_US)
        for number in sorted(self.streams.reserved):
            self.give_back(number, abort.cause)

    def end_above(self, last: int, abort: Abort) -> None:
        """A GOAWAY: streams above `last` are dead, without a frame of their own."""
        for stream in [stream for wire, stream in self.streams.by_wire.items() if wire > last]:
            self.tell(stream, abort, out_of_band=True)
            self.bury(stream, Death.RESET_BY_US)

    def close(self, detail: str = "") -> None:
        """Nothing further will arrive. Said once."""
        if not self.told_closed:
            self.told_closed = True
            self.signals.append(Closed(detail))

    def announce(self, last: int, abort: Abort) -> None:
        """Server role: a GOAWAY of ours says that no stream above `last` is taken; those that live there get `abort`."""
        self.last_accepted = min(self.last_accepted, last)
        self.leaving = self.leaving or last < frames.LARGEST_WINDOW
        self.end_above(last, abort)
        self.leave_if_idle()

    def announced(self, event: Goaway) -> None:
        """The same by a stream that lives on."""
        abort = Abort("connection", Peer.PROXY, Scope.CONNECTION, Manner.GOAWAY, event.code, event.last)
        if self.role is Role.SERVER:
            self.announce(event.last, abort)

    def announce_gone(self, abort: Abort) -> None:
        """Server role: the client has left, and may still be listening: its streams live until they have ended."""
        for stream in list(self.streams.by_wire.values()):
            self.signals.append(Gone(stream.number, abort))
            if stream.silent:
                self.bury(stream, Death.RESET_BY_US)
