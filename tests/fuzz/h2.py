"""HTTP/2 sessions of both roles between a peer that sends anything and a driver that does anything it may.

What is asked of every input: signals and nothing else, in the order of the grammar; each stream is told its end; what is
written is legal, within the peer's windows; and all of it is the same whatever the cut.
Must not know: sockets, who draws the bytes.
"""

from collections.abc import Callable
from dataclasses import dataclass

from chaosproxy.http2 import frames
from chaosproxy.http2.frames import frame
from chaosproxy.http2.session import MAX_STREAMS, Http2Session
from chaosproxy.model.codes import CANCEL, ENHANCE_YOUR_CALM
from chaosproxy.model.grammar import Grammar
from chaosproxy.model.messages import Abort, Data, End, RequestHead, ResponseHead, Trailers
from chaosproxy.model.vocabulary import Framing, Manner, Peer, Role, Scope
from chaosproxy.session import Arrived, Closed, Gone, Granted, Stopped
from tests.fuzz.draw import Draw, bytewise, cut
from tests.fuzz.h2_reader import Reader
from tests.fuzz.targets import Target

BLOCKS = (
    b"\x82\x86\x84\x41\x01a",  # GET / of a
    b"\x83\x86\x84\x41\x01a",  # POST
    b"\x83\x86\x84\x41\x01a\x5c\x015",  # with a length of 5
    b"\x82\x86\x84\x41\x01a\x40\x01x\x01y",  # with a field for the table
    b"\x82\x86\x84\x41\x01a\xbe",  # with the latest of the table
    b"\x02\x07CONNECT\x41\x03a:1",
    b"\x02\x07CONNECT\x86\x84\x41\x01a\x00\x09:protocol\x09websocket",
    b"\x88", b"\x88\x5c\x015", b"\x08\x03103", b"\x89", b"\x8b\x5c\x010", b"\x08\x03101", b"\x08\x032x0",
    b"\x00\x01x\x01y", b"\x20\x00\x01x\x01y", b"\x3f\xe1\x1f\x88", b"\x00\x00\x00", b"\x00\x01X\x01y", b"\x80",
    b"\x00\x0acontent-le\x00", b"\x82\x86\x84\x41\x01a\x00\x02te\x08trailers", b"\x00\x01x\x04a\r\nb", b"\x7f\xff\xff\xff\xff\xff",
)  # fmt: skip
STREAMS = (1, 3, 5, 1, 3, 5, 0, 2, 4, 7, 9, 11, 13, 2**31 - 1)
FLAGS = (0, 1, 4, 5, 8, 9, 0xC, 0x20, 0x24, 0x25, 0x2D, 0xFF)
NUMBERS = (0, 1, 5, 0xFF, 0x4000, 0xFFFF, 0x10000, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF)
KINDS = 13
BYTEWISE = 300

Step = Callable[["Play"], None]


@dataclass
class Done:
    """What the driver has done with one stream."""

    head: bool = False
    over: bool = False
    """Nothing more is sent."""
    left: bool = False
    """Nothing more is wanted."""
    arrived: int = 0
    granted: int = 0


