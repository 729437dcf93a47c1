"""The client role: answers, what is no answer, how an upstream ends a stream or all of them, when to ask elsewhere."""

import pytest

from chaosproxy.http2.frames import ACK, END_HEADERS, END_STREAM, frame
from chaosproxy.model import codes
from chaosproxy.model.messages import Abort, Data, End, Goaway, Interim, RequestHead, ResponseHead, Trailers
from chaosproxy.model.vocabulary import Framing, Manner, Peer, Scope
from chaosproxy.session import Closed, Closing, Stopped

DATA, HEADERS, _, RST, SETTINGS, PUSH, PING, GOAWAY, WINDOW, _ = range(10)
OK = ((b":status", b"200"),)
GET = RequestHead(b"GET", b"/", authority=b"a", final=True)


def four(number):
    return number.to_bytes(4, "big")


def goaway(last, code=0):
    return frame(GOAWAY, 0, 0, four(last) + four(code) + b"bye")


def ask(wire, head=GET):
    stream = wire.session.open()
    wire.session.send(stream, [head, *([End()] if head.final else [])])
    return stream


def endings(signals):
    return [(stream, event.cause, event.code) for stream, event in signals if isinstance(event, Abort)]


# ---- answers


def test_an_answer_with_trailers(asked):
    signals = asked.feed(
        asked.headers(1, (*OK, (b"x", b" padded\t"))),
        asked.data(1, b"a"),
        asked.data(1, b""),
        asked.data(1, b"bc"),
        asked.headers(1, ((b"grpc-status", b"0"),), end=True),
    )
    assert [event for _, event in signals] == [
        ResponseHead(200, ((b"x", b"padded"),), framing=Framing.STREAM),
        Data(b"a"),
        Data(b"bc"),
        Trailers(((b"grpc-status", b"0"),)),
        End(),
    ]


def test_trailers_alone_are_a_final_head(asked):
    signals = asked.feed(asked.headers(1, (*OK, (b"grpc-status", b"12")), end=True))
    assert [event for _, event in signals] == [
        ResponseHead(200, ((b"grpc-status", b"12"),), framing=Framing.NONE, final=True),
        End(),
    ]


def test_the_length_is_only_checked_where_there_is_a_body(client):
    for method, status in ((b"HEAD", b"200"), (b"GET", b"304")):
        stream = ask(client, RequestHead(method, b"/", authority=b"a", final=True))
        fields = ((b":status", status), (b"content-length", b"5"))
        signals = client.feed(client.headers(stream, fields), client.data(stream, b"", end=True))
        assert [type(event) for _, event in signals] == [ResponseHead, End]
        assert signals[0][1].framing is Framing.NONE


def test_interim_answers_pass_one_by_one(asked):
    signals = asked.feed(
        asked.headers(1, ((b":status", b"100"),)), asked.headers(1, ((b":status", b"103"), (b"link", b"x")))
    )
    assert [event for _, event in signals] == [Interim(100), Interim(103, ((b"link", b"x"),))]


def test_more_than_32_interim_answers_cost_the_stream(asked):
    signals = asked.feed(*[asked.headers(1, ((b":status", b"103"),))] * 10_000)
    assert sum(isinstance(event, Interim) for _, event in signals) == 32
    assert endings(signals) == [(1, "malformed", codes.ENHANCE_YOUR_CALM)]
    assert asked.session.closing is None


def test_cookies_stay_in_their_places(asked):
    fields = ((b"set-cookie", b"a=1"), (b"x", b"y"), (b"set-cookie", b"b=2"))
    assert asked.feed(asked.headers(1, OK + fields))[0][1].headers == fields


