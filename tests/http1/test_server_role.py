"""The server role: pipelines, early answers, leaving clients, upgrades and tunnels, endings."""

import pytest

from chaosproxy.http1.session import Http1Session
from chaosproxy.model.messages import Abort, Data, End, Goaway, Interim, RequestHead, ResponseHead, Trailers
from chaosproxy.model.vocabulary import Framing, Manner, Peer, Role, Scope
from chaosproxy.session import Arrived, Closed, Closing, Gone

GET = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"
POST = b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n"
UPGRADE = b"GET /chat HTTP/1.1\r\nHost: a\r\nConnection: keep-alive, Upgrade\r\nUpgrade: WebSocket\r\n\r\n"
CONNECT = b"CONNECT b:443 HTTP/1.1\r\nHost: b:443\r\n\r\n"
SWITCHING = ResponseHead(101, ((b"Connection", b"Upgrade"), (b"Upgrade", b"websocket")), framing=Framing.TUNNEL)
CHUNKED = ResponseHead(200, framing=Framing.CHUNKED)
FIN = Abort("client:fin", Peer.CLIENT, Scope.STREAM, Manner.FIN, 0x8)
RST = Abort("client:rst", Peer.CLIENT, Scope.CONNECTION, Manner.RESET, 0x8)


@pytest.fixture
def server():
    return Http1Session(Role.SERVER)


def events(signals):
    return [event for signal in signals if isinstance(signal, Arrived) for event in signal.events]


