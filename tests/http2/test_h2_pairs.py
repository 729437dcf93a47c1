"""Our two roles against each other and against plain h2, at any cut; and any bytes at all."""

import random

import pytest
from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.events import DataReceived, ResponseReceived, StreamEnded, StreamReset, TrailersReceived
from hypothesis import given, settings
from hypothesis import strategies as st

from chaosproxy.http2.frames import PREFACE, frame
from chaosproxy.http2.session import Http2Session
from chaosproxy.model.grammar import Grammar
from chaosproxy.model.messages import Abort, Data, End, Interim, RequestHead, ResponseHead, Trailers
from chaosproxy.model.vocabulary import Framing, Manner, Peer, Role, Scope
from chaosproxy.session import Arrived, Closed, Gone, Granted, Stopped

GET = ((b":method", b"GET"), (b":scheme", b"http"), (b":authority", b"a"), (b":path", b"/"))


def events_of(signals):
    return [(signal.stream, event) for signal in signals if isinstance(signal, Arrived) for event in signal.events]


def carry(source, target, cut=1 << 20):
    data = b"".join(source.outgoing())
    signals = []
    for at in range(0, len(data), cut):
        signals += target.receive(data[at : at + cut])
    return events_of(signals)


REQUEST = [
    RequestHead(b"POST", b"/v1", ((b"te", b"trailers"), (b"x", b"y")), b"http", b"a", Framing.STREAM, version=b"2"),
    Data(b"question"),
    Data(b"more"),
    Trailers(((b"sum", b"1"),)),
    End(),
]
ANSWER = [
    Interim(103, ((b"link", b"l"),)),
    ResponseHead(200, ((b"content-type", b"text/event-stream"),), framing=Framing.STREAM),
    *[Data(b"data: %d\n\n" % number) for number in range(100)],
    Trailers(((b"grpc-status", b"0"),)),
    End(),
]


@pytest.mark.parametrize("cut", [1, 2, 7, 9, 10, 1000, 1 << 20])
def test_our_roles_understand_each_other(cut):
    client, server = Http2Session(Role.CLIENT), Http2Session(Role.SERVER)
    carry(client, server, cut), carry(server, client, cut)
    stream = client.open()
    client.send(stream, REQUEST)
    assert carry(client, server, cut) == [(stream, event) for event in REQUEST]
    server.send(stream, ANSWER)
    assert carry(server, client, cut) == [(stream, event) for event in ANSWER]
    assert carry(client, server, cut) == carry(server, client, cut) == []


def test_a_megabyte_each_way_through_the_windows():
    client, server = Http2Session(Role.CLIENT), Http2Session(Role.SERVER)
    stream = client.open()
    client.send(stream, [RequestHead(b"POST", b"/", authority=b"a", framing=Framing.STREAM)])
    sent = {client: 0, server: 0}
    got = {client: 0, server: 0}
    total = 1_000_000
    for _ in range(2000):
        for source, target in ((client, server), (server, client)):
            if source is client or got[server]:
                room = min(source.allowance(stream), total - sent[source])
                if source is server and not sent[server]:
                    server.send(stream, [ResponseHead(200, framing=Framing.STREAM)])
                if room:
                    source.send(stream, [Data(b"x" * room)])
                    sent[source] += room
            for _, event in carry(source, target):
                if isinstance(event, Data):
                    got[target] += len(event.payload)
                    target.grant(stream, len(event.payload))
    assert got == {client: total, server: total}


@pytest.mark.parametrize("cut", [1, 1 << 20])
def test_a_plain_client(cut):
    plain = H2Connection(H2Configuration(client_side=True))
    plain.initiate_connection()
    server = Http2Session(Role.SERVER)
    plain.send_headers(1, [*GET[1:], (b":method", b"POST")][::-1])
    plain.send_data(1, b"question", end_stream=True, pad_length=10)
    data = plain.data_to_send()
    arrived = events_of([s for at in range(0, len(data), cut) for s in server.receive(data[at : at + cut])])
    assert [type(event) for _, event in arrived] == [RequestHead, Data, End]
    server.send(1, ANSWER)
    events = plain.receive_data(b"".join(server.outgoing()))
    assert b"".join([event.data for event in events if isinstance(event, DataReceived)]).count(b"data:") == 100
    assert {ResponseReceived, TrailersReceived, StreamEnded} <= {type(event) for event in events}
    assert not any(isinstance(event, StreamReset) for event in events)


@pytest.mark.parametrize("cut", [1, 1 << 20])
def test_a_plain_server(cut):
    plain = H2Connection(H2Configuration(client_side=False))
    plain.initiate_connection()
    client = Http2Session(Role.CLIENT)
    stream = client.open()
    client.send(stream, REQUEST)
    plain.receive_data(b"".join(client.outgoing()))
    plain.send_headers(stream, [(":status", "100")])
    plain.send_headers(stream, [(":status", "200"), ("content-length", "10")])
    plain.send_data(stream, b"12345", pad_length=3)
    plain.send_data(stream, b"67890", end_stream=True)
    data = plain.data_to_send()
    arrived = events_of([s for at in range(0, len(data), cut) for s in client.receive(data[at : at + cut])])
    assert [event for _, event in arrived] == [
        Interim(100),
        ResponseHead(200, ((b"content-length", b"10"),), framing=Framing.STREAM),
        Data(b"12345"),
        Data(b"67890"),
        End(),
    ]


