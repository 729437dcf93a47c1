"""`buffer`: the machine gathers body bytes before it passes them on.

Imitates nginx's `proxy_buffering` (a buffer of one memory page, 4 or 8 KiB, that is passed on when it is full), gateways
that read the whole answer first, and writers that flush by a timer. The upstream is credited for what is held though
the client has nothing: that is what hides the delay from it.
"""

from dataclasses import dataclass
from typing import ClassVar, Literal

from chaosproxy.chain.fault import Context, Fault, FaultSpec, register
from chaosproxy.faults.buffering import RunningBuffer
from chaosproxy.faults.buffering_rest import RestBuffer
from chaosproxy.model.units import Count, Duration, Size, show_size
from chaosproxy.model.vocabulary import Way

DEFAULT_LIMIT = 1024 * 1024
WHOLE_LIMIT = 16 * 1024 * 1024


@register
@dataclass(frozen=True, slots=True, kw_only=True)
class Buffer(FaultSpec):
    """Holds the body until a threshold; whichever of bytes, events and every is reached first releases."""

    name: ClassVar[str] = "buffer"
    main: ClassVar[str | None] = "bytes"
    ways: ClassVar[frozenset[Way]] = frozenset(Way)

    bytes: Size | tuple[Size, ...] | None = None
    """Releases exactly this many body bytes as one chunk, the rest stays. A list: these sizes in turn, the last
    repeats."""
    events: Count | None = None
    """Releases everything when this many records are held."""
    every: Duration | None = None
    """Releases everything this long after the first byte held."""
    until_end: bool = False
    """Holds the whole body; the three above are ignored."""
    limit: Size | None = None
    """The room in bytes; full = backpressure, with `until_end` everything held leaves and holding goes on. Default: the
    largest of `bytes`, else 1MiB; with `until_end` 16MiB."""
    on_abort: Literal["flush", "drop", "drop_on_rst"] = "flush"
    """What becomes of the content when the side it fills from ends without completing. `drop_on_rst`: it leaves, but for a
    TCP reset, which takes it along."""
    counts_head: bool = False
    """The head takes up room in the first of `bytes`, as it does in nginx's `proxy_buffer_size`. Default false."""
    holds_head: bool = False
    """The head waits as well, as the first that is held; `every` counts from it on. Default false."""
    holds: Literal["all", "rest"] = "all"
    """`rest`: a piece of the body that fits into `bytes` passes at once; of one that does not the last part, which fills no
    buffer, waits for the next piece. That is what nginx's buffers do to chunks."""
    hint: bool = False
    """`X-Accel-Buffering: no` in the response disables it, and is removed."""

    @property
    def sizes(self) -> tuple[int, ...]:
        """The thresholds in bytes, in turn."""
        if self.bytes is None:
            return ()
        return self.bytes if isinstance(self.bytes, tuple) else (self.bytes,)

    @property
    def room(self) -> int:
        """The limit in force."""
        if self.limit is not None:
            return self.limit
        if self.until_end:
            return WHOLE_LIMIT
        return max(self.sizes, default=DEFAULT_LIMIT)

    @property
    def reads_records(self) -> bool:
        return self.events is not None and not self.until_end

    def problems(self) -> list[tuple[tuple[str, ...], str]]:
        found: list[tuple[tuple[str, ...], str]] = []
        if not (self.sizes or self.events is not None or self.every is not None or self.until_end):
            found.append(((), "buffer needs one of bytes, events, every, until_end"))
        others = self.events is not None or self.every is not None or self.until_end
        if self.holds == "rest" and (len(self.sizes) != 1 or others or self.counts_head or self.holds_head):
            found.append((("holds",), "a rest is of one size of buffer: give `bytes`, and nothing else that releases"))
        elif self.counts_head and (not self.sizes or self.until_end):
            found.append((("counts_head",), "the head counts in the first of `bytes`; give some"))
        if self.way is Way.REQUEST and (self.holds_head or self.counts_head):
            key = "holds_head" if self.holds_head else "counts_head"
            found.append(((key,), "of a request the head is no matter of a buffer; it is held by `hold_head`"))
        if min(self.sizes, default=1) < 1:
            found.append((("bytes",), "a threshold is at least one byte"))
        if self.limit is not None and not self.until_end and max(self.sizes, default=0) > self.limit:
            largest = show_size(max(self.sizes))
            found.append(
                (("limit",), f"a threshold of {largest} can never be reached with a limit of {show_size(self.limit)}")
            )
        return found

    def start(self, context: Context) -> Fault:
        return RestBuffer(self, context) if self.holds == "rest" else RunningBuffer(self, context)
