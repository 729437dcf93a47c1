"""Attacks by frames that are cheap to send: each is cut with its name, honest peers never are."""

import pytest

from chaosproxy.http2.frames import ACK, END_HEADERS, PADDED, PREFACE, frame
from chaosproxy.http2.session import Http2Session
from chaosproxy.model import codes
from chaosproxy.model.messages import Data, End, ResponseHead
from chaosproxy.model.vocabulary import Role
from chaosproxy.session import Closing, Gone

DATA, HEADERS, PRIORITY, RST, SETTINGS, PUSH, PING, GOAWAY, WINDOW, CONTINUATION = range(10)
GET = ((b":method", b"GET"), (b":scheme", b"http"), (b":authority", b"a"), (b":path", b"/"))
POST = ((b":method", b"POST"), *GET[1:])
BLOCK = b"\x82\x86\x84\x41\x01a"
"""GET / of authority a, nothing of it for the table but the authority."""


def four(number):
    return number.to_bytes(4, "big")


def numbers(count):
    return [*range(3, 3 + 2 * count, 2)]


def opening(stream, *, end=True):
    return frame(HEADERS, END_HEADERS | end, stream, BLOCK)


ATTACKS = {
    "RST_STREAM": lambda: [opening(n) + frame(RST, 0, n, four(8)) for n in numbers(102)],
    "reset": lambda: [opening(n, end=False) + frame(WINDOW, 0, n, four(0)) for n in numbers(102)],
    "reset by a window": lambda: [opening(n) + frame(WINDOW, 0, n, four(2**31 - 1)) for n in numbers(102)],
    "reset by DATA": lambda: [opening(n) + frame(DATA, 0, n, b"x") for n in numbers(102)],
    "reset by HEADERS": lambda: [opening(n) + opening(n) for n in numbers(102)],
    "reset by PRIORITY": lambda: [opening(n) + frame(PRIORITY, 0, n, b"1234") for n in numbers(102)],
    "reset by bad requests": lambda: [frame(HEADERS, END_HEADERS, n, b"\x82") for n in numbers(102)],
    "RST_STREAM on closed": lambda: [opening(3)] + [frame(RST, 0, 3, four(8))] * 102,
    "PING": lambda: [frame(PING, 0, 0, b"12345678")] * 1001,
    "PING by its answer": lambda: [frame(PING, ACK, 0, b"12345678")] * 1001,
    "SETTINGS": lambda: [frame(SETTINGS, 0, 0)] * 201,
    "SETTINGS by pairs": lambda: [frame(SETTINGS, 0, 0, b"\0\4\0\0\0\x7f" * 101)] * 21,
    "SETTINGS by windows": lambda: [frame(SETTINGS, 0, 0, b"\0\4" + four(n)) for n in range(201)],
    "SETTINGS by answers": lambda: [frame(SETTINGS, ACK, 0)] * 1002,
    "empty DATA": lambda: [opening(3, end=False)] + [frame(DATA, 0, 3)] * 1001,
    "empty DATA, padded": lambda: [opening(3, end=False)] + [frame(DATA, PADDED, 3, b"\xff" + b"\0" * 255)] * 1001,
    "PRIORITY": lambda: [frame(PRIORITY, 0, n, b"\0\0\0\0\0") for n in range(1, 1002)],
    "unknown frames": lambda: [frame(0xA, 0, 0, b"x")] * 16_001,
    "GOAWAY": lambda: [frame(GOAWAY, 0, 0, b"\0" * 8)] * 201,
    "CONTINUATION": lambda: [frame(HEADERS, 0, 3, BLOCK)] + [frame(CONTINUATION, 0, 3)] * 65,
    "CONTINUATION by size": lambda: [frame(HEADERS, 0, 3, BLOCK)] + [frame(CONTINUATION, 0, 3, b"\0" * 16384)] * 9,
    "HEADERS": lambda: [frame(HEADERS, END_HEADERS, 3, b"\x40\x01x\x7f\xa1\x1e" + b"v" * 4000 + b"\xbe" * 3000)],
    "HEADERS by tiny fields": lambda: [frame(HEADERS, END_HEADERS, 3, b"\0\x01a\0" * 4096)],
}


