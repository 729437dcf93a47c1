"""The server role: requests, answers, a client that leaves, and every way to end a stream or the connection."""

import pytest
from h2.exceptions import FlowControlError

from chaosproxy.http2.frames import frame
from chaosproxy.http2.session import Http2Session
from chaosproxy.model import codes
from chaosproxy.model.messages import Abort, Data, End, Goaway, Interim, RequestHead, ResponseHead, Trailers
from chaosproxy.model.vocabulary import Framing, Manner, Peer, Role, Scope
from chaosproxy.session import Arrived, Closed, Closing, Gone

_, _, _, RST, SETTINGS, _, PING, GOAWAY, _, _ = range(10)
GET = ((b":method", b"GET"), (b":scheme", b"http"), (b":authority", b"a"), (b":path", b"/"))
POST = ((b":method", b"POST"), *GET[1:])
CONNECT = ((b":method", b"CONNECT"), (b":authority", b"a:443"))
OK = ResponseHead(200, framing=Framing.STREAM)


def four(number):
    return number.to_bytes(4, "big")


def asked(server, *streams):
    server.feed(*[server.headers(stream, GET, end=True) for stream in streams])
    server.written()


def kinds(written):
    return [(w.kind, w.stream, w.ends) for w in written]


# ---- requests


def test_a_request_with_body_and_trailers(server):
    fields = (*POST, (b"te", b"trailers"), (b"cookie", b"a=1"), (b"x", b"\ty "), (b"cookie", b"b=2"))
    signals = server.feed(
        server.headers(1, fields), server.data(1, b"a"), server.headers(1, ((b"sum", b"1"),), end=True)
    )
    headers = ((b"te", b"trailers"), (b"cookie", b"a=1"), (b"x", b"y"), (b"cookie", b"b=2"))
    assert [event for _, event in signals] == [
        RequestHead(b"POST", b"/", headers, b"http", b"a", Framing.STREAM, version=b"2"),
        Data(b"a"),
        Trailers(((b"sum", b"1"),)),
        End(),
    ]


def test_one_read_is_one_signal_a_stream(make_server, bytewise):
    server = make_server()
    signals = server.session.receive(server.headers(1, POST) + server.data(1, b"a") + server.data(1, b"b", end=True))
    assert [(type(signal), len(signal.events)) for signal in signals] == [(Arrived, 4)]


def test_a_request_that_is_final_says_so(server):
    [(_, head), (_, end)] = server.feed(server.headers(1, GET, end=True))
    assert (head.final, head.framing, end) == (True, Framing.NONE, End())


def test_host_becomes_the_authority(server):
    fields = (GET[0], GET[1], GET[3], (b"host", b"b:1"))
    head = server.feed(server.headers(1, fields, end=True))[0][1]
    assert (head.authority, head.headers) == (b"b:1", ())


def test_what_connects(server):
    extended = (
        (b":method", b"CONNECT"),
        (b":protocol", b"WebSocket"),
        (b":scheme", b"https"),
        (b":path", b"/chat"),
        (b":authority", b"a"),
    )
    [(_, plain), (_, tunnel)] = server.feed(server.headers(1, CONNECT), server.headers(3, extended))
    assert (plain.target, plain.authority, plain.upgrade) == (b"a:443", b"a:443", b"")
    assert (tunnel.target, tunnel.upgrade, tunnel.scheme) == (b"/chat", b"websocket", b"https")
    assert plain.framing is tunnel.framing is Framing.TUNNEL


def test_extended_connect_is_announced(server):
    assert b"\0\x08\0\0\0\1" in server.greeting[0].body


def test_trailers_that_may_not_be_passed_are_dropped(server):
    signals = server.feed(
        server.headers(1, POST), server.headers(1, ((b"content-length", b"5"), (b"a", b"b")), end=True)
    )
    assert signals[1][1] == Trailers(((b"a", b"b"),))


def test_empty_trailers_are_an_end(server):
    signals = server.feed(server.headers(1, POST), server.headers(1, (), end=True))
    assert [type(event) for _, event in signals] == [RequestHead, End]


@pytest.mark.parametrize(
    "fields",
    [[(b"x%d" % number, b"y") for number in range(201)], [(b"x", b"y" * 1000)] * 70],
    ids=["201 fields", "70 kB"],
)
@pytest.mark.parametrize("end", [False, True])
def test_a_head_that_is_too_large_is_answered_431_alone(server, fields, end):
    block = server.encoder.encode([*GET, *fields])
    pieces = [block[at : at + 16384] for at in range(0, len(block), 16384)]
    parts = [frame(9, 0, 1, piece) for piece in pieces[1:]]
    [(_, abort)] = server.feed(frame(1, 1 if end else 0, 1, pieces[0]), *parts, frame(9, 4, 1, b""))
    assert (abort.cause, abort.status) == ("malformed", 431)
    answer, reset = server.written()
    assert (answer.ends, answer.body[0]) == (True, (b":status", b"431"))
    assert (reset.kind, reset.body) == ("RST_STREAM", codes.NO_ERROR)
    assert len(server.feed(server.headers(3, GET, end=True))) == 2


