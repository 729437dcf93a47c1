"""The client role: answers, what is no answer, endings of the upstream's, when a connection may be used again."""

import pytest

from chaosproxy.http1.session import Http1Session
from chaosproxy.model.messages import Abort, Data, End, Interim, RequestHead, ResponseHead, Trailers
from chaosproxy.model.vocabulary import Framing, Manner, Peer, Role, Scope
from chaosproxy.session import Arrived, Closed, Closing, Granted, Stopped

HOST = ((b"Host", b"a"),)
LENGTH = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
CLOSE = b"HTTP/1.1 200 OK\r\n\r\n"
SWITCHING = b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"
FIN = ("upstream:fin", Scope.STREAM, Manner.FIN)
RST = ("upstream:rst", Scope.CONNECTION, Manner.RESET)


def ending(abort):
    assert abort.origin is Peer.UPSTREAM
    return abort.cause, abort.scope, abort.manner


def asked(method=b"GET"):
    session = Http1Session(Role.CLIENT)
    session.send(session.open(), [RequestHead(method, b"/", HOST, final=True), End()])
    session.outgoing()
    return session


@pytest.mark.parametrize(
    ("data", "body", "framing"),
    [
        (LENGTH + b"hello", b"hello", Framing.LENGTH),
        (CHUNKED + b"3\r\nhel\r\n2\r\nlo\r\n0\r\n\r\n", b"hello", Framing.CHUNKED),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\ncontent-length: 5\r\n\r\nhello", b"hello", Framing.LENGTH),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 5, 5\r\n\r\nhello", b"hello", Framing.LENGTH),
        (b"HTTP/1.2 200 OK\r\nContent-Length: 0\r\n\r\n", b"", Framing.LENGTH),
        (b"HTTP/1.1 204 No Content\r\n\r\n", b"", Framing.NONE),
        (b"HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n", b"", Framing.NONE),
        (b"HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n", b"", Framing.LENGTH),
    ],
)
def test_answers_whatever_the_cut_leave_the_connection_reusable(h1, data, body, framing):
    for pieces in h1.every_cut(data):
        answer, signals, session = h1.answered(pieces)
        assert (answer.body, answer.head.framing, answer.terminal) == (body, framing, End())
        assert session.reusable
        assert session.closing is None
        assert all(isinstance(signal, Arrived) for signal in signals)


