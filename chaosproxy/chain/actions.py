"""What a fault answers with. An event by itself means "emit it now"; the rest of the vocabulary is here.

Rules: pure data. A fault only ever answers; the chain alone acts. Must not know: faults, lines, protocols.
"""

import math
from dataclasses import dataclass

from chaosproxy.chain.endings import Ending
from chaosproxy.model.messages import Data, Event, ResponseHead
from chaosproxy.model.vocabulary import Moment, Way


@dataclass(slots=True)
class At:
    """Release `event` no earlier than `time`, and never before what this fault emitted earlier.

    Not frozen for the reason that Data has: one is made per event.
    """

    time: float
    event: Event


@dataclass(frozen=True, slots=True)
class Floor:
    """Nothing leaves this place before `time`, not even what waits here already. The latest of several counts."""

    time: float


@dataclass(frozen=True, slots=True)
class Pause:
    """What is emitted from here on leaves no earlier than `time`; what was emitted before is not touched."""

    time: float


@dataclass(frozen=True, slots=True)
class Ahead:
    """Leaves now, in front of whatever waits here: a keep-alive. Where there is no room for it, before the head and
    behind the end it is dropped."""

    data: Data


@dataclass(frozen=True, slots=True)
class Rest:
    """Until the first of these I pass everything on at once, change nothing and hold nothing.

    Counts are absolute, at the fault's own place: what has entered it. With no limit at all it rests for ever.
    """

    records: float = math.inf
    bytes: float = math.inf
    chunks: float = math.inf
    time: float = math.inf
    """Absolute time, in the clock of `now`."""
    idle: float = math.inf
    """Seconds without a body byte entering this place, paused while its output is blocked."""
    moment: Moment | None = None


FOREVER = Rest()


@dataclass(frozen=True, slots=True)
class Vanish:
    """The machine is gone until `time`. On `ways` nothing leaves my place, nothing more is let in, and no timer of mine
    fires; on the way of the request the client's leaving is not passed on either. Then everything goes on. A fault of the
    response way whose `ways` has the request in it says so by `both_ways`."""

    time: float
    ways: frozenset[Way]


@dataclass(frozen=True, slots=True)
class Wake:
    """My rest is over: from the next Data on I look at everything."""


WAKE = Wake()


@dataclass(frozen=True, slots=True)
class Cancel:
    """I no longer want the upstream. What I have emitted still flows; nothing further enters me."""


@dataclass(frozen=True, slots=True)
class PassOn:
    """From `hangup`: tell the next hop nearer the upstream that the client is gone."""

    upstream: tuple[Ending, ...] = ()
    """How the upstream is ended, if mine is the machine nearest to it; see `Finish`. (): as usual."""


@dataclass(frozen=True, slots=True)
class Reply:
    """Answer here, from this hop: the answer travels on towards the client, nothing beyond this hop is asked."""

    head: ResponseHead
    body: bytes = b""


@dataclass(frozen=True, slots=True)
class Finish:
    """End the exchange here: the first of `endings` that is possible at this place now, else `abort`. Implies Cancel;
    for every hop nearer the upstream it is their client leaving."""

    endings: tuple[Ending, ...]
    cause: str
    upstream: tuple[Ending, ...] | None = ()
    """How the upstream is ended: the first that its protocol knows, else, as without any, a FIN on HTTP/1 and
    RST_STREAM(CANCEL) on HTTP/2. Only `fin`, `rst` and `stream`. None: it is not, it runs on and is drained, if
    it has the whole request."""
    detail: str = ""
    """For the journal, behind what was done: `after event 3`."""
    overtakes: bool = False
    """What waits to be taken nearer the client is lost, and does not keep the end waiting; of an `abort` or a `stream`."""


@dataclass(frozen=True, slots=True)
class Again:
    """Ask the upstream once more, with the same request, and forget what it said so far; only of a fault that `asks_again`.
    What it may still say is lost."""

    detail: str
    """For the journal."""
    instead: "Actions" = ()
    """What to do where the request was too long to be kept."""
    leaves_open: bool = False
    """Who was asked is not told: it goes on answering, for nobody. (Where it has not got the whole request, it is told.)"""


@dataclass(frozen=True, slots=True)
class Note:
    """For the journal. `kind` is `fired` or `not_fired`; `detail` says what was done, or the reason it was not."""

    kind: str
    detail: str = ""


Other = Event | Floor | Pause | Ahead | Rest | Vanish | Wake | Cancel | PassOn | Reply | Finish | Again | Note
Action = At | Other
Actions = tuple[Action, ...]
