"""`goaway`: the HTTP/2 connection is told to go; streams up to the last id that it names run on, those above are dead.

Imitates servers and balancers that drain: nginx behind `keepalive_requests`, Envoy's and gRPC's `max_connection_age` (first
a GOAWAY with the largest id and a PING, then, with the answer to that, one with the real id: gRPC proposal A8, Envoy's
`drain_timeout`), a server that names id 0 and closes at once, one that wants another protocol (HTTP_1_1_REQUIRED).
RFC 9113 section 6.8: what is above the last id has not been processed, and may be sent again, a POST too.
"""

import math
from dataclasses import dataclass
from typing import ClassVar, Literal

from chaosproxy.chain.actions import Actions, Finish, Note
from chaosproxy.chain.endings import Ending
from chaosproxy.chain.fault import Context, Fault, register
from chaosproxy.chain.session_fault import AtPlace, Part, Parting, SessionActs, SessionFault
from chaosproxy.chain.triggered import Triggered
from chaosproxy.faults.on_session import Code, PlacedSpec
from chaosproxy.model.codes import NO_ERROR, code_name, code_number
from chaosproxy.model.conduct import Act, GoAway, Heard, Last, Ping
from chaosproxy.model.units import Duration

_ASKS = b"go away!"
PATIENCE = 60.0
"""Seconds after which the second GOAWAY comes without an answer to the PING, as in gRPC's servers."""


@register
@dataclass(frozen=True, slots=True, kw_only=True)
class Goaway(PlacedSpec):
    """GOAWAY on an HTTP/2 connection: to the client, or with `match: {side: upstream}` from the proxy to the upstream, which
    is asked nothing further on it then. In a hop it comes at a place of an exchange, with `code` and `last` alone, as the
    ending `goaway` of `cut` does."""

    name: ClassVar[str] = "goaway"
    main: ClassVar[str | None] = "code"
    in_hops: ClassVar[bool] = True
    without_at: ClassVar[str] = "under `connections:` their beginning, in a hop `body`"
    session_keys: ClassVar[tuple[str, ...]] = ("stream", "debug", "double", "then", "grace")

    code: Code = "NO_ERROR"
    """The error code: a name of RFC 9113 section 7, or a number."""
    last: Last = "current"
    """The last stream id that still counts: `0`, the `first` of the connection, the `current` one, which is the latest that
    was opened, or the `max` that there is, with which nothing dies. To an upstream it is always 0: nothing is pushed."""
    debug: bytes = b""
    """Its debug data, as text."""
    double: bool = False
    """As gRPC's servers do: a GOAWAY with NO_ERROR and the largest id, and a PING; with its answer, or after 60 s, the one
    that is described here."""
    then: Literal["close", "keep", "fin", "rst", "hang"] = "close"
    """What becomes of the connection: `close` closes it when its last stream has ended; `keep` leaves it open; `fin` and
    `rst` end it with every stream that still runs; `hang`: nothing more is written on it. `fin`, `rst` and `hang` come when
    `grace` is over, and so does with `close` the end of streams that still run, if a grace is given."""
    grace: Duration | None = None
    """How long after the (last) GOAWAY. Without it `fin`, `rst` and `hang` come at once, and `close` waits for ever."""

    def problems(self) -> list[tuple[tuple[str, ...], str]]:
        found = super(Goaway, self).problems()
        if self.then == "keep" and self.grace is not None:
            found.append((("grace",), "a connection that is kept has no end that a grace could put off"))
        return found

    def start(self, context: Context) -> Fault:
        return GoawayInExchange(self, context)

    def conduct(self, context: Context) -> SessionFault:
        return RunningGoaway(self, context)


class GoawayInExchange(Triggered):
    """Rests until the place."""

    def __init__(self, spec: Goaway, context: Context) -> None:
        super().__init__(spec.trigger, context)
        ending = Ending("goaway", code=code_number(spec.code), last=spec.last)
        self._finish = Finish((ending,), "goaway", detail=spec.trigger.place)

    def fire(self, now: float) -> Actions:
        return (self._finish,)


class RunningGoaway(AtPlace):
    """Waits for its place; with `double`, for the answer to its PING; then for the grace."""

    def __init__(self, spec: Goaway, context: Context) -> None:
        super().__init__(spec.at, spec.stream, context.speed)
        self._goaway = GoAway(code_number(spec.code), spec.last, spec.debug, leave=spec.then == "close")
        self._double = spec.double
        self._patience = PATIENCE / context.speed
        self._grace = spec.grace if spec.grace is None else spec.grace / context.speed
        parting: dict[str, Parting] = {"hang": "silence", "rst": "rst", "keep": "keep"}
        self._parting = parting.get(spec.then, "fin")
        self._waits = spec.then == "close"
        self._asked = self._said = False

    def fire(self, now: float) -> SessionActs:
        if not self._double:
            return self._say(now)
        self._asked = True
        self.due = now + self._patience
        return (Note("fired", "GOAWAY of everything to come, and a PING"), GoAway(NO_ERROR, "max"), Ping(_ASKS))

    def does(self, act: Act, now: float) -> SessionActs:
        if self._asked and not self._said and isinstance(act, Heard) and act.payload == _ASKS:
            return (act, *self._say(now))
        return super().does(act, now)

    def _say(self, now: float) -> SessionActs:
        self._said = True
        self.due = math.inf
        said = (Note("fired", f"GOAWAY {code_name(self._goaway.code)}, last {self._goaway.last}"), self._goaway)
        if self._parting == "keep" or (self._grace is None and self._waits):
            return said
        if self._grace:
            self.due = now + self._grace
            return said
        return (*said, Part(self._parting))

    def wake(self, now: float) -> SessionActs:
        if self._said:
            self.due = math.inf
            return (Part(self._parting),)
        return self._say(now) if self._asked else super().wake(now)
