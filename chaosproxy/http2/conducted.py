"""A session that is watched: what it does about itself is asked for first, and done as it is answered.

The halves of an ordinary session, with the few places changed at which it speaks of itself: SETTINGS, PING, WINDOW_UPDATE,
GOAWAY, a stream that opens. An ordinary session has none of this. Rules: what is done is well-formed HTTP/2, but for
`Octets`. Must not know: faults, time.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from chaosproxy.http2 import frames
from chaosproxy.http2.blocks import Block
from chaosproxy.http2.messages import Messages
from chaosproxy.http2.output import Output
from chaosproxy.http2.receiving import Receiver
from chaosproxy.http2.session import MAX_STREAMS, Http2Session
from chaosproxy.http2.streams import Death
from chaosproxy.http2.windows import STREAM_WINDOW
from chaosproxy.model.conduct import (
    Acknowledge,
    Act,
    Admitted,
    Credit,
    GoAway,
    Heard,
    Hold,
    Octets,
    Ping,
    Pong,
    Refuse,
    Settings,
    Take,
)
from chaosproxy.model.messages import Abort, Event
from chaosproxy.model.vocabulary import Manner, Peer, Role, Scope
from chaosproxy.session import Signal


class Conduct(Protocol):
    """Who says what is done."""

    @property
    def settings(self) -> Mapping[int, int]:
        """Of our first SETTINGS, in place of our own."""
        ...

    def begin(self, now: float) -> list[Act]:
        """The connection has begun, and nothing has been written."""
        ...

    def does(self, act: Act, now: float) -> list[Act]:
        """What is done where `act` was about to be."""
        ...

    def wake(self, now: float) -> list[Act]:
        """What is due."""
        ...


class ConductedOutput(Output):
    """Says what it is about to say of the session itself."""

    __slots__ = ("_held", "ask", "useful")

    ask: Callable[[Act], None]
    """Set once the session is whole."""

    def __init__(self, role: Role, *, max_streams: int, stream_window: int, others: Mapping[int, int]) -> None:
        self._held = False
        self.useful = False
        super().__init__(role, max_streams=max_streams, stream_window=stream_window, others=others)

    def element(self, data: bytes) -> None:
        self.useful = True
        super().element(data)

    def acknowledge(self, frame: bytes) -> None:
        self.ask(Acknowledge(frame))

    def ping(self, payload: bytes) -> None:
        useful, self.useful = self.useful, False
        self.ask(Pong(payload, useful))

    def credit(self, wire: int, nbytes: int) -> None:
        self.ask(Credit(wire, nbytes))

    def take(self) -> list[bytes]:
        return [] if self._held else super().take()

    def hold(self, *, on: bool) -> None:
        """Whatever is written waits, or no longer."""
        self._held = on

    def octets(self, data: bytes, *, alone: bool) -> None:
        """Bytes as they stand: before anything that is still to be written, if nothing has been. `alone`: in its place."""
        if alone:
            self._elements.clear()
            self._control.clear()
            self.size = 0
        self._elements.insert(0, data)
        self.size += len(data)
        if alone:
            self.mute()

    def answer_ping(self, payload: bytes) -> None:
        """PING, answered."""
        super().ping(payload)


class ConductedReceiver(Receiver):
    """Hears of the answers to our own PINGs too."""

    def _ping(self, flags: int, payload: bytes) -> None:
        output = self._core.output
        assert isinstance(output, ConductedOutput)
        output.useful = output.useful or self._core.useful
        super()._ping(flags, payload)
        if flags & frames.ACK:
            output.ask(Heard(payload))


class ConductedMessages(Messages):
    """A stream that opens may be refused."""

    taken = True
    opening = False
    """One is being opened, and is not among those that live yet."""
    first = 0
    """The first stream that was opened."""

    def request(self, block: Block) -> None:
        core, output = self._core, self._core.output
        assert isinstance(output, ConductedOutput)
        self.taken = block.stream > core.last_accepted  # which is ignored, and nobody's to refuse
        if not self.taken:
            self.first = self.first or block.stream
            core.streams.opened = block.stream
            self.opening = True
            output.ask(Take(block.stream, len(core.streams)))
            self.opening = False
        if self.taken:
            super().request(block)
        core.leave_if_idle()


class ConductedSession(Http2Session):
    """An `Http2Session` that does what its conduct says."""

    def __init__(self, role: Role, conduct: Conduct, *, clock: Callable[[], float]) -> None:
        self._conduct, self._clock = conduct, clock
        ours = conduct.settings
        super().__init__(
            role,
            clock=clock,
            max_streams=ours.get(frames.MAX_CONCURRENT_STREAMS, MAX_STREAMS),
            stream_window=ours.get(frames.INITIAL_WINDOW_SIZE, STREAM_WINDOW),
        )

    def _writes(self, max_streams: int, stream_window: int) -> Output:
        ours = self._conduct.settings
        self._written = ConductedOutput(self.role, max_streams=max_streams, stream_window=stream_window, others=ours)
        self._written.ask = self.ask
        return self._written

    def _reads(self, max_streams: int, stream_window: int, connection_window: int) -> tuple[Messages, Receiver]:
        self._heard = ConductedMessages(self._core, max_streams=max_streams, stream_window=stream_window)
        return self._heard, ConductedReceiver(self._core, self._heard, connection_window=connection_window)

    def _greets(self) -> None:
        self._allow(self._conduct.settings)
        self._do_all(self._conduct.begin(self._clock()))

    def ask(self, act: Act) -> None:
        """`act` is about to be done."""
        self._do_all(self._conduct.does(act, self._clock()))

    def wake(self, now: float) -> list[Signal]:
        """Something is due."""
        if not self._core.failed:
            self._do_all(self._conduct.wake(now))
        return self._core.collect()

    def send(self, stream: int, events: Sequence[Event]) -> None:
        opens = stream in self._core.streams.reserved
        super().send(stream, events)
        if opens and stream not in self._core.streams.reserved:
            self.ask(Take(stream, len(self._core.streams)))

    def outgoing(self) -> list[bytes]:
        if self._core.failed:  # what is said last waits for nothing
            self._written.hold(on=False)
        return super().outgoing()

    def grant(self, stream: int, nbytes: int) -> None:
        super().grant(stream, nbytes)
        self.ask(Admitted(nbytes))

    def _do_all(self, acts: list[Act]) -> None:
        for act in acts:
            self._do(act)

    def _do(self, act: Act) -> None:
        output = self._written
        match act:
            case Take():
                self._heard.taken = True
            case Refuse(stream, code):
                self._refuse(stream, code)
            case Pong(payload):
                output.answer_ping(payload)
            case Acknowledge(frame):
                output.control(frame)
            case Credit(stream, nbytes):
                if not stream or stream in self._core.streams.by_wire:
                    output.control(frames.window_update(stream, nbytes))
            case Ping(payload):
                output.control(frames.frame(frames.PING, 0, 0, payload))
            case Settings(pairs):
                self._settings(pairs)
            case GoAway():
                self._goaway(act)
            case Octets(data, alone):
                output.octets(data, alone=alone)
            case Hold(on):
                output.hold(on=on)
            case Heard() | Admitted():
                pass

    def _refuse(self, stream: int, code: int) -> None:
        """As a server does that has no room; no flood on the client's side, so the guard does not count it."""
        if self.role is Role.CLIENT:
            return  # we are who opens streams
        self._core.streams.note(stream, Death.RESET_BY_US)
        self._written.control(frames.reset(stream, code))

    def _settings(self, pairs: tuple[tuple[int, int], ...]) -> None:
        self._written.control(frames.settings(pairs))
        self._messages.settings_sent(dict(pairs))
        self._allow(dict(pairs))

    def _allow(self, ours: Mapping[int, int]) -> None:
        self._receiver.allow(frame=ours.get(frames.MAX_FRAME_SIZE, 0), table=ours.get(frames.HEADER_TABLE_SIZE, 0))

    def _goaway(self, act: GoAway) -> None:
        core, opened = self._core, self._core.streams.opened
        if core.role is Role.CLIENT:  # section 6.8: it speaks of pushes, and there are none
            self._written.control(frames.goaway(act.code, 0, act.debug))
        else:
            last = {"0": 0, "first": self._heard.first, "current": opened, "max": frames.LARGEST_WINDOW}[act.last]
            self._written.control(frames.goaway(act.code, last, act.debug))
            core.last_accepted = min(core.last_accepted, last)
            core.end_above(last, Abort("goaway", Peer.PROXY, Scope.CONNECTION, Manner.GOAWAY, act.code, last))
        if act.leave:
            core.leaving = True
            if not self._heard.opening:  # else the stream that it came with may be the last
                core.leave_if_idle()