def test_one_connection_serves_one_request_after_another():
    session = Http1Session(Role.CLIENT)
    for number in (1, 2, 3):
        assert session.reusable
        assert session.open() == number
        assert not session.reusable
        session.send(number, [RequestHead(b"GET", b"/", HOST, final=True)])
        session.send(number, [End()])
        assert session.outgoing() == [b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"]
        assert session.receive(LENGTH + b"hello")[0].events[1:] == [Data(b"hello"), End()]


def test_an_answer_to_head_has_no_body(h1):
    answer, _, session = h1.answered([LENGTH], b"HEAD")
    assert answer.terminal == End()
    assert answer.head.headers == ((b"Content-Length", b"5"),)
    assert session.reusable


def test_chunked_wins_over_a_length_which_goes(h1):
    data = b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\nA: b\r\n\r\n"
    answer, _, _ = h1.answered([data])
    assert answer.head.headers == ((b"Transfer-Encoding", b"chunked"),)
    assert (answer.body, answer.trailers, answer.terminal) == (b"a", ((b"A", b"b"),), End())


def test_hop_by_hop_fields_of_an_answer_stay(h1):
    fields = (
        b"Connection: keep-alive, X-Hop\r\nX-Hop: 1\r\nKeep-Alive: 5\r\nUpgrade: h2\r\nX: 1\r\nContent-Length: 0\r\n"
    )
    answer, _, _ = h1.answered([b"HTTP/1.1 200 Fine\r\n" + fields + b"\r\n"])
    assert answer.head == ResponseHead(200, ((b"X", b"1"), (b"Content-Length", b"0")), b"Fine", final=True)


@pytest.mark.parametrize(
    "data",
    [
        b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 0\r\n\r\n",
    ],
)
def test_an_upstream_that_closes_is_not_used_again(h1, data):
    answer, _, session = h1.answered([data])
    assert answer.terminal == End()
    assert not session.reusable
    assert session.closing is Closing.FIN


def test_the_fin_of_a_close_delimited_body_is_its_clean_end(h1):
    for pieces in h1.every_cut(CLOSE + b"hello"):
        answer, signals, session = h1.answered([*pieces, b""])
        assert (answer.body, answer.terminal) == (b"hello", End())
        assert signals[-1] == Closed()
        assert not session.reusable


def test_a_close_delimited_body_ended_by_tls_without_the_alert_is_ended_all_the_same():
    session = asked()
    session.receive(CLOSE + b"hello")
    assert session.lost("no_close_notify") == [Arrived(1, [End()]), Closed()]


@pytest.mark.parametrize(
    "data", [b"", b"HTTP/1.1 2", LENGTH, LENGTH + b"hell", CHUNKED, CHUNKED + b"5\r\nhe", CHUNKED + b"2\r\nhe\r\n"]
)
def test_a_fin_short_of_the_framing_is_in_band_behind_the_data(data):
    session = asked()
    before = session.receive(data) if data else []
    arrived, closed = session.receive(b"")
    (abort,) = arrived.events
    assert ending(abort) == FIN
    assert abort.status == 502
    assert closed == Closed()
    assert not session.reusable
    assert End() not in [event for signal in before for event in signal.events]


@pytest.mark.parametrize("data", [b"", LENGTH + b"hell", CHUNKED + b"2\r\nhe\r\n", CLOSE + b"he"])
def test_a_reset_short_of_the_framing_is_the_connections(data):
    session = asked()
    if data:
        session.receive(data)
    arrived, closed = session.lost("rst", "ECONNRESET")
    assert ending(arrived.events[0]) == RST
    assert closed == Closed("ECONNRESET")


def test_a_reset_behind_a_complete_answer_changes_nothing():
    session = asked()
    session.receive(LENGTH + b"hello")
    assert session.lost("rst") == [Closed()]
    assert not session.reusable


def test_an_idle_fin_makes_the_connection_useless():
    session = asked()
    session.receive(LENGTH + b"hello")
    assert session.receive(b"") == [Closed()]
    assert not session.reusable
    assert session.closing is Closing.FIN


@pytest.mark.parametrize("stray", [b"x", LENGTH, b"\r\n"])
def test_a_second_answer_is_nobodys(h1, stray):
    for pieces in ([LENGTH + b"hello" + stray], [LENGTH + b"hello", stray]):
        answer, signals, session = h1.answered(pieces)
        assert (answer.body, answer.terminal) == (b"hello", End())
        assert isinstance(signals[-1], Closed)
        assert not session.reusable
        assert session.closing is Closing.FIN
        assert session.receive(LENGTH + b"again") == []


def test_an_answer_before_any_request():
    session = Http1Session(Role.CLIENT)
    (closed,) = session.receive(LENGTH)
    assert isinstance(closed, Closed)
    assert not session.reusable


def test_an_answer_before_the_head_has_gone_out():
    session = Http1Session(Role.CLIENT)
    stream = session.open()
    arrived, _ = session.receive(LENGTH + b"hello")
    assert arrived.stream == stream
    assert arrived.events[0].cause == "malformed"


@pytest.mark.parametrize(
    "data", [b"HTTP/1.1 204 No Content\r\nContent-Length: 2\r\n\r\nhi", b"HTTP/1.1 304 Not Modified\r\n\r\nhi"]
)
def test_a_body_where_none_may_be_is_never_an_answer(h1, data):
    answer, signals, session = h1.answered([data])
    assert (answer.body, answer.terminal) == (b"", End())
    assert isinstance(signals[-1], Closed)
    assert not session.reusable


@pytest.mark.parametrize(
    "data",
    [
        b"HTTP/1.1 099 X\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/1.1 1000 X\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/1.1 600 X\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/1.1 20x X\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/2.0 200 OK\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/1.1  200 OK\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/1.1 200 O\x1bK\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nX: a\rb\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nX: a\nContent-Length: 0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nX: a\r\n b\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nX : a\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello!",
        b"HTTP/1.1 200 OK\r\nContent-Length: 18446744073709551621\r\n\r\nhello",
        b"HTTP/1.1 200 OK\r\nContent-Length: +5\r\n\r\nhello",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
        b"<html>\r\n\r\n",
        b"\x16\x03\x01\x00\x00",
        SWITCHING,
        b"HTTP/1.1 100 Continue\r\n\r\n" * 33,
        CHUNKED + b"5\r\nhelloXX",
        CHUNKED + b"5 \r\nhello\r\n",
    ],
)
def test_malformed_answers_whatever_the_cut(h1, data):
    details = set()
    for pieces in list(h1.every_cut(data))[:200]:
        answer, signals, session = h1.answered(pieces)
        assert isinstance(answer.terminal, Abort)
        assert (answer.terminal.cause, answer.terminal.origin, answer.terminal.status) == (
            "malformed",
            Peer.UPSTREAM,
            502,
        )
        assert isinstance(signals[-1], Closed)
        assert not session.reusable
        assert session.closing is Closing.FIN
        assert session.receive(LENGTH + b"hello") == []
        details.add((answer.terminal.detail, answer.body))
    assert len(details) == 1


def test_good_data_stands_before_the_abort(h1):
    answer, _, _ = h1.answered([CHUNKED + b"5\r\nhelloXX"])
    assert answer.body == b"hello"


def test_a_head_above_the_limit(h1):
    for size in (1 << 20, 4096):
        data = b"HTTP/1.1 200 OK\r\nX: " + b"a" * 100_000 + b"\r\n\r\n"
        answer, _, _ = h1.answered([data[i : i + size] for i in range(0, len(data), size)])
        assert answer.terminal.status == 502
        assert "65536" in answer.terminal.detail


def test_interims_pass_as_they_come(h1):
    hints = b"HTTP/1.1 103 Early Hints\r\nLink: x\r\nConnection: y\r\nY: z\r\n\r\n"
    for pieces in h1.every_cut(b"HTTP/1.1 100 Continue\r\n\r\n" + hints + LENGTH + b"hello"):
        answer, _, session = h1.answered(pieces)
        assert answer.interims == [Interim(100, (), b"Continue"), Interim(103, ((b"Link", b"x"),), b"Early Hints")]
        assert answer.body == b"hello"
        assert session.reusable


def test_thirty_two_interims_are_not_too_many(h1):
    answer, _, _ = h1.answered([b"HTTP/1.1 102 Processing\r\n\r\n" * 32 + LENGTH + b"hello"])
    assert len(answer.interims) == 32
    assert answer.terminal == End()


def test_interims_are_counted_for_each_request_anew():
    session = Http1Session(Role.CLIENT)
    for number in (1, 2):
        session.send(session.open(), [RequestHead(b"GET", b"/", HOST, final=True), End()])
        arrived = session.receive(b"HTTP/1.1 102 Processing\r\n\r\n" * 20 + LENGTH + b"hello")[0]
        assert (arrived.stream, arrived.events[-1]) == (number, End())


# uploads


def uploading():
    session = Http1Session(Role.CLIENT)
    session.send(session.open(), [RequestHead(b"POST", b"/", HOST, framing=Framing.CHUNKED), Data(b"a")])
    session.outgoing()
    return session


def test_an_upload_and_its_answer():
    session = uploading()
    session.send(1, [Data(b"b"), Trailers(((b"t", b"u"),)), End()])
    assert session.outgoing() == [b"1\r\nb\r\n0\r\nt: u\r\n\r\n"]
    session.receive(LENGTH + b"hello")
    assert session.reusable


def test_an_answer_before_the_upload_is_complete_stops_it_and_is_whole():
    session = uploading()
    arrived, stopped = session.receive(LENGTH + b"hello")
    assert arrived.events[1:] == [Data(b"hello"), End()]
    assert stopped == Stopped(1)
    assert session.closing is Closing.FIN
    assert not session.reusable
    session.send(1, [Data(b"late"), End()])
    assert session.outgoing() == []


def test_an_answer_that_ends_with_its_connection_stops_an_upload_too():
    session = uploading()
    session.receive(CLOSE + b"hello")
    assert session.receive(b"") == [Arrived(1, [End()]), Stopped(1), Closed()]


def test_both_ways_may_stream_at_once():
    session = uploading()
    session.receive(CHUNKED + b"1\r\na\r\n")
    session.send(1, [Data(b"b")])
    session.send(1, [End()])
    assert session.outgoing() == [b"1\r\nb\r\n", b"0\r\n\r\n"]
    session.receive(b"0\r\n\r\n")
    assert session.reusable


def test_a_known_length_is_complete_with_its_last_byte():
    session = Http1Session(Role.CLIENT)
    head = RequestHead(b"POST", b"/", (*HOST, (b"Content-Length", b"1")), framing=Framing.LENGTH)
    session.send(session.open(), [head, Data(b"a")])
    session.receive(LENGTH + b"hello")
    assert session.reusable


def test_a_request_that_breaks_its_promise_spoils_the_connection():
    session = Http1Session(Role.CLIENT)
    head = RequestHead(b"POST", b"/", (*HOST, (b"Content-Length", b"2")), framing=Framing.LENGTH)
    session.send(session.open(), [head, Data(b"a"), End()])
    session.receive(LENGTH + b"hello")
    assert not session.reusable


# upgrades and tunnels


def upgrading():
    session = Http1Session(Role.CLIENT)
    fields = (*HOST, (b"Connection", b"Upgrade"), (b"Upgrade", b"websocket"))
    stream = session.open()
    session.send(stream, [RequestHead(b"GET", b"/", fields, final=True, upgrade=b"websocket")])
    session.outgoing()
    return session


def test_a_tunnel_with_its_first_bytes_in_the_same_read(h1):
    for pieces in h1.every_cut(SWITCHING + b"hello"):
        answer, signals, session = h1.answered(pieces, upgrade=b"websocket")
        assert answer.head.framing is Framing.TUNNEL
        assert answer.head.headers == ((b"Connection", b"Upgrade"), (b"Upgrade", b"websocket"))
        assert answer.body == b"hello"
        assert Granted(1) in signals
        session.send(1, [Data(b"raw")])
        assert session.outgoing() == [b"raw"]


def test_nothing_enters_a_tunnel_before_there_is_one():
    session = upgrading()
    assert session.allowance(1) == 0
    session.receive(SWITCHING)
    assert session.allowance(1) > 2**30


def test_a_refused_upgrade_is_an_answer_like_any_other():
    session = upgrading()
    arrived = session.receive(LENGTH + b"hello")[0]
    assert arrived.events[1:] == [Data(b"hello"), End()]
    session.send(1, [End()])
    assert session.reusable


def test_connect_ignores_lengths_in_a_success_and_reads_a_refusal(h1):
    answer, _, _ = h1.answered(
        [b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\nraw"], b"CONNECT"
    )
    assert (answer.head.framing, answer.head.headers, answer.body) == (Framing.TUNNEL, (), b"raw")
    answer, _, _ = h1.answered([b"HTTP/1.1 403 No\r\nContent-Length: 1\r\n\r\nx"], b"CONNECT")
    assert (answer.body, answer.terminal) == (b"x", End())


def test_each_way_of_a_tunnel_ends_by_itself():
    session = upgrading()
    session.receive(SWITCHING)
    session.send(1, [End()])
    assert session.closing is Closing.HALF
    assert session.receive(b"more")[0].events == [Data(b"more")]
    assert session.receive(b"") == [Arrived(1, [End()]), Closed()]
    assert session.closing is Closing.FIN


def test_the_upstreams_half_close_leaves_our_way_open():
    session = upgrading()
    session.receive(SWITCHING)
    assert session.receive(b"") == [Arrived(1, [End()])]
    session.send(1, [Data(b"late")])
    assert session.outgoing() == [b"late"]
    session.send(1, [End()])
    assert session.closing is Closing.FIN


def test_a_reset_in_a_tunnel():
    session = upgrading()
    session.receive(SWITCHING)
    arrived, closed = session.lost("rst")
    assert ending(arrived.events[0]) == RST
    assert closed == Closed()


# our own endings


@pytest.mark.parametrize(
    ("scope", "manner", "closing"),
    [
        (Scope.STREAM, Manner.RESET, Closing.FIN),
        (Scope.STREAM, Manner.FIN, Closing.FIN),
        (Scope.CONNECTION, Manner.RESET, Closing.RST),
        (Scope.STREAM, Manner.SILENCE, Closing.SILENCE),
    ],
)
def test_a_client_that_left_takes_the_connection_along(scope, manner, closing):
    session = asked()
    session.receive(LENGTH + b"he")
    session.abort(1, Abort("client:fin", Peer.CLIENT, scope, manner))
    assert session.closing is closing
    assert not session.reusable
    assert session.receive(b"llo") == []


def test_an_upload_that_is_aborted_has_no_last_chunk():
    session = uploading()
    session.send(1, [Data(b"b"), Abort("client:fin", Peer.CLIENT)])
    assert session.outgoing() == [b"1\r\nb\r\n"]
    assert session.closing is Closing.FIN


def test_leaving_in_order():
    session = asked()
    session.close()
    assert session.closing is None
    session.receive(LENGTH + b"hello")
    assert session.closing is Closing.FIN
    assert not session.reusable