# ---- answers


def test_an_answer(server):
    asked(server, 1)
    server.session.send(1, [Interim(103, ((b"Link", b"x"),))])
    server.session.send(1, [OK, Data(b"a")])
    server.session.send(1, [Trailers(((b"Grpc-Status", b"0"),))])
    server.session.send(1, [End()])
    written = server.written()
    assert [(w.kind, w.ends, w.body) for w in written] == [
        ("HEADERS", False, [(b":status", b"103"), (b"link", b"x")]),
        ("HEADERS", False, [(b":status", b"200")]),
        ("DATA", False, b"a"),
        ("HEADERS", True, [(b"grpc-status", b"0")]),
    ]
    assert len(server.session._core.streams) == 0


def test_a_whole_answer_is_one_write(server):
    asked(server, 1)
    server.session.send(1, [OK, Data(b"a"), Data(b"b"), End()])
    [chunk] = server.session.outgoing()
    assert chunk.endswith(frame(0, 0, 1, b"a") + frame(0, 1, 1, b"b"))


def test_a_final_head_ends_the_stream(server):
    asked(server, 1)
    server.session.send(1, [ResponseHead(204, final=True), End()])
    assert kinds(server.written()) == [("HEADERS", 1, True)]


def test_an_answer_before_the_request_is_complete(server):
    server.feed(server.headers(1, POST), server.data(1, b"a"))
    server.session.send(1, [OK, Data(b"no"), End()])
    written = server.written()
    assert kinds(written) == [("HEADERS", 1, False), ("DATA", 1, True), ("RST_STREAM", 1, False)]
    assert written[-1].body == codes.NO_ERROR
    assert server.feed(server.data(1, b"late"), server.headers(1, ((b"t", b"1"),), end=True)) == []
    assert server.feed(frame(RST, 0, 1, four(0))) == []
    assert server.written() == []


def test_a_tunnel_ends_each_way_by_itself(server):
    server.feed(server.headers(1, CONNECT))
    server.session.send(1, [ResponseHead(200, framing=Framing.TUNNEL, final=True)])
    server.session.send(1, [Data(b"a"), End()])
    assert kinds(server.written()) == [("HEADERS", 1, False), ("DATA", 1, True)]
    assert server.feed(server.data(1, b"b"), server.data(1, b"c", end=True)) == [
        (1, Data(b"b")),
        (1, Data(b"c")),
        (1, End()),
    ]
    assert len(server.session._core.streams) == 0


@pytest.mark.parametrize(("status", "ends"), [(200, False), (299, False), (300, True), (407, True)])
def test_an_answer_of_another_class_makes_no_tunnel(server, status, ends):
    server.feed(server.headers(1, CONNECT))
    server.session.send(1, [ResponseHead(status, framing=Framing.TUNNEL, final=True)])
    assert kinds(server.written())[0] == ("HEADERS", 1, ends)


# ---- the client leaves


@pytest.mark.parametrize(("code", "name"), [(8, "CANCEL"), (0, "NO_ERROR"), (77, "0x4d")])
def test_a_reset_is_leaving(server, code, name):
    asked(server, 1, 3)
    assert server.feed(frame(RST, 0, 1, four(code))) == [
        Gone(1, Abort(f"client:stream:{name}", Peer.CLIENT, Scope.STREAM, Manner.RESET, code))
    ]
    server.session.send(1, [OK, End()])
    assert server.written() == []
    server.session.send(3, [OK, End()])
    assert kinds(server.written()) == [("HEADERS", 3, False), ("DATA", 3, True)]


def test_a_reset_of_a_complete_exchange_is_nothing(server):
    asked(server, 1)
    server.session.send(1, [OK, End()])
    assert server.feed(frame(RST, 0, 1, four(8))) == []
    assert server.session.closing is None


@pytest.mark.parametrize("how", ["fin", "no_close_notify"])
def test_a_fin_is_leaving_but_the_answer_may_still_be_written(server, how):
    asked(server, 1, 3)
    signals = server.session.receive(b"") if how == "fin" else server.session.lost(how)
    assert [(signal.stream, signal.abort.cause, signal.abort.manner) for signal in signals[:2]] == [
        (1, "client:fin", Manner.FIN),
        (3, "client:fin", Manner.FIN),
    ]
    assert isinstance(signals[2], Closed)
    server.session.send(1, [OK, Data(b"x"), End()])
    assert kinds(server.written()) == [("HEADERS", 1, False), ("DATA", 1, True)]
    assert server.session.closing is None
    server.session.abort(3, Abort("client:fin", Peer.CLIENT))
    assert server.session.closing is Closing.FIN


