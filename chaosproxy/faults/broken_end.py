"""`broken_end`: what the machine makes of an answer that broke off nearer the upstream.

A server that dies leaves its answer short of its last chunk or its length, behind a FIN or a TCP reset. What the client sees
of that is up to the machine in between. Most end their own side as incomplete too (nginx, Apache, Envoy; none of those that
were measured passes a reset on), Envoy a second later over HTTP/1. Some hide it, against RFC 9112 section 8: the client of
Caddy 2.6 gets a last chunk, that of HAProxy 2.6, Varnish and lighttpd an END_STREAM if it speaks HTTP/2, and takes what it
has for whole.
"""

import math
from dataclasses import dataclass
from typing import ClassVar, Literal

from chaosproxy.chain.actions import FOREVER, Actions, At, Finish, Note
from chaosproxy.chain.endings import Ending
from chaosproxy.chain.fault import Context, Fault, FaultSpec, Neutral, register
from chaosproxy.model.messages import Abort, Event, ResponseHead
from chaosproxy.model.units import Duration, show_duration
from chaosproxy.model.vocabulary import Manner, Scope


@register
@dataclass(frozen=True, slots=True, kw_only=True)
class BrokenEnd(FaultSpec):
    """Decides how an answer ends for the client that broke off nearer the upstream."""

    name: ClassVar[str] = "broken_end"
    main: ClassVar[str | None] = "then"

    then: tuple[Ending, ...] = ()
    """How it ends; of a list the first that is possible. Before the head only a `{status}` is, else it stays as it was;
    behind a GOAWAY it does not live on. Default: as it broke off."""
    when: Literal["any", "fin", "rst"] = "any"
    """`fin`: the connection was closed, or the stream reset, before the body was whole; `rst`: the connection was reset.
    What a fault nearer the upstream has broken off counts as well. Default `any`."""
    delay: Duration = 0.0
    """How much later the client has that end, once it has a head; the upstream is done with before. Default 0."""

    def problems(self) -> list[tuple[tuple[str, ...], str]]:
        if not self.then and not self.delay:
            return [((), "broken_end needs one of then, delay")]
        if any(ending.kind == "goaway" and ending.last != "0" for ending in self.then):
            # Its upstream is gone: nothing else would ever end it.
            return [(("then",), "an answer that broke off cannot live on behind a GOAWAY: leave its last at 0")]
        return []

    def start(self, context: Context) -> Fault:
        return RunningBrokenEnd(self, context) if self.then or self.delay else Neutral()


class RunningBrokenEnd(Fault):
    """Rests; it sees an Abort that comes by."""

    rest = FOREVER
    sees = (ResponseHead, Abort)

    def __init__(self, spec: BrokenEnd, context: Context) -> None:
        self._then = spec.then
        self._when = spec.when
        self._delay = spec.delay / context.speed
        self._late = f", {show_duration(spec.delay)} later" if spec.delay else ""
        self._began = False
        """A head has passed."""
        self._broken: Abort | None = None
        """It has broken off, and the end waits."""

    def control(self, event: Event, now: float) -> Actions:
        if not isinstance(event, Abort):
            self._began = self._began or isinstance(event, ResponseHead)
            return (event,)
        if not self._is_meant(event):
            return (event,)
        if not self._began:
            answers = tuple(ending for ending in self._then if ending.kind == "status")
            return (self._end(event, answers, ""),) if answers else (event,)
        if not self._then:
            return (Note("fired", f"{event.cause} passed on{self._late}"), At(now + self._delay, event))
        if not self._delay:
            return (self._end(event, self._then, ""),)
        self._broken, self.due = event, now + self._delay
        return ()

    def _is_meant(self, abort: Abort) -> bool:
        reset = abort.scope is Scope.CONNECTION and abort.manner is Manner.RESET
        return abort.manner is not Manner.SILENCE and self._when in ("any", "rst" if reset else "fin")

    @staticmethod
    def _end(broken: Abort, then: tuple[Ending, ...], late: str) -> Finish:
        """Whoever stands nearer the upstream has seen the end, and is not told of another."""
        return Finish(then, broken.cause, upstream=None, detail=f"for {broken.cause}{late}")

    def wake(self, now: float) -> Actions:
        broken, self.due = self._broken, math.inf
        assert broken is not None
        return (self._end(broken, self._then, self._late),)
