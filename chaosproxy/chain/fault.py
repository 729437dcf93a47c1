"""The base of every fault: a frozen spec (its YAML) and a running object (its state); they never share an object.

A fault is fed `(event, now)` and answers with actions. It never sleeps, locks, logs, counts, cuts, reads a clock or a
global random source. `FaultSpec` is the schema of its YAML; `Fault` is what runs, one per exchange.
Must not know: any particular fault, where it stands, who asks.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, fields
from random import Random
from typing import ClassVar, TypeVar

from chaosproxy.chain.actions import FOREVER, Actions, Note, PassOn, Rest
from chaosproxy.chain.condition import Condition
from chaosproxy.chain.session_fault import SessionFault
from chaosproxy.chain.trigger import Trigger
from chaosproxy.framing.splitter import RecordKind
from chaosproxy.model.messages import Abort, Data, End, Event, RequestHead, ResponseHead, Trailers
from chaosproxy.model.vocabulary import BothWays, Moment, Way

BODY = Trigger(moment=Moment.BODY)
"""Where a fault acts that may have an `at:` and has none."""


@dataclass(frozen=True, slots=True)
class Context:
    """What a fault may know of the exchange it is started for."""

    random: Random
    """Its own, seeded by `seed:rule:nth:hop:label`."""
    request: RequestHead
    protocol: str = "http/1.1"
    """The client's: `http/1.1` or `h2`."""
    tls: bool = False
    connection: int = 1
    """The number of the client's connection."""
    stream: int = 1
    first_stream: int = 1
    """The first stream id of the client's connection."""
    began: float = 0.0
    """When the request's first byte came, in the clock of `now`."""
    speed: float = 1.0
    """Divides every duration of the scenario; multiplies rates. Endings and Retry-After are untouched."""
    address: str = ""
    """The IP address of a connection's peer, for who acts on the connection; empty where it has none."""
    shared: object = None
    """What `FaultSpec.share` has made: the same for every exchange that meets this fault."""