@pytest.mark.parametrize(("name", "attack"), ATTACKS.items(), ids=ATTACKS.keys())
def test_an_attack_is_cut_with_its_name(make_server, name, attack):
    server = make_server()
    server.bytewise = False
    server.feed(opening(1))
    signals = server.feed(*attack())
    goaway = server.written()[-1]
    assert (goaway.kind, goaway.body[0]) == ("GOAWAY", codes.ENHANCE_YOUR_CALM)
    assert server.session.closing is Closing.FIN
    cause = "flood:" + name.split(" by ")[0].split(" on ")[0].split(",")[0]
    assert [s.abort.cause for s in signals if isinstance(s, Gone) and s.stream == 1] == [cause]
    assert server.session.receive(frame(PING, 0, 0, b"12345678")) == []


def test_points_come_back_with_time():
    now = [0.0]
    session = Http2Session(Role.SERVER, clock=lambda: now[0])
    session.receive(PREFACE + frame(SETTINGS, 0, 0))
    for _ in range(100):
        session.receive(frame(PING, 0, 0, b"12345678") * 100)
        session.outgoing()
        now[0] += 1.0
    assert session.closing is None
    session.receive(frame(PING, 0, 0, b"12345678") * 1101)
    assert session.closing is Closing.FIN


def test_a_hundred_settings_in_a_frame_are_no_flood(server):
    server.bytewise = False
    server.feed(*[frame(SETTINGS, 0, 0, b"\0\4\0\0\0\x7f" * 100)] * 21)
    assert server.session.closing is None


def test_a_peer_that_probes_its_bandwidth_is_no_flood(server):
    server.bytewise = False
    server.feed(server.headers(1, POST))
    for _ in range(3000):
        server.feed(server.data(1, b"x"), frame(PING, 0, 0, b"12345678"))
        server.session.grant(1, 1)
    server.session.send(1, [ResponseHead(200)])
    for _ in range(3000):
        server.session.send(1, [Data(b"x")])
        server.feed(frame(PING, 0, 0, b"12345678"))
        server.session.outgoing()
    assert server.session.closing is None


def test_cancelling_what_is_being_answered_is_no_flood(server):
    server.bytewise = False
    for stream in range(1, 4001, 2):
        server.feed(server.headers(stream, GET, end=True))
        server.session.send(stream, [ResponseHead(200), Data(b"x")])
        server.feed(frame(RST, 0, stream, four(8)))
        server.session.outgoing()
    assert server.session.closing is None


@pytest.mark.parametrize("late", [1, 4000])
def test_giving_back_what_was_taken_is_no_flood_however_small_and_late(server, late):
    server.bytewise = False
    server.feed(server.headers(1, GET, end=True))
    server.session.send(1, [ResponseHead(200)])
    for _ in range(4):
        taken = 0
        while taken < late:
            server.session.send(1, [Data(b"0123456789abcdef")])
            server.session.outgoing()
            taken += 1
        for _ in range(taken):
            server.feed(frame(WINDOW, 0, 1, four(16)) + frame(WINDOW, 0, 0, four(16)))
    assert server.session.closing is None


def test_resets_that_cross_our_own_endings_are_no_flood(server):
    server.bytewise = False
    for stream in range(1, 4001, 2):
        server.feed(server.headers(stream, POST))
        server.session.send(stream, [ResponseHead(200, final=True), End()])
        server.feed(server.data(stream, b"late"), frame(RST, 0, stream, four(8)))
        server.session.outgoing()
    assert server.session.closing is None


def test_a_peer_that_does_not_read_is_not_read_either(server):
    server.bytewise = False
    assert server.session.hungry
    server.feed(server.headers(1, GET, end=True))
    server.session.send(1, [ResponseHead(200), Data(b"x" * 65_000)])
    server.feed(frame(PING, 0, 0, b"12345678") * 40)
    assert not server.session.hungry
    server.session.outgoing()
    assert server.session.hungry


def test_many_streams_leave_nothing_behind(server):
    server.bytewise = False
    for stream in range(1, 10_001, 2):
        server.feed(server.headers(stream, GET, end=True))
        server.session.send(stream, [ResponseHead(200, final=True), End()])
        server.session.outgoing()
    streams = server.session._core.streams
    assert len(streams) == 0
    assert len(streams._dead) <= 1024
    assert len(server.session._output._h2.streams) == 0


@pytest.mark.parametrize("wide", [5000])
def test_an_upstream_floods_no_better(make_client, wide):
    client = make_client()
    client.bytewise = False
    client.feed(frame(PING, 0, 0, b"12345678") * wide)
    assert client.session.closing is Closing.FIN
    assert not client.session.reusable
