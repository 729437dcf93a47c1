"""What runs for a fault of a whole HTTP/2 session: a small state machine, as a `Fault` is for an exchange.

The session says what it is about to do; the fault lets it, does something else, or does it later. Rules: as for a `Fault`:
no clock, no sleep, no I/O, no global random source. Must not know: frames, any particular fault.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from chaosproxy.chain.actions import Note
from chaosproxy.chain.trigger import Trigger
from chaosproxy.model.conduct import Act, Take

Parting = Literal["keep", "fin", "rst", "silence"]
"""What becomes of the connection behind it."""


@dataclass(frozen=True, slots=True)
class Part:
    """Leave the connection so, behind what has been said."""

    how: Parting


SessionActs = tuple[Act | Note | Part, ...]


class SessionFault:
    """One connection's. Override only what it changes."""

    settings: Mapping[int, int] = {}
    """Of our first SETTINGS, in place of our own (RFC 9113 section 6.5.2)."""
    due: float = math.inf
    """When it wants `wake`; infinite: never."""

    def begin(self, now: float) -> SessionActs:
        """The connection has begun; nothing has been written."""
        return ()

    def does(self, act: Act, now: float) -> SessionActs:
        """The session is about to do `act`: it does what is answered."""
        return (act,)

    def wake(self, now: float) -> SessionActs:
        """`due` has come; afterwards `due > now`."""
        raise NotImplementedError  # asked only of a fault that has set `due`: one that does, and lacks this, is a bug of its author


class AtPlace(SessionFault):
    """Acts once: when the connection begins, at a time since then, or when its Nth stream has been opened."""

    def __init__(self, at: Trigger | None, stream: int | None, speed: float) -> None:
        self._after = None if at is None or at.time is None else at.time / speed
        self._streams = stream
        self._opened = 0

    def fire(self, now: float) -> SessionActs:
        """The place has been reached."""
        raise NotImplementedError  # each subclass has its own; one without is a bug of whoever wrote it

    def begin(self, now: float) -> SessionActs:
        if self._streams is not None:
            return ()
        if self._after:
            self.due = now + self._after
            return ()
        return self.fire(now)

    def does(self, act: Act, now: float) -> SessionActs:
        if isinstance(act, Take):
            self._opened += 1
            if self._opened == self._streams:
                return (act, *self.fire(now))
        return (act,)

    def wake(self, now: float) -> SessionActs:
        self.due = math.inf
        return self.fire(now)
