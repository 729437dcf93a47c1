"""`window`: the credit of HTTP/2's flow control is withheld, trickles, or is shared by all streams of the connection.

Imitates a server that reads no upload (it stops after 65,535 bytes, whatever the client's buffer), an application that reads
slowly, a proxy that gives the connection's credit only for what somebody has read, so that one unread stream freezes all
others (RFC 9113 section 5.2; golang/go #16510). With `side: upstream` it is the client whose windows are small: the upstream
has to wait.
"""

import math
from dataclasses import dataclass
from typing import ClassVar, Literal

from chaosproxy.chain.actions import Note
from chaosproxy.chain.fault import Context, register
from chaosproxy.chain.session_fault import SessionActs, SessionFault
from chaosproxy.faults.on_session import SessionSpec
from chaosproxy.model.conduct import Act, Admitted, Credit
from chaosproxy.model.units import Duration, Rate

TICK = 0.1
"""Seconds between two portions of credit that trickles."""
MOST = 1000
"""Streams whose credit is kept; who was owed some before them is over, or has none."""
PLAIN = 65_535
"""The window that every connection begins with."""


@register
@dataclass(frozen=True, slots=True, kw_only=True)
class Window(SessionSpec):
    """What our side of an HTTP/2 connection credits its peer (WINDOW_UPDATE). The windows that it begins with are 65,535
    bytes for each stream, which `settings: {initial_window_size: ...}` changes, and as many for the connection."""

    name: ClassVar[str] = "window"
    main: ClassVar[str | None] = "mode"

    mode: Literal["withhold", "trickle", "shared"] = "withhold"
    """`withhold`: none is given. `trickle`: as much as is owed, at a `rate`. `shared`: the connection is credited only for
    what has been taken off a stream's hands, so that what lies unread on one of them is missing for all."""
    of: Literal["stream", "connection", "both"] = "both"
    """Whose credit: each stream's, the connection's, or both. `shared` is about the connection's."""
    rate: Rate | None = None
    """With `trickle`: how fast, for each stream, and for the connection."""
    for_: Duration = math.inf
    """How long from the beginning of the connection; then what is owed is given at once. Default forever."""

    def problems(self) -> list[tuple[tuple[str, ...], str]]:
        found = super(Window, self).problems()
        if (self.mode == "trickle") != (self.rate is not None):
            found.append((("rate",), "`trickle` has a rate, and nothing else has one"))
        elif self.rate is not None and self.rate <= 0:
            found.append((("rate",), "nothing would ever be given; `withhold` does that"))
        if self.mode == "shared" and self.of == "stream":
            found.append((("of",), "it is the connection's credit that is shared"))
        return found

    def conduct(self, context: Context) -> SessionFault:
        return RunningWindow(self, context)


class RunningWindow(SessionFault):
    """Keeps what is owed."""

    def __init__(self, spec: Window, context: Context) -> None:
        self._mode = spec.mode
        self._of = "connection" if spec.mode == "shared" else spec.of
        self._portion = max(1, int((spec.rate or 0) * context.speed * TICK))
        self._for = spec.for_ / context.speed
        self._until = math.inf
        self._owed: dict[int, int] = {}
        self._next = math.inf
        self._said = self._over = False
        self._taken = 0

    def begin(self, now: float) -> SessionActs:
        self._until = self.due = now + self._for
        return ()

    def does(self, act: Act, now: float) -> SessionActs:
        if self._over:
            return (act,)
        if isinstance(act, Admitted) and self._mode == "shared":
            return (act, *self._given(0, act.nbytes))
        if not isinstance(act, Credit) or self._of == ("stream" if not act.stream else "connection"):
            return (act,)
        if self._mode != "withhold" or math.isfinite(self._for):  # else it will never be given
            self._owe(act)
        if self._mode == "trickle" and self._next == math.inf:
            self._next = now + TICK
            self.due = min(self._until, self._next)
        said, self._said = self._said, True
        return () if said else (Note("fired", f"credit is {_WORDS[self._mode]}"),)

    def _owe(self, credit: Credit) -> None:
        self._owed[credit.stream] = self._owed.get(credit.stream, 0) + credit.nbytes
        if len(self._owed) > MOST:
            del self._owed[min(stream for stream in self._owed if stream)]

    def _given(self, stream: int, nbytes: int) -> SessionActs:
        owed = self._owed.get(stream, 0)
        given = min(owed, nbytes)
        self._owed[stream] = owed - given
        return (Credit(stream, given),) if given else ()

    def wake(self, now: float) -> SessionActs:
        self._over = now >= self._until
        portion = math.inf if self._over else self._portion
        acts = [
            act for stream in list(self._owed) for act in self._given(stream, int(min(portion, self._owed[stream])))
        ]
        self._owed = {stream: owed for stream, owed in self._owed.items() if owed}
        self._next = now + TICK if self._owed and not self._over else math.inf
        self.due = min(math.inf if self._over else self._until, self._next)
        return tuple(acts)


_WORDS = {"withhold": "withheld", "trickle": "trickling", "shared": "shared by all streams"}
