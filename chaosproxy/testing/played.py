"""What came of a script that was played: values to compare with `==`, and as text a timeline in two columns.

Must not know: how it was played.
"""

from dataclasses import dataclass, field

from chaosproxy.chain.endings import Ending
from chaosproxy.chain.placed import Noted
from chaosproxy.model.messages import Abort, Data, End, Event, RequestHead, ResponseHead


@dataclass(slots=True, repr=False)
class Played:
    """What came of it. Times are seconds of the script, rounded to nanoseconds; bytes are of the response's body."""

    arrived: list[tuple[float, Event]] = field(default_factory=list)
    """What the upstream sent."""
    out: list[tuple[float, Event]] = field(default_factory=list)
    """What came to the client."""
    request: list[tuple[float, Event]] = field(default_factory=list)
    """What came to the upstream."""
    notes: list[Noted] = field(default_factory=list)
    """What faults did and did not do, as the journal has it; `fired` and `not_fired` are made of it."""
    asked_again: list[float] = field(default_factory=list)
    """When the upstream was asked once more."""
    cancelled_at: float | None = None
    """When the upstream was told that nobody wants it."""
    cancel_cause: str = ""
    """Why, as the journal's `cause`."""
    unheard: bool = False
    """The client left while the machine nearest to it was gone."""
    upstream_endings: tuple[Ending, ...] = ()
    """In which way it was to be told; () = as usual."""
    end_cause: str | None = None
    """The fault that made the answer's End."""
    bytes_in: int = 0
    records_in: int = 0
    """Up to here: what came from the upstream."""
    bytes_out: int = 0
    records_out: int = 0
    """These two: what went to the client."""
    admitted: int = 0
    """Body bytes of the response that were credited to the upstream."""

    @property
    def body(self) -> list[tuple[float, bytes]]:
        """The pieces of the body with their times."""
        return [(time, event.payload) for time, event in self.out if isinstance(event, Data)]

    @property
    def data(self) -> bytes:
        """All of the body."""
        return b"".join(payload for _, payload in self.body)

    @property
    def head(self) -> tuple[float, ResponseHead] | None:
        """The final head, if one came."""
        return next(((time, event) for time, event in self.out if isinstance(event, ResponseHead)), None)

    @property
    def end(self) -> tuple[float, End | Abort] | None:
        """The terminal, if one came."""
        return next(((time, event) for time, event in self.out if isinstance(event, End | Abort)), None)

    @property
    def fired(self) -> list[tuple[float, str, str]]:
        """When which fault did what."""
        return [(round(note.t, 9), note.fault, note.detail) for note in self.notes if note.kind == "fired"]

    @property
    def not_fired(self) -> list[tuple[str, str]]:
        """Which fault did nothing, and why."""
        return [(note.fault, note.detail) for note in self.notes if note.kind == "not_fired"]

    def __repr__(self) -> str:
        rows = [(time, 0, _shown(event), "") for time, event in self.arrived]
        if [type(event) for _, event in self.request] != [RequestHead, End]:
            rows += [(time, 1, f"  to the upstream: {_shown(event)}", "") for time, event in self.request]
        rows += [(round(note.t, 9), 1, f"  {note.fault}: {note.detail}", "") for note in self.notes]
        rows += [(time, 2, "", _shown(event)) for time, event in self.out]
        if self.cancelled_at is not None:
            rows.append((self.cancelled_at, 3, f"  told: {self.cancel_cause}", ""))
        rows.sort(key=lambda row: row[:2])
        return "\n".join(["", *(f"{time:10.3f}  {left:48}  {right}".rstrip() for time, _, left, right in rows)])


def _shown(event: Event) -> str:
    match event:
        case Data(payload):
            return f"{len(payload):6} {payload[:32]!r}"
        case Abort():
            return f"Abort {event.scope} {event.manner} ({event.cause})"
        case ResponseHead() | RequestHead():
            return f"head {event.status if isinstance(event, ResponseHead) else event.method.decode('latin-1')}"
        case _:
            return type(event).__name__
