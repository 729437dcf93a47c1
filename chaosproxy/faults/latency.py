"""`latency`: the machine is far away: everything comes later, nothing comes slower.

Imitates the one-way delay of a long line, as `tc netem delay` does (tc-netem(8)) and toxiproxy's `latency` toxic. It is
no throttle: what is under way is under way at the same time, so a steady stream keeps its pace. Unlike netem's packets
the elements of a stream never overtake each other: TCP delivers in order, and so does this.
"""

from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import ClassVar, Final, Literal

from chaosproxy.chain.actions import Action, Actions, At
from chaosproxy.chain.fault import Context, Fault, FaultSpec, Neutral, register
from chaosproxy.model.messages import Abort, Data, End, Event, Goaway, Interim, RequestHead, ResponseHead, Trailers
from chaosproxy.model.units import ENDLESS, Duration, Size, show_duration
from chaosproxy.model.vocabulary import Way

Distribution = Literal["uniform", "normal", "pareto"]

FARTHEST: Final = 4.0
"""No draw is more than so many jitters beside the delay: where the tables of netem end too."""
_SHAPE: Final = 3.0
_MEAN: Final = _SHAPE / (_SHAPE - 1)
_DEVIATION: Final = (_SHAPE / ((_SHAPE - 1) ** 2 * (_SHAPE - 2))) ** 0.5

_DRAWS: dict[Distribution, Callable[[Random], float]] = {
    "uniform": lambda random: random.uniform(-1.0, 1.0),
    "normal": lambda random: random.gauss(0.0, 1.0),
    "pareto": lambda random: (random.paretovariate(_SHAPE) - _MEAN) / _DEVIATION,
}
"""In jitters, around the delay."""


@register
@dataclass(frozen=True, slots=True, kw_only=True)
class Latency(FaultSpec):
    """Delays every element (head, piece of body, trailers, end) from its own arrival on, order kept."""

    name: ClassVar[str] = "latency"
    main: ClassVar[str | None] = "delay"
    on_connections: ClassVar[bool] = True
    ways: ClassVar[frozenset[Way]] = frozenset(Way)

    delay: Duration
    """How much later each element leaves than it came. 0: nothing is delayed (with no jitter)."""
    jitter: Duration = 0.0
    """How far the delay of single elements strays, drawn anew for each; a draw below 0 is 0. What comes out earlier than
    the element before it leaves together with that. Default 0."""
    distribution: Distribution = "uniform"
    """`uniform`: anything from delay - jitter to delay + jitter alike. `normal`: mean delay, standard deviation jitter.
    `pareto`: the same mean and deviation, but most draws a little early (never below delay - 0.58 jitter) and a few very
    late, as on congested lines (shape 3). No draw is later than delay + 4 jitter. Default uniform."""
    capacity: Size = 1024 * 1024
    """Body bytes that may be under way; beyond it the sender has to wait. Default 1MiB."""

    def problems(self) -> list[tuple[tuple[str, ...], str]]:
        found: list[tuple[tuple[str, ...], str]] = [
            ((key,), "what is late for ever never comes; that is a stall or a blackhole")
            for key, value in (("delay", self.delay), ("jitter", self.jitter))
            if value == ENDLESS
        ]
        if self.capacity < 1:
            found.append((("capacity",), "a line on which nothing fits is no line; at least one byte"))
        return found

    def start(self, context: Context) -> Fault:
        return RunningLatency(self, context) if self.delay or self.jitter else Neutral()


class RunningLatency(Fault):
    """Awake from the head on."""

    sees: tuple[type[Event], ...] = (RequestHead, ResponseHead, Interim, Goaway, Trailers, End, Abort)

    def __init__(self, spec: Latency, context: Context) -> None:
        self._delay = spec.delay / context.speed
        self._jitter = spec.jitter / context.speed
        self._draw = _DRAWS[spec.distribution]
        self._random = context.random
        self._detail = show_duration(spec.delay)
        if spec.jitter:
            self._detail += f" +- {show_duration(spec.jitter)} ({spec.distribution})"
        self.capacity = spec.capacity
        if spec.distribution == "uniform":  # no draw of which strays further
            self.delays = max(0.0, self._delay - self._jitter)

    def data(self, data: Data, now: float) -> Actions:
        return self._late(data, now)

    def control(self, event: Event, now: float) -> Actions:
        return self._late(event, now)

    def _late(self, event: Event, now: float) -> Actions:
        """From its arrival, so that nothing adds up."""
        late: Action = At(now + self._drawn(), event)
        return (late,) if self.noted else (*self.once(self._detail), late)

    def _drawn(self) -> float:
        """Seconds."""
        if not self._jitter:
            return self._delay
        astray = min(self._draw(self._random), FARTHEST)
        return max(0.0, self._delay + self._jitter * astray)
