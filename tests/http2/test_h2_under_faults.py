"""What is known of attacks and of broken frames holds under each fault of the session too: the right code, bounded memory."""

import gc
import random
import types
from collections.abc import Iterable

import pytest
from hyperframe.frame import Frame, GoAwayFrame
from hypothesis import given, settings
from hypothesis import strategies as st

from chaosproxy.chain.conduct import Conduct
from chaosproxy.chain.fault import Context
from chaosproxy.chain.placed import Notes, Placed
from chaosproxy.http2.conducted import ConductedSession
from chaosproxy.http2.frames import ACK, END_HEADERS, PREFACE, frame
from chaosproxy.model import codes
from chaosproxy.model.grammar import Grammar
from chaosproxy.model.messages import RequestHead
from chaosproxy.model.vocabulary import Role
from chaosproxy.scenario.load import load
from chaosproxy.session import Arrived, Closing, Gone
from tests.http2.conftest import DATA, HEADERS, PING, RST, SETTINGS, WINDOW
from tests.http2.test_h2_floods import ATTACKS, opening
from tests.http2.test_h2_pairs import FRAMES

CHOSEN = (
    "RST_STREAM",
    "RST_STREAM on closed",
    "reset",
    "PING",
    "PING by its answer",
    "SETTINGS",
    "SETTINGS by answers",
    "empty DATA",
    "PRIORITY",
    "GOAWAY",
    "CONTINUATION",
    "HEADERS",
    "HEADERS by tiny fields",
)
NOTHING_TO_ATTACK = {"goaway": {"RST_STREAM", "reset"}}
"""What these streams are told of is ignored: they are above the last id."""
POST = b"\x83\x86\x84\x41\x01a"
FAULTS = {
    "age": "age: {max: 1h, grace: 1h}",
    "garbage": "garbage: {}",
    "garbage at a stream": "garbage: {stream: 2, size: 100}",
    "goaway": "goaway: {stream: 2, then: keep}",
    "goaway twice": "goaway: {double: true, then: keep}",
    "ping": "ping: forever",
    "pings late": "ping: {answer: 1h}",
    "pings counted": "ping: {min_interval: 1ms, strikes: 1000}",
    "refuse": "refuse: {over: 50}",
    "refuse some": "refuse: {streams: [2, 4]}",
    "settings": "settings: {max_concurrent_streams: 50, initial_window_size: 100, header_table_size: 0}",
    "settings late": "settings: {delay: 30s}",
    "settings unacknowledged": "settings: {acknowledge: forever}",
    "settings acknowledged late": "settings: {acknowledge: 1h}",
    "window": "window: withhold",
    "window shared": "window: shared",
    "window trickles": "window: {mode: trickle, rate: 10KiB/s}",
}


class Under:
    """One session, whose peer has greeted, with the fault that is in force on it."""

    def __init__(self, fault: str, role: Role = Role.SERVER) -> None:
        (entry,) = load(f"version: 1\nconnections:\n  - faults:\n      - {fault}\n").connections
        (spec,) = entry.faults
        context = Context(random=random.Random(1), request=RequestHead(b"", b""))
        self.now = 0.0
        self.notes = Notes()
        self.conduct = Conduct([Placed(-1, "connection", spec, context)], self.notes)
        self.session = ConductedSession(role, self.conduct, clock=lambda: self.now)
        self.session.receive(
            (PREFACE if role is Role.SERVER else b"") + frame(SETTINGS, 0, 0) + frame(SETTINGS, ACK, 0)
        )
        self.session.outgoing()
        self.gone: list[Gone] = []
        self.written = b""
        """The last that was."""

    def feed(self, parts: Iterable[bytes]) -> None:
        """As a driver does: while it is hungry, and what it writes leaves."""
        for part in parts:
            if self.session.hungry:
                self.gone += [one for one in self.session.receive(part) if isinstance(one, Gone)]
            self.written = b"".join(self.session.outgoing()) or self.written

    def over(self, *, attack: str) -> bool:
        """It has ended, and the last that was said is why."""
        if self.session.closing is not Closing.FIN:
            return False
        last = frames_in(self.written)[-1]
        assert (type(last), last.error_code) == (GoAwayFrame, codes.ENHANCE_YOUR_CALM), attack
        return True

    def tick(self) -> None:
        """A second passes."""
        self.now += 1.0
        while self.conduct.due <= self.now and self.session.closing is None:
            self.session.wake(self.now)


