"""Who is told that the client is gone: hop by hop, from the client's side on, until a fault swallows it.

An ending made by a fault is, for every hop nearer the upstream, its client leaving. When all have been told, nobody wants
the upstream any more. A machine that has vanished hears nothing: what it should have been told waits until it is back.
Must not know: how an ending is made, how a fault gets its place.
"""

from chaosproxy.chain.actions import PassOn, Vanish
from chaosproxy.chain.endings import Ending
from chaosproxy.chain.line import Line
from chaosproxy.chain.place import Place
from chaosproxy.chain.relay import Relay
from chaosproxy.chain.stage import Stage
from chaosproxy.model.vocabulary import Peer, Way

NOBODY: frozenset[Peer] = frozenset()
NONE: frozenset[int] = frozenset()
"""One for all: each set that is made empty is 200 bytes more for each exchange."""


class Leaving:
    """The part of a chain that tells."""

    __slots__ = (
        "_absent", "_acting", "_responses", "_unended", "_unnoticed", "_untold", "cancel_cause", "cancelled", "request",
        "response", "upstream_endings",
    )  # fmt: skip

    request: Line
    response: Line

    def __init__(self) -> None:
        self.cancelled = False
        """Nobody wants the upstream any more: it is not dialled, or it is told."""
        self.cancel_cause = ""
        """Why: the fault's cause, or the hangup's."""
        self.upstream_endings: tuple[Ending, ...] = ()
        """How the upstream is to be told; see `Finish.upstream`."""
        self._responses: list[Stage] = []
        self._acting: list[Stage] = []
        """For each fault the place at which it acts."""
        self._unended = NONE
        """Faults that have to hear when the exchange is over, and have not heard it."""
        self._absent = NONE
        """Faults whose machine is gone for what comes from the client."""
        self._untold: tuple[int, bool] | None = None
        """A leaving that waits for such a machine."""
        self._unnoticed: str | None = None
        """The client's own, which waits for the machine nearest to it: its cause."""

    def hangup(self, now: float, cause: str) -> None:
        """The client is gone: each hop is told, from the client's side on, until one swallows it."""
        if Peer.CLIENT in self.unheard:
            self._unnoticed = cause
            return
        self.request.catch_up(now)
        self.response.catch_up(now)
        self.cancel_cause = self.cancel_cause or cause
        self.response.discard()
        self._tell(len(self._responses), now, whole=self.request.complete)
        self.settle(now)

    def passed_on(self, place: Place, passing: PassOn, now: float) -> None:
        """A fault that had swallowed the hangup, or delayed it, tells the next hop after all."""
        self.ends_upstream(place, passing)
        place.abandon()
        self._tell(place.index, now, whole=True)

    def ends_upstream(self, place: Place, passing: PassOn) -> None:
        """How the upstream is to be told is the word of the machine that has its connection, unless it was said already."""
        if passing.upstream and not self.upstream_endings and place.placed.hop == self._responses[0].placed.hop:
            self.upstream_endings = passing.upstream

    def vanish(self, place: Place, vanish: Vanish) -> None:
        """The machine at `place` is gone, until it comes back."""
        for line in (self.request, self.response):
            if line.way in vanish.ways:
                next(stage for stage in line.stages if stage.index == place.index).vanish(vanish.time)
                line.due_by(vanish.time)  # the one on which nothing happens now plans nothing
        if Way.REQUEST in vanish.ways:
            self._absent |= {place.index}

    def came_back(self, place: Place) -> None:
        """The machine is there again."""
        if place is self._acting[place.index]:
            self._absent -= {place.index}

    def catch_up(self, now: float) -> None:
        """A leaving stands behind what was sent before it."""
        if self._untold is not None and self._untold[0] - 1 not in self._absent:
            (index, whole), self._untold = self._untold, None
            self._tell(index, now, whole=whole)
            self.settle(now)
        if self._unnoticed is not None and Peer.CLIENT not in self.unheard:
            cause, self._unnoticed = self._unnoticed, None
            self.hangup(now, cause)

    @property
    def unheard(self) -> frozenset[Peer]:
        """Whose bytes nobody reads, and whose leaving nobody sees: the machine at that end is gone."""
        found = set[Peer]()
        if any(self._responses[index].placed.hop == self._responses[-1].placed.hop for index in self._absent):
            found.add(Peer.CLIENT)
        if any(stage.away and stage.placed.hop == self._responses[0].placed.hop for stage in self._responses):
            found.add(Peer.UPSTREAM)
        return frozenset(found) if found else NOBODY

    def leave(self, place: Place, cause: str, now: float) -> None:
        """For every hop nearer the upstream this ending is its client leaving."""
        self.cancel_cause = self.cancel_cause or cause
        place.told = self._responses[place.index].told = True
        self._tell(place.index, now, whole=self._request_has_passed(place))

    def _request_has_passed(self, place: Place) -> bool:
        """Whether the whole request has gone, or will go, beyond this place."""
        if place.line is self.request:
            return False  # it swallows what still comes
        relay = next((stage.fault for stage in self.request.stages if stage.index == place.index), None)
        return self.request.complete and not (isinstance(relay, Relay) and relay.telling)

    def _tell(self, index: int, now: float, *, whole: bool) -> None:
        """Tell the hops in front of place `index`, from the client's side on. With a request that will never be
        `whole` no hop can go on, whatever it says."""
        for stage in reversed(self._responses[:index]):
            if stage.index in self._absent:
                self._untold = (stage.index + 1, whole)
                return
            if stage.told and whole:
                return  # it knows: it has passed it on, or swallowed it
            stage.fault.left_by = self.cancel_cause
            if not stage.told and not stage.hears_hangup(now) and whole:
                return
            stage.abandon()
            self.over(stage, now)
        self.cancelled = True
        for stage in self.request.stages:
            stage.abandon()
        self.request.discard(keep=True)  # what has gone in front of a cut is still to be sent, if there is anybody

    def over(self, place: Place, now: float) -> None:
        """The exchange is over for the machine at `place`."""
        if place.index in self._unended:
            self._unended -= {place.index}
            self._acting[place.index].hears_over(now)

    def settle(self, now: float) -> None:
        """After anything that may have made room or moved a deadline, on either way."""
        self.request.settle(now)
        self.response.settle(now)
