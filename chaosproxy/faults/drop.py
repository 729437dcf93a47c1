"""`drop`: a record is lost on the way.

Imitates a gateway that parses every read by itself, so that an event which was split over two of them vanishes; one that
filters what it does not know; a server that never sends the chunk with the reason to finish. HTTP sees nothing of it.
"""

from dataclasses import dataclass
from typing import ClassVar

from chaosproxy.chain.actions import Actions, Note
from chaosproxy.chain.edited import Edited
from chaosproxy.chain.fault import Context, Fault, register
from chaosproxy.faults.on_records import OnRecords
from chaosproxy.model.messages import Event, Trailers
from chaosproxy.model.units import Count


@register
@dataclass(frozen=True, slots=True, kw_only=True)
class Drop(OnRecords):
    """Takes records out of the body: the one that `at` names, and so many behind it. All others stay as they are."""

    name: ClassVar[str] = "drop"
    edits_body: ClassVar[bool] = True

    count: Count = 1
    """How many in a row. Default 1."""

    def start(self, context: Context) -> Fault:
        return RunningDrop(self, context)


class RunningDrop(Edited):
    """Rests up to the record; holds it until it has ended, and lets it vanish."""

    def __init__(self, spec: Drop, context: Context) -> None:
        super().__init__(spec.at, context)
        self._count = spec.count
        self._left = 0
        self._trailers = spec.at is not None and spec.at.terminal is not None

    def edit(self, raw: bytes) -> bytes:
        if self.means(raw):
            self._left = self._count
        elif not (self._left and self.is_record(raw)):
            return raw
        self._left -= 1
        self.busy = self._left > 0
        self.say(f"dropped {self.place}")
        return b""

    def control(self, event: Event, now: float) -> Actions:
        actions = super().control(event, now)
        if isinstance(event, Trailers) and self._trailers and self.kind == "grpc":
            return (*actions[:-1], Note("fired", "dropped the trailers"))
        return actions