def test_a_request_and_its_answer(server, h1):
    head, end = events(server.receive(GET))
    assert head == RequestHead(b"GET", b"/", ((b"Host", b"a"),), final=True)
    assert end == End()
    server.send(1, [h1.OK, End()])
    assert server.outgoing() == [b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"]
    assert server.closing is None
    assert [signal.stream for signal in server.receive(GET)] == [2]


def test_the_scheme_is_the_listeners():
    head, _ = events(Http1Session(Role.SERVER, scheme=b"https").receive(GET))
    assert head.scheme == b"https"


def test_one_send_is_one_write_and_chunks_keep_their_boundaries(server):
    server.receive(GET)
    server.send(1, [CHUNKED, Data(b"a")])
    server.send(1, [Data(b"b"), Data(b"c")])
    server.send(1, [Data(b"d")])
    server.send(1, [Trailers(((b"t", b"u"),)), End()])
    assert server.outgoing() == [
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n",
        b"1\r\nb\r\n1\r\nc\r\n",
        b"1\r\nd\r\n",
        b"0\r\nt: u\r\n\r\n",
    ]
    assert server.outgoing() == []


def test_pipelined_requests_wait_for_the_answers(server, h1):
    assert [signal.stream for signal in server.receive(GET + POST + b"hello" + GET)] == [1]
    assert server.resume() == []
    server.send(1, [h1.OK, End()])
    signals = server.resume()
    assert [signal.stream for signal in signals] == [2]
    assert events(signals)[1:] == [Data(b"hello"), End()]
    server.send(2, [h1.OK])
    assert server.resume() == []
    server.send(2, [End()])
    assert [signal.stream for signal in server.resume()] == [3]


def test_pipelined_bytes_are_not_taken_without_bound(server, h1):
    server.receive(GET)
    assert server.hungry
    server.receive(GET * 4000)
    assert not server.hungry
    answered = 1
    while not server.hungry:
        server.send(answered, [h1.OK, End()])
        answered += 1
        assert [signal.stream for signal in server.resume()] == [answered]
    assert 1500 < answered < 1700


def test_an_http_1_0_client_gets_1_1_no_chunks_no_interims_and_a_close(server):
    (head, _) = events(server.receive(b"GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"))
    assert head.version == b"1.0"
    server.send(1, [Interim(103)])
    server.send(1, [CHUNKED, Data(b"a"), Trailers(((b"t", b"u"),)), End()])
    assert server.outgoing() == [b"HTTP/1.1 200 OK\r\n\r\na"]
    assert server.closing is Closing.FIN


def test_interims_pass_before_the_head(server, h1):
    server.receive(b"POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\n")
    server.send(1, [Interim(100)])
    server.send(1, [Interim(103, ((b"link", b"x"),))])
    assert server.outgoing() == [b"HTTP/1.1 100 Continue\r\n\r\n", b"HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n"]
    assert events(server.receive(b"a")) == [Data(b"a"), End()]


@pytest.mark.parametrize("value", [b"close", b"Close, x"])
def test_connection_close_is_honoured_and_travels_no_further(server, h1, value):
    head, _ = events(server.receive(b"GET / HTTP/1.1\r\nHost: a\r\nConnection: " + value + b"\r\n\r\n" + GET))
    assert head.headers == ((b"Host", b"a"),)
    server.send(1, [h1.OK, End()])
    assert server.closing is Closing.FIN
    assert server.resume() == []


def test_hop_by_hop_fields_stay_and_protected_ones_travel(server):
    fields = b"Connection: X-Hop, host, content-length\r\nx-hop: 1\r\nKeep-Alive: 5\r\nProxy-Connection: x\r\nUpgrade: h2c\r\n"
    head, _ = events(
        server.receive(b"GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\nTE: gzip\r\n" + fields + b"A: b\r\n\r\n")
    )
    assert head.headers == ((b"Host", b"a"), (b"Content-Length", b"0"), (b"A", b"b"))


def test_te_travels_as_trailers_alone(server):
    head, _ = events(
        server.receive(b"GET / HTTP/1.1\r\nTe: gzip, trailers\r\nHost: a\r\nConnection: TE\r\nTE: trailers\r\n\r\n")
    )
    assert head.headers == ((b"Te", b"trailers"), (b"Host", b"a"))


def test_bodyless_answers_have_none(server, h1):
    server.receive(b"HEAD / HTTP/1.1\r\nHost: a\r\n\r\n")
    server.send(1, [ResponseHead(200, ((b"Content-Length", b"5"),)), Data(b"hello"), End()])
    assert server.outgoing() == [b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"]
    assert server.closing is None


def test_an_answer_before_the_request_is_complete_ends_the_connection(server, h1):
    server.receive(POST + b"he")
    server.send(1, [h1.OK, End()])
    assert server.closing is Closing.FIN
    assert server.receive(b"llo" + GET) == []
    assert server.resume() == []


def test_an_answer_that_breaks_its_promise_ends_the_connection(server):
    server.receive(GET)
    server.send(1, [ResponseHead(200, ((b"Content-Length", b"5"),)), Data(b"hell"), End()])
    assert server.outgoing()[0].endswith(b"hell")
    assert server.closing is Closing.FIN


def test_a_close_delimited_answer_ends_with_the_connection(server):
    server.receive(GET)
    server.send(1, [ResponseHead(200, framing=Framing.CLOSE), Data(b"a")])
    assert server.closing is None
    server.send(1, [End()])
    assert server.closing is Closing.FIN


def test_an_idle_fin_closes(server):
    assert server.receive(b"") == [Closed()]
    assert server.closing is Closing.FIN


def test_a_fin_within_a_head_closes(server):
    server.receive(GET[:-1])
    (closed,) = server.receive(b"")
    assert isinstance(closed, Closed)
    assert "head" in closed.detail


def test_a_client_that_half_closes_is_gone_but_may_still_be_answered(server, h1):
    server.receive(GET)
    assert server.receive(b"") == [Gone(1, FIN)]
    server.send(1, [h1.OK, End()])
    assert server.outgoing()
    assert server.closing is Closing.FIN


def test_a_client_that_leaves_in_the_midst_of_its_request_has_not_ended_it(server):
    server.receive(POST + b"he")
    assert server.receive(b"") == [Arrived(1, [FIN]), Gone(1, FIN)]


def test_a_reset_takes_the_stream_and_the_connection(server):
    server.receive(POST + b"he")
    (arrived, gone, closed) = server.lost("rst", "ECONNRESET")
    assert arrived.events[0].cause == gone.abort.cause == "client:rst"
    assert (gone.abort.scope, gone.abort.manner) == (Scope.CONNECTION, Manner.RESET)
    assert closed == Closed("ECONNRESET")


def test_a_reset_while_the_answer_waits(server):
    server.receive(GET)
    assert server.lost("rst") == [Gone(1, RST), Closed()]
    server.send(1, [CHUNKED, Data(b"a")])
    assert server.outgoing() == []


def test_a_reset_between_exchanges(server, h1):
    server.receive(GET)
    server.send(1, [h1.OK, End()])
    assert server.lost("rst") == [Closed()]


def test_tls_that_ends_without_its_alert_counts_as_fin(server):
    server.receive(GET)
    assert server.lost("no_close_notify") == [Gone(1, FIN), Closed()]


def test_a_malformed_head_is_answered_and_the_connection_ends(server):
    (arrived,) = server.receive(b"GET / HTTP/2.0\r\n\r\n" + GET)
    assert arrived.stream == 1
    (abort,) = arrived.events
    assert (abort.cause, abort.status, abort.origin) == ("malformed", 505, Peer.CLIENT)
    head = ResponseHead(505, ((b"content-length", b"1"), (b"connection", b"close")))
    server.send(1, [head, Data(b"x"), End()])
    assert server.outgoing() == [
        b"HTTP/1.1 505 HTTP Version Not Supported\r\ncontent-length: 1\r\nconnection: close\r\n\r\nx"
    ]
    assert server.closing is Closing.FIN
    assert server.receive(GET) == []


def test_a_malformed_body_aborts_behind_the_good_data(server):
    data, abort = events(
        server.receive(b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\naXX" + GET)
    )[1:]
    assert data == Data(b"a")
    assert (abort.cause, abort.status) == ("malformed", 400)
    assert server.receive(GET) == []


def test_our_own_close_is_honoured(server):
    server.receive(GET)
    server.send(1, [ResponseHead(503, ((b"content-length", b"0"), (b"Connection", b"close")), final=True), End()])
    assert server.closing is Closing.FIN


# upgrades and tunnels


def test_an_upgrade_withholds_the_end_and_becomes_a_tunnel(server):
    signals = server.receive(UPGRADE + b"first")
    (head,) = events(signals)
    assert (head.upgrade, head.final) == (b"websocket", True)
    assert head.headers == ((b"Host", b"a"), (b"Connection", b"Upgrade"), (b"Upgrade", b"WebSocket"))
    server.send(1, [SWITCHING])
    assert server.outgoing() == [
        b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"
    ]
    assert server.resume() == [Arrived(1, [Data(b"first")])]
    assert server.receive(GET) == [Arrived(1, [Data(GET)])]
    server.send(1, [Data(b"0\r\n\r\n")])
    assert server.outgoing() == [b"0\r\n\r\n"]


def test_tunnel_bytes_stay_in_order_without_resume(server):
    server.receive(UPGRADE + b"first")
    server.send(1, [SWITCHING])
    assert b"".join(event.payload for event in events(server.receive(b"second"))) == b"firstsecond"


def test_a_refused_upgrade_goes_on_as_http(server, h1):
    server.receive(UPGRADE + GET)
    server.send(1, [h1.OK])
    assert server.resume() == [Arrived(1, [End()])]
    server.send(1, [End()])
    assert server.closing is None
    assert [signal.stream for signal in server.resume()] == [2]


def test_a_refusal_in_one_send_needs_no_end(server, h1):
    server.receive(UPGRADE)
    server.send(1, [h1.OK, End()])
    assert server.resume() == []
    assert [signal.stream for signal in server.receive(GET)] == [2]


def test_connect_opens_a_tunnel_with_any_success(server):
    (head,) = events(server.receive(CONNECT))
    assert (head.method, head.target) == (b"CONNECT", b"b:443")
    server.send(1, [ResponseHead(200, framing=Framing.TUNNEL)])
    assert server.outgoing() == [b"HTTP/1.1 200 OK\r\n\r\n"]
    assert events(server.receive(b"\x16\x03")) == [Data(b"\x16\x03")]


def test_each_way_of_a_tunnel_ends_by_itself(server):
    server.receive(CONNECT)
    server.send(1, [ResponseHead(200, framing=Framing.TUNNEL)])
    server.send(1, [End()])
    assert server.closing is Closing.HALF
    assert events(server.receive(b"more")) == [Data(b"more")]
    assert server.receive(b"") == [Arrived(1, [End()]), Closed()]
    assert server.closing is Closing.FIN


def test_the_clients_half_close_leaves_our_way_open(server):
    server.receive(CONNECT)
    server.send(1, [ResponseHead(200, framing=Framing.TUNNEL)])
    assert server.receive(b"") == [Arrived(1, [End()])]
    assert server.closing is None
    server.send(1, [Data(b"late")])
    server.send(1, [End()])
    assert server.outgoing()[-1] == b"late"
    assert server.closing is Closing.FIN


def test_a_tunnel_ends_once_however_often_that_is_said(server):
    server.receive(CONNECT)
    server.send(1, [ResponseHead(200, framing=Framing.TUNNEL)])
    assert server.receive(b"") == [Arrived(1, [End()])]
    assert server.lost("no_close_notify") == [Closed()]


def test_a_fin_before_the_switch_is_the_tunnels_end_after_it(server):
    server.receive(UPGRADE + b"first")
    assert server.receive(b"") == [Gone(1, FIN)]
    server.send(1, [SWITCHING])
    assert events(server.resume()) == [Data(b"first"), End()]


def test_a_reset_in_a_tunnel(server):
    server.receive(CONNECT)
    server.send(1, [ResponseHead(200, framing=Framing.TUNNEL)])
    assert server.lost("rst") == [Arrived(1, [RST]), Gone(1, RST), Closed()]


@pytest.mark.parametrize(
    "data",
    [
        b"GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMA\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\n\r\n",
        b"GET / HTTP/1.0\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n",
    ],
    ids=["h2c", "not listed", "1.0"],
)
def test_what_is_no_upgrade_loses_the_field(server, data):
    head, end = events(server.receive(data))
    assert head.upgrade == b""
    assert head.headers == ((b"Host", b"a"),)
    assert end == End()


# endings


def streaming(server):
    server.receive(GET)
    server.send(1, [CHUNKED, Data(b"a")])
    server.outgoing()


def abort(scope, manner):
    return Abort("test", Peer.PROXY, scope, manner)


@pytest.mark.parametrize(
    ("scope", "manner", "closing", "written"),
    [
        (Scope.STREAM, Manner.RESET, Closing.FIN, []),
        (Scope.STREAM, Manner.FIN, Closing.FIN, []),
        (Scope.STREAM, Manner.MID_CHUNK, Closing.FIN, [b"10\r\n"]),
        (Scope.STREAM, Manner.SILENCE, Closing.SILENCE, []),
        (Scope.CONNECTION, Manner.FIN, Closing.FIN, []),
        (Scope.CONNECTION, Manner.RESET, Closing.RST, []),
        (Scope.CONNECTION, Manner.NO_CLOSE_NOTIFY, Closing.NO_CLOSE_NOTIFY, []),
        (Scope.CONNECTION, Manner.GOAWAY, Closing.FIN, []),
        (Scope.CONNECTION, Manner.SILENCE, Closing.SILENCE, []),
    ],
)
def test_every_ending_of_the_table(server, scope, manner, closing, written):
    streaming(server)
    server.abort(1, abort(scope, manner))
    assert server.closing is closing
    server.send(1, [Data(b"late"), End()])
    assert server.outgoing() == written
    assert server.receive(GET) == []


def test_an_abort_in_band_leaves_behind_the_data(server):
    streaming(server)
    server.send(1, [Data(b"b"), abort(Scope.STREAM, Manner.RESET)])
    assert server.outgoing() == [b"1\r\nb\r\n"]
    assert server.closing is Closing.FIN


def test_a_cut_within_a_chunk_keeps_the_size_that_it_announced(server):
    streaming(server)
    server.send(1, [Data(b"abc", whole=False, size=8)])
    server.send(1, [abort(Scope.STREAM, Manner.MID_CHUNK)])
    assert server.outgoing() == [b"8\r\nabc"]


def test_a_silent_stream_still_learns_that_its_client_left(server):
    streaming(server)
    server.abort(1, abort(Scope.STREAM, Manner.SILENCE))
    assert server.receive(b"") == [Gone(1, FIN), Closed()]


def test_a_silent_stream_still_learns_of_a_reset(server):
    streaming(server)
    server.abort(1, abort(Scope.STREAM, Manner.SILENCE))
    assert server.lost("rst") == [Gone(1, RST), Closed()]


def test_a_goaway_means_nothing_here(server):
    streaming(server)
    server.send(1, [Goaway(0, 1), Data(b"b")])
    assert server.outgoing() == [b"1\r\nb\r\n"]
    assert server.closing is None


def test_the_answer_that_is_to_be_the_last_says_so_and_is(server, h1):
    server.receive(GET)
    server.answers_once_more()
    server.send(1, [h1.OK, End()])
    assert server.outgoing() == [b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"]
    assert server.closing is Closing.FIN


def test_leaving_in_order(server, h1):
    server.close()
    assert server.closing is Closing.FIN


def test_leaving_waits_for_the_live_answer(server, h1):
    server.receive(GET + GET)
    server.close()
    assert server.closing is None
    server.send(1, [h1.OK, End()])
    assert server.closing is Closing.FIN
    assert server.resume() == []


def test_what_is_sent_to_a_stream_that_has_ended_is_ignored(server, h1):
    server.receive(GET + GET)
    server.send(1, [h1.OK, End()])
    server.outgoing()
    server.resume()
    server.send(1, [Data(b"late")])
    server.abort(1, abort(Scope.CONNECTION, Manner.RESET))
    assert server.outgoing() == []
    assert server.closing is None


def test_there_are_no_windows(server, h1):
    server.receive(POST)
    server.grant(1, 5)
    assert server.allowance(1) > 2**30
    assert server.incoming(1) is None
    assert server.outgoing() == []


def test_a_client_may_follow_its_fin_with_a_reset_and_has_left_once(server):
    server.receive(GET)
    assert server.receive(b"") == [Gone(1, FIN)]
    assert server.lost("rst") == [Closed()]