class Fault:
    """A running fault. Override only what it changes; every handler answers with a tuple of actions."""

    rest: Rest | None = None
    """The initial rest; None = awake from the start. From `reached` on, awake unless it answers a new Rest."""
    capacity: int = 0
    """Room in bytes while awake. 0: it admits what the next place admits."""
    delays: float = 0.0
    """While awake it lets go of a Data no sooner than so many seconds after it came, and does nothing else with it before:
    so the chain may show it one later than it came, with the time at which it came."""
    held: int = 0
    """Body bytes it holds itself; truthful at every return."""
    due: float = math.inf
    """When it wants `wake`, awake or at rest; infinite: never."""
    looks: bool = False
    """At rest it is shown every piece that passes (`saw`); it then has a place of its own, which costs."""
    answers: bool = False
    """It answers by itself: the request goes no further than here."""
    serves_half_close: bool = False
    """The client's FIN alone is not leaving."""
    sees: tuple[type[Event], ...] = (RequestHead, ResponseHead, Trailers, End, Abort)
    """Control events that are shown to it at rest, if `control` is overridden; an Interim or Goaway only if it is named here."""
    kind: RecordKind | None = None
    """What records the body has; set by the chain when the head passes, None before and where there are none."""
    records: int = 0
    """Set by the chain before `reached` and `wake`: how many records have entered. A limit of the rest would cut a piece."""
    blocked: bool = False
    """Set by the chain before `wake` and `reached`: what is nearer the receiver takes nothing at present."""
    narrow: int = 0
    """Bytes that may wait in the upstream's socket, if what it says comes straight to here; 0: as many as the system likes."""
    left_by: str = ""
    """Set by the chain before `hangup`: who has left, and how, as the journal's `cause` has it: `client:stream:CANCEL`."""
    unfired: str = ""
    """Why it will not act, if the fault itself knows: the `reason` of `not_fired`."""
    noted: bool = False
    """It has said `once`."""
    bell: Callable[[float], None] | None = None
    """Set by the chain: what `ring` pulls."""

    @property
    def deeds(self) -> tuple[tuple[float, str], ...]:
        """`(time, detail)` of what was done for it beyond the chain; noted when the exchange is over."""
        return ()

    def once(self, detail: str) -> tuple[Note, ...]:
        """The note that it has acted, the first time: of a busy one all would fill the journal."""
        if self.noted:
            return ()
        self.noted = True
        return (Note("fired", detail),)

    def data(self, data: Data, now: float) -> Actions:
        """A piece of body has entered while awake."""
        return (data,)

    def saw(self, data: Data) -> None:
        """A piece of body is about to pass, at rest; only if it `looks`. Who has put something in before it, and so moved
        where records end, may set its `ends` anew."""

    def control(self, event: Event, now: float) -> Actions:
        """A head, trailers, End or Abort has entered; called awake, and resting for those that it `sees`. What it answers
        keeps its place behind the data before it."""
        return (event,)

    def reached(self, limit: str, now: float) -> Actions:
        """A limit of the rest was reached, at the exact record, byte, chunk, time or moment; `limit` is the name of its
        field in `Rest`."""
        return ()

    def wake(self, now: float) -> Actions:
        """`due` has come; afterwards `due > now`."""
        return ()

    def full(self, now: float) -> Actions:
        """`held` has reached `capacity` and more wants to enter. May release; answering nothing is backpressure."""
        return ()

    def blocks(self, now: float) -> None:
        """While awake: what is nearer the receiver takes nothing from now on. It may set `due`."""

    def unblocked(self, since: float, now: float) -> Actions:
        """While awake: what is nearer the receiver takes again, after it had taken nothing from `since` on."""
        return ()

    def hangup(self, now: float) -> Actions:
        """The client is gone (or a fault nearer the client has ended the exchange). PassOn tells the next hop now;
        an answer without it swallows it: this place, awake from now on, drains what the upstream still sends, and what
        it emits is discarded. A PassOn from a later handler tells the next hop then."""
        return (PassOn(),)

    def request_head(self, head: RequestHead, now: float) -> Actions:
        """Faults on the response way: the request's head passes my place on the other way."""
        return ()

    def request_end(self, now: float) -> Actions:
        """Faults on the response way: the request is complete at my place."""
        return ()

    def again(self, now: float) -> Actions:
        """The upstream is asked once more, as I have wanted it (`Again`). A head comes again, or an Abort."""
        return ()

    def over(self, now: float) -> Actions:
        """My exchange is over here, and I hear nothing more of it: its end has passed my place, or the client has left,
        or it was ended nearer the client. Said once, however it ended, of the way of the request too."""
        return ()

    def ring(self, now: float) -> None:
        """For a fault of another exchange, which shares something with me: call my `wake`, in my own exchange's turn."""
        self.due = min(self.due, now)
        if self.bell is not None:
            self.bell(now)

    def cue(self, name: str, now: float) -> Actions:
        """A named input from outside (live control)."""
        return ()


