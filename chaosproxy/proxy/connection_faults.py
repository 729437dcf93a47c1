"""`connections:` at work: which connections meet which faults, and their wires.

A wire goes under TLS, before anything is known but side and number; entries that ask for the protocol or the name (SNI)
are armed once that is known. Must not know: exchanges.
"""

import math
from functools import partial

import trio

from chaosproxy.chain.conduct import Conduct
from chaosproxy.chain.connection_spec import Admission, ConnectionSpec, Lifetime
from chaosproxy.chain.fault import Context
from chaosproxy.chain.placed import Noted, Placed
from chaosproxy.errors import UpstreamFault
from chaosproxy.model.globs import glob
from chaosproxy.model.messages import RequestHead
from chaosproxy.model.vocabulary import Role
from chaosproxy.proxy.alarm import Alarm
from chaosproxy.proxy.bugs import report
from chaosproxy.scenario.schema import Connection, Hop, Scenario, fault_random
from chaosproxy.wire.transport import Transport
from chaosproxy.wire.wire import Wire

HOP = -1
"""The journal's hop of a fault that lies under all hops."""


class WireRing:
    """What the alarm rings for one wire."""

    def __init__(self, wire: Wire, alarm: Alarm) -> None:
        self.armed = math.inf
        self._wire = wire
        self._alarm = alarm

    def set(self, time: float) -> None:
        """It is due at `time`; infinite: never again."""
        if time == math.inf:
            self._alarm.forget(self)
        elif time < self.armed:
            self._alarm.set(self, time)

    def ring(self, now: float) -> None:
        self._wire.ring(now)


def noted(wire: Wire, since: float) -> list[Noted]:
    """What the faults of a connection have done since then, and the last that each did before: it may last still."""
    before = {note.fault: note for note in wire.notes if note.t < since}
    unfired = [] if wire.conduct is None else wire.conduct.unfired(since)
    return [*before.values(), *(note for note in wire.notes if note.t >= since), *unfired]


def _raw(placed: list[Placed]) -> list[Placed]:
    """Those that act on the bytes."""
    return [one for one in placed if one.spec.on_connections]


def _side(role: Role) -> str:
    """The side that a connection is on in which we have `role`."""
    return "client" if role is Role.SERVER else "upstream"


def _flaws(entry: Connection) -> frozenset[str]:
    """What is wrong with the certificate that a connection is shown."""
    specs = (spec for spec in entry.faults if isinstance(spec, ConnectionSpec))
    return frozenset[str]().union(*(spec.flaws for spec in specs))


def _lifetimes(placed: list[Placed]) -> list[Lifetime]:
    """How long a connection is kept."""
    specs = ((one.spec, one.context) for one in placed)
    found = (spec.lifetime(context) for spec, context in specs if isinstance(spec, ConnectionSpec))
    return [lifetime for lifetime in found if lifetime is not None]


class ConnectionFaults:
    """The `connections:` of one scenario."""

    def __init__(self, scenario: Scenario, seed: int, speed: float, alarm: Alarm) -> None:
        self._entries = list(enumerate(scenario.connections))
        self._seed = seed
        self._speed = speed
        self._alarm = alarm
        self._shared = {
            (index, label): spec.share()
            for index, entry in self._entries
            for spec, label in zip(entry.faults, Hop(None, entry.faults).labels, strict=True)
        }

    @property
    def admissions(self) -> list[Admission]:
        """Who decides whether a further client is accepted."""
        found = [
            spec.admission(self._shared[index, label])
            for index, entry in self._entries
            for spec, label in zip(entry.faults, Hop(None, entry.faults).labels, strict=True)
            if isinstance(spec, ConnectionSpec)
        ]
        return [one for one in found if one is not None]

    def wired(
        self, transport: Transport, role: Role, number: int, *, tls: bool = False
    ) -> tuple[Transport, Wire | None]:
        """`transport`, under a wire if an entry may concern this connection; what is known now is armed now."""
        side, entries = self._concerning(role, number)
        if not entries:
            return transport, None
        now = trio.current_time()
        wire = Wire(transport, role, now)
        wire.on_bug = partial(report, f"{side} connection {number}")
        wire.on_due = WireRing(wire, self._alarm).set
        for index, entry in entries:
            if entry.match.protocol is None and entry.match.sni is None:
                wire.arm(_raw(self._placed(index, entry, role, number, wire, tls=tls)), now)
                if role is Role.SERVER:
                    wire.flaws |= _flaws(entry)
        wire.begin(now)
        return wire, wire

    def dialled(self, number: int, wires: list[Wire], below: Transport) -> Transport:
        """What lies under a connection that we have made; its wire, if it has one, is put to `wires`. UpstreamFault if a
        fault has ended it already."""
        wired, wire = self.wired(below, Role.CLIENT, number)
        if wire is not None and wire.ended is not None:
            below.rst()
            raise UpstreamFault(f"the connection was reset by a fault: {wire.ended.cause}")
        wires.extend(() if wire is None else (wire,))
        return wired

    def known(self, wire: Wire, role: Role, number: int, protocol: str, server_name: str | None) -> Conduct | None:
        """Now the protocol and the name are known too. What the session on it does otherwise, if it does."""
        now, tls = trio.current_time(), server_name is not None
        placed: list[Placed] = []
        for index, entry in self._concerning(role, number)[1]:
            match = entry.match
            named = match.sni is None or (server_name is not None and glob(match.sni, server_name))
            if not named or match.protocol not in (None, protocol):
                continue
            here = self._placed(index, entry, role, number, wire, tls=tls)
            if match.protocol is not None or match.sni is not None:
                wire.arm(_raw(here), now)
            placed += here
        wire.lifetimes = _lifetimes(placed) if role is Role.SERVER else []
        sessions = [one for one in placed if one.spec.on_sessions]
        if sessions and protocol == "h2":
            wire.conduct = Conduct(sessions, wire.notes)
        return wire.conduct

    def _concerning(self, role: Role, number: int) -> tuple[str, list[tuple[int, Connection]]]:
        """The side that this connection is on, and the entries for it, whatever may be spoken there."""
        side = _side(role)
        entries = [
            (index, entry)
            for index, entry in self._entries
            if entry.match.side in (None, side) and entry.match.number.holds(number)
        ]
        return side, entries

    def _placed(self, index: int, entry: Connection, role: Role, number: int, wire: Wire, *, tls: bool) -> list[Placed]:
        """Those of an entry that can act on this side."""
        side = _side(role)
        request = RequestHead(b"", b"")
        placed = []
        for spec, label in zip(entry.faults, Hop(None, entry.faults).labels, strict=True):
            if isinstance(spec, ConnectionSpec) and side not in spec.sides:
                continue
            random = fault_random(self._seed, -1 - index, number, HOP, label)
            shared = self._shared[index, label]
            context = Context(
                random=random,
                request=request,
                tls=tls,
                began=wire.began,
                speed=self._speed,
                address=wire.address,
                shared=shared,
            )
            placed.append(Placed(HOP, "connection", spec, context))
        return placed
