"""`duplicate`: a record arrives more than once.

Imitates a server that resumes one event too early, a gateway that asks again in mid-stream and does not skip what it had
already, a queue that delivers at least once. The id comes twice too, so that a client can tell.
"""

from dataclasses import dataclass
from typing import Annotated, ClassVar

from chaosproxy.chain.fault import Context, Fault, register
from chaosproxy.faults.moving import Moving
from chaosproxy.faults.on_records import OnRecords
from chaosproxy.model.units import Within


@register
@dataclass(frozen=True, slots=True, kw_only=True)
class Duplicate(OnRecords):
    """Sends a record again, byte for byte."""

    name: ClassVar[str] = "duplicate"
    edits_body: ClassVar[bool] = True

    copies: Annotated[int, Within(1, 100)] = 1
    """How many come besides the record itself. Default 1."""
    later: Annotated[int, Within(0)] = 0
    """How many records come in between. Default 0: right behind it. Where fewer follow they are the last. Meanwhile no
    other one is repeated."""

    def start(self, context: Context) -> Fault:
        return RunningDuplicate(self, context)


class RunningDuplicate(Moving):
    """It stays, and its copies come later."""

    verb = "repeated"

    def __init__(self, spec: Duplicate, context: Context) -> None:
        super().__init__(spec.at, context, spec.later)
        self._copies = spec.copies

    def take(self, raw: bytes) -> tuple[bytes, tuple[bytes, ...]]:
        return raw, (raw,) * self._copies
