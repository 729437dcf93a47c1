"""`stall`: the machine stops at an exact place, and goes on later as if nothing had been.

Imitates an engine whose batch is taken by others, a long prefill, a garbage collection, a proxy that swaps. What comes
meanwhile queues and leaves at once afterwards. The connection lives: PINGs are answered, the client's leaving is passed
on. Servers that know about idle timeouts say something meanwhile (`keep_alives.py`): that is `meanwhile`.
"""

from dataclasses import dataclass
from typing import ClassVar

from chaosproxy.chain.fault import Context, Fault, FaultSpec, Neutral, register
from chaosproxy.chain.scope import Group, Scope, scope_problems
from chaosproxy.faults.stalling import RunningStall, StallTogether
from chaosproxy.framing.traffic import KeepAlive
from chaosproxy.model.units import Duration, Size
from chaosproxy.model.vocabulary import Moment, Way

_BEFORE_THE_HEAD = (Moment.REQUEST, Moment.REQUEST_END)


@dataclass(frozen=True, slots=True, kw_only=True)
class Meanwhile:
    """Which keep-alive, and how often. One of them."""

    comments: Duration | None = None
    ping_events: Duration | None = None
    empty_deltas: Duration | None = None

    @property
    def given(self) -> list[tuple[KeepAlive, float]]:
        """What is asked for, with its interval in seconds."""
        every: dict[KeepAlive, float | None] = {
            "comments": self.comments,
            "ping_events": self.ping_events,
            "empty_deltas": self.empty_deltas,
        }
        return [(what, interval) for what, interval in every.items() if interval is not None]


@register
@dataclass(frozen=True, slots=True, kw_only=True)
class Stall(FaultSpec):
    """Lets nothing pass for a while."""

    name: ClassVar[str] = "stall"
    main: ClassVar[str | None] = "for_"
    has_at: ClassVar[bool] = True
    edits_body: ClassVar[bool] = True
    on_connections: ClassVar[bool] = True
    ways: ClassVar[frozenset[Way]] = frozenset(Way)

    for_: Duration
    """How long. `forever` is allowed. With a repeated `at` the next stall begins when the place has been passed, so that
    stalls at places that come close together follow each other; those at times overlap."""
    capacity: Size = 1024 * 1024
    """Body bytes that may queue meanwhile; beyond it the sender has to wait. Default 1MiB."""
    meanwhile: Meanwhile | None = None
    """`comments`, `ping_events` or `empty_deltas` with an interval: one of them leaves every so long while it stalls, if
    the place is between two records of server-sent events or lines, and the client takes it. Default: silence."""
    scope: Scope | None = None
    """`all`, or a share of them such as 0.3: at the moment at which the place comes in one, the others that run stall too;
    those that begin later do not. In a hop the exchanges that meet this fault, under `connections:` the connections.
    Default: each by itself."""

    @property
    def edits(self) -> bool:
        """Only what is said meanwhile adds anything."""
        return self.meanwhile is not None

    @property
    def reads_records(self) -> bool:
        return self.meanwhile is not None or self.needs_records

    @property
    def needs_records(self) -> bool:
        """It stalls in silence where nothing can be said."""
        return self.at is not None and self.at.reads_records

    def problems(self) -> list[tuple[tuple[str, ...], str]]:
        at = self.trigger
        found = scope_problems(self.scope, at)
        if at.moment is Moment.AFTER_END:
            found.append((("at",), "behind the end mark there is nothing left to hold back; `end` is right before it"))
        if self.meanwhile is None:
            return found
        given = self.meanwhile.given
        if len(given) != 1:
            found.append((("meanwhile",), "meanwhile needs one of comments, ping_events, empty_deltas"))
        found += [(("meanwhile", what), "an interval is longer than nothing") for what, every in given if every <= 0]
        if self.way is Way.REQUEST:
            found.append((("meanwhile",), "nobody keeps a request alive; meanwhile is about the response"))
        elif at.moment in _BEFORE_THE_HEAD:
            found.append((("meanwhile",), "before the head nothing can be said; use headers or body"))
        elif at.terminal == "inside":
            found.append((("meanwhile",), "in the middle of a record nothing can be said; use before or after"))
        return found

    def share(self) -> object:
        return None if self.scope is None else Group(self.scope)

    def start(self, context: Context) -> Fault:
        if not self.for_:
            return Neutral()
        return (RunningStall if context.shared is None else StallTogether)(self, context)
