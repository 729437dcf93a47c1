"""The running `timeout`: rests until the nearest of its limits.

Must not know: what traffic says (`ignoring.py`).
"""

import math
from typing import TYPE_CHECKING

from chaosproxy.chain.actions import FOREVER, Actions, Finish, Rest
from chaosproxy.chain.endings import Ending
from chaosproxy.chain.fault import Context, Fault
from chaosproxy.model.messages import Event, ResponseHead
from chaosproxy.model.units import show_duration
from chaosproxy.model.vocabulary import Moment, Way

if TYPE_CHECKING:
    from chaosproxy.faults.timeout import Timeout


class RunningTimeout(Fault):
    """Rests. Its `idle` is measured by its place."""

    sees = (ResponseHead,)

    def __init__(self, spec: "Timeout", context: Context) -> None:
        self._spec = spec
        self._speed = context.speed
        self._limits: dict[str, float] = {}
        """When each that is running is over."""
        self._idle = math.inf
        self._between = math.inf
        """Once body has come; from the head until then it is one of the limits."""
        self._upstream: tuple[Ending, ...] | None = None if spec.side == "client" else ()
        self._head = self._event = False
        if spec.total is not None:
            self._limits["total"] = context.began + spec.total / self._speed
        if spec.way is Way.REQUEST:
            self._start_idle()
        self.rest = self._resting()

    def _start_idle(self) -> None:
        if self._spec.idle is not None:
            self._idle = self._spec.idle / self._speed

    def _resting(self) -> Rest:
        return Rest(
            time=min(self._limits.values(), default=math.inf),
            idle=min(self._idle, self._between),
            moment=Moment.BODY if "between_bytes" in self._limits else None,
        )

    def request_end(self, now: float) -> Actions:
        spec = self._spec
        if spec.first_byte is not None and not self._head:  # an answer may be early
            self._limits["first_byte"] = now + spec.first_byte / self._speed
        if spec.first_event is not None and not self._event:
            self._limits["first_event"] = now + spec.first_event / self._speed
        if spec.response is not None:
            self._limits["response"] = now + spec.response / self._speed
        self._start_idle()
        return (self._resting(),)

    def control(self, event: Event, now: float) -> Actions:
        if not isinstance(event, ResponseHead):
            return (event,)
        self._head = True
        self._limits.pop("first_byte", None)
        if self.kind is None:
            self._saw_event()  # nothing that comes could be told to be one
        if self._spec.between_bytes is not None:
            self._limits["between_bytes"] = now + self._spec.between_bytes / self._speed
        return (event, self._resting())

    def reached(self, limit: str, now: float) -> Actions:
        if limit == "idle":
            return self._over("idle" if self._idle <= self._between else "between_bytes")
        if limit == "moment" and self._spec.between_bytes is not None:
            del self._limits["between_bytes"]
            self._between = self._spec.between_bytes / self._speed
        if self.records:
            self._saw_event()
        late = {name: time for name, time in self._limits.items() if time <= now}
        return self._earliest(late) if late else (self._resting(),)

    def _saw_event(self) -> None:
        self._event = True
        self._limits.pop("first_event", None)

    def _earliest(self, late: dict[str, float]) -> Actions:
        """Of those that are over, the first has ended it."""
        return self._over(min(late, key=lambda name: late[name]))

    def _over(self, name: str) -> Actions:
        value: float | None = getattr(self._spec, name)
        detail = f"after {show_duration(value or 0.0)} ({name})"
        self.due = math.inf
        return (FOREVER, Finish(self._spec.then, f"timeout:{name}", self._upstream, detail))