def test_a_lost_connection_is_leaving(server):
    asked(server, 1)
    [gone, closed] = server.session.lost("rst", "ECONNRESET")
    assert (gone.abort.cause, gone.abort.manner, gone.abort.code) == ("client:rst", Manner.RESET, codes.CANCEL)
    assert closed == Closed("ECONNRESET")
    server.session.send(1, [OK, End()])
    assert server.written() == []
    assert server.session.lost("rst") == []


def test_a_fin_within_a_frame(server):
    server.feed(frame(PING, 0, 0, b"12345678")[:-1])
    assert server.session.receive(b"") == [Closed("FIN within a frame")]


def test_a_goaway_of_the_client_stops_nothing(server):
    asked(server, 1)
    server.feed(frame(GOAWAY, 0, 0, four(0) + four(0)), frame(PING, 0, 0, b"12345678"))
    server.session.send(1, [OK, End()])
    assert kinds(server.written()) == [("PING", 0, False), ("HEADERS", 1, False), ("DATA", 1, True)]


def test_a_connection_error_takes_every_stream_along(server):
    asked(server, 1)
    signals = server.feed(server.headers(3, POST), server.data(3, b"x"), frame(PING, 0, 1, b"12345678"))
    assert [type(event) for _, event in signals[:2]] == [RequestHead, Data]
    assert [(gone.stream, gone.abort.cause, gone.abort.code) for gone in signals[2:4]] == [
        (1, "malformed", codes.PROTOCOL_ERROR),
        (3, "malformed", codes.PROTOCOL_ERROR),
    ]
    assert isinstance(signals[4], Closed)
    assert server.written()[-1].body == (codes.PROTOCOL_ERROR, 3)


# ---- we end it


@pytest.mark.parametrize("manner", [Manner.RESET, Manner.FIN, Manner.MID_CHUNK])
def test_a_stream_is_cut_behind_its_data(server, manner):
    asked(server, 1, 3)
    server.session.send(1, [OK, Data(b"x"), Abort("cut", Peer.PROXY, manner=manner, code=11)])
    written = server.written()
    assert [(w.kind, w.ends) for w in written] == [("HEADERS", False), ("DATA", False), ("RST_STREAM", False)]
    assert written[-1].body == 11
    assert server.session.allowance(3) > 0
    assert server.session.closing is None


def test_silence_keeps_the_siblings_and_still_sees_the_client_leave(server):
    asked(server, 1, 3)
    server.session.send(1, [OK, Data(b"x"), Abort("cut", Peer.PROXY, manner=Manner.SILENCE)])
    server.session.send(1, [Data(b"y")])
    server.session.send(3, [OK, End()])
    assert kinds(server.written()) == [
        ("HEADERS", 1, False),
        ("DATA", 1, False),
        ("HEADERS", 3, False),
        ("DATA", 3, True),
    ]
    [gone] = server.feed(frame(RST, 0, 1, four(8)))
    assert gone.abort.cause == "client:stream:CANCEL"


def test_silence_gives_no_credit(server):
    server.feed(server.headers(1, POST), server.data(1, b"x" * 16384))
    server.session.abort(1, Abort("cut", Peer.PROXY, manner=Manner.SILENCE))
    assert server.feed(*[server.data(1, b"x" * 16384)] * 2, server.data(1, b"x", end=True)) == []
    server.session.grant(1, 60_000)
    assert server.written() == []
    assert isinstance(server.session.receive(b"")[0], Gone)


@pytest.mark.parametrize(
    ("manner", "closing"),
    [
        (Manner.FIN, Closing.FIN),
        (Manner.RESET, Closing.RST),
        (Manner.NO_CLOSE_NOTIFY, Closing.NO_CLOSE_NOTIFY),
    ],
)
def test_the_connection_is_cut_and_takes_the_siblings_along(server, manner, closing):
    asked(server, 1, 3)
    server.session.send(1, [OK, Data(b"x"), Abort("cut", Peer.PROXY, Scope.CONNECTION, manner)])
    assert kinds(server.written()) == [("HEADERS", 1, False), ("DATA", 1, False)]
    assert server.session.closing is closing
    [gone] = server.session.resume()
    assert (gone.stream, gone.abort.cause, gone.abort.origin, gone.abort.scope) == (
        3,
        "connection",
        Peer.PROXY,
        Scope.CONNECTION,
    )
    server.session.send(3, [OK, End()])
    assert server.written() == []
    assert server.session.receive(server.headers(5, GET, end=True)) == []
    assert server.session.receive(b"") == [Closed("")]