BROKEN = {
    "no status": [((b"x", b"y"),)],
    "status of two digits": [((b":status", b"20"),)],
    "odd status": [((b":status", b"2x0"),)],
    "status 600": [((b":status", b"600"),)],
    "status 101": [((b":status", b"101"),)],
    "request pseudo": [((b":status", b"200"), (b":path", b"/"))],
    "connection": [((b":status", b"200"), (b"connection", b"close"))],
    "line break": [((b":status", b"200"), (b"x", b"a\r\nset-cookie: b"))],
    "line break in trailers": [OK, "end", ((b"x", b"a\r\nb"),)],
    "lengths differ": [((b":status", b"200"), (b"content-length", b"1"), (b"content-length", b"2"))],
    "second head": [OK, OK],
    "pseudo in trailers": [OK, "end", ((b":status", b"200"),)],
    "interim after the head": [OK, ((b":status", b"103"),)],
    "interim that ends": ["end", ((b":status", b"103"),)],
    "length without body": ["end", ((b":status", b"200"), (b"content-length", b"5"))],
    "DATA before the head": [b"x"],
    "DATA beyond the length": [((b":status", b"200"), (b"content-length", b"1")), b"xy"],
    "DATA short of the length": [((b":status", b"200"), (b"content-length", b"3")), "end", b"xy"],
    "DATA in a 204": [((b":status", b"204"),), b"x"],
    "DATA in a 304": [((b":status", b"304"),), b"x"],
}


@pytest.mark.parametrize("parts", BROKEN.values(), ids=BROKEN.keys())
def test_a_broken_answer_costs_its_stream(client, parts):
    sibling, broken = ask(client), ask(client)
    client.written()
    frames, end = [], False
    for part in parts:
        if part == "end":
            end = True
        elif isinstance(part, bytes):
            frames.append(client.data(broken, part, end=end))
        else:
            frames.append(client.headers(broken, part, end=end))
    signals = client.feed(*frames)
    assert endings(signals) == [(broken, "malformed", codes.PROTOCOL_ERROR)]
    assert signals[-1][1].status == 502
    assert signals[-1][1].origin is Peer.UPSTREAM
    assert [(w.stream, w.body) for w in client.written()] == [(broken, codes.PROTOCOL_ERROR)]
    late = client.feed(client.data(broken, b"late"), client.headers(sibling, (*OK, (b"x", b"in step")), end=True))
    assert [type(event) for _, event in late] == [ResponseHead, End]
    assert client.written() == []  # reset once


def test_an_answer_to_head_has_no_data(client):
    stream = ask(client, RequestHead(b"HEAD", b"/", authority=b"a", final=True))
    assert endings(client.feed(client.headers(stream, OK), client.data(stream, b"x")))


def test_an_upper_case_field_is_malformed_though_its_name_is_a_token(asked):
    signals = asked.feed(asked.headers(1, (*OK, (b"X-Y", b"z"))))
    assert endings(signals) == [(1, "malformed", codes.PROTOCOL_ERROR)]


# ---- endings of one stream


@pytest.mark.parametrize(("code", "name"), [(8, "CANCEL"), (2, "INTERNAL_ERROR"), (0, "NO_ERROR"), (0x99, "0x99")])
def test_a_reset_keeps_its_code_and_comes_behind_the_data(asked, code, name):
    signals = asked.feed(asked.headers(1, OK), asked.data(1, b"x"), frame(RST, 0, 1, four(code)))
    assert signals[1][1] == Data(b"x")
    assert signals[2][1] == Abort(f"upstream:stream:{name}", Peer.UPSTREAM, Scope.STREAM, Manner.RESET, code)
    assert asked.session.reusable


@pytest.mark.parametrize("code", [0, 8])
def test_a_reset_behind_a_complete_answer_only_stops_the_upload(uploading, code):
    signals = uploading.feed(uploading.headers(1, OK, end=True), frame(RST, 0, 1, four(code)))
    assert signals[-2:] == [(1, End()), Stopped(1)]
    uploading.session.send(1, [Data(b"more"), End()])
    assert uploading.written() == []


def test_an_early_answer_does_not_end_the_upload_by_itself(uploading):
    uploading.feed(uploading.headers(1, OK, end=True))
    uploading.session.send(1, [Data(b"more"), End()])
    assert [(w.body, w.ends) for w in uploading.written()] == [(b"more", True)]
    assert len(uploading.session._core.streams) == 0


def test_giving_up_resets_and_hears_nothing_more(asked):
    asked.session.abort(1, Abort("client:fin", Peer.PROXY, code=codes.CANCEL))
    assert [(w.kind, w.stream, w.body) for w in asked.written()] == [("RST_STREAM", 1, codes.CANCEL)]
    late = [asked.headers(1, (*OK, (b"a", b"b"))), *[asked.data(1, b"x" * 100)] * 40, frame(RST, 0, 1, four(2))]
    assert asked.feed(*late) == []
    assert asked.written() == []
    assert asked.session.reusable


