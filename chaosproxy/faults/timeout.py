"""`timeout`: the machine gives up on a stream that is late, silent or long.

Imitates nginx's `proxy_read_timeout` and a balancer's idle timeout (`idle`), a gateway's limit on the first byte
(`first_byte`), clients' and platforms' limits on the whole exchange (`total`). A stream that a buffer nearer the
upstream has silenced is idle here though its upstream is healthy.
"""

import math
from dataclasses import dataclass
from typing import ClassVar, Literal

from chaosproxy.chain.actions import FOREVER, WAKE, Actions, Finish, Note, Rest
from chaosproxy.chain.endings import ABORT, Ending
from chaosproxy.chain.fault import Context, Fault, FaultSpec, register
from chaosproxy.framing.blocks import Blocks
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

    def __init__(self, spec: Timeout, context: Context) -> None:
        self._spec = spec
        self._speed = context.speed
        self._times: dict[str, float] = {}
        """Absolute limits by name."""
        self._idle = math.inf
        self._blocks: Blocks | None = None
        self._request_ended = False
        if spec.total is not None:
            self._times["total"] = context.began + spec.total / self._speed
        if spec.way is Way.REQUEST and spec.idle is not None:
            self._idle = spec.idle / self._speed
        self.rest = self._resting()

    def _resting(self) -> Rest:
        records = 1.0 if "first_event" in self._times else math.inf
        return Rest(time=min(self._times.values(), default=math.inf), idle=self._idle, records=records)

    def _limit(self, name: str, value: float | None, now: float) -> None:
        if value is not None:
            self._times[name] = now + value / self._speed

    def request_end(self, now: float) -> Actions:
        spec = self._spec
        self._limit("first_byte", spec.first_byte, now)
        self._limit("first_event", spec.first_event, now)
        if spec.idle is not None:
            self._idle = spec.idle / self._speed
        return (self._resting(),)

    def control(self, event: Event, now: float) -> Actions:
        if not isinstance(event, ResponseHead):
            return (event,)
        self._times.pop("first_byte", None)
        if self._spec.ignore and self._idle != math.inf and self.kind is not None:
            self._blocks = Blocks(self.kind)
            self._times["idle"] = now + self._idle
            self._idle = math.inf
            self.due = min(self._times.values())
            return (WAKE, event)
        return (event, self._resting())

    def data(self, data: Data, now: float) -> Actions:
        """Awake only between `first_event` and the next rest, or with `ignore`."""
        assert self._blocks is not None
        assert self.kind is not None
        ignored = {_TRAFFIC[name] for name in self._spec.ignore}
        assert self._spec.idle is not None
        for unit in self._blocks.feed(data.payload):
            if traffic(self.kind, unit) not in ignored:
                self._times["idle"] = now + self._spec.idle / self._speed
        if data.ends:
            self._times.pop("first_event", None)
        self.due = min(self._times.values())
        return (data,)

    def reached(self, limit: str, now: float) -> Actions:
        if limit == "records":
            self._times.pop("first_event", None)
            return (self._resting(),)
        if limit == "idle":
            return self._expired("idle")
        return self._over(now)

    def wake(self, now: float) -> Actions:
        if self.blocked and self._times.get("idle", math.inf) <= now:
            assert self._spec.idle is not None
            self._times["idle"] = now + self._spec.idle / self._speed
            self.due = min(self._times.values())
            return ()
        return self._over(now)

    def _over(self, now: float) -> Actions:
        expired = [name for name, time in self._times.items() if time <= now]
        if not expired:
            return (self._resting(),)
        return self._expired(min(expired, key=lambda name: self._times[name]))

    def _expired(self, name: str) -> Actions:
        value: float | None = getattr(self._spec, name)
        self.due = math.inf
        note = Note("fired", f"{name} of {show_duration(value or 0.0)} is over")
        return (note, FOREVER, Finish(self._spec.then, f"timeout:{name}"))