class Neutral(Fault):
    """Rests for ever: what runs where the parameters leave nothing to do."""

    rest = FOREVER


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultSpec:
    """What a scenario says of one fault. Field names are the YAML keys (`if_` is `if`, `for_` is `for`); types and
    defaults are its schema; each field's docstring is its line in the reference."""

    name: ClassVar[str]
    """The YAML key."""
    main: ClassVar[str | None] = None
    """The field that a bare value sets; None = a mapping is needed."""
    needs_at: ClassVar[bool] = False
    """It must be given an `at`."""
    has_at: ClassVar[bool] = False
    """It may be given one."""
    without_at: ClassVar[str] = "`body`: before the first body byte"
    """Where it then acts without one, for a person."""
    ways: ClassVar[frozenset[Way | BothWays]] = frozenset({Way.RESPONSE})
    """Where it may stand. A fault of the request alone also says `way: Way = Way.REQUEST`."""
    edits_body: ClassVar[bool] = False
    """May add or remove body bytes: Content-Length goes when the head passes."""
    rewrites_body: ClassVar[bool] = False
    """May change or move body bytes, but as many leave as entered: Content-Length stays."""
    codes_body: ClassVar[bool] = False
    """What leaves it is coded: a fault nearer the client cannot read records."""
    asks_again: ClassVar[bool] = False
    """May answer `Again`: nothing stands nearer the upstream, and the request is kept."""
    on_connections: ClassVar[bool] = False
    """May stand under `connections:`, on the raw bytes of all streams."""
    on_sessions: ClassVar[bool] = False
    """May stand under `connections:`, on an HTTP/2 session: it has a `conduct`."""
    session_keys: ClassVar[tuple[str, ...]] = ()
    """Those of its fields that are about a session, and mean nothing in a hop."""
    in_hops: ClassVar[bool] = True
    """May stand in a hop; else only under `connections:`."""

    way: Way = Way.RESPONSE
    if_: Condition | None = None
    at: Trigger | None = None

    def start(self, context: Context) -> Fault:
        """The running object for one exchange."""
        raise NotImplementedError  # a spec without it is a bug of whoever wrote it

    def conduct(self, context: Context) -> SessionFault:
        """The running object for one HTTP/2 session."""
        raise NotImplementedError  # asked only of a spec that says `on_sessions`; one without it is its author's bug

    def share(self) -> object:
        """What its exchanges have in common, made once when the scenario is loaded: they find it in `Context.shared`.
        Must not grow without a bound."""
        return None

    @property
    def trigger(self) -> Trigger:
        """Where it acts: `at`, or its default."""
        return self.at or BODY

    @property
    def edits(self) -> bool:
        """`edits_body`, with these parameters."""
        return self.edits_body

    @property
    def reads_records(self) -> bool:
        """It can only do its work, or some of it, in a body whose records are known and not coded."""
        return self.at is not None and self.at.reads_records

    @property
    def needs_records(self) -> bool:
        """In any other body it does nothing at all; the journal says so."""
        return self.reads_records

    @property
    def reads_framing(self) -> bool:
        """It is about how a message is framed, which the raw bytes under `connections:` do not show."""
        return False

    def problems(self) -> list[tuple[tuple[str, ...], str]]:
        """Impossible combinations, as (path of keys, message): checked after the fields by themselves."""
        return []


S = TypeVar("S", bound=type[FaultSpec])

REGISTRY: dict[str, type[FaultSpec]] = {}
"""Every known fault by its YAML name; users' own register here too."""


def register(spec: S) -> S:
    """Class decorator, above `@dataclass`: make a fault known by its name. TypeError for a contradiction that would else
    show only in use, or never."""
    wrong = _contradiction(spec)
    if wrong:
        raise TypeError(f"{spec.__qualname__}: {wrong}")
    REGISTRY[spec.name] = spec
    return spec


def _contradiction(spec: type[FaultSpec]) -> str:
    if not isinstance(getattr(spec, "name", None), str):
        return 'it has no name; write name: ClassVar[str] = "its_yaml_key"'
    if "__dataclass_fields__" not in vars(spec):
        return "it is no dataclass yet; write @register above @dataclass(frozen=True, slots=True, kw_only=True)"
    own = {field.name: field.default for field in fields(spec)}
    other = REGISTRY.get(spec.name, spec)
    if spec.main is not None and spec.main not in own:
        return f"`main` is {spec.main!r}, which is none of its fields: {', '.join(own)}"
    if own["way"] not in spec.ways:
        return f"its `ways` lack {own['way']!r}, where it would stand by default: give the field `way` another default"
    if (other.__module__, other.__qualname__) != (spec.__module__, spec.__qualname__):
        return f"{other.__module__} has a fault with the name {spec.name!r} already"
    if spec.start is FaultSpec.start and (spec.in_hops or spec.on_connections):
        return "it has no `start`, which makes the running object of one exchange"
    return ""