def test_silence_towards_an_upstream(asked):
    asked.session.abort(1, Abort("blackhole", Peer.PROXY, manner=Manner.SILENCE))
    signals = asked.feed(asked.headers(1, OK), asked.data(1, b"x" * 100), frame(PING, 0, 0, b"12345678"))
    assert signals == []
    assert [w.kind for w in asked.written()] == ["PING"]
    assert asked.feed(asked.data(1, b"", end=True), frame(RST, 0, 1, four(8))) == []


# ---- GOAWAY


def test_goaway_spares_what_was_taken(client):
    first, second = ask(client), ask(client)
    client.written()
    signals = client.feed(client.headers(first, OK), goaway(first))
    assert endings(signals) == [(second, "upstream:goaway:NO_ERROR", codes.REFUSED_STREAM)]
    assert not client.session.reusable
    assert client.session.closing is None
    signals = client.feed(
        frame(PING, 0, 0, b"12345678"),
        frame(WINDOW, 0, 0, four(10)),
        client.data(first, b"x"),
        client.data(first, b"y", end=True),
    )
    assert [event for _, event in signals] == [Data(b"x"), Data(b"y"), End()]
    assert [w.kind for w in client.written()] == ["PING"]
    assert client.session.closing is Closing.FIN


def test_goaway_on_an_idle_connection_closes_it(client):
    client.feed(goaway(0))
    assert client.session.closing is Closing.FIN


def test_two_step_goaway(asked):
    assert asked.feed(goaway(2**31 - 1)) == []
    assert not asked.session.reusable
    assert endings(asked.feed(goaway(0, 11))) == [(1, "upstream:goaway:ENHANCE_YOUR_CALM", codes.REFUSED_STREAM)]


def test_a_stream_reserved_before_a_goaway_is_given_back(client):
    stream = client.session.open()
    assert endings(client.feed(goaway(0))) == [(stream, "upstream:goaway:NO_ERROR", codes.REFUSED_STREAM)]
    client.session.send(stream, [GET, End()])
    assert client.written() == []


# ---- the connection ends


@pytest.mark.parametrize("how", ["fin", "rst", "no_close_notify"])
def test_the_end_of_the_connection_ends_every_stream(client, how):
    streams = [ask(client), ask(client)]
    signals = client.session.receive(b"") if how == "fin" else client.session.lost(how, "why")
    aborts = [event for signal in signals[:-1] for event in signal.events]
    assert [signal.stream for signal in signals[:-1]] == streams
    cause = "upstream:rst" if how == "rst" else "upstream:fin"
    manner = Manner.RESET if how == "rst" else Manner.FIN
    assert {(abort.cause, abort.code, abort.scope, abort.manner) for abort in aborts} == {
        (cause, codes.INTERNAL_ERROR, Scope.STREAM, manner)
    }
    assert isinstance(signals[-1], Closed)
    assert client.session.receive(b"") == []
    assert not client.session.reusable


def test_good_events_before_a_connection_error_are_delivered(client):
    first, second = ask(client), ask(client)
    signals = client.feed(client.headers(first, OK), client.data(first, b"x", end=True), frame(PING, 0, 1, b"12345678"))
    assert [event for _, event in signals[:3]] == [ResponseHead(200, framing=Framing.STREAM), Data(b"x"), End()]
    assert endings(signals[3:4]) == [(second, "malformed", codes.INTERNAL_ERROR)]
    assert isinstance(signals[4], Closed)
    assert client.session.closing is Closing.FIN


# ---- pushes, settings, concurrency


def test_push_is_switched_off(client):
    assert client.greeting[0].body.count(b"\0\2\0\0\0\0") == 1


def test_a_push_after_our_settings_costs_the_connection(asked):
    asked.feed(frame(PUSH, END_HEADERS, 1, four(2) + asked.encoder.encode(OK)))
    assert asked.written()[-1].body[0] == codes.PROTOCOL_ERROR