class Play:
    """One session, its peer and its driver. `pieces` says how what the peer sends is cut."""

    def __init__(self, role: Role, pieces: Callable[[bytes], list[bytes]]) -> None:
        self.role = role
        self.session = Http2Session(role)
        self.reader = Reader()
        self._pieces = pieces
        self.grammars: dict[int, Grammar] = {}
        self.gone: set[int] = set()
        self.aborted: set[int] = set()
        self.done: dict[int, Done] = {}
        self.told: list[object] = []
        self.written = b""
        self._write()

    def hear(self, raw: bytes) -> None:
        """The peer sends `raw`: a frame, mostly."""
        self.reader.heard(raw)
        for piece in self._pieces(raw):
            self._signals(self.session.receive(piece))
        self._write()

    def greet(self) -> None:
        greeting = GREETING[self.role]
        self.reader.heard(greeting[-9:])
        for piece in self._pieces(greeting):
            self._signals(self.session.receive(piece))
        self._write()

    def end(self) -> None:
        """FIN, and then it is lost: everybody has been told."""
        self._signals(self.session.receive(b""))
        self._signals(self.session.lost("rst"))
        self._write()
        assert any(isinstance(signal, Closed) for signal in self.told)
        assert not self.session.reusable
        for number, done in self.done.items():
            told = number in self.gone | self.aborted
            if self.role is Role.SERVER:
                told = told or done.over
            elif number in self.grammars:
                told = told or self.grammars[number].over
            assert told or done.left, f"stream {number} waits for ever"

    def _signals(self, signals: list[object]) -> None:
        for signal in signals:
            match signal:
                case Arrived(number, events):
                    assert events
                    for event in events:
                        self._event(number, event)
                    continue
                case Gone(number) | Stopped(number):
                    self.gone.add(number)
                case Closed():
                    pass
                case Granted():
                    continue  # it may always come
                case _:
                    raise AssertionError(signal)
            self.told.append(signal)

    def _event(self, number: int, event: object) -> None:
        self.grammars.setdefault(number, Grammar()).check(event)
        self.told.append((number, event))
        done = self._done(number)
        if isinstance(event, Abort):
            self.aborted.add(number)
        elif isinstance(event, Data):
            done.arrived += len(event.payload)

    def _write(self) -> None:
        written = b"".join(self.session.outgoing())
        self.reader.wrote(written)
        self.written += written
        live = len(self.session._core.streams)
        assert live <= MAX_STREAMS, f"{live} streams"

    # what a driver may do

    def _done(self, number: int) -> Done:
        return self.done.setdefault(number, Done())

    def open(self, *, final: bool) -> None:
        if self.session.reusable:
            number = self.session.open()
            head = RequestHead(b"GET" if final else b"POST", b"/", authority=b"a", framing=Framing.STREAM, final=final)
            self._send(number, head, *([End()] if final else []))

    def answer(self, number: int, *, final: bool) -> None:
        head = ResponseHead(204 if final else 200, framing=Framing.STREAM, final=final)
        if self.role is Role.SERVER and number in self.grammars and not self._done(number).head:
            self._send(number, head, *([End()] if final else []))

    def data(self, number: int, size: int) -> None:
        if self._sends(number) and 0 < size <= self.session.allowance(number):
            self._send(number, Data(b"x" * size))

    def finish(self, number: int, *, trailers: bool) -> None:
        if self._sends(number):
            self._send(number, *([Trailers(((b"t", b"1"),))] if trailers else []), End())

    def _sends(self, number: int) -> bool:
        done = self.done.get(number)
        return done is not None and done.head and not done.over

    def _send(self, number: int, *events: object) -> None:
        done = self._done(number)
        done.head = True
        done.over = isinstance(events[-1], End)
        self.session.send(number, events)
        self._settle()

    def abort(self, number: int, scope: Scope, manner: Manner) -> None:
        if number in self.done:
            code = CANCEL if scope is Scope.STREAM else ENHANCE_YOUR_CALM
            self.session.abort(number, Abort("x", Peer.PROXY, scope, manner, code, last=number))
            self.done[number].over = self.done[number].left = True
            self._settle()

    def grant(self, number: int, size: int) -> None:
        done = self._done(number) if number in self.done else Done()
        size = min(size, done.arrived - done.granted)
        done.granted += size
        if size:
            self.session.grant(number, size)
            self._settle()

    def close(self) -> None:
        self.session.close()
        self._settle()

    def _settle(self) -> None:
        self._signals(self.session.resume())
        self._write()


