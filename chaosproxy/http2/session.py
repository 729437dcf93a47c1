"""One HTTP/2 connection, sans-IO, in either role: the `Session` that the driver holds.

The halves do the work: `receiving` judges what arrives, `messages` makes heads and endings of it, `sending` writes events,
`output` has h2 write what h2 writes well, `core` is what they share. Rules: as in `Session`. A connection that has failed
looks at nothing further. Must not know: sockets, the chain, HTTP/1.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

from chaosproxy.http2 import frames
from chaosproxy.http2.core import Core
from chaosproxy.http2.floods import Bucket
from chaosproxy.http2.messages import PLAIN_WINDOW, Messages
from chaosproxy.http2.mistakes import ConnectionFault
from chaosproxy.http2.output import ROOM, Output
from chaosproxy.http2.receiving import Receiver
from chaosproxy.http2.sending import Sender
from chaosproxy.http2.straight import Incoming, Outgoing
from chaosproxy.http2.streams import Death, Part, Stream
from chaosproxy.http2.windows import CONNECTION_WINDOW, STREAM_WINDOW
from chaosproxy.model.codes import CANCEL, ENHANCE_YOUR_CALM, INTERNAL_ERROR, NO_ERROR, SETTINGS_TIMEOUT
from chaosproxy.model.messages import Abort, Event, RequestHead
from chaosproxy.model.vocabulary import Manner, Role, Scope
from chaosproxy.session import Closing, Signal

MAX_STREAMS = 100
"""Streams that a client may have open at a time."""

_CLOSINGS = {
    Manner.RESET: Closing.RST,
    Manner.NO_CLOSE_NOTIFY: Closing.NO_CLOSE_NOTIFY,
    Manner.SILENCE: Closing.SILENCE,
}


class Http2Session:
    """A `Session` over one HTTP/2 connection."""

    protocol = "h2"
    multiplexed = True

    def __init__(
        self,
        role: Role,
        *,
        clock: Callable[[], float] | None = None,
        max_streams: int = MAX_STREAMS,
        stream_window: int = STREAM_WINDOW,
        connection_window: int = CONNECTION_WINDOW,
    ) -> None:
        """`clock` (seconds, monotonic) refills the flood guard; without one no time passes for it, and a connection of
        many hours will run dry. `connection_window` is at least 65,535."""
        self.role = role
        self._output = self._writes(max_streams, stream_window)
        self._core = Core(role, self._output, Bucket(clock or (lambda: 0.0)))
        self._live = self._core.streams.by_number
        self._messages, self._receiver = self._reads(max_streams, stream_window, connection_window)
        self._sender = Sender(self._core)
        self._greets()
        if connection_window > PLAIN_WINDOW:  # section 6.9.2: SETTINGS cannot change the connection's window
            self._output.credit(0, connection_window - PLAIN_WINDOW)

    def _writes(self, max_streams: int, stream_window: int) -> Output:
        return Output(self.role, max_streams=max_streams, stream_window=stream_window)

    def _reads(self, max_streams: int, stream_window: int, connection_window: int) -> tuple[Messages, Receiver]:
        messages = Messages(self._core, max_streams=max_streams, stream_window=stream_window)
        return messages, Receiver(self._core, messages, connection_window=connection_window)

    def _greets(self) -> None:
        """Everything is there, and nothing written."""

    @property
    def closing(self) -> Closing | None:
        return self._core.closing

    @property
    def reusable(self) -> bool:
        core = self._core
        return (
            self.role is Role.CLIENT
            and core.closing is None
            and not (core.leaving or core.goaway_received or core.told_closed)
            and len(core.streams) < self._output.max_streams
            and core.streams.next_number <= frames.LARGEST_WINDOW
        )

    @property
    def hungry(self) -> bool:
        """Not while our answers pile up unwritten: a peer that never reads would fill the memory with them."""
        return self._output.size < ROOM

    @property
    def extended_connect(self) -> bool:
        """Client role: the upstream takes an extended CONNECT (RFC 8441 section 3)."""
        return self._output.extended_connect

    @property
    def open_chunk(self) -> int | None:
        return None

    def scan_chunks(self, data: bytes, *, parts: bool) -> list[tuple[int, int]] | None:
        return None

    def receive(self, data: bytes) -> list[Signal]:
        core = self._core
        if not data:
            return self._finished("fin", Manner.FIN, "FIN within a frame" if self._receiver.inside else "")
        if not core.failed:
            try:
                self._receiver.feed(data)
            except ConnectionFault as fault:
                core.fail(fault)
                self._receiver.forget()
        return core.collect()

    @property
    def unfinished(self) -> bool:
        return not self._messages.acknowledged or self._receiver.inside

    def overdue(self) -> list[Signal]:
        core = self._core
        if core.closing is None and self._receiver.inside:
            core.fail(ConnectionFault(ENHANCE_YOUR_CALM, "a frame or a header block has not come to its end in time"))
        elif core.closing is None and self.unfinished:  # section 6.5.3
            core.fail(ConnectionFault(SETTINGS_TIMEOUT, "our SETTINGS have not been acknowledged in time"))
        return core.collect()

    def lost(self, how: str, detail: str = "") -> list[Signal]:
        if how == "rst":
            return self._finished("rst", Manner.RESET, detail)
        return self._finished("fin", Manner.FIN, detail or "no close_notify")

    def resume(self) -> list[Signal]:
        return self._core.collect()

    def open(self) -> int:
        return self._core.streams.reserve()

    def send(self, stream: int, events: Sequence[Event]) -> None:
        found = self._live.get(stream)
        if found is not None and found.sending is Part.BODY and not found.silent and self._sender.body(found, events):
            return
        if found is None and stream in self._core.streams.reserved and events and isinstance(events[0], RequestHead):
            found = self._core.streams.start(stream, self._messages.window)
        for index, event in enumerate(events):
            if type(event) is Abort:
                if found is not None and index:
                    self._sender.send(found, events[:index])
                self.abort(stream, event)
                return
        if found is not None and not found.silent:
            self._sender.send(found, events)

    def repeats_chunks(self, stream: int, left: int) -> bool:
        return False

    def chunk_is_open(self, left: int) -> None:
        """Never."""

    def incoming(self, stream: int) -> Incoming | None:
        found = self._live.get(stream)
        return self._receiver.incoming(found) if found is not None else None

    def framer(self, stream: int) -> Callable[[bytes], bytes] | None:
        found, core = self._live.get(stream), self._core
        if found is None or found.sending is not Part.BODY or found.silent or not core.output.by_hand:
            return None
        return Outgoing(core, found.wire).frame

    @property
    def in_full(self) -> bool:
        return True

    def allowance(self, stream: int) -> int:
        found = self._live.get(stream)
        if found is not None:
            return self._output.allowance(found.wire)
        # What is sent to a stream that is over goes nowhere: nobody should wait for its window.
        return self._output.first_allowance() if stream in self._core.streams.reserved else ROOM

    def grant(self, stream: int, nbytes: int) -> None:
        found = self._live.get(stream)
        if found is not None:
            self._receiver.grant(found, nbytes)

    def abort(self, stream: int, abort: Abort) -> None:
        core = self._core
        found = self._live.get(stream)
        if abort.scope is Scope.CONNECTION:
            self._abort_connection(found, abort)
        elif found is None:
            core.streams.reserved.discard(stream)
            core.leave_if_idle()
        elif abort.manner is Manner.SILENCE:
            found.silent = True
        else:
            self._output.control(frames.reset(found.wire, abort.code))
            core.bury(found, Death.RESET_BY_US)

    def close(self) -> None:
        core = self._core
        if core.closing is not None or core.leaving:
            core.leave_if_idle()
            return
        if self.role is Role.SERVER:
            core.last_accepted = min(core.last_accepted, core.streams.opened)
        self._output.control(frames.goaway(NO_ERROR, core.streams.opened if self.role is Role.SERVER else 0))
        core.leaving = True
        core.leave_if_idle()

    def outgoing(self) -> list[bytes]:
        return self._output.take()

    def _abort_connection(self, found: Stream | None, abort: Abort) -> None:
        core = self._core
        if core.closing is not None:
            return
        if abort.manner is Manner.GOAWAY:
            self._output.control(frames.goaway(abort.code, abort.last))
            if self.role is Role.CLIENT:
                core.leaving = True
            if found is not None and (self.role is Role.CLIENT or found.wire > abort.last):
                core.bury(found, Death.RESET_BY_US)
            if self.role is Role.SERVER:
                core.announce(abort.last, replace(abort, cause="connection"))
            return
        core.closing = _CLOSINGS.get(abort.manner, Closing.FIN)
        if abort.manner is Manner.SILENCE:
            self._output.mute()
            return
        core.failed = True
        core.end_all(replace(abort, cause="connection"), spare=found, out_of_band=True)
        if found is not None:
            core.bury(found, Death.RESET_BY_US)

    def _finished(self, how: str, manner: Manner, detail: str) -> list[Signal]:
        """The peer says nothing more, or the connection is lost."""
        core = self._core
        code = CANCEL if self.role is Role.SERVER else INTERNAL_ERROR
        if not core.told_closed:
            abort = core.abort(f"{core.peer}:{how}", code, detail, manner=manner)
            if self.role is Role.SERVER and manner is Manner.FIN and not core.failed:
                core.announce_gone(abort)  # it may still be listening
            else:
                core.end_all(abort, out_of_band=True)
        core.failed = core.leaving = True
        core.close(detail)
        if manner is Manner.RESET:
            core.closing = core.closing or Closing.RST
        core.leave_if_idle()
        return core.collect()
