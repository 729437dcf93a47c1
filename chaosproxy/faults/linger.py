"""`linger`: the answer is over, and the connection stays open as if there were more to come.

Imitates a server that forgets to close what it has announced to end by closing (a body without a length), one that waits for
its own idle timeout, a handler that returns late. A client that goes by the framing is done at once where the answer has a
length or a last chunk; where the end of the connection is the only end there is, it waits for as long as this lasts, unless
it looks for the terminal event.
"""

from dataclasses import dataclass
from typing import ClassVar

from chaosproxy.chain.fault import Context, Fault, FaultSpec, Neutral, register
from chaosproxy.faults.asking import RunningAsk
from chaosproxy.model.asked import Linger as Asked
from chaosproxy.model.units import Duration, lasting


@register
@dataclass(frozen=True, slots=True, kw_only=True)
class Linger(FaultSpec):
    """Keeps an HTTP/1 connection open behind the end of an answer, then closes it."""

    name: ClassVar[str] = "linger"
    main: ClassVar[str | None] = "for_"

    for_: Duration
    """How long from the end of the answer, `forever` is allowed; then a FIN, or at once when the client has closed. Where
    the connection would have been closed nothing further is answered on it. Where it would have been kept, a request that
    comes in this time is served as any other, and no FIN follows from this answer. 0: nothing happens. An answer that breaks
    off ends as it did; on HTTP/2 a connection does not end with an answer."""

    def start(self, context: Context) -> Fault:
        if not self.for_:
            return Neutral()
        detail = f"open {lasting(self.for_)} behind the end"
        return RunningAsk(Asked(self.for_ / context.speed), detail, possible=context.protocol != "h2")
