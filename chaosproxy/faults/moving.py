"""What `duplicate` and `reorder` share: something of a record comes again behind a later one.

Must not know: what stays at the place of the record.
"""

from abc import abstractmethod

from chaosproxy.chain.actions import Actions, Note
from chaosproxy.chain.edited import Edited
from chaosproxy.chain.fault import Context
from chaosproxy.chain.trigger import Trigger
from chaosproxy.model.headers import first
from chaosproxy.model.messages import Abort, End, Event, RequestHead, ResponseHead, Trailers


class Moving(Edited):
    """Override `take`. While one record is on its way no other one is taken."""

    def __init__(self, at: Trigger | None, context: Context, later: int) -> None:
        super().__init__(at, context)
        self._later = later
        self._which = ""
        self._passed = 0
        self._moves: tuple[bytes, ...] = ()
        """What is on its way: `kept`, piece by piece."""
        self._stays = False

    @abstractmethod
    def take(self, raw: bytes) -> tuple[bytes, tuple[bytes, ...]]:
        """What stays at the place of this record, and what comes behind the later one."""

    @property
    @abstractmethod
    def verb(self) -> str:
        """What was done, for a person."""

    def fits(self, head: ResponseHead | RequestHead) -> bool:
        if self.kind == "grpc" and self._at.terminal and b"web" not in (first(head.headers, b"content-type") or b""):
            self.unfired = "format"  # its terminal record is no part of the body, and comes once
            return False
        return True

    def edit(self, raw: bytes) -> bytes | tuple[bytes, ...]:
        meant = self.means(raw)
        if self._moves:
            return self._pass_by(raw) if self.is_record(raw) else raw
        if not meant:
            return raw
        self._which, self._passed = self.place, 0
        stays, moves = self.take(raw)
        if not self._later:
            self.say(f"{self.verb} {self._which}")
            return (stays, *moves)
        self._stays, self._moves, self.kept = bool(stays), moves, b"".join(moves)
        return stays

    def _pass_by(self, raw: bytes) -> bytes | tuple[bytes, ...]:
        self._passed += 1
        if self._passed < self._later:
            return raw
        self.say(f"{self.verb} {self._which} behind {self.place}")
        moves, self._moves, self.kept = self._moves, (), b""
        return (raw, *moves)

    def control(self, event: Event, now: float) -> Actions:
        actions = super().control(event, now)
        if not (isinstance(event, Trailers | End | Abort) and self._moves):
            return actions
        self._moves = ()
        if self._passed or self._stays:
            return (Note("fired", f"{self.verb} {self._which} behind all the others"), *actions)
        self.unfired = "no record behind it"
        return actions