def test_a_silent_connection_answers_nothing_but_sees_the_client_leave(server):
    asked(server, 1, 3)
    server.session.send(1, [OK, Abort("blackhole", Peer.PROXY, Scope.CONNECTION, Manner.SILENCE)])
    assert server.session.closing is Closing.SILENCE
    assert kinds(server.written()) == [("HEADERS", 1, False)]
    server.feed(frame(PING, 0, 0, b"12345678"), frame(SETTINGS, 0, 0))
    server.session.send(3, [OK, End()])
    assert server.written() == []
    assert any(isinstance(signal, Gone) for signal in server.session.lost("rst"))


def test_goaway_kills_what_lies_above_and_lets_the_rest_run(server):
    asked(server, 1, 3, 5)
    server.session.send(5, [OK, Abort("goaway", Peer.PROXY, Scope.CONNECTION, Manner.GOAWAY, code=11, last=1)])
    written = server.written()
    assert kinds(written) == [("HEADERS", 5, False), ("GOAWAY", 0, False)]
    assert written[-1].body == (11, 1)
    assert [(gone.stream, gone.abort.cause) for gone in server.session.resume()] == [(3, "connection")]
    assert server.feed(server.headers(7, (*GET, (b"x", b"kept in step")), end=True), server.data(7, b"late")) == []
    assert server.written() == []
    assert server.session.closing is None
    server.session.send(1, [OK, Data(b"x"), End()])
    assert kinds(server.written()) == [("HEADERS", 1, False), ("DATA", 1, True)]
    assert server.session.closing is Closing.FIN


def test_goaway_that_spares_its_own_stream(server):
    asked(server, 1, 3)
    server.session.send(1, [OK, Goaway(code=0, last=1), Data(b"x")])
    assert kinds(server.written()) == [("HEADERS", 1, False), ("GOAWAY", 0, False), ("DATA", 1, False)]
    assert [gone.stream for gone in server.session.resume()] == [3]
    server.session.send(1, [End()])
    assert kinds(server.written()) == [("DATA", 1, True)]
    assert server.session.closing is Closing.FIN


def test_goaway_with_the_highest_id_is_a_warning_only(server):
    asked(server, 1)
    server.session.send(1, [Goaway(code=0, last=2**31 - 1), OK, End()])
    assert len(server.feed(server.headers(3, GET, end=True))) == 2
    assert server.session.closing is None


def test_closing_in_order(server):
    asked(server, 1)
    server.session.close()
    assert [w.body for w in server.written()] == [(0, 1)]
    assert server.feed(server.headers(3, GET, end=True)) == []
    assert server.session.closing is None
    server.session.send(1, [OK, End()])
    assert server.session.closing is Closing.FIN


def test_closing_an_idle_connection(server):
    server.session.close()
    assert server.session.closing is Closing.FIN
    assert [w.kind for w in server.written()] == ["GOAWAY"]
    assert server.session.receive(b"") == [Closed("")]


def test_a_stream_fault_behind_a_complete_request_is_leaving(server):
    asked(server, 1)
    [gone] = server.feed(server.data(1, b"x"))
    assert (gone.stream, gone.abort.cause, gone.abort.code) == (1, "malformed", codes.STREAM_CLOSED)


@pytest.mark.parametrize(("announced", "stopped"), [(b"3", False), (b"9", True)])
def test_an_answer_before_end_stream_stops_only_a_body_that_is_not_complete(server, announced, stopped):
    server.feed(server.headers(1, (*POST, (b"content-length", announced))), server.data(1, b"abc"))
    server.session.send(1, [OK, End()])
    assert any(written.kind == "RST_STREAM" for written in server.written()) is stopped


def test_who_leaves_without_a_word_has_broken_off_nothing():
    assert Http2Session(Role.SERVER).receive(b"") == [Closed()]
    begun = Http2Session(Role.SERVER)
    begun.receive(b"PRI")
    assert begun.receive(b"") == [Closed("FIN within a frame")]


def test_a_head_leaves_whatever_fails_behind_it(server):
    """It is in the table by then: the next would be decoded as something else (RFC 7541 section 2.2)."""
    asked(server, 1, 3)
    head = ResponseHead(200, ((b"x-user", b"one"),), framing=Framing.STREAM)
    with pytest.raises(FlowControlError):
        server.session.send(1, [head, Data(bytes(70_000)), End()])
    first = server.written()
    server.session.send(3, [head])
    second = server.written()
    assert [(b"x-user", b"one") in written[0].body for written in (first, second)] == [True, True]