def test_a_push_under_way_before_our_settings_is_refused_alone(client, bytewise):
    wire = type(client)(client.session.role, bytewise)
    wire.feed(frame(SETTINGS, 0, 0))
    stream = ask(wire)
    wire.written()
    block = wire.encoder.encode(((b":path", b"/pushed"),))
    signals = wire.feed(
        frame(PUSH, END_HEADERS, stream, four(2) + block),
        wire.headers(2, OK),
        wire.data(2, b"pushed", end=True),
        wire.headers(stream, (*OK, (b":path"[1:], b"x")), end=True),
    )
    assert [type(event) for _, event in signals] == [ResponseHead, End]
    assert [(w.stream, w.body) for w in wire.written()] == [(2, codes.REFUSED_STREAM)]


def test_no_more_streams_than_the_upstream_allows(client):
    client.feed(frame(SETTINGS, 0, 0, b"\0\3" + four(2)))
    first = ask(client)
    assert client.session.reusable
    client.session.open()
    assert not client.session.reusable
    client.feed(client.headers(first, OK, end=True))
    assert client.session.reusable


def test_zero_streams_allowed(client):
    client.feed(frame(SETTINGS, 0, 0, b"\0\3" + four(0)))
    assert not client.session.reusable
    client.feed(frame(SETTINGS, 0, 0, b"\0\3" + four(1)))
    assert client.session.reusable


def test_a_limit_that_falls_gives_back_what_was_not_opened(client):
    first, second = ask(client), client.session.open()
    signals = client.feed(frame(SETTINGS, 0, 0, b"\0\3" + four(1)))
    assert endings(signals) == [(second, "upstream:goaway:NO_ERROR", codes.REFUSED_STREAM)]
    assert [event for _, event in client.feed(client.headers(first, OK, end=True))][-1] == End()


def test_heads_sent_out_of_order_keep_their_names(client):
    early, late = client.session.open(), client.session.open()
    client.session.send(late, [GET, End()])
    client.session.send(early, [GET, End()])
    wires = [w.stream for w in client.written()]
    assert wires == sorted(wires)
    signals = client.feed(*[client.headers(wire, (*OK, (b"n", b"%d" % wire)), end=True) for wire in wires])
    assert [stream for stream, event in signals if isinstance(event, ResponseHead)] == [late, early]


def test_unknown_settings_are_not_kept(client):
    for start in range(0x100, 0xFF00, 0x800):
        pairs = b"".join([number.to_bytes(2, "big") + four(1) for number in range(start, start + 100)])
        client.feed(frame(SETTINGS, 0, 0, pairs))
    assert client.session.closing is None
    assert len(client.session._output._h2.remote_settings) < 10


def test_a_huge_table_is_not_used(client):
    client.feed(frame(SETTINGS, 0, 0, b"\0\1" + four(2**32 - 1)))
    assert client.session._output._h2.encoder.header_table_size == 65_536


@pytest.mark.parametrize("value", [0, 1])
def test_extended_connect_is_what_the_upstream_says(client, value):
    client.feed(frame(SETTINGS, 0, 0, b"\0\x08" + four(value)))
    assert client.session.extended_connect is bool(value)


def test_a_tunnel_ends_each_way_by_itself(client):
    head = RequestHead(b"CONNECT", b"/chat", authority=b"a", upgrade=b"websocket", framing=Framing.TUNNEL)
    stream = ask(client, head)
    assert client.written()[-1].body[-1] == (b":protocol", b"websocket")
    signals = client.feed(client.headers(stream, OK), client.data(stream, b"hi", end=True))
    assert signals[0][1].framing is Framing.TUNNEL
    client.session.send(stream, [Data(b"still here")])
    client.session.send(stream, [End()])
    assert [(w.kind, w.ends) for w in client.written()] == [("DATA", False), ("DATA", True)]


def test_a_goaway_of_ours_ends_the_stream_and_lets_its_siblings_run(client):
    first, second = ask(client), ask(client)
    client.written()
    client.session.abort(first, Abort("goaway", Peer.PROXY, Scope.CONNECTION, Manner.GOAWAY, code=11))
    assert [(w.kind, w.body) for w in client.written()] == [("GOAWAY", (11, 0))]
    assert not client.session.reusable
    assert [event for _, event in client.feed(client.headers(second, OK, end=True))][-1] == End()
    assert client.session.closing is Closing.FIN


