"""`ping`: PINGs are answered late or not at all; or too many of them end the connection.

Imitates a peer whose machine is gone though its socket stands, one that is too busy to answer, and the policy of gRPC's
servers (`grpc.http2.min_ping_interval_without_data_ms`, `max_ping_strikes`; grpc-go's `EnforcementPolicy.MinTime`): who asks
more often than every five minutes without anything to say is told GOAWAY(ENHANCE_YOUR_CALM) with the debug data
too_many_pings, and closed.
"""

import math
from collections import deque
from dataclasses import dataclass
from typing import Annotated, ClassVar

from chaosproxy.chain.actions import Note
from chaosproxy.chain.fault import Context, register
from chaosproxy.chain.session_fault import Part, SessionActs, SessionFault
from chaosproxy.faults.on_session import Code, SessionSpec
from chaosproxy.model.codes import code_number
from chaosproxy.model.conduct import Act, GoAway, Pong
from chaosproxy.model.units import Duration, Within, show_duration

MOST = 1000
"""Answers that wait; further PINGs have none."""


@register
@dataclass(frozen=True, slots=True, kw_only=True)
class PingAnswers(SessionSpec):
    """How the PINGs of the peer are answered, and how many it may send."""

    name: ClassVar[str] = "ping"
    main: ClassVar[str | None] = "answer"

    answer: Duration = 0.0
    """How long each waits for its answer; `forever`: none is answered. Default 0."""
    min_interval: Duration | None = None
    """The shortest time from one PING to the next that is no strike. Heads or body bytes in between forgive: the strikes
    are counted anew. Without it any may come."""
    strikes: Annotated[int, Within(0, 1000)] = 2
    """So many strikes are borne; with the next one the connection is told to go, and closed. Default 2."""
    code: Code = "ENHANCE_YOUR_CALM"
    """The code of that GOAWAY."""
    debug: bytes = b"too_many_pings"
    """Its debug data. Default too_many_pings."""

    def conduct(self, context: Context) -> SessionFault:
        return RunningPing(self, context)


class RunningPing(SessionFault):
    """Keeps the answers that wait, and counts."""

    def __init__(self, spec: PingAnswers, context: Context) -> None:
        self._answer = spec.answer / context.speed
        self._told = (
            f"PING is answered after {show_duration(spec.answer)}"
            if math.isfinite(spec.answer)
            else "no PING is answered"
        )
        self._interval = None if spec.min_interval is None else spec.min_interval / context.speed
        self._borne, self._strikes = spec.strikes, 0
        self._goaway = GoAway(code_number(spec.code), "current", spec.debug)
        self._last = -math.inf
        self._waiting: deque[tuple[float, Pong]] = deque()
        self._said = False

    def does(self, act: Act, now: float) -> SessionActs:
        if not isinstance(act, Pong):
            return (act,)
        if self._interval is not None and self._strikes <= self._borne:
            if act.useful:
                self._strikes, self._last = 0, -math.inf
            if now - self._last < self._interval:
                self._strikes += 1
                if self._strikes > self._borne:
                    note = Note(
                        "fired", f"the PING before came {show_duration(round(now - self._last, 3))} ago, once too often"
                    )
                    return (note, act, self._goaway, Part("fin"))
            self._last = now
        if not self._answer:
            return (act,)
        if math.isfinite(self._answer) and len(self._waiting) < MOST:
            self._waiting.append((now + self._answer, act))
            self.due = self._waiting[0][0]
        said, self._said = self._said, True
        return () if said else (Note("fired", self._told),)

    def wake(self, now: float) -> SessionActs:
        acts = []
        while self._waiting and self._waiting[0][0] <= now:
            acts.append(self._waiting.popleft()[1])
        self.due = self._waiting[0][0] if self._waiting else math.inf
        return tuple(acts)
