"""`reorder`: a record overtakes another.

Imitates a server whose workers write to one stream without a lock, a gateway that answers pieces as they come from
several upstreams, a queue with more than one consumer. HTTP keeps the order of bytes; nobody keeps that of events.
"""

from dataclasses import dataclass
from typing import ClassVar

from chaosproxy.chain.fault import Context, Fault, register
from chaosproxy.faults.moving import Moving
from chaosproxy.faults.on_records import OnRecords
from chaosproxy.model.units import Count


@register
@dataclass(frozen=True, slots=True, kw_only=True)
class Reorder(OnRecords):
    """Holds one record back until others have passed it. Not a byte of any is changed."""

    name: ClassVar[str] = "reorder"
    rewrites_body: ClassVar[bool] = True

    later: Count = 1
    """How many records pass it. Default 1: it changes places with the next. Where fewer follow it is the last; of one
    that is the last already nothing is changed. Meanwhile no other one is held back."""

    def start(self, context: Context) -> Fault:
        return RunningReorder(self.at, context, self.later)


class RunningReorder(Moving):
    """Nothing stays, all of it comes later."""

    verb = "moved"

    def take(self, raw: bytes) -> tuple[bytes, tuple[bytes, ...]]:
        return b"", (raw,)