def test_a_plain_client_is_credited_through_a_long_upload():
    plain = H2Connection(H2Configuration(client_side=True))
    plain.initiate_connection()
    server = Http2Session(Role.SERVER)
    server.receive(plain.data_to_send())
    plain.receive_data(b"".join(server.outgoing()))
    plain.send_headers(1, [*GET], end_stream=False)
    sent = 0
    for _ in range(500):
        room = min(plain.local_flow_control_window(1), 16_000)
        assert room > 0
        plain.send_data(1, b"x" * room)
        sent += room
        for stream, event in events_of(server.receive(plain.data_to_send())):
            if isinstance(event, Data):
                server.grant(stream, len(event.payload))
        plain.receive_data(b"".join(server.outgoing()))
    assert sent > 3_000_000


# ---- any bytes


def checked(session, reads):
    """Feed reads; every signal must be a signal, and each stream's events in order. Returns what can be told of it."""
    grammars, told = {}, []
    for data in reads:
        for signal in session.receive(data):
            assert isinstance(signal, Arrived | Granted | Stopped | Gone | Closed)
            if isinstance(signal, Arrived):
                for event in signal.events:
                    grammars.setdefault(signal.stream, Grammar()).check(event)
                    told.append((signal.stream, event))
            elif not isinstance(signal, Granted):
                told.append(signal)
    return told, session.closing, b"".join(session.outgoing())


FRAMES = st.builds(
    frame,
    st.integers(0, 11),
    st.sampled_from([0, 1, 4, 5, 8, 9, 0xC, 0x20, 0x24, 0x25, 0xFF]),
    st.sampled_from([0, 1, 1, 1, 2, 3, 5, 7, 2**31 - 1]),
    st.one_of(
        st.sampled_from(
            [
                b"",
                b"\x82\x86\x84\x41\x01a",
                b"\x83\x86\x84\x41\x01a",
                b"\x83\x86\x84\x41\x01a\x5c\x011",
                b"\x88",
                b"\x88\x5c\x015",
                b"\x00\x01x\x01y",
                b"\0\0\0\1",
                b"\0\0\0\0",
                b"\x7f\xff\xff\xff",
                b"\0" * 8,
                b"\0\4\0\0\0\1",
                b"\0\3\0\0\0\0",
                b"\x02ab\0\0",
            ]
        ),
        st.binary(max_size=40),
    ),
)


def greeted(role, frames):
    return (PREFACE if role is Role.SERVER else b"") + frame(4, 0, 0) + b"".join(frames)


def session_with_requests(role):
    session = Http2Session(role)
    if role is Role.CLIENT:
        for final in (True, False, True):
            head = RequestHead(b"GET", b"/", authority=b"a", final=final, framing=Framing.STREAM)
            session.send(session.open(), [head])
    return session


@settings(max_examples=200)
@given(st.sampled_from(Role), st.lists(FRAMES, max_size=25), st.integers(0, 2**32))
def test_any_frames_at_any_cut_give_the_same_signals(role, frames, seed):
    data = greeted(role, frames)
    chance = random.Random(seed)
    cuts = sorted(chance.sample(range(len(data) + 1), min(len(data), chance.randrange(20))))
    reads = [data[a:b] for a, b in zip([0, *cuts], [*cuts, len(data)], strict=True) if a < b]
    whole = checked(session_with_requests(role), [data, b""])
    assert checked(session_with_requests(role), [*reads, b""]) == whole
    assert checked(session_with_requests(role), [*[bytes([byte]) for byte in data], b""]) == whole


@settings(max_examples=100)
@given(st.sampled_from(Role), st.binary(max_size=300), st.booleans())
def test_any_bytes_give_signals_only(role, junk, greet):
    session = session_with_requests(role)
    told, _, _ = checked(session, [(greeted(role, []) if greet else b"") + junk, b""])
    assert any(isinstance(signal, Closed) for signal in told)


@settings(max_examples=100)
@given(st.sampled_from(Role), st.lists(FRAMES, max_size=15), st.data())
def test_whatever_the_driver_does_meanwhile(role, frames, data):
    session = session_with_requests(role)
    session.receive(greeted(role, []))
    for raw in frames:
        session.receive(raw)
        stream = data.draw(st.sampled_from([1, 3, 5, 7]))
        match data.draw(st.integers(0, 4)):
            case 0:
                session.grant(stream, data.draw(st.integers(0, 100)))
            case 1:
                live = session._core.streams.by_number.get(stream)
                if live is not None and live.sending.name == "BODY" and session.allowance(stream) > 3:
                    session.send(stream, [Data(b"abc"), *([End()] if data.draw(st.booleans()) else [])])
            case 2:
                live = session._core.streams.by_number.get(stream)
                if role is Role.SERVER and live is not None and live.sending.name == "HEAD":
                    session.send(stream, [ResponseHead(200, framing=Framing.STREAM)])
            case 3:
                scope = data.draw(st.sampled_from(Scope))
                session.abort(stream, Abort("x", Peer.PROXY, scope, data.draw(st.sampled_from(Manner)), last=1))
            case _:
                session.close()
    session.receive(b"")
    session.lost("rst")
    assert session.outgoing() is not None
