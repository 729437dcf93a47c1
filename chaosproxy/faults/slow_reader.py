"""`slow_reader`: the machine takes its time over what the upstream sends, and the upstream notices.

Imitates a worker that does its work between two reads, a sidecar short of CPU, a disk that cannot keep up, a reader that has
stopped for good though its socket is open. Unlike behind a slow client nothing is gathered here: what is not read waits in a
buffer of `window` bytes, then in the upstream, whose writes block once its own socket is full. A server that writes without
looking at that fills its memory; one that waits for its writes holds a slot for as long as this lasts.
"""

from dataclasses import dataclass
from typing import ClassVar

from chaosproxy.chain.fault import Context, Fault, FaultSpec, Neutral, register
from chaosproxy.faults.pacing import RunningPace
from chaosproxy.model.units import ENDLESS, Duration, Rate, Size, show_duration, show_rate, show_size

TURN = 0.05
"""Seconds: so often it reads, where a rate is given that brings at least a byte in this time."""


@register
@dataclass(frozen=True, slots=True, kw_only=True)
class SlowReader(FaultSpec):
    """Reads the upstream's body slowly; the client gets what has been read."""

    name: ClassVar[str] = "slow_reader"
    main: ClassVar[str | None] = "rate"

    rate: Rate | None = None
    """So many body bytes per second are read, twenty times a second."""
    pause: Duration | None = None
    """From one read to the next, each of at most `window` bytes. `forever`: it reads once, and never again. 0: nothing
    happens."""
    window: Size = 16 * 1024
    """Body bytes that wait unread, and as much again in the system's buffer of an HTTP/1 connection (SO_RCVBUF, 16KiB at
    least; 64KiB that it has announced at first may still come); then the upstream waits. The connection is not used again.
    Over HTTP/2 the stream gets no credit, its first window is 64KiB. A machine nearer the upstream that holds something reads
    for itself. Default 16KiB."""

    def problems(self) -> list[tuple[tuple[str, ...], str]]:
        found: list[tuple[tuple[str, ...], str]] = []
        if (self.rate is None) == (self.pause is None):
            found.append(((), "slow_reader needs one of rate and pause"))
        if self.rate == 0:
            found.append((("rate",), "a reader without a rate reads nothing; write {pause: forever}"))
        if self.window == 0:
            found.append((("window",), "nothing can be read into nothing; at least 1"))
        return found

    def start(self, context: Context) -> Fault:
        if self.rate is not None:
            most = max(1, min(self.window, int(self.rate * TURN)))
            return RunningSlowReader(
                most, most / self.rate / context.speed, f"reads {show_rate(self.rate)}", self.window
            )
        assert self.pause is not None
        if not self.pause:
            return Neutral()
        detail = f"reads {show_size(self.window)} every {show_duration(self.pause)}"
        if self.pause == ENDLESS:
            detail = f"reads {show_size(self.window)} and no more"
        return RunningSlowReader(self.window, self.pause / context.speed, detail, self.window)


class RunningSlowReader(RunningPace):
    """A pace with next to no room."""

    def __init__(self, most: int, every: float, detail: str, window: int) -> None:
        super().__init__(most, every, detail)
        self.capacity = self.narrow = window
