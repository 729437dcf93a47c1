"""`absorb`: the machine passes everything on at once, and takes what its client does not read from the upstream all the same.

Imitates nginx, which with `proxy_buffering on` goes on reading while the client is slow, into memory and then into a
temporary file of up to 1 GiB (`proxy_max_temp_file_size`): the server is done long before its client, whose slowness it
never sees. A machine without it (`proxy_buffering off`, most balancers) stops reading soon, and the server waits. Here it is
kept in memory.
"""

from dataclasses import dataclass
from typing import ClassVar

from chaosproxy.chain.fault import Context, Fault, FaultSpec, Neutral, register
from chaosproxy.model.units import Size
from chaosproxy.model.vocabulary import Way

DEFAULT = 1024 * 1024 * 1024


@register
@dataclass(frozen=True, slots=True, kw_only=True)
class Absorb(FaultSpec):
    """Takes what cannot be passed on yet, so much of it."""

    name: ClassVar[str] = "absorb"
    main: ClassVar[str | None] = "bytes"
    ways: ClassVar[frozenset[Way]] = frozenset(Way)

    bytes: Size = DEFAULT
    """Body bytes that may wait here; then the sender waits. 0: nothing happens. Default 1GiB (1024MiB)."""

    def start(self, context: Context) -> Fault:
        return RunningAbsorb(self.bytes) if self.bytes else Neutral()


class RunningAbsorb(Fault):
    """Awake for the whole body: its place is the room."""

    def __init__(self, room: int) -> None:
        self.capacity = room
        self._since: float | None = None
        """When something has had to wait here first."""

    def blocks(self, now: float) -> None:
        self._since = now if self._since is None else self._since

    @property
    def deeds(self) -> tuple[tuple[float, str], ...]:
        return () if self._since is None else ((self._since, "took from the upstream what the client did not read"),)
