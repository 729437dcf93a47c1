"""`client_abort`: what a machine does when the client leaves before its answer is complete.

Most proxies close their upstream at once. Some notice only when they next write (a framework that never looks at its
socket: Apache), some read the answer to its end for nobody (nginx with `proxy_ignore_client_abort on`). HAProxy, which looks
for a FIN only with `option abortonclose`, sees an RST_STREAM at once all the same, and resets the upstream's connection.
"""

import math
from dataclasses import dataclass
from typing import ClassVar, Literal

from chaosproxy.chain.actions import FOREVER, Actions, Note, PassOn
from chaosproxy.chain.endings import Ending, not_a_clients_end
from chaosproxy.chain.fault import Context, Fault, FaultSpec, register
from chaosproxy.model.messages import Data
from chaosproxy.model.units import Duration


@register
@dataclass(frozen=True, slots=True, kw_only=True)
class ClientAbort(FaultSpec):
    """Decides whether and when the client's leaving is passed on towards the upstream."""

    name: ClassVar[str] = "client_abort"
    main: ClassVar[str | None] = "mode"

    mode: Literal["propagate", "on_next_write", "ignore"] = "propagate"
    """`propagate`: at once, as without the fault. `on_next_write`: when the next body byte comes. `ignore`: never; the
    answer is read to its end and discarded."""
    delay: Duration = 0.0
    """How long after that it is passed on. Default 0."""
    half_close: Literal["leave", "serve"] = "leave"
    """What a client's FIN before the end of its answer is: leaving, or only the end of its request."""
    rst_stream: Literal["as_mode", "propagate"] = "as_mode"
    """What an RST_STREAM of the client does: as `mode` says; or it is seen among the frames, and passed on at once."""
    then: tuple[Ending, ...] = ()
    """How the upstream is told, by the machine nearest to it: `fin`, `rst` or `{stream: CODE}`; of a list the first that its
    protocol has. So it is told, too, when a fault nearer the client has ended the exchange. Default: a FIN on HTTP/1,
    `{stream: CANCEL}` on HTTP/2."""

    def problems(self) -> list[tuple[tuple[str, ...], str]]:
        return not_a_clients_end(self.then)

    def start(self, context: Context) -> Fault:
        return RunningClientAbort(self, context)


class RunningClientAbort(Fault):
    """Rests for ever, but for the hangup."""

    rest = FOREVER

    def __init__(self, spec: ClientAbort, context: Context) -> None:
        self._mode = spec.mode
        self._delay = spec.delay / context.speed
        self._waiting_for_data = False
        self._sees_resets = spec.rst_stream == "propagate"
        self._pass_on = PassOn(spec.then)
        self.serves_half_close = spec.half_close == "serve"

    def hangup(self, now: float) -> Actions:
        if self._sees_resets and self.left_by.startswith("client:stream:"):
            return (Note("fired", "the upstream is told at once of the RST_STREAM"), self._pass_on)
        if self._mode == "ignore":
            return (Note("fired", "ignores that the client left: the answer is drained"),)
        if self._mode == "on_next_write":
            self._waiting_for_data = True
            return (Note("fired", "the upstream is told at the next write"),)
        if self._delay:
            self.due = now + self._delay
            return (Note("fired", f"the upstream is told {self._delay * 1000:g} ms later"),)
        return (
            Note("fired", "the upstream is told at once"),
            self._pass_on,
        )

    def data(self, data: Data, now: float) -> Actions:
        if not self._waiting_for_data:
            return ()
        self._waiting_for_data = False
        if self._delay:
            self.due = now + self._delay
            return ()
        return (self._pass_on,)

    def wake(self, now: float) -> Actions:
        self.due = math.inf
        return (self._pass_on,)