def test_so_does_one_that_comes_when_its_stream_is_over(client):
    first, second = ask(client), ask(client)
    client.feed(client.headers(first, OK, end=True))
    client.written()
    client.session.abort(first, Abort("goaway", Peer.PROXY, Scope.CONNECTION, Manner.GOAWAY, code=11))
    assert [(w.kind, w.body) for w in client.written()] == [("GOAWAY", (11, 0))]
    assert client.session.closing is None
    assert client.feed(client.headers(second, OK, end=True))[-1] == (second, End())
    assert client.session.closing is Closing.FIN


def test_a_goaway_that_announces_only(client):
    stream = client.session.open()
    client.session.send(stream, [GET, Goaway(0, 0), End()])
    assert [w.kind for w in client.written()] == ["HEADERS", "GOAWAY"]
    assert client.feed(client.headers(stream, OK, end=True))[-1] == (stream, End())


def test_a_stream_that_was_never_opened(client):
    kept, given_up = client.session.open(), client.session.open()
    client.session.abort(given_up, Abort("client:fin", Peer.PROXY))
    client.session.send(given_up, [GET, End()])
    client.session.grant(given_up, 10)
    assert client.written() == []
    assert client.session.receive(b"")[0].events[0].cause == "upstream:fin"
    client.session.send(kept, [GET, End()])
    assert client.written() == []


def test_an_abort_may_be_sent_right_behind_a_head(client):
    stream = client.session.open()
    client.session.send(stream, [GET, Abort("cut", Peer.PROXY, code=codes.CANCEL)])
    assert [w.kind for w in client.written()] == ["HEADERS", "RST_STREAM"]


def test_silence_hears_no_trailers(asked):
    asked.feed(asked.headers(1, OK))
    asked.session.abort(1, Abort("blackhole", Peer.PROXY, manner=Manner.SILENCE))
    assert asked.feed(asked.headers(1, ((b"a", b"b"),), end=True), frame(WINDOW, 0, 1, four(5))) == []
    assert asked.written() == []


@pytest.mark.parametrize("promised", [0, 3])
def test_a_push_with_an_impossible_id_costs_the_connection(client, bytewise, promised):
    wire = type(client)(client.session.role, bytewise)
    wire.feed(frame(SETTINGS, 0, 0))
    stream = ask(wire)
    wire.feed(frame(PUSH, END_HEADERS, stream, four(promised) + wire.encoder.encode(OK)))
    assert wire.written()[-1].body[0] == codes.PROTOCOL_ERROR


def test_a_push_too_short_for_its_stream(client, bytewise):
    wire = type(client)(client.session.role, bytewise)
    wire.feed(frame(SETTINGS, 0, 0), frame(PUSH, END_HEADERS, 1, b"\0\0"))
    assert wire.written()[-1].body[0] == codes.FRAME_SIZE_ERROR


def test_a_window_update_on_a_stream_that_is_over_is_nothing(asked):
    asked.feed(asked.headers(1, OK, end=True), frame(WINDOW, 0, 1, four(5)))
    assert asked.session.closing is None


def test_closing_in_order(asked):
    asked.session.close()
    assert [w.body for w in asked.written()] == [(0, 0)]
    assert (asked.session.reusable, asked.session.closing) == (False, None)
    asked.feed(asked.headers(1, OK, end=True))
    assert asked.session.closing is Closing.FIN


def test_a_settings_ack_that_nobody_waits_for_is_harmless(client):
    client.feed(frame(SETTINGS, ACK, 0), frame(SETTINGS, ACK, 0))
    assert client.session.closing is None


def test_end_stream_on_an_empty_data_frame_ends(asked):
    signals = asked.feed(asked.headers(1, OK), frame(DATA, END_STREAM, 1))
    assert signals[-1] == (1, End())


def test_an_upstream_that_speaks_http1_is_said_to(client, bytewise):
    wire = type(client)(client.session.role, bytewise)
    ask(wire)
    signals = wire.feed(b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n")
    assert [signal.detail for signal in signals if isinstance(signal, Closed)] == [
        "what came is HTTP/1, not HTTP/2; is it an http:// upstream?"
    ]
