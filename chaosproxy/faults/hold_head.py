"""`hold_head`: the machine keeps the head back although it has it.

Imitates servers and gateways that write the status line together with the first byte of the body (WSGI by PEP 3333, most
frameworks' response objects), or only once the whole answer is there (gateways in front of functions, proxies that scan
an answer before they pass it on; for requests nginx's `proxy_request_buffering`). Who holds all of it may say how long it is,
though it came in chunks: lighttpd, Varnish without `do_stream`. A client's limit on the time to the head then also counts the
time to the first token.
"""

from dataclasses import dataclass, replace
from typing import ClassVar, Literal

from chaosproxy.chain.actions import FOREVER, WAKE, Action, Actions, At, Note, PassOn
from chaosproxy.chain.fault import Context, Fault, FaultSpec, Neutral, register
from chaosproxy.model.headers import replaced, tokens, without
from chaosproxy.model.messages import Abort, Data, End, Event, Interim, RequestHead, ResponseHead, Trailers
from chaosproxy.model.units import Duration, counted, lasting
from chaosproxy.model.vocabulary import Framing, Way

ROOM = 1024 * 1024
WHOLE_ROOM = 16 * 1024 * 1024
CONTINUE, SWITCHING_PROTOCOLS = 100, 101
EXPECT = b"expect"


@register
@dataclass(frozen=True, slots=True, kw_only=True)
class HoldHead(FaultSpec):
    """Holds the head until something of the body comes, all of it has come, or a time is over."""

    name: ClassVar[str] = "hold_head"
    main: ClassVar[str | None] = "until"
    ways: ClassVar[frozenset[Way]] = frozenset(Way)

    until: Literal["first_byte", "end"] | Duration
    """`first_byte`: the head leaves with the first byte of the body, or with the end where there is none. `end`: head and
    body leave together once all of it has come; a body of more than 16MiB leaves, head first, when so much is held, and
    flows from then on. A duration: the head leaves so long after it came, and what comes meanwhile (1MiB, then the sender
    waits) right behind it. Interim answers (1xx) pass at once, and so does the head of a tunnel (101, CONNECT). If the
    other side breaks off before a `first_byte` or `end`, nothing that is held leaves: the client gets a 502. A client that
    waits for a 100 before it sends what is held until its `end` has it from here."""
    on_abort: Literal["drop", "flush"] = "drop"
    """What becomes of what is held when the other side breaks off: it is dropped, or leaves in front of that end. Default
    `drop`."""
    content_length: bool = False
    """With `until: end`: the answer leaves with its length as Content-Length, and not in chunks. Default false."""

    def problems(self) -> list[tuple[tuple[str, ...], str]]:
        if self.content_length and self.until != "end":
            return [(("content_length",), "a length is known at the end; it needs `until: end`")]
        return []

    def start(self, context: Context) -> Fault:
        return RunningHold(self, context) if self.until else Neutral()


def opens_tunnel(head: ResponseHead | RequestHead, context: Context) -> bool:
    """Behind it both sides wait for each other's bytes: no machine can hold it (RFC 9110 sections 9.3.6 and 15.2.2)."""
    switched = isinstance(head, ResponseHead) and head.status == SWITCHING_PROTOCOLS
    return switched or context.request.method == b"CONNECT"


def waits_for_100(head: RequestHead) -> bool:
    """The client sends its body when it is told to (RFC 9110 section 10.1.1)."""
    return b"100-continue" in tokens(head.headers, EXPECT)


class RunningHold(Fault):
    """Rests until the head comes, and again when it has left; for a time it need not wake, since order does the rest."""

    rest = FOREVER

    def __init__(self, spec: HoldHead, context: Context) -> None:
        self._until = until = spec.until
        self._flushes = spec.on_abort == "flush"
        self._measures = spec.content_length
        self._context = context
        self.capacity = {"first_byte": 0, "end": WHOLE_ROOM}.get(str(until), ROOM)
        self._waiting: list[Event] = []
        """The head, and what has come behind it."""

    def control(self, event: Event, now: float) -> Actions:
        match event:
            case RequestHead() | ResponseHead() if opens_tunnel(event, self._context):
                self.unfired = "protocol"
                return (event,)
            case RequestHead() | ResponseHead() if not isinstance(self._until, str):
                detail = f"held the head {lasting(self._until)}"
                return (Note("fired", detail), At(now + self._until / self._context.speed, event))
            case RequestHead() if not event.final and self._until == "end" and waits_for_100(event):
                self._waiting = [replace(event, headers=without(event.headers, (EXPECT,)))]
                return (WAKE, Interim(CONTINUE))  # else nothing would come that it could hold
            case RequestHead() | ResponseHead() if not event.final:
                self._waiting = [event]
                return (WAKE,)
            case Abort():
                held = self._release() if self._flushes else self._drop()
                return (*held, event)
            case End() if self._measures and self._waiting:
                self._measure()
                return (*self._release(), event)
            case Trailers() if self._waiting and self._until == "end":
                self._waiting.append(event)
                return ()
            case _:
                return (*self._release(), event)

    def data(self, data: Data, now: float) -> Actions:
        if self._until == "first_byte":
            return (*self._release(), data)
        self._waiting.append(data)
        self.held += len(data.payload)
        return ()

    def full(self, now: float) -> Actions:
        return self._release()

    def hangup(self, now: float) -> Actions:
        return (*self._drop(), PassOn())

    def _release(self) -> tuple[Action, ...]:
        """Everything, head first; from then on there is nothing to do."""
        waiting, self._waiting = self._waiting, []
        if not waiting:
            return ()
        held, self.held = self.held, 0
        detail = f"held the head and {counted(held, 'byte')}" if held else "held the head"
        return (Note("fired", detail), *waiting, FOREVER)

    def _measure(self) -> None:
        """The head says how long the whole body is."""
        head = self._waiting[0]
        assert isinstance(head, RequestHead | ResponseHead)
        headers = replaced(without(head.headers, (b"transfer-encoding",)), b"Content-Length", b"%d" % self.held)
        self._waiting[0] = replace(head, headers=headers, framing=Framing.LENGTH)

    def _drop(self) -> tuple[Action, ...]:
        waiting, self._waiting, self.held = self._waiting, [], 0
        return (Note("fired", "dropped the head that it held"),) if waiting else ()
