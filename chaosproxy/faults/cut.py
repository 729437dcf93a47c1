"""`cut`: the machine ends the stream at an exact place.

Imitates a proxy worker that is killed, a balancer that reloads, a server that crashes in mid-answer. What each way of
ending looks like on the wire is the table of endings.
"""

from dataclasses import dataclass
from typing import ClassVar, Literal

from chaosproxy.chain.actions import Actions, Finish
from chaosproxy.chain.endings import ABORT, Ending
from chaosproxy.chain.fault import Context, Fault, FaultSpec, register
from chaosproxy.chain.scope import Group, Scope, Together, scope_problems
from chaosproxy.chain.triggered import Triggered
from chaosproxy.model.vocabulary import Moment, Way


@register
@dataclass(frozen=True, slots=True, kw_only=True)
class Cut(FaultSpec):
    """Ends the stream at an exact event, byte, chunk or moment."""

    name: ClassVar[str] = "cut"
    main: ClassVar[str | None] = None
    needs_at: ClassVar[bool] = True
    has_at: ClassVar[bool] = True
    on_connections: ClassVar[bool] = True
    ways: ClassVar[frozenset[Way]] = frozenset(Way)

    then: tuple[Ending, ...] = (ABORT,)
    """How it ends; of a list the first that is possible. Default `abort`."""
    side: Literal["client"] | None = None
    """`client`: only the client's side ends, the upstream runs on and is drained; one that will never have the whole
    request cannot, and is told. Default: both."""

    scope: Scope | None = None
    """`all`, or a share of them such as 0.3: at the moment at which the place comes in one, the others that run are cut too;
    those that begin later are not. In a hop the exchanges that meet this fault, under `connections:` the connections.
    Default: each by itself."""

    def problems(self) -> list[tuple[tuple[str, ...], str]]:
        found = scope_problems(self.scope, self.trigger)
        if self.at is not None and self.at.moment is Moment.AFTER_END:
            found.append((("at",), "behind the end mark there is nothing left to cut; `end` is right before it"))
        return found

    def share(self) -> object:
        return None if self.scope is None else Group(self.scope)

    def start(self, context: Context) -> Fault:
        return (RunningCut if context.shared is None else CutTogether)(self, context)


class RunningCut(Triggered):
    """Rests until the place; then the end."""

    def __init__(self, spec: Cut, context: Context) -> None:
        assert spec.at is not None
        super().__init__(spec.at, context)
        self._spec = spec

    def fire(self, now: float) -> Actions:
        spec = self._spec
        return (Finish(spec.then, "cut", upstream=None if spec.side == "client" else (), detail=self._place),)


class CutTogether(Together, RunningCut):
    """Several at one moment."""
