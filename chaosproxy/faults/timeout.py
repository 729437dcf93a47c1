"""`timeout`: the machine gives up on a stream that is late, silent or long.

Imitates nginx's `proxy_read_timeout` and a balancer's idle timeout (`idle`), a gateway's limit on the first byte
(`first_byte`), clients' and platforms' limits on the whole exchange (`total`). A stream that a buffer nearer the
upstream has silenced is idle here though its upstream is healthy.
"""

import math
from dataclasses import dataclass
from typing import ClassVar, Literal

from chaosproxy.chain.actions import FOREVER, WAKE, Actions, Finish, Rest
from chaosproxy.chain.endings import ABORT, Ending
from chaosproxy.chain.fault import Context, Fault, FaultSpec, register
from chaosproxy.framing.blocks import Blocks
from chaosproxy.framing.splitter import RecordKind
from chaosproxy.framing.traffic import traffic
from chaosproxy.model.messages import Data, Event, ResponseHead
from chaosproxy.model.places import Way
from chaosproxy.model.units import Duration, show_duration

KeepAlive = Literal["comments", "ping_events", "empty_deltas"]

_TRAFFIC = {"comments": "comment", "ping_events": "ping_event", "empty_deltas": "empty_delta"}


@register
@dataclass(frozen=True, slots=True, kw_only=True)
class Timeout(FaultSpec):
    """Ends an exchange that is late, silent or long."""

    name: ClassVar[str] = "timeout"
    main: ClassVar[str | None] = None
    ways: ClassVar[frozenset[Way]] = frozenset(Way)

    first_byte: Duration | None = None
    """From the request's end to the status line."""
    first_event: Duration | None = None
    """From the request's end to the first record."""
    idle: Duration | None = None
    """The longest time without a body byte entering this fault, from the request's end on; the clock stands still while
    its output is blocked. (An HTTP/2 PING never counts.)"""
    total: Duration | None = None
    """From the request's first byte to the end."""
    ignore: tuple[KeepAlive, ...] = ()
    """Traffic that does not restart `idle`: `comments`, `ping_events`, `empty_deltas`."""
    then: tuple[Ending, ...] = (Ending("status", status=504), ABORT)
    """How it ends; of a list the first that is possible. Default: 504 while no head has passed, else `abort`."""

    @property
    def reads_records(self) -> bool:
        return self.first_event is not None or bool(self.ignore)

    def problems(self) -> list[tuple[tuple[str, ...], str]]:
        found: list[tuple[tuple[str, ...], str]] = []
        if self.first_byte is None and self.first_event is None and self.idle is None and self.total is None:
            found.append(((), "timeout needs one of first_byte, first_event, idle, total"))
        if self.ignore and self.idle is None:
            found.append((("ignore",), "ignore is about idle: give an idle too"))
        if self.way is Way.REQUEST and (self.first_byte is not None or self.first_event is not None):
            found.append((("way",), "a request has no first_byte and no first_event: they are times of the response"))
        return found

    def start(self, context: Context) -> "RunningTimeout":
        return RunningTimeout(self, context)


class RunningTimeout(Fault):
    """Rests until the nearest limit; awake only where it has to look at what it may ignore."""

    sees = (ResponseHead,)

    def __init__(self, spec: Timeout, context: Context) -> None:
        self._spec = spec
        self._speed = context.speed
        self._limits: dict[str, float] = {}
        """When each that is running is over. (`idle` is measured by the place, or by `_life`.)"""
        self._idle = math.inf
        self._asked: float | None = None
        self._head = self._event = False
        self._life: Life | None = None
        if spec.total is not None:
            self._limits["total"] = context.began + spec.total / self._speed
        if spec.way is Way.REQUEST and spec.idle is not None:
            self._idle = spec.idle / self._speed
        self.rest = self._resting()

    def _resting(self) -> Rest:
        return Rest(time=min(self._limits.values(), default=math.inf), idle=self._idle)

    def request_end(self, now: float) -> Actions:
        spec = self._spec
        self._asked = now
        if spec.first_byte is not None and not self._head:  # an answer may be early
            self._limits["first_byte"] = now + spec.first_byte / self._speed
        if spec.first_event is not None and not self._event:
            self._limits["first_event"] = now + spec.first_event / self._speed
        if spec.idle is not None:
            self._idle = spec.idle / self._speed
        return (self._resting(),)

    def control(self, event: Event, now: float) -> Actions:
        if not isinstance(event, ResponseHead):
            return (event,)
        self._head = True
        self._limits.pop("first_byte", None)
        if self.kind is None:
            self._saw_event()  # nothing that comes could be told to be one
        elif self._spec.ignore and self._spec.idle is not None:
            self._life = Life(self.kind, self._spec.ignore, now if self._asked is None else self._asked)
            self._idle = self._spec.idle / self._speed
            self._plan(self._life)
            return (WAKE, event)
        return (event, self._resting())

    def reached(self, limit: str, now: float) -> Actions:
        if limit == "idle":
            return self._over("idle")
        if self.records:
            self._saw_event()
        late = [name for name, time in self._limits.items() if time <= now]
        return self._over(min(late, key=lambda name: self._limits[name])) if late else (self._resting(),)

    # ---- awake: looking at what may be ignored

    def data(self, data: Data, now: float) -> Actions:
        life = self._life
        assert life is not None
        life.feed(data.payload, now)
        if data.ends:
            self._saw_event()
        self._plan(life)
        return (data,)

    def unblocked(self, since: float, now: float) -> Actions:
        life = self._life
        assert life is not None
        life.paused(since, now)
        self._plan(life)
        return ()

    def wake(self, now: float) -> Actions:
        life = self._life
        assert life is not None
        late = {name: time for name, time in self._limits.items() if time <= now}
        if not self.blocked and life.last + self._idle <= now:
            late["idle"] = life.last + self._idle
        if late:
            return self._over(min(late, key=lambda name: late[name]))
        # Silent because nobody takes anything: the clock stands still until `unblocked`.
        self.due = min(self._limits.values(), default=math.inf)
        return ()

    def _saw_event(self) -> None:
        self._event = True
        self._limits.pop("first_event", None)

    def _plan(self, life: "Life") -> None:
        self.due = min([life.last + self._idle, *self._limits.values()])

    def _over(self, name: str) -> Actions:
        value: float | None = getattr(self._spec, name)
        detail = f"after {show_duration(value or 0.0)} ({name})"
        return (FOREVER, Finish(self._spec.then, f"timeout:{name}", detail=detail))


class Life:
    """When a body last said something, keep-alives left out."""

    def __init__(self, kind: RecordKind, ignored: tuple[KeepAlive, ...], since: float) -> None:
        self.said = since
        """When something that counts was last complete."""
        self._begun = since
        self._kind = kind
        self._ignored = {_TRAFFIC[name] for name in ignored}
        self._blocks = Blocks(kind)

    @property
    def last(self) -> float:
        """The bytes of a unit count as they come, unless it turns out that it has to be ignored."""
        return max(self.said, self._begun) if self._blocks.inside else self.said

    def paused(self, since: float, now: float) -> None:
        """The clock has stood still from `since` until now."""
        self.said = now - max(0.0, since - self.said)
        self._begun = now - max(0.0, since - self._begun)

    def feed(self, payload: bytes, now: float) -> None:
        outgrown, too_long = self._blocks.giving_up, self._blocks.too_long
        for unit in self._blocks.feed(payload):
            if traffic(self._kind, unit) not in self._ignored:
                self.said = now
        if outgrown or self._blocks.too_long != too_long:
            self.said = now  # nobody can tell what it is: it counts
        self._begun = now
