"""`settings`: what the HTTP/2 connection allows its peer, said late, changed in mid-stream, or not acknowledged.

Imitates servers with few streams (IIS and CloudFront allow 100 to 128, embedded ones 1 or 10), a small window, SETTINGS that
come a round trip after the client's first burst of requests (what is above the limit by then is refused), a server that
lowers its limits under load, one that never acknowledges (RFC 9113 section 6.5.3 lets the peer close with SETTINGS_TIMEOUT).
"""

import math
from dataclasses import dataclass
from typing import Annotated, ClassVar

from chaosproxy.chain.actions import Note
from chaosproxy.chain.fault import Context, register
from chaosproxy.chain.session_fault import AtPlace, SessionActs, SessionFault
from chaosproxy.faults.on_session import PlacedSpec
from chaosproxy.model.conduct import Acknowledge, Act, Hold, Settings
from chaosproxy.model.units import Duration, Size, Within, show_duration

_IDS = {"header_table_size": 1, "max_concurrent_streams": 3, "initial_window_size": 4, "max_frame_size": 5}
"""RFC 9113 section 6.5.2."""
_LARGEST = {"header_table_size": 2**20, "initial_window_size": 2**31 - 1, "max_frame_size": 2**24 - 1}
SMALLEST_FRAME = 16_384
MOST = 100
"""Acknowledgements that wait; further SETTINGS have none."""


@register
@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionSettings(PlacedSpec):
    """SETTINGS of our side of an HTTP/2 connection: towards the client, or with `match: {side: upstream}` towards the
    upstream. With an `at` or a `stream` they are sent then, behind the usual ones; without, they are the first."""

    name: ClassVar[str] = "settings"
    main: ClassVar[str | None] = "max_concurrent_streams"
    without_at: ClassVar[str] = "the first of the connection; a place is a time since then: `at: {time: 2s}`"

    max_concurrent_streams: Annotated[int, Within(0, 2**31 - 1)] | None = None
    """How many streams the peer may have open at a time; what is above it is refused (REFUSED_STREAM). 0: none, for now.
    Upstreams open none. Without it 100."""
    initial_window_size: Size | None = None
    """Body bytes that the peer may send on each stream before it is credited; also of streams that run, whose window may
    become negative by it. Without it 65535."""
    max_frame_size: Size | None = None
    """Bytes of a frame that the peer may send, 16KiB to 16777215. Without it 16KiB."""
    header_table_size: Size | None = None
    """Bytes of the compression table that the peer may use, at most 1MiB. Without it 4KiB."""
    delay: Duration = 0.0
    """How long the connection's first SETTINGS wait, and everything that is written behind them. Default 0."""
    acknowledge: Duration = 0.0
    """How long each of the peer's SETTINGS waits for its acknowledgement; `forever` is allowed. Default 0."""

    def problems(self) -> list[tuple[tuple[str, ...], str]]:
        found = super(ConnectionSettings, self).problems()
        for key, most in _LARGEST.items():
            value = getattr(self, key)
            if value is not None and value > most:
                found.append(((key,), f"at most {most}"))
        if self.max_frame_size is not None and self.max_frame_size < SMALLEST_FRAME:
            found.append((("max_frame_size",), f"at least {SMALLEST_FRAME} (RFC 9113 section 6.5.2)"))
        if self._late and not self.pairs:
            found.append((("at",) if self.at is not None else ("stream",), "nothing is said there; name a setting"))
        return found

    @property
    def pairs(self) -> dict[int, int]:
        """The settings by their ids."""
        given = {code: getattr(self, key) for key, code in _IDS.items()}
        return {code: value for code, value in given.items() if value is not None}

    @property
    def _late(self) -> bool:
        return self.at is not None or self.stream is not None

    def conduct(self, context: Context) -> SessionFault:
        return RunningSettings(self, context, late=self._late)


class RunningSettings(AtPlace):
    """First SETTINGS, later ones, and those of the peer that wait for their acknowledgement."""

    def __init__(self, spec: ConnectionSettings, context: Context, *, late: bool) -> None:
        super().__init__(spec.at, spec.stream, context.speed)
        self._late = late
        self._pairs = spec.pairs
        self.settings = {} if late else spec.pairs
        self._what = ", ".join(f"{key} {spec.pairs[code]}" for key, code in _IDS.items() if code in spec.pairs)
        self._delay, self._acknowledge = spec.delay / context.speed, spec.acknowledge / context.speed
        after = f"after {show_duration(spec.acknowledge)}" if math.isfinite(spec.acknowledge) else "never"
        self._told = f"SETTINGS are acknowledged {after}"
        self._held = math.inf
        self._place = math.inf
        self._owed: list[tuple[float, Acknowledge]] = []
        self._said = False

    def begin(self, now: float) -> SessionActs:
        acts: list[Note | Hold] = []
        if self._delay:
            self._held = now + self._delay
            acts += [Note("fired", "the first SETTINGS wait"), Hold()]
        if self._late:
            answered = super().begin(now)
            self._place = self.due
            self._plan()
            return (*acts, *answered)
        self._plan()
        return (*acts, *((Note("fired", self._what),) if self._pairs else ()))

    def fire(self, now: float) -> SessionActs:
        return (Note("fired", self._what), Settings(tuple(self._pairs.items()))) if self._late else ()

    def does(self, act: Act, now: float) -> SessionActs:
        if isinstance(act, Acknowledge) and self._acknowledge:
            if math.isfinite(self._acknowledge) and len(self._owed) < MOST:
                self._owed.append((now + self._acknowledge, act))
                self._plan()
            said, self._said = self._said, True
            return () if said else (Note("fired", self._told),)
        return super().does(act, now)

    def wake(self, now: float) -> SessionActs:
        acts: list[Hold | Acknowledge] = []
        if self._held <= now:
            self._held = math.inf
            acts.append(Hold(on=False))
        acts += [act for time, act in self._owed if time <= now]
        self._owed = [(time, act) for time, act in self._owed if time > now]
        fired: SessionActs = ()
        if self._place <= now:
            self._place = math.inf
            fired = self.fire(now)
        self._plan()
        return (*acts, *fired)

    def _plan(self) -> None:
        self.due = min([self._held, self._place, *(time for time, _ in self._owed)])
