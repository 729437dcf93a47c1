"""What the strict readers on both sides have seen, and what they found wrong.

Must not know: the proxy, what it should have done.
"""

from dataclasses import dataclass, field

import trio

from chaosproxy.testing.recorder import Recorder

GONE = (ConnectionError, trio.ClosedResourceError)
"""What a send raises when the connection has ended, there or here."""


@dataclass
class Got:
    """One answer, as the client's reader took it."""

    number: int
    protocol: str
    asked: bool = False
    """The request's head has gone out whole."""
    sent: bytearray = field(default_factory=bytearray)
    """Of its body."""
    sent_all: bool = False
    interims: list[int] = field(default_factory=list)
    status: int | None = None
    headers: dict[bytes, list[bytes]] = field(default_factory=dict)
    body: bytearray = field(default_factory=bytearray)
    framed: bool = True
    """Its end can be told from its being cut off."""
    ended: bool = False
    """It came to the end that its framing announced."""
    broken: str | None = None
    """How it was cut off."""
    left: bool = False
    """The client did not wait for the end."""
    waited: bool = False
    """It did, in vain."""

    @property
    def answered_by(self) -> int | None:
        """The number of the upstream's answer that this is; None: the proxy's own."""
        values = self.headers.get(b"x-answer")
        return int(values[0]) if values else None


@dataclass
class Served:
    """One request, as the upstream's reader took it."""

    number: int
    method: bytes
    headers: list[tuple[bytes, bytes]]
    body: bytearray = field(default_factory=bytearray)
    complete: trio.Event = field(default_factory=trio.Event)
    answered: bool = False
    """Everything that was to be answered has been written."""
    told: str | None = None
    """How the upstream was told that nobody wants it, before it was done."""
    over: bool = False


class Seen:
    """Of one run."""

    def __init__(self) -> None:
        self.got: dict[int, Got] = {}
        self.served: list[Served] = []
        self.wires: list[tuple[str, Recorder]] = []
        self.wrong: list[str] = []

    def recorder(self, side: str, recorder: Recorder) -> Recorder:
        """Keep what it records."""
        self.wires.append((side, recorder))
        return recorder

    def bytes_and_times(self) -> list[tuple[object, ...]]:
        """Everything that came, when, and how it ended."""
        return [(side, wire.pieces, wire.ending, wire.ended_at) for side, wire in self.wires]
