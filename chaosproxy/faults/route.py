"""`route`: the machine spreads requests over replicas, of which each knows only the sessions that it has begun.

Imitates a balancer in front of servers that keep a session in memory (MCP's streamable HTTP: the server names the session
in the answer to the first request, and a replica that has not begun it answers 404), and a balancer of connections, which
keeps all requests of an HTTP/2 connection on one replica, however many there are. The replicas are made up: all are the one
upstream; what differs is what they know.
"""

from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from chaosproxy.chain.actions import FOREVER, Actions, Note
from chaosproxy.chain.fault import Context, Fault, register
from chaosproxy.faults.refusing import RefusingSpec, refused, remembered
from chaosproxy.model.headers import first
from chaosproxy.model.messages import Event, RequestHead, ResponseHead
from chaosproxy.model.units import Within
from chaosproxy.model.validate import field_problem

MOST = 10_000
"""Sessions, and connections, that are remembered."""
NOT_FOUND = 404
FAILED = 400
SAID = b'{"jsonrpc":"2.0","error":{"code":-32001,"message":"Session not found"},"id":null}'


@register
@dataclass(frozen=True, slots=True, kw_only=True)
class Route(RefusingSpec):
    """Gives each request to a replica; one whose session another replica has begun, or nobody, is answered in its place."""

    name: ClassVar[str] = "route"
    main: ClassVar[str | None] = "replicas"

    replicas: Annotated[int, Within(1, 1000)] = 2
    """How many there are. Default 2."""
    policy: Literal["round_robin", "random", "least"] = "round_robin"
    """Which one a request goes to: each in turn, any, or the one that has least to do now. Default `round_robin`."""
    sticky: Literal["none", "session", "connection"] = "none"
    """What stays with the replica that had it first: nothing, the requests of a session, or all of a client's connection,
    as balancers of connections do. Default `none`."""
    session: str = "mcp-session-id"
    """The header field that names the session, in the answer that begins it and in each request after it. Default
    `mcp-session-id`."""
    status: Annotated[int, Within(400, 599)] = NOT_FOUND
    """The status of the answer to who has a session that the replica does not know. Default 404."""
    body: bytes | None = None
    """Its body, as text. Default: the JSON-RPC error of an MCP server, `Session not found`."""

    def problems(self) -> list[tuple[tuple[str, ...], str]]:
        wrong = field_problem(self.session.encode(), b"")
        return [*RefusingSpec.problems(self), *([] if wrong is None else [(("session",), wrong)])]

    def share(self) -> object:
        return Replicas(self.replicas)

    def start(self, context: Context) -> Fault:
        return RunningRoute(self, context)


class Replicas:
    """What each has to do, and knows."""

    def __init__(self, count: int) -> None:
        self.busy = [0] * count
        self._turn = 0
        self._of: dict[tuple[str, object], int] = {}

    def next(self) -> int:
        """The one whose turn it is."""
        self._turn += 1
        return (self._turn - 1) % len(self.busy)

    def least(self) -> int:
        """The one that has least to do, the first of several."""
        return self.busy.index(min(self.busy))

    def of(self, kind: str, which: object) -> int | None:
        """The replica that a session, or connection, is with."""
        found = self._of.pop((kind, which), None)
        if found is not None:
            self._of[kind, which] = found
        return found

    def belongs(self, kind: str, which: object, replica: int) -> None:
        """Remember it; of too many the one that was not seen for longest is forgotten."""
        self._of.pop((kind, which), None)
        self._of[kind, which] = replica
        if len(self._of) > 2 * MOST:
            del self._of[next(iter(self._of))]

    def forget(self, kind: str, which: object) -> None:
        """It is over."""
        self._of.pop((kind, which), None)


class RunningRoute(Fault):
    """Chooses at the request's head, and learns the session from that of the answer."""

    rest = FOREVER
    sees = (ResponseHead,)

    def __init__(self, spec: Route, context: Context) -> None:
        shared = context.shared
        self._replicas = shared if isinstance(shared, Replicas) else Replicas(spec.replicas)
        self._spec, self._context = spec, context
        self._field = spec.session.lower().encode()
        self._session: bytes | None = None
        self._mine: int | None = None

    def request_head(self, head: RequestHead, now: float) -> Actions:
        session = first(head.headers, self._field)
        self._session = None if session is None else remembered(session)
        known = self._replicas.of("session", self._session) if self._session is not None else None
        self._mine = mine = self._choose(known)
        self._replicas.busy[mine] += 1
        which = f"replica {mine + 1} of {self._spec.replicas}"
        if self._session is None or known == mine:
            return (Note("fired", which),)
        reply = refused(self._spec, SAID, self._context)
        return (Note("fired", f"{which} does not know the session: answered {reply.head.status}"), reply)

    def _choose(self, known: int | None) -> int:
        spec, replicas = self._spec, self._replicas
        if spec.sticky == "session" and known is not None:
            return known
        pinned = replicas.of("connection", self._context.connection) if spec.sticky == "connection" else None
        if pinned is not None:
            return pinned
        match spec.policy:
            case "least":
                chosen = replicas.least()
            case "random":
                chosen = self._context.random.randrange(spec.replicas)
            case _:
                chosen = replicas.next()
        if spec.sticky == "connection":
            replicas.belongs("connection", self._context.connection, chosen)
        return chosen

    def control(self, event: Event, now: float) -> Actions:
        if isinstance(event, ResponseHead) and self._mine is not None and event.status < FAILED:
            named = first(event.headers, self._field)
            if named is not None:
                self._replicas.belongs("session", remembered(named), self._mine)
            elif self._session is not None and self._context.request.method == b"DELETE":
                self._replicas.forget("session", self._session)
        return (event,)

    def over(self, now: float) -> Actions:
        if self._mine is not None:
            self._replicas.busy[self._mine] -= 1
            self._mine = None
        return ()