def frames_in(written: bytes) -> list[Frame]:
    """What the bytes are, which are nothing else."""
    found = []
    while written:
        one, length = Frame.parse_frame_header(memoryview(written[:9]))
        one.parse_body(memoryview(written[9 : 9 + length]))
        found.append(one)
        written = written[9 + length :]
    return found


@pytest.mark.parametrize("name", FAULTS)
def test_attacks_are_cut_with_their_names(name):
    cut = []
    for attack in CHOSEN:
        under = Under(FAULTS[name])
        under.feed([opening(1), *ATTACKS[attack]()])
        assert len(under.session._core.streams) <= 1, attack
        if under.over(attack=attack):
            cause = "flood:" + attack.split(" by ")[0].split(" on ")[0]
            assert cause in [one.abort.cause for one in under.gone], attack
            cut.append(attack)
    assert set(CHOSEN) - set(cut) == NOTHING_TO_ATTACK.get(name, set())


def reachable(*roots: object) -> int:
    """How many objects there are that hang on these."""
    seen: dict[int, object] = {}
    waiting = list(roots)
    while waiting:
        one = waiting.pop()
        if id(one) in seen or isinstance(one, type | types.ModuleType | types.FunctionType):
            continue
        seen[id(one)] = one
        waiting += gc.get_referents(one)
    return len(seen)


def busy(under: Under, numbers: Iterable[int]) -> int:
    """A second for each stream, with as much as no flood is; what it leaves."""
    upload = [frame(DATA, 0, 0, b"x" * 16_000)] * 3
    for number in numbers:
        under.tick()
        under.feed([frame(SETTINGS, 0, 0)] * 5 + [frame(PING, 0, 0, b"8 octets")] * 20)
        under.feed([frame(HEADERS, END_HEADERS, number, POST)])
        for part in upload:
            under.feed([part[:5] + number.to_bytes(4, "big") + part[9:]])
            under.session.grant(number, 16_000)
        under.feed([frame(RST, 0, number, b"\0\0\0\x08")])
        under.feed([frame(WINDOW, 0, 0, b"\0\0\1\0")])
    under.gone.clear()
    return reachable(under.session, under.conduct)


def growth(fault: str) -> int:
    under = Under(fault)
    early = busy(under, range(1, 120, 2))
    return busy(under, range(121, 200, 2)) - early


@pytest.fixture(scope="module")
def usual() -> int:
    """An ordinary session remembers a thousand streams that are over."""
    return growth("ping: {min_interval: 0s}")


@pytest.mark.parametrize("name", FAULTS)
def test_no_more_is_held_than_without_a_fault(name, usual):
    assert growth(FAULTS[name]) <= usual + 5


@settings(max_examples=200)
@given(st.sampled_from([*FAULTS]), st.lists(FRAMES, max_size=20), st.integers(0, 2**32))
def test_any_frames_are_signals_or_an_end_with_a_reason(name, parts, seed):
    under, chance = Under(FAULTS[name]), random.Random(seed)
    grammars: dict[int, Grammar] = {}
    for part in parts:
        for signal in under.session.receive(part):
            if isinstance(signal, Arrived):
                for event in signal.events:
                    grammars.setdefault(signal.stream, Grammar()).check(event)
                    under.session.grant(signal.stream, 1)
        if chance.random() < 0.2:
            under.tick()
        if under.session.closing is not None:
            break
    if not name.startswith("garbage"):
        said = [one.error_code for one in frames_in(b"".join(under.session.outgoing())) if isinstance(one, GoAwayFrame)]
        assert codes.INTERNAL_ERROR not in said, "nobody's mistake but the peer's"
        assert under.session.closing is None or said