def a_frame(draw: Draw) -> bytes:
    """A frame as a peer might send it, and sometimes with a bit turned over."""
    kind, flags, stream = draw.below(KINDS), draw.pick(FLAGS), draw.pick(STREAMS)
    match kind:
        case frames.HEADERS | frames.CONTINUATION:
            payload = draw.some() if draw.below(4) == 0 else draw.pick(BLOCKS)
        case frames.SETTINGS:
            stream, flags = stream * draw.below(2), flags & 1
            pairs = [(draw.below(10), draw.pick(NUMBERS)) for _ in range(draw.below(4) * (not flags))]
            payload = b"".join(code.to_bytes(2, "big") + value.to_bytes(4, "big") for code, value in pairs)
        case frames.PING:
            stream, payload = stream * draw.below(2), b"\0" * draw.pick((8, 8, 8, 7))
        case frames.RST_STREAM | frames.WINDOW_UPDATE:
            payload = draw.pick(NUMBERS).to_bytes(4, "big")
        case frames.GOAWAY:
            stream, payload = 0, draw.pick(NUMBERS).to_bytes(4, "big") + draw.pick(NUMBERS).to_bytes(4, "big")
        case frames.PUSH_PROMISE:
            payload = draw.pick(NUMBERS).to_bytes(4, "big") + draw.pick(BLOCKS)
        case frames.PRIORITY:
            payload = bytes(draw.pick((5, 5, 4)))
        case _:
            payload = b"x" * draw.number(2) if draw.flag() else draw.some()
    raw = frame(kind, flags, stream, payload[:20_000])
    if draw.below(20) == 19:
        at = draw.number(2) % len(raw)
        raw = raw[:at] + bytes([raw[at] ^ 1 << draw.below(8)]) + raw[at + 1 :]
    return raw


def an_act(draw: Draw) -> Step:
    """Something that a driver does."""
    number, size, flag = draw.pick((1, 3, 5, 7)), draw.number(2), draw.flag()
    scope, manner = draw.pick(tuple(Scope)), draw.pick(tuple(Manner))
    acts: tuple[Step, ...] = (
        lambda play: play.open(final=flag) if play.role is Role.CLIENT else play.answer(number, final=flag),
        lambda play: play.data(number, size),
        lambda play: play.finish(number, trailers=flag),
        lambda play: play.grant(number, size),
        lambda play: play.abort(number, scope, manner),
        lambda play: play.close(),
    )
    return acts[draw.pick((0, 0, 0, 1, 1, 1, 2, 2, 3, 3, 4, 5))]


def hears(raw: bytes) -> Step:
    return lambda play: play.hear(raw)


GREETING = {Role.SERVER: frames.PREFACE + frame(frames.SETTINGS, 0, 0), Role.CLIENT: frame(frames.SETTINGS, 0, 0)}


def lived(role: Role, steps: list[Step], pieces: Callable[[bytes], list[bytes]]) -> Play:
    play = Play(role, pieces)
    for step in steps:
        step(play)
    play.end()
    return play


def run(role: Role, data: bytes) -> None:
    draw = Draw(data)
    places = draw.places()
    steps = list[Step]()
    if draw.below(8):
        steps.append(Play.greet)
    if draw.below(4) == 3:
        steps.append(hears(draw.rest()))
    while not draw.over:
        steps.append(an_act(draw) if draw.below(3) == 0 else hears(a_frame(draw)))
    same_whatever_the_cut(role, steps, places)


def single(raw: bytes) -> list[bytes]:
    """Byte by byte; what is long in a few pieces, cut where its header is."""
    return bytewise(raw) if len(raw) < BYTEWISE else cut(raw, (1, 8, 9, 10, len(raw) - 1))


def same_whatever_the_cut(role: Role, steps: list[Step], places: list[int]) -> None:
    whole = lived(role, steps, lambda raw: [raw] if raw else [])
    for pieces in (lambda raw: cut(raw, places), single):
        other = lived(role, steps, pieces)
        assert other.told == whole.told
        assert (other.session.closing, other.written) == (whole.session.closing, whole.written)


MUST = "signals only, in order, each stream told its end; legal frames within the windows; the same whatever the cut"
SEEDS = [bytes([1, 0, 5, 1, 0, *row]) for row in (
    (1, 1, 5, 0, 1, 0, 0, 0, 0, 9),
    (1, 1, 4, 0, 1, 1, 1, 0, 0, 1, 4, 0, 0, 1, 2, 3, 0),
    (1, 8, 0, 6, 7, 0, 1, 4, 0, 0, 3, 0, 1, 6, 0, 0, 0, 0),
    (0, 0, 0, 9, 1, 0, 0, 0, 0, 1, 1, 4, 0, 1, 7, 0, 0, 0, 0, 5, 0, 1, 0, 2),
)]  # fmt: skip
TARGETS = {
    f"h2-{role}": Target(
        f"HTTP/2, what {'a client' if role is Role.SERVER else 'an upstream'} sends",
        MUST,
        lambda data, role=role: run(role, data),
        lambda: SEEDS,
    )
    for role in Role
}
