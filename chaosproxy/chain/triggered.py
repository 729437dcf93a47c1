"""The base of every fault with an `at:`: it rests until the place, acts there, and rests again until it repeats.

Places that are counts, times or moments are limits of a rest and cost nothing until they come. `match`, `json` and
`terminal` have to read records (`reading.py`): such a fault is awake, and holds the current record, at most 1 MiB,
where it has to act in front of it or inside it. Must not know: what is done there.
"""

from chaosproxy.chain.actions import FOREVER, WAKE, Action, Actions, Rest
from chaosproxy.chain.fault import Context, Fault
from chaosproxy.chain.reading import Found, Reading
from chaosproxy.chain.trigger import Trigger
from chaosproxy.model.messages import Abort, Data, End, Event, RequestHead, ResponseHead, Trailers
from chaosproxy.model.vocabulary import Moment


class Triggered(Fault):
    """Override `fire`."""

    def __init__(self, at: Trigger, context: Context) -> None:
        self._at = at
        self._began = context.began
        self._speed = context.speed
        self._fired = 0
        self._scheduled = 0.0
        """Where the place is a time: the next one."""
        self._place = at.place
        """Where it acts, for a person; of a repetition the place of that."""
        self._reading: Reading | None = None
        if not at.reads_content and type(self).control is Triggered.control:
            self.sees = ()
        self.rest = self._next(context.began)

    def fire(self, now: float) -> Actions:
        """Act, right at the place."""
        raise NotImplementedError  # each subclass has its own; one without is a FaultBug when it first acts

    @property
    def _spent(self) -> bool:
        at, turn = self._at, self._fired
        return turn > 0 and (at.every is None or (at.times is not None and turn >= at.times))

    def _next(self, now: float) -> Rest:
        """The rest until the next firing; for ever once `times` is used up, or where it does not repeat."""
        at, turn = self._at, self._fired
        if self._spent or at.reads_content:
            return FOREVER
        further = turn * (at.every or 0)
        if at.event is not None:
            return Rest(records=at.event + further)
        if at.bytes is not None:
            return Rest(bytes=at.bytes + further)
        if at.chunk is not None:
            return Rest(chunks=at.chunk + further)
        if at.time is not None:
            return Rest(time=self._next_time(at.time, now))
        if at.idle is not None:
            # The clock starts anew at each firing and each body byte.
            return Rest(idle=(at.every if turn and at.every is not None else at.idle) / self._speed)
        return Rest(moment=at.moment or Moment.BODY)

    def reached(self, limit: str, now: float) -> Actions:
        self._fired += 1
        self._place = self._at.place_beyond(self._distance())
        return (self._next(now), *self.fire(now))

    def _distance(self) -> float:
        """How far the present place is from the first, in its unit."""
        at = self._at
        if at.time is not None:
            return round((self._scheduled - self._began) * self._speed - at.time, 6)
        if at.idle is not None:
            return at.every - at.idle if self._fired > 1 and at.every is not None else 0.0
        return (self._fired - 1) * (at.every or 0)

    def _next_time(self, first: float, now: float) -> float:
        """On the schedule, and not before now: what was missed (a late ring, a late head) is not made up for."""
        time = self._began + first / self._speed
        step = (self._at.every or 0) / self._speed
        if self._fired and step:
            turns = max(1, int((now - time) / step))
            time += turns * step
            while time <= now:
                time += step
        self._scheduled = time
        return time

    # ---- reading records

    def control(self, event: Event, now: float) -> Actions:
        match event:
            case ResponseHead() | RequestHead() if self._at.reads_content and self.kind is not None:
                self._reading = Reading(self._at, self.kind)
                return (WAKE, event)
            case Trailers() | End() | Abort() if self._reading is not None:
                return self._body_over(self._reading, event, now)
            case _:
                return (event,)

    def data(self, data: Data, now: float) -> Actions:
        if self._reading is None:
            return (data,)
        actions = self._carry_out(self._reading, self._reading.feed(data), now)
        return tuple(actions)

    def _carry_out(self, reading: Reading, found: Found, now: float) -> list[Action]:
        actions: list[Action] = []
        for one in found:
            if isinstance(one, Data):
                actions.append(self._shown(one))
            else:  # HERE
                self._fired += 1
                actions.extend(self.fire(now))
        if reading.too_long:
            self.unfired = "record too long"
        if self._spent:
            actions.extend(map(self._shown, reading.rest()))
            actions.append(FOREVER)
            self._reading = None
        self.held = reading.held if self._reading is not None else 0
        return actions

    def _shown(self, data: Data) -> Data:
        """Awake only in order to find the place, it is shown what it would be at rest."""
        if self.looks:
            self.saw(data)
        return data

    def _body_over(self, reading: Reading, event: Event, now: float) -> Actions:
        """What is held goes on. A last line without its line feed is a record too; the trailers of gRPC are its
        terminal record, which no byte of the body is."""
        found = reading.rest() if isinstance(event, Abort) else reading.end()
        actions = self._carry_out(reading, [*found], now)
        if isinstance(event, Trailers) and self._at.terminal is not None and self.kind == "grpc" and not self._spent:
            self._fired += 1
            fired = self.fire(now)
            return (*actions, event, *fired) if self._at.terminal == "after" else (*actions, *fired, event)
        return (*actions, event)
