"""When a fault acts: the `at:` of a scenario.

Rules: pure data. Exactly one of the places is set. `every` and `times` repeat it.
Must not know: who acts there, what is done.
"""

from dataclasses import dataclass
from typing import Literal

from chaosproxy.model.units import Duration, Size, show_duration
from chaosproxy.model.vocabulary import Moment


@dataclass(frozen=True, slots=True)
class Trigger:
    """A place in the stream, counted at the fault's own entry, per exchange and way, in body bytes without framing."""

    moment: Moment | None = None
    event: int | None = None
    """Right behind the Nth record; for faults that change content, that record."""
    bytes: Size | None = None
    chunk: int | None = None
    time: Duration | None = None
    """Since the request's first byte."""
    idle: Duration | None = None
    match: str | None = None
    """A regular expression on the record's raw text; RE2 syntax, linear time."""
    json: tuple[tuple[str, object], ...] | None = None
    """(dotted path, value) pairs that the record's JSON payload must hold; strings are globs."""
    terminal: Literal["before", "inside", "after"] | None = None
    every: float | None = None
    """The distance to the next firing, in the unit of the place."""
    times: int | None = None

    @property
    def reads_records(self) -> bool:
        """It can only fire in a body whose records are known."""
        return self.event is not None or self.match is not None or self.json is not None or self.terminal is not None

    @property
    def reads_content(self) -> bool:
        """It must look at the records, not only count them."""
        return self.match is not None or self.json is not None or self.terminal is not None

    @property
    def place(self) -> str:
        """For a person: `after event 3`, `after byte 700`, `at headers`."""
        return self.place_beyond(0)

    def place_beyond(self, distance: float) -> str:
        """The same of a repetition, so far from the first place, in its unit."""
        if self.moment is not None:
            return f"at {self.moment}"
        counts = (("event", self.event), ("byte", self.bytes), ("chunk", self.chunk))
        for what, count in counts:
            if count is not None:
                return f"after {what} {count + int(distance)}"
        if self.time is not None:
            return f"at {show_duration(self.time + distance)}"
        if self.idle is not None:
            return f"after {show_duration(self.idle + distance)} of silence"
        if self.terminal is not None:
            return f"{self.terminal} the terminal record"
        return f"before the record with {self.match if self.match is not None else dict(self.json or ())!r}"
