"""`timeout`: the machine gives up on a stream that is late, silent or long.

Imitates nginx's `proxy_read_timeout` and a balancer's idle timeout (`idle`), a gateway's limit on the first byte
(`first_byte`) and on each next one (`between_bytes`), clients' and platforms' limits on the whole exchange (`total`),
nginx's `send_timeout` and others' limits on a client that does not read (`blocked`). A stream that a buffer nearer the upstream has silenced is idle here though its upstream is healthy.
"""

from dataclasses import dataclass
from typing import ClassVar, Literal

from chaosproxy.chain.endings import ABORT, Ending
from chaosproxy.chain.fault import Context, Fault, FaultSpec, register
from chaosproxy.faults.ignoring import IgnoringTimeout
from chaosproxy.faults.lazy_timing import LazyTimeout
from chaosproxy.faults.timing import RunningTimeout
from chaosproxy.faults.unread import UnreadTimeout
from chaosproxy.framing.traffic import KeepAlive
from chaosproxy.model.units import Duration
from chaosproxy.model.vocabulary import Way

LIMITS = ("first_byte", "first_event", "between_bytes", "response", "idle", "total", "blocked")
"""What may be limited; the first four are of a response alone."""


@register
@dataclass(frozen=True, slots=True, kw_only=True)
class Timeout(FaultSpec):
    """Ends an exchange that is late, silent or long."""

    name: ClassVar[str] = "timeout"
    main: ClassVar[str | None] = None
    ways: ClassVar[frozenset[Way]] = frozenset(Way)

    first_byte: Duration | None = None
    """From the request's end to the status line."""
    first_event: Duration | None = None
    """From the request's end to the first record."""
    idle: Duration | None = None
    """The longest time without a body byte entering this fault, from the request's end on; the clock stands still while
    its output is blocked. (An HTTP/2 PING never counts.)"""
    between_bytes: Duration | None = None
    """The longest time without a byte of the answer once its head has come, which counts as one: what balancers and edges
    have that wait longer for the first byte than for the next. Stopped as `idle` is."""
    response: Duration | None = None
    """From the request's end to the end of the answer: Envoy's `timeout` of a route."""
    lazy: Duration | None = None
    """A timer of `between_bytes` that would be moved by less than this stays where it is, so that the silence that ends it is
    up to so much shorter: nginx saves itself the work (300ms)."""
    total: Duration | None = None
    """From the request's first byte to the end."""
    blocked: Duration | None = None
    """The longest time that what stands nearer the client takes nothing, though more is to come: a client that does not read.
    What was not sent by then is lost. (Less than 64KiB is nothing, and so is what waits at the end of an answer.)"""
    ignore: tuple[KeepAlive, ...] = ()
    """Traffic that does not restart `idle`: `comments`, `ping_events`, `empty_deltas`."""
    then: tuple[Ending, ...] = (Ending("status", status=504), ABORT)
    """How it ends; of a list the first that is possible. Default: 504 while no head has passed, else `abort`."""
    side: Literal["client"] | None = None
    """`client`: only the client's side ends, the upstream runs on and is drained, as behind routers that tell no server that
    its request has taken too long. Default: both."""

    @property
    def reads_records(self) -> bool:
        return self.first_event is not None or bool(self.ignore)

    @property
    def needs_records(self) -> bool:
        """Its other limits hold in any body."""
        return all(getattr(self, limit) is None for limit in LIMITS if limit != "first_event")

    def problems(self) -> list[tuple[tuple[str, ...], str]]:
        found: list[tuple[tuple[str, ...], str]] = []
        if all(getattr(self, limit) is None for limit in LIMITS):
            found.append(((), f"timeout needs one of {', '.join(LIMITS)}"))
        if self.ignore and self.idle is None:
            found.append((("ignore",), "ignore is about idle: give an idle too"))
        elif self.ignore and self.between_bytes is not None:
            found.append((("ignore",), "to between_bytes every byte is one; give it a timeout of its own"))
        if self.blocked is not None and any(getattr(self, limit) is not None for limit in LIMITS[:-1]):
            found.append((("blocked",), "blocked is about the machine's other side; give it a timeout of its own"))
        if self.lazy is not None and self.between_bytes is None:
            found.append((("lazy",), "lazy is about between_bytes: give one too"))
        elif self.lazy is not None and self.idle is not None:
            found.append((("lazy",), "to idle every byte is one; give it a timeout of its own"))
        if self.way is Way.REQUEST and any(getattr(self, limit) is not None for limit in LIMITS[:4]):
            message = (
                "a request has no first_byte, first_event, between_bytes and response: they are times of the answer"
            )
            found.append((("way",), message))
        return found

    def start(self, context: Context) -> Fault:
        if self.blocked is not None:
            return UnreadTimeout(self, context)
        if self.lazy:
            return LazyTimeout(self, context)
        return IgnoringTimeout(self, context) if self.ignore else RunningTimeout(self, context)
