"""The running `compress`: feeds the encoder, flushes it when it is time, and leaves out what is to be missing.

Rules: each flush is one Data. What the encoder has gathered is of fixed size, is no body byte any more and is not `held`;
beyond it admission follows the next place. `one_behind` holds the record that comes, at most `ROOM` bytes of it: a longer
one goes into the encoder as it comes. On an abort all of it is lost. Must not know: formats.
"""

import math
from typing import TYPE_CHECKING

from chaosproxy.chain.actions import FOREVER, WAKE, Actions, Note, PassOn
from chaosproxy.chain.fault import Context, Fault
from chaosproxy.faults.coded_heads import accepts, coded, why_not
from chaosproxy.faults.codings import SHORTEST_ENDS, TRAILERS, Encoder, encoder
from chaosproxy.model.messages import Data, End, Event, RequestHead, ResponseHead, Trailers
from chaosproxy.model.vocabulary import Way

if TYPE_CHECKING:
    from chaosproxy.faults.compress import Compress

ROOM = 1024 * 1024


class RunningCompress(Fault):
    """Rests where it does not apply; awake from the head on where it does."""

    rest = FOREVER

    def __init__(self, spec: "Compress", context: Context) -> None:
        self._spec = spec
        self._coding = spec.coding.encode()
        self._method = context.request.method
        self._encoder: Encoder | None = None
        self._lacking = spec.cut + (0 if spec.footer else TRAILERS[spec.coding])
        self._kept = max(0, self._lacking - SHORTEST_ENDS[spec.coding])
        """Coded bytes that never leave, whatever comes: the end alone has not enough to lack."""
        self._tail = bytearray()
        self._coming = bytearray()
        """`one_behind`: what has come of a record that is not complete."""
        self._complete = False
        """`one_behind`: the encoder has a record that has not left."""
        self._behind = False
        self._size, self._every = math.inf, math.inf
        if not isinstance(spec.flush, str):
            self._size = math.inf if spec.flush.bytes is None else spec.flush.bytes
            self._every = math.inf if spec.flush.every is None else spec.flush.every / context.speed
        self._gathered = 0
        """Body bytes since the last flush."""
        if spec.way is Way.RESPONSE and spec.when_accepted and not accepts(context.request.headers, self._coding):
            self.unfired = "not accepted"
            self.sees = ()

    def control(self, event: Event, now: float) -> Actions:
        match event:
            case ResponseHead() | RequestHead():
                return self._head(event)
            case Trailers() | End():
                return (*self._end(), event)
            case _:  # an abort
                self._forget()
                return (event,)

    def _head(self, head: ResponseHead | RequestHead) -> Actions:
        self.unfired = self.unfired or why_not(head, self._method)
        if self.unfired:
            return (head,)
        fired = Note("fired", f"{self._spec.coding}, flush {self._spec.flush}")
        if self._spec.way is Way.RESPONSE and self._method == b"HEAD":
            return (fired, coded(head, self._coding, vary=self._spec.vary))
        self._encoder = encoder(self._spec.coding, self._spec.level)
        self._behind = self._spec.flush == "one_behind" and self.kind is not None
        if self._behind:
            self.capacity = ROOM + self._kept
        return (fired, WAKE, coded(head, self._coding, vary=self._spec.vary))

    # ---- the body

    def data(self, data: Data, now: float) -> Actions:
        encoder = self._encoder
        assert encoder is not None
        if self._spec.flush == "sync":
            return self._out(encoder.feed(data.payload) + encoder.flush())
        return self._record(data, encoder) if self._behind else self._gather(data.payload, encoder, now)

    def _gather(self, payload: bytes, encoder: Encoder, now: float) -> Actions:
        out: list[Data] = []
        at = 0
        while (missing := self._size - self._gathered) <= len(payload) - at:
            piece = payload[at : at + int(missing)]
            at += len(piece)
            out += self._out(encoder.feed(piece) + encoder.flush())
            self._gathered, self.due = 0, math.inf
        if at < len(payload):
            if not self._gathered:
                self.due = now + self._every
            self._gathered += len(payload) - at
            out += self._out(encoder.feed(payload[at:]))
        return tuple(out)

    def _record(self, data: Data, encoder: Encoder) -> Actions:
        out: list[Data] = []
        at = 0
        for end in data.ends:
            late = encoder.flush() if self._complete else b""
            self._coming += data.payload[at:end]
            out += self._out(late + encoder.feed(self._take()))
            self._complete, at = True, end
        self._coming += data.payload[at:]
        self._weigh()
        return tuple(out)

    def wake(self, now: float) -> Actions:
        assert self._encoder is not None
        self._gathered, self.due = 0, math.inf
        return self._out(self._encoder.flush())

    def full(self, now: float) -> Actions:
        assert self._encoder is not None
        return self._out(self._encoder.feed(self._take()))

    def _take(self) -> bytes:
        coming = bytes(self._coming)
        self._coming.clear()
        return coming

    def _out(self, coded: bytes) -> tuple[Data, ...]:
        """What may leave of what the encoder gave."""
        if self._kept:
            self._tail += coded
            excess = max(0, len(self._tail) - self._kept)
            coded = bytes(self._tail[:excess])
            del self._tail[:excess]
        self._weigh()
        return (Data(coded),) if coded else ()

    def _weigh(self) -> None:
        self.held = len(self._coming) + len(self._tail)

    # ---- its end

    def _end(self) -> tuple[Data | Note, ...]:
        encoder, self._encoder = self._encoder, None
        if encoder is None:
            return ()
        rest = bytes(self._tail) + encoder.feed(self._take()) + encoder.finish()
        self._forget()
        left = rest[: max(0, len(rest) - self._lacking)]
        out: tuple[Data | Note, ...] = (Data(left),) if left else ()
        if self._lacking:
            out = (*out, Note("fired", f"the last {min(self._lacking, len(rest))} coded bytes are missing"))
        return out

    def _forget(self) -> None:
        self._coming.clear()
        self._tail.clear()
        self.held, self.due = 0, math.inf

    def hangup(self, now: float) -> Actions:
        """Something nearer the receiver has ended: what the encoder holds is for nobody."""
        self._forget()
        return (PassOn(),)
