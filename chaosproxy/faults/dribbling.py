"""What runs for a fault about bytes that no chain sees: those of heads and of chunks' size lines.

Must not know: which fault it is, how it is written.
"""

from dataclasses import replace

from chaosproxy.chain.actions import FOREVER, Actions
from chaosproxy.chain.fault import Fault
from chaosproxy.model.messages import Dribble, Event, RequestHead, ResponseHead


class RunningDribble(Fault):
    """Rests: it asks for it in the head, and whoever writes that does it, or cannot."""

    rest = FOREVER
    sees: tuple[type[Event], ...] = (RequestHead, ResponseHead)

    def __init__(self, dribble: Dribble, detail: str, *, possible: bool) -> None:
        self._dribble = dribble
        self._detail = detail
        self._possible = possible
        self._asked = 0.0

    def control(self, event: Event, now: float) -> Actions:
        if not isinstance(event, RequestHead | ResponseHead):
            return (event,)
        self.unfired = "protocol"
        self._asked = now
        return (replace(event, dribbles=(*event.dribbles, self._dribble)) if self._possible else event,)

    @property
    def deeds(self) -> tuple[tuple[float, str], ...]:
        return ((self._asked, self._detail),) if self._dribble.written else ()
