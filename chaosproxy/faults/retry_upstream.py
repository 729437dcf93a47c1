"""`retry_upstream`: the machine sends a request again by itself, while its client sees one that takes long.

Imitates nginx's `proxy_next_upstream` (ingress controllers have `error timeout`, three tries), Envoy's retry policies and
gateways that try the next provider. Who asked once is answered once; the upstream has worked, and counted, twice.
"""

import math
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from chaosproxy.chain.actions import FOREVER, Actions, Again, Finish, Rest
from chaosproxy.chain.endings import ABORT, Ending
from chaosproxy.chain.fault import Context, Fault, FaultSpec, register
from chaosproxy.model.messages import Abort, Event, Interim, ResponseHead
from chaosproxy.model.units import Count, Duration, Within, show_duration
from chaosproxy.model.vocabulary import Moment

Trouble = Literal["error", "timeout", "5xx"]
FAILED = 400
SERVER = 500


@register
@dataclass(frozen=True, slots=True, kw_only=True)
class RetryUpstream(FaultSpec):
    """Asks the upstream again, the next one where there are several. The request is kept for that, up to 1 MiB of body; of
    a longer one the first answer counts. It is the first fault of a rule: what fails in front of it is a matter of
    `connections:`."""

    name: ClassVar[str] = "retry_upstream"
    main: ClassVar[str | None] = "on"
    asks_again: ClassVar[bool] = True

    on: tuple[Trouble | Annotated[int, Within(400, 599)], ...] = ("error", "timeout", "5xx")
    """After what: `error` (no connection, or none that lasts until the head), `timeout`, `5xx`, or a status as 503 or 429.
    Default `error`, `timeout` and `5xx`."""
    times: Count = 2
    """How often at most; the last answer is passed on, whatever it is. Default 2: three tries."""
    timeout: Duration = 60.0
    """How long each try may take from the request's end to the head, if `on` has `timeout`. After the last one the client
    gets a 504. Default 60s."""
    methods: tuple[str, ...] = ()
    """Only requests of these methods. Default all, POST too: what costs money is done twice."""
    leave: Literal["closed", "open"] = "closed"
    """What becomes of a try that is given up while its server still works: its connection (on HTTP/2 its stream) is closed,
    or left open, and the server finishes for nobody. Default `closed`."""
    mid_stream: bool = False
    """Also where a part of the answer has gone on already: the client gets that part, and behind it the whole answer of
    the next try. Default false."""
    idle: Duration = math.inf
    """With `mid_stream` and `timeout`: the longest silence in the middle of an answer. Default forever."""

    @property
    def edits(self) -> bool:
        return self.mid_stream

    def problems(self) -> list[tuple[tuple[str, ...], str]]:
        if not self.timeout:
            return [(("timeout",), "no upstream answers in no time")]
        if self.idle != math.inf and not (self.mid_stream and "timeout" in self.on):
            return [
                (("idle",), "a silence in the middle of an answer is for `mid_stream: true` and `on: timeout` alone")
            ]
        return []

    def start(self, context: Context) -> Fault:
        return RunningRetry(self, context)


class RunningRetry(Fault):
    """Rests; the heads and the ending of each try are shown to it."""

    rest = FOREVER
    sees = (Interim, ResponseHead, Abort)

    def __init__(self, spec: RetryUpstream, context: Context) -> None:
        self._spec = spec
        self._tries = 0
        timed = "timeout" in spec.on
        self._timeout = spec.timeout / context.speed if timed else math.inf
        self._idle = spec.idle / context.speed if timed else math.inf
        self._asked = self._answered = self._passed = False
        """The request is complete; this try has a head; a head has gone out."""
        self._may = not spec.methods or context.request.method.decode("latin-1") in spec.methods
        if not self._may:
            self.unfired = "method"
        elif context.request.upgrade or context.request.method == b"CONNECT":
            self._may, self.unfired = False, "protocol"

    def request_end(self, now: float) -> Actions:
        self._asked = True
        if self._may and not self._answered:
            self.due = now + self._timeout
        return ()

    def again(self, now: float) -> Actions:
        self._tries += 1
        self._answered = False
        self.due = now + self._timeout if self._asked else math.inf
        return (FOREVER,)

    def control(self, event: Event, now: float) -> Actions:
        match event:
            case ResponseHead(status=status) if self._may:
                self._answered, self.due = True, math.inf
                if self._passed:
                    return self._goes_on(status, now)
                if self._left and (status in self._spec.on or (status >= SERVER and "5xx" in self._spec.on)):
                    return self._again(f"status {status}", (event,))
                self._passed = True
                return (event, self._until_body(now))
            case Interim() if self._passed:
                return ()  # in the middle of a body it would be a part of it
            case Abort() if self._left and "error" in self._spec.on and (self._spec.mid_stream or not self._passed):
                return self._again(event.cause, (event,))
            case _:
                return (event,)

    def _until_body(self, now: float) -> Rest:
        """The silence behind a head counts from the head."""
        return FOREVER if self._idle == math.inf else Rest(moment=Moment.BODY, time=now + self._idle)

    def _goes_on(self, status: int, now: float) -> Actions:
        """A head has gone out: this one is swallowed, its body goes on behind what there is."""
        if status >= FAILED:
            return (FOREVER, Finish((ABORT,), "retry_upstream", detail=f"the next answer was {status}"))
        return (self._until_body(now),)

    @property
    def _left(self) -> bool:
        return self._may and self._tries < self._spec.times

    def _again(self, why: str, instead: Actions) -> Actions:
        return (Again(f"retry {self._tries + 1}: {why}", instead, leaves_open=self._spec.leave == "open"),)

    def wake(self, now: float) -> Actions:
        self.due = math.inf
        why = f"no answer in {show_duration(self._spec.timeout)}"
        gave_up = Finish((Ending("status", status=504), ABORT), "retry_upstream", detail=why)
        return self._again(why, (gave_up,)) if self._left else (gave_up,)

    def reached(self, limit: str, now: float) -> Actions:
        if limit == "moment":
            return (Rest(idle=self._idle),)
        why = f"silent for {show_duration(self._spec.idle)}"
        gave_up = Finish((ABORT,), "retry_upstream", detail=why)
        return self._again(why, (FOREVER, gave_up)) if self._left else (FOREVER, gave_up)
