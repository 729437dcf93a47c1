"""A session that is watched: with a conduct that changes nothing it is an ordinary one; whatever it is told to do, it stands,
and what it writes is frames."""

from random import Random

import pytest
from hyperframe.frame import Frame
from hypothesis import given, settings
from hypothesis import strategies as st

from chaosproxy.http2.conducted import ConductedSession
from chaosproxy.http2.frames import ACK, PREFACE, frame
from chaosproxy.http2.session import Http2Session
from chaosproxy.model.conduct import Act, Credit, GoAway, Hold, Ping, Pong, Refuse, Settings, Take
from chaosproxy.model.messages import ResponseHead
from chaosproxy.model.vocabulary import Role
from tests.http2.conftest import DATA, GET, PING, POST, SETTINGS, WINDOW, Wire, flat


class Plain:
    """Lets everything be done as it was about to be."""

    settings: dict[int, int] = {}  # noqa: RUF012 -- it is never written to

    def begin(self, now: float) -> list[Act]:
        return []

    def does(self, act: Act, now: float) -> list[Act]:
        return [act]

    def wake(self, now: float) -> list[Act]:
        return []


class Wild(Plain):
    """Does this and that besides, in place of it, or nothing."""

    def __init__(self, seed: int) -> None:
        self._random = Random(seed)

    def does(self, act: Act, now: float) -> list[Act]:
        pick = self._random.choice
        others: list[Act] = [
            GoAway(pick([0, 11, 300]), pick(["0", "first", "current", "max"]), b"why", leave=pick([False, True])),
            Settings(((pick([1, 3, 4, 5]), pick([16384, 65535])),)),
            Ping(b"12345678"),
            Pong(b"87654321"),
            Credit(pick([0, 1, 3, 99]), 7),
            Hold(on=pick([True, False])),
        ]
        if isinstance(act, Take):
            others.append(Refuse(act.stream))
        return [one for one in (act, pick(others)) if self._random.random() < 0.7]

    def wake(self, now: float) -> list[Act]:
        return [Hold(on=False)]


def talk(wire: Wire, random: Random) -> None:
    """A client's frames, all of them legal."""
    number = 1
    for _ in range(random.randint(1, 12)):
        match random.randint(0, 5):
            case 0:
                wire.feed(frame(PING, 0, 0, b"8 octets"), frame(PING, ACK, 0, b"12345678"))
            case 1:
                wire.feed(frame(SETTINGS, 0, 0), frame(SETTINGS, ACK, 0))
            case 2:
                wire.feed(frame(WINDOW, 0, 0, (100).to_bytes(4, "big")))
            case 3 | 4:
                wire.feed(wire.headers(number, GET, end=True))
                number += 2
            case _:
                wire.feed(wire.headers(number, POST), frame(DATA, 0, number, b"x" * 100))
                wire.session.grant(number, 100)
                number += 2
        if number > 1 and random.random() < 0.5:
            wire.session.send(random.randrange(1, number, 2), [ResponseHead(204, final=True)])


@pytest.mark.parametrize("seed", range(8))
def test_with_nothing_changed_it_is_an_ordinary_session(seed):
    ordinary, watched = Http2Session(Role.SERVER), ConductedSession(Role.SERVER, Plain(), clock=lambda: 0.0)
    wires = []
    for session in (ordinary, watched):
        wire = Wire(Role.SERVER, bytewise=False)
        wire.session = session
        wires.append((flat(session.receive(PREFACE + frame(SETTINGS, 0, 0))), b"".join(session.outgoing())))
        talk(wire, Random(seed))
        wires.append(b"".join(session.outgoing()))
    assert wires[1]
    assert wires[:2] == wires[2:]


@settings(max_examples=150)
@given(st.integers(0, 2**32))
def test_whatever_it_is_told_to_do_it_writes_frames(seed):
    session = ConductedSession(Role.SERVER, Wild(seed), clock=lambda: 0.0)
    wire = Wire(Role.SERVER, bytewise=False)
    wire.session = session
    session.receive(PREFACE + frame(SETTINGS, 0, 0))
    talk(wire, Random(seed))
    session.wake(1.0)
    written = b"".join(session.outgoing())
    assert written
    while written:
        found, length = Frame.parse_frame_header(memoryview(written[:9]))
        found.parse_body(memoryview(written[9 : 9 + length]))
        written = written[9 + length :]
