"""The streams of one connection: those that live, and what is remembered of those that are over.

Rules: a stream lives until both ways are over or somebody has reset it; of the dead only the last thousand are known by
how they died, which is all that a frame in flight can ask about. Must not know: frames, h2, signals.
"""

from enum import Enum, auto

from chaosproxy.http2.windows import Window
from chaosproxy.model.asked import FrameSyntax
from chaosproxy.model.messages import Trailers
from chaosproxy.model.vocabulary import Role

REMEMBERED = 1024


class Part(Enum):
    """How far one way of a stream has come."""

    HEAD = auto()
    BODY = auto()
    SHAPED = auto()
    """Of what we send: a body whose frames are as somebody has asked."""
    OVER = auto()


class Death(Enum):
    """How a stream ended, as far as late frames care (RFC 9113 section 5.1)."""

    ENDED = auto()
    RESET_BY_US = auto()
    """Its late frames are what was in flight: dropped in silence."""
    RESET_BY_PEER = auto()


class Stream:
    """One live stream. `number` is its name to the driver, `wire` its id in frames."""

    __slots__ = (
        "head_sent",
        "interims",
        "left",
        "method",
        "number",
        "receiving",
        "sending",
        "shape",
        "silent",
        "trailers",
        "tunnel",
        "widest",
        "window",
        "wire",
    )

    def __init__(self, number: int, wire: int, window: int) -> None:
        self.number = number
        self.wire = wire
        self.window = Window(window)
        self.widest = 0
        """The furthest that the peer has opened its window for us, beyond what it has begun with."""
        self.receiving = Part.HEAD
        self.sending = Part.HEAD
        self.method = b""
        self.left: int | None = None
        """Body bytes that the peer's content-length still announces; None = it announced nothing."""
        self.interims = 0
        self.head_sent = False
        self.tunnel = False
        self.silent = False
        """We say nothing more on it, and want nothing more from it."""
        self.shape: FrameSyntax | None = None
        """While `sending` is SHAPED."""
        self.trailers: Trailers | None = None
        """Sent with their END_STREAM, once End is known to follow."""


class Streams:
    """By id. `opened` is the highest id that the side which opens streams (the client) has used."""

    __slots__ = ("_dead", "_role", "by_number", "by_wire", "next_number", "opened", "promised", "reserved")

    def __init__(self, role: Role) -> None:
        self._role = role
        self.by_wire: dict[int, Stream] = {}
        self.by_number: dict[int, Stream] = {}
        """The same, by what the driver calls them."""
        self.opened = 0
        self.promised = 0
        """Client role: the highest id that the server has tried to push on."""
        self.next_number = 1
        self.reserved: set[int] = set()
        """Client role: numbers given out whose head has not been sent."""
        self._dead: dict[int, Death] = {}

    def __len__(self) -> int:
        return len(self.by_wire) + len(self.reserved)

    def reserve(self) -> int:
        """Client role: the number of a stream that will be opened by its head."""
        number = self.next_number
        self.next_number += 2
        self.reserved.add(number)
        return number

    def start(self, number: int, window: int) -> Stream:
        """A stream goes live. Ids on the wire may only grow (section 5.1.1): a head that is sent after a later stream's
        gets a fresh id and keeps its number."""
        wire = number
        self.reserved.discard(number)
        if self._role is Role.CLIENT and number <= self.opened:
            wire = self.next_number
            self.next_number += 2
        self.opened = wire
        stream = Stream(number, wire, window)
        self.by_wire[wire] = self.by_number[number] = stream
        return stream

    def bury(self, stream: Stream, death: Death) -> None:
        """The stream is over."""
        self.by_wire.pop(stream.wire, None)
        self.by_number.pop(stream.number, None)
        stream.receiving = stream.sending = Part.OVER
        self.note(stream.wire, death)

    def note(self, wire: int, death: Death) -> None:
        """Remember how `wire` died, also of a stream that never lived here."""
        self._dead[wire] = death
        if len(self._dead) > REMEMBERED:
            del self._dead[next(iter(self._dead))]

    def death(self, wire: int) -> Death | None:
        return self._dead.get(wire)

    def idle(self, wire: int) -> bool:
        """Nobody has ever opened it (section 5.1)."""
        return wire > (self.opened if wire % 2 else self.promised)
