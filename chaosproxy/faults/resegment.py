"""`resegment`: the bytes are the same, the reads are others: cut where parsers stumble, or several glued into one.

TCP keeps no boundaries (RFC 9293 section 3.9.1.2), and whatever stands between two programs may cut and join as it likes:
segments of 1460 bytes, TLS records, a proxy's buffer. Clients that take a read for an event, decode each read by itself, or
look for CRLF within one, work for months and then lose a character or an event. Each piece is a chunk of its own, on HTTP/2
a DATA frame, and behind each cut nothing leaves for a `pause`, so that the peer reads what is before it by itself.
"""

from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from chaosproxy.chain.fault import Context, Fault, FaultSpec, register
from chaosproxy.faults.asking import RunningAsk
from chaosproxy.faults.cutting import AtRandom, Cuts, EveryBytes, EveryEvents, InEvents, between_crlf, in_characters
from chaosproxy.faults.resegmenting import RunningGlue, RunningResegment
from chaosproxy.model.asked import Dribble
from chaosproxy.model.units import ENDLESS, Count, Duration, Size, Within, counted
from chaosproxy.model.vocabulary import Way

Split = Literal["utf8", "crlf", "event", "last_chunk", "random"]
HOLDS = 0.01
"""Seconds that keep two writes apart on loopback."""
LONGEST_DRAWN = 16
AS_MANY_AS_THERE_ARE = 2**31


@register
@dataclass(frozen=True, slots=True, kw_only=True)
class Resegment(FaultSpec):
    """Cuts the body into other reads, or glues several into one."""

    name: ClassVar[str] = "resegment"
    main: ClassVar[str | None] = "bytes"
    on_connections: ClassVar[bool] = True
    ways: ClassVar[frozenset[Way]] = frozenset(Way)

    bytes: Size | None = None
    """A cut behind every so many bytes, counted from the body's first, however it came; nothing is held back until there are
    so many. With `split: random` the longest piece."""
    events: Count | None = None
    """A cut behind every so many records."""
    glue: Annotated[int, Within(2)] | None = None
    """So many records leave as one piece: held until the last of them has come, or the body ends. More than 1MiB leaves
    as it is."""
    split: Split | None = None
    """`utf8`: a cut inside each character of several bytes. `crlf`: between each CR and its LF. `event`: in the middle of
    each record. `last_chunk`: between the size line of the last chunk and the empty line behind it (`0\\r\\n`, `\\r\\n`; only
    where the body is chunked). `random`: pieces of 1 to 16 bytes, or of 1 to `bytes`, drawn from the seed."""
    pause: Duration | None = None
    """How long after a piece that ends at a cut the next one leaves, at the earliest. Default 10ms, in which a reader that
    waits has read, whatever `--speed` says. 0: chunks and frames are cut, but several may come in one read."""

    @property
    def reads_records(self) -> bool:
        return self.events is not None or self.glue is not None or self.split == "event"

    @property
    def reads_framing(self) -> bool:
        return self.split == "last_chunk"

    def problems(self) -> list[tuple[tuple[str, ...], str]]:
        found: list[tuple[tuple[str, ...], str]] = []
        ways = {"bytes": self.bytes, "events": self.events, "glue": self.glue, "split": self.split}
        given = [name for name, value in ways.items() if value is not None]
        if len(given) != 1 and not (given == ["bytes", "split"] and self.split == "random"):
            found.append(((), "resegment needs one of bytes, events, glue, split (and `split: random` may have bytes)"))
        if self.bytes == 0:
            found.append((("bytes",), "a piece has at least 1 byte"))
        if self.pause == ENDLESS:
            found.append((("pause",), "a piece that never leaves is a stall"))
        return found

    def start(self, context: Context) -> Fault:
        pause = HOLDS if self.pause is None else self.pause / context.speed
        if self.split == "last_chunk":
            dribble = Dribble("last_chunk", AS_MANY_AS_THERE_ARE, pause)
            possible = self.way is Way.REQUEST or context.protocol != "h2"
            return RunningAsk(dribble, "cut inside the last chunk", possible=possible)
        if self.glue is not None:
            return RunningGlue(self.glue, pause, f"glued {counted(self.glue, 'event')}")
        cuts, detail = self._cuts(context)
        return RunningResegment(cuts, pause, f"cut {detail}", needs_records=self.reads_records)

    def _cuts(self, context: Context) -> tuple[Cuts, str]:
        """Where to cut, and that for a person."""
        match self.split:
            case "utf8":
                return in_characters, "inside characters"
            case "crlf":
                return between_crlf, "between CR and LF"
            case "event":
                return InEvents(), "inside events"
            case "random":
                longest = self.bytes or LONGEST_DRAWN
                return AtRandom(longest, context.random), f"into 1 to {counted(longest, 'byte')}"
            case _ if self.events is not None:
                return EveryEvents(self.events), f"behind every {counted(self.events, 'event')}"
            case _:
                return EveryBytes(self.bytes or 1), f"behind every {counted(self.bytes or 1, 'byte')}"
