"""`abort_upstream`: the machine hangs up on the upstream, and leaves the client waiting.

Imitates a gateway whose worker dies between two sockets, a cancelled task that forgot its client, a sidecar that is
replaced: the upstream sees its client end, as it does when a real client leaves; the client is told nothing. Its socket
stays open and its leaving is noticed, which is what ends the exchange.
"""

from dataclasses import dataclass
from typing import ClassVar

from chaosproxy.chain.actions import Actions, Finish
from chaosproxy.chain.endings import Ending, not_a_clients_end
from chaosproxy.chain.fault import Context, Fault, FaultSpec, register
from chaosproxy.chain.triggered import Triggered
from chaosproxy.model.codes import CANCEL
from chaosproxy.model.vocabulary import Moment

_SILENCE = (Ending("silence"),)
_GATEWAY = (Ending("stream", code=CANCEL), Ending("fin"))
"""RST_STREAM(CANCEL) where there are streams, as RFC 9113 section 7 has it for a stream that is no longer needed."""


@register
@dataclass(frozen=True, slots=True, kw_only=True)
class AbortUpstream(FaultSpec):
    """Ends the upstream's side at an exact place; the client hears nothing more."""

    name: ClassVar[str] = "abort_upstream"
    main: ClassVar[str | None] = "then"
    has_at: ClassVar[bool] = True

    then: tuple[Ending, ...] = _GATEWAY
    """How the upstream sees its client end: `fin`, `rst` or `{stream: CODE}`; of a list the first that is possible on the
    upstream's protocol (a stream is possible on HTTP/2 only), else `fin`. On HTTP/2 `fin` and `rst` end the whole
    connection, with every other stream on it. Default: what gateways do, `{stream: CANCEL}` on HTTP/2, `fin` on HTTP/1."""

    def problems(self) -> list[tuple[tuple[str, ...], str]]:
        found = not_a_clients_end(self.then)
        if self.at is not None and self.at.moment in (Moment.END, Moment.AFTER_END):
            found.append((("at",), "at the end the upstream is done by itself; abort it before"))
        return found

    def start(self, context: Context) -> Fault:
        return RunningAbortUpstream(self, context)


class RunningAbortUpstream(Triggered):
    """Rests until the place."""

    def __init__(self, spec: AbortUpstream, context: Context) -> None:
        at = spec.trigger
        super().__init__(at, context)
        self._finish = Finish(_SILENCE, "abort_upstream", upstream=spec.then, detail=f"ended the upstream {at.place}")

    def fire(self, now: float) -> Actions:
        return (self._finish,)
