"""What the faults share that put bytes of their own into a body, and leave all others as they are.

Where a record is torn by it, its parts are found to be what they are to whoever reads them: from there on the ends of
records are found anew. Must not know: what is put in.
"""

from abc import abstractmethod
from dataclasses import replace

from chaosproxy.chain.actions import FOREVER, Actions, Note, Rest
from chaosproxy.chain.fault import Context
from chaosproxy.chain.trigger import Trigger
from chaosproxy.chain.triggered import Triggered
from chaosproxy.framing.choose import kind_of, splitter_for
from chaosproxy.framing.seam import Seam
from chaosproxy.framing.splitter import RecordKind
from chaosproxy.model.headers import first
from chaosproxy.model.messages import Data, End, Event, RequestHead, ResponseHead, Trailers
from chaosproxy.model.vocabulary import Moment

IN_A_BODY = frozenset({Moment.HEADERS, Moment.BODY, Moment.END})


def outside_of_a_body(at: Trigger | None) -> list[tuple[tuple[str, ...], str]]:
    """The problem with a moment at which there is no body, as `problems` has it."""
    moment = at.moment if at is not None else None
    if moment is None or moment in IN_A_BODY:
        return []
    return [(("at",), f"at `{moment}` there is no body to put anything into; of the moments: headers, body, end")]


class Putting(Triggered):
    """Rests until the place; looks at what passes where that may lie inside of a record."""

    def __init__(self, at: Trigger, context: Context) -> None:
        super().__init__(at, context)
        self._fits: bool | None = None
        self._seam: Seam | None = None
        """None where it need not be known what comes before the place."""
        self._chunks = 0
        """How many have ended, of those that `saw` was shown."""
        self._torn = False
        self._open = False
        """The last line that came has not ended."""

    @property
    def tears(self) -> bool:
        """What it puts in stands wherever the place is; else at a time, a silence or a chunk it waits for the record's
        end."""
        return True

    @abstractmethod
    def suits(self, family: RecordKind | None) -> bool:
        """Whether it can be put into a body of such records."""

    @abstractmethod
    def put(self, seam: Seam | None) -> Data:
        """What is put in, behind `seam`."""

    @property
    @abstractmethod
    def what(self) -> str:
        """The same for a person."""

    def control(self, event: Event, now: float) -> Actions:
        if isinstance(event, ResponseHead | RequestHead):
            self._fits = self._begin(event)
            return super().control(event, now) if self._fits else (FOREVER, event)
        actions = super().control(event, now)
        if isinstance(event, Trailers | End) and self._open and self._seam is not None and not self._seam.pending:
            return tuple(replace(event) if one is event else one for one in actions)  # completes no line any more
        return actions

    def _begin(self, head: ResponseHead | RequestHead) -> bool:
        if head.final:
            self.unfired = "no body"
            return False
        kind = first(head.headers, b"content-type")
        family = kind_of(kind) if self.kind == "chunks" else self.kind
        own_trailers = family == "grpc" and b"web" not in (kind or b"")
        if not self.suits(family) or (own_trailers and self._at.terminal == "after"):  # nothing stands behind trailers
            self.unfired = "format" if self.kind is not None else ""
            return False
        surely_between = self._at.moment in (Moment.HEADERS, Moment.BODY) or (
            self._at.event is not None and family in ("sse", "grpc")
        )
        if self.kind is not None and (self.tears or not surely_between):
            self._seam, self.looks = Seam(family or self.kind), True
        return True

    def saw(self, data: Data) -> None:
        assert self._seam is not None
        self._chunks += data.whole
        ends = self._seam.feed(data.payload)
        self._open = self.kind == "lines" and not data.payload.endswith(b"\n")
        if self._torn and self.kind != "chunks":
            data.ends = ends

    def reached(self, limit: str, now: float) -> Actions:
        if self._fits is None:
            return (Rest(moment=Moment.HEADERS),)  # no body yet: as soon as there is one
        at, seam = self._at, self._seam
        by_itself = at.time is not None or at.idle is not None
        if by_itself and self.blocked and self._fired:
            self._fired += 1  # who writes to a client that takes nothing waits; what was missed is not made up for
            return (self._next(now),)
        if not self.tears and (by_itself or at.chunk is not None) and seam is not None and not seam.between:
            return (Rest(records=self.records + 1),)
        if limit == "records" and at.chunk is not None:
            while at.every and at.chunk + (self._fired + 1) * at.every <= self._chunks:
                self._fired += 1  # these ended while it waited for this record's end, which is theirs too
        return super().reached(limit, now)

    def fire(self, now: float) -> Actions:
        seam = self._seam
        self._torn = self._torn or self.tears or not (seam is None or seam.between)
        data = self.put(seam)
        if self.kind is not None and (seam is None or self.kind == "chunks"):
            data.ends = splitter_for(self.kind).feed(data.payload)
        return (Note("fired", f"{self.what} {self._place}"), data)
