"""The base of every fault with an `at:`: it rests until the place, acts there, and rests again until it repeats.

Places that are counts, times or moments are limits of a rest and cost nothing until they come. `match`, `json` and
`terminal` have to read records: such a fault is awake, and holds the current record (at most 1 MiB) where it has to act
in front of it or inside it. Must not know: what is done there.
"""

from typing import Protocol

from chaosproxy.chain.actions import FOREVER, Actions, Note, Rest
from chaosproxy.chain.fault import Context, Fault
from chaosproxy.chain.trigger import Trigger
from chaosproxy.framing.records import payload, terminal
from chaosproxy.model.json_values import holds, parse
from chaosproxy.model.messages import Abort, Data, End, Event, Trailers, join
from chaosproxy.model.places import Moment

LONGEST = 1024 * 1024
"""Bytes of one record that are looked at; a longer one passes unseen."""


class Pattern(Protocol):
    """A compiled regular expression that runs in linear time."""

    def search(self, text: bytes, /) -> object: ...


def _compiled(pattern: str) -> Pattern:
    import re2  # noqa: PLC0415 - only scenarios with a `match` pay for it

    compiled: Pattern = re2.compile(pattern.encode("utf-8"))
    return compiled


class Triggered(Fault):
    """Override `fire`."""

    def __init__(self, at: Trigger, context: Context) -> None:
        self._at = at
        self._began = context.began
        self._speed = context.speed
        self._fired = 0
        self._reading = at.match is not None or at.json is not None or at.terminal is not None
        self._pattern = _compiled(at.match) if at.match is not None else None
        self._holding = self._reading and at.terminal != "after"
        self._record: list[Data] = []
        self._size = 0
        self._seen = 0
        self._too_long = False
        self.rest = None if self._reading else self._next()

    def fire(self, now: float) -> Actions:
        """Act, right at the place."""
        raise NotImplementedError

    def _next(self) -> Rest:
        """The rest until the next firing; for ever once `times` is used up, or where it does not repeat."""
        at, turn = self._at, self._fired
        if turn and (at.every is None or (at.times is not None and turn >= at.times)):
            return FOREVER
        further = turn * (at.every or 0)
        if at.event is not None:
            return Rest(records=at.event + further)
        if at.bytes is not None:
            return Rest(bytes=at.bytes + further)
        if at.chunk is not None:
            return Rest(chunks=at.chunk + further)
        if at.time is not None:
            return Rest(time=self._began + (at.time + further) / self._speed)
        if at.idle is not None:
            return Rest(idle=at.idle / self._speed)
        return Rest(moment=at.moment or Moment.BODY)

    def reached(self, limit: str, now: float) -> Actions:
        self._fired += 1
        return (self._next(), *self.fire(now))

    # ---- reading records

    def data(self, data: Data, now: float) -> Actions:
        if self.kind is None or not self._reading:
            return (data,)
        actions: list[object] = []
        rest: Data | None = data
        while rest is not None:
            if not self._reading:
                actions.append(rest)
                break
            end = rest.ends[0] if rest.ends else None
            if end is None or end >= len(rest.payload):
                piece, rest = rest, None
            else:
                piece, rest = rest.split(end)
            actions += self._read(piece, now, ends=end is not None)
        return tuple(actions)  # type: ignore[arg-type] # actions all, gathered from typed parts

    def _read(self, piece: Data, now: float, *, ends: bool) -> Actions:
        self._size += len(piece.payload)
        if not self._too_long:
            self._record.append(piece)
        if not self._holding:
            return self._judged(now, (piece,)) if ends else (piece,)
        self.held = 0 if self._too_long else self._size
        if self._size > LONGEST and not self._too_long:
            return self._give_up(ends=ends)
        if self._too_long:
            if ends:
                self._forget()
            return (piece,)
        return self._judged(now, ()) if ends else ()

    def _give_up(self, *, ends: bool) -> Actions:
        held = tuple(self._record)
        self._too_long, self.held = True, 0
        self._record = []
        if ends:
            self._forget()
        return (Note("not_fired", "record too long"), *held)

    def _forget(self) -> None:
        self._record, self._size, self._too_long, self.held = [], 0, False, 0

    def _judged(self, now: float, passed: tuple[Data, ...]) -> Actions:
        """The record is complete: act, or let it go. `passed`: its last piece, where it is not held."""
        record = join(self._record) if self._record else None
        self._forget()
        if record is None or not self._hit(record.payload):
            return passed or ((record,) if record is not None else ())
        actions = self._fire_again(now)
        if passed:
            return (*passed, *actions)
        if self._at.terminal == "inside":
            left, right = record.split(self._middle(record.payload))
            return (left, *actions, right)
        return (*actions, record)

    def _hit(self, raw: bytes) -> bool:
        kind, at = self.kind, self._at
        assert kind is not None
        if self._pattern is not None:
            hit = self._pattern.search(raw) is not None
        elif at.json is not None:
            carried = payload(kind, raw)
            hit = carried is not None and holds(parse(carried), at.json)
        else:
            hit = terminal(kind, raw)
        if not hit:
            return False
        self._seen += 1
        every = int(at.every or 0)
        return self._seen == 1 or (every > 0 and (self._seen - 1) % every == 0)

    def _middle(self, raw: bytes) -> int:
        assert self.kind is not None
        carried = payload(self.kind, raw) or raw
        start = max(0, raw.find(carried))
        return min(max(1, start + len(carried) // 2), len(raw) - 1)

    def _fire_again(self, now: float) -> Actions:
        self._fired += 1
        actions = self.fire(now)
        if self._at.every is None or (self._at.times is not None and self._fired >= self._at.times):
            self._reading = False
            return (FOREVER, *actions)
        return actions

    def control(self, event: Event, now: float) -> Actions:
        if (
            isinstance(event, Trailers | End)
            and self._reading
            and self._at.terminal is not None
            and self.kind == "grpc"
        ):
            return self._grpc_trailers(event, now)
        if isinstance(event, Trailers | End | Abort) and self._record:
            held = tuple(self._record) if self._holding else ()
            self._forget()
            return (*held, event)
        return (event,)

    def _grpc_trailers(self, event: Event, now: float) -> Actions:
        """The trailers of gRPC are its terminal record (no byte of the body is)."""
        held = tuple(self._record) if self._holding else ()
        self._forget()
        if not isinstance(event, Trailers):
            return (*held, event)
        actions = self._fire_again(now)
        return (*held, event, *actions) if self._at.terminal == "after" else (*held, *actions, event)
