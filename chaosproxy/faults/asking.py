"""What runs for a fault about what no chain sees: the bytes of heads and of chunks' framing, the connection behind an end.

Must not know: which fault it is, how it is done.
"""

from dataclasses import replace

from chaosproxy.chain.actions import FOREVER, Actions
from chaosproxy.chain.fault import Fault
from chaosproxy.model.asked import Asked, Linger
from chaosproxy.model.messages import End, Event, RequestHead, ResponseHead


class RunningAsk(Fault):
    """Rests: it asks for it in the head, and whoever writes that does it, or cannot."""

    rest = FOREVER
    sees: tuple[type[Event], ...] = (RequestHead, ResponseHead, End)

    def __init__(self, asked: Asked, detail: str, *, possible: bool) -> None:
        self._asked = asked
        self._detail = detail
        self._possible = possible
        self._since = 0.0

    def control(self, event: Event, now: float) -> Actions:
        if isinstance(event, RequestHead | ResponseHead):
            self.unfired = "protocol"
            self._since = now
            return (replace(event, asked=(*event.asked, self._asked)) if self._possible else event,)
        if isinstance(self._asked, Linger):
            self._since = now
        return (event,)

    @property
    def deeds(self) -> tuple[tuple[float, str], ...]:
        return ((self._since, self._detail),) if self._asked.written else ()
