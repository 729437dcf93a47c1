"""`pace`: the machine lets so much pass every so often, however much there is.

Imitates a model that makes a token every 20 ms, a server that writes on a timer, a writer that dribbles byte by byte (with
`way: request` and `region: head` it is the attack called Slowloris, or a very old phone). Unlike
`bandwidth` it knows no fractions: a turn comes every `every`, and what a turn may carry leaves in it, at once. The turns
stand on a schedule that is computed and never added up from sleeps; where nothing was waiting it begins anew.
"""

from dataclasses import dataclass
from typing import ClassVar, Literal

from chaosproxy.chain.fault import Context, Fault, FaultSpec, Neutral, register
from chaosproxy.faults.asking import RunningAsk
from chaosproxy.faults.pacing import RunningPace
from chaosproxy.model.asked import Dribble
from chaosproxy.model.units import ENDLESS, Count, Duration, Size, counted, show_duration
from chaosproxy.model.vocabulary import Way

Region = Literal["body", "head", "chunk_size"]


@register
@dataclass(frozen=True, slots=True, kw_only=True)
class Pace(FaultSpec):
    """Lets a number of bytes or events pass every so often."""

    name: ClassVar[str] = "pace"
    main: ClassVar[str | None] = "bytes"
    ways: ClassVar[frozenset[Way]] = frozenset(Way)

    bytes: Size | None = None
    """So many bytes in each turn; what is longer is cut."""
    events: Count | None = None
    """So many records in each turn; the bytes of a record that is not complete yet have the turn of that record."""
    every: Duration
    """From one turn to the next. The first turn is the arrival of what finds nobody waiting. 0: no pace at all."""

    region: Region = "body"
    """`body`: the bytes of the body, without their framing. `head` and `chunk_size` are about HTTP/1 alone: the bytes of
    the head with its start line, or those of the size line of each chunk. The first one goes at once. Default body."""

    @property
    def reads_records(self) -> bool:
        return self.events is not None

    def problems(self) -> list[tuple[tuple[str, ...], str]]:
        found: list[tuple[tuple[str, ...], str]] = []
        if (self.bytes is None) == (self.events is None):
            found.append(((), "pace needs one of bytes and events, which says what a turn carries"))
        if self.bytes == 0:
            found.append((("bytes",), "a turn that carries nothing is a stall; at least 1"))
        if self.region != "body" and self.events is not None:
            found.append((("events",), f"there are no events in a {self.region}; count its bytes"))
        if self.every == ENDLESS:
            found.append((("every",), "a turn that never comes is a stall"))
        return found

    def start(self, context: Context) -> Fault:
        if not self.every:
            return Neutral()
        if self.region == "body":
            most = self.events or self.bytes or 1
            turn = counted(most, "byte" if self.events is None else "event")
            detail = f"{turn} every {show_duration(self.every)}"
            return RunningPace(most, self.every / context.speed, detail, events=self.events is not None)
        dribble = Dribble(self.region, self.bytes or 1, self.every / context.speed)
        detail = f"{self.region}: {counted(dribble.nbytes, 'byte')} every {show_duration(self.every)}"
        return RunningAsk(dribble, detail, possible=self.way is Way.REQUEST or context.protocol != "h2")
