"""Play a script against faults, in virtual time, without Trio: what goes in when, and what comes out when.

`play([Cut(at=Trigger(event=3))], script)` returns what a client would have seen, as plain tuples to compare with `==`.
A script is a list of `(time, what)`: bytes are body pieces of the response, events are events, `"hangup"` is the
client's leaving, an int is room that the client makes (with `window`), anything else is refused.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random

from chaosproxy.chain.chain import Chain, Noted
from chaosproxy.chain.fault import Context, FaultSpec
from chaosproxy.chain.placed import Placed
from chaosproxy.framing import splitter_for
from chaosproxy.framing.splitter import RecordKind
from chaosproxy.model.grammar import Grammar
from chaosproxy.model.messages import Abort, Data, End, Event, RequestHead, ResponseHead
from chaosproxy.model.places import Framing

GET = RequestHead(b"GET", b"/", ((b"Host", b"test"),), final=True)
SSE = ResponseHead(200, ((b"content-type", b"text/event-stream"),), b"OK", Framing.CHUNKED)

Step = tuple[float, bytes | str | int | Event]


@dataclass(slots=True)
class Played:
    """What came of it."""

    out: list[tuple[float, Event]] = field(default_factory=list)
    """Every event at the client's end, with its time."""
    notes: list[Noted] = field(default_factory=list)
    request: list[Event] = field(default_factory=list)
    """What would have reached the upstream."""
    cancelled_at: float | None = None
    """When the upstream was told."""
    cancel_cause: str = ""
    bytes_in: int = 0

    @property
    def body(self) -> list[tuple[float, bytes]]:
        """The body pieces with their times."""
        return [(time, event.payload) for time, event in self.out if isinstance(event, Data)]

    @property
    def data(self) -> bytes:
        """All body bytes."""
        return b"".join(payload for _, payload in self.body)

    @property
    def end(self) -> tuple[float, Event] | None:
        """The terminal, if there was one."""
        return next(((time, event) for time, event in self.out if isinstance(event, End | Abort)), None)

    @property
    def fired(self) -> list[str]:
        return [note.fault for note in self.notes if note.kind == "fired"]

    @property
    def not_fired(self) -> dict[str, str]:
        return {note.fault: note.detail for note in self.notes if note.kind == "not_fired"}

    def __str__(self) -> str:
        return "\n".join(f"{time:9.3f}  {_shown(event)}" for time, event in self.out)


def play(
    faults: Sequence[FaultSpec | Sequence[FaultSpec]],
    script: Sequence[Step],
    *,
    request: RequestHead = GET,
    head: ResponseHead | None = SSE,
    kind: RecordKind | None = None,
    until: float = 1e6,
    window: int | None = None,
    lazy: bool = True,
    protocol: str = "http/1.1",
    tls: bool = False,
    seed: int = 0,
) -> Played:
    """Run the script. `faults` is one hop, or several where it has sequences. The request's head, if final, is complete at 0; the response's
    `head` arrives at the time of the first step that needs it. With `window` the client takes nothing but what int steps
    allow."""
    return _Stage(faults, request, head, kind, window, lazy=lazy, protocol=protocol, tls=tls, seed=seed).run(
        script, until
    )


class _Stage:
    def __init__(
        self,
        faults: Sequence[FaultSpec | Sequence[FaultSpec]],
        request: RequestHead,
        head: ResponseHead | None,
        kind: RecordKind | None,
        window: int | None,
        *,
        lazy: bool,
        protocol: str,
        tls: bool,
        seed: int,
    ) -> None:
        hops = [[one] if isinstance(one, FaultSpec) else list(one) for one in faults]
        if all(isinstance(one, FaultSpec) for one in faults):
            hops = [[one for one in faults if isinstance(one, FaultSpec)]]
        placed = [
            Placed(
                number,
                None,
                spec,
                Context(Random(f"{seed}:{number}:{place}"), request, protocol, tls),  # noqa: S311 - repeatable on purpose
            )
            for number, hop in enumerate(hops)
            for place, spec in enumerate(hop)
        ]
        self.chain = Chain(placed, began=0.0, lazy=lazy)
        self.played = Played()
        self.grammar = Grammar()
        self.head, self.kind = head, kind
        self.room = math.inf if window is None else float(window)
        self.now = 0.0
        self.request_head = request

    def run(self, script: Sequence[Step], until: float) -> Played:
        chain = self.chain
        chain.start(0.0)
        chain.request.push_control(self.request_head, 0.0)
        if self.request_head.final:
            chain.request.push_control(End(), 0.0)
        self._collect()
        for time, what in script:
            self._advance(time)
            self.now = max(self.now, time)
            self._step(what)
            self._collect()
        self._advance(until)
        self.chain.close(self.now)
        self._collect()
        self.played.bytes_in = chain.response.bytes_in
        return self.played

    def _advance(self, until: float) -> None:
        idle_rings = 0
        while self.chain.due <= until:
            before = (self.chain.due, len(self.played.out))
            self.now = max(self.now, self.chain.due)
            self.chain.wake(self.now)
            self._collect()
            idle_rings = idle_rings + 1 if (self.chain.due, len(self.played.out)) == before else 0
            assert idle_rings < 3, f"the chain wants to be woken at {self.chain.due} again and again"

    def _step(self, what: bytes | str | int | Event) -> None:
        line = self.chain.response
        if what == "hangup":
            self.chain.hangup(self.now, "client:fin")
        elif isinstance(what, int):
            self.room += what
        elif isinstance(what, str):
            raise TypeError(f"no such step: {what!r}")
        elif isinstance(what, RequestHead):
            self.chain.request.push_control(what, self.now)
        else:
            if self.head is not None and not isinstance(what, ResponseHead | Abort):
                self._push_head(self.head)
            if isinstance(what, bytes):
                line.push([Data(what)], self.now)
            elif isinstance(what, Data):
                line.push([what], self.now)
            elif isinstance(what, ResponseHead):
                self._push_head(what)
            else:
                line.push_control(what, self.now)

    def _push_head(self, head: ResponseHead) -> None:
        self.head = None
        line = self.chain.response
        content_type = next((value for name, value in head.headers if name.lower() == b"content-type"), None)
        line.records = splitter_for(content_type, self.kind)
        line.push_control(head, self.now)

    def _collect(self) -> None:
        chain = self.chain
        while chain.response.waiting:
            events = chain.response.take(self.now, self.room)
            if not events:
                break
            for event in events:
                self.grammar.check(event)
                self.played.out.append((round(self.now, 9), event))
                if isinstance(event, Data):
                    self.room -= len(event.payload)
        self.played.request.extend(chain.request.take(self.now))
        if chain.cancelled and self.played.cancelled_at is None:
            self.played.cancelled_at = round(self.now, 9)
            self.played.cancel_cause = chain.cancel_cause
        self.played.notes.extend(chain.notes)
        chain.notes.clear()


def _shown(event: Event) -> str:
    if isinstance(event, Data):
        return f"{len(event.payload):6} bytes {event.payload[:40]!r}"
    return repr(event)
