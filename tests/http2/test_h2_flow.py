"""Flow control: two credits at two moments, and what may be sent."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chaosproxy.http2.frames import END_STREAM, PADDED, frame
from chaosproxy.http2.output import BY_HAND
from chaosproxy.http2.windows import CONNECTION_WINDOW, LUMP, STREAM_WINDOW, Window
from chaosproxy.model import codes
from chaosproxy.model.messages import Data, End, RequestHead, ResponseHead
from chaosproxy.session import Granted

DATA, _, _, RST, SETTINGS, _, _, _, WINDOW, _ = range(10)
GET = ((b":method", b"GET"), (b":scheme", b"http"), (b":authority", b"a"), (b":path", b"/"))
POST = ((b":method", b"POST"), *GET[1:])
HEAD = ResponseHead(200)


def four(number):
    return number.to_bytes(4, "big")


def window_setting(value):
    return frame(SETTINGS, 0, 0, b"\0\4" + four(value))


def updates(wire):
    return [(w.stream, w.body) for w in wire.written() if w.kind == "WINDOW_UPDATE"]


def uploaded(server, nbytes, stream=1):
    """Open an upload and bring `nbytes` of it."""
    whole, rest = divmod(nbytes, 16384)
    frames = [server.data(stream, b"x" * 16384)] * whole + ([server.data(stream, b"x" * rest)] if rest else [])
    return server.feed(server.headers(stream, POST), *frames)


@pytest.mark.parametrize("granted", [0, LUMP - 1])
def test_what_is_not_admitted_is_not_credited(server, granted):
    uploaded(server, STREAM_WINDOW)
    server.session.grant(1, granted)
    assert updates(server) == []


def test_a_lump_of_an_empty_window_is_credited(server):
    uploaded(server, STREAM_WINDOW)
    server.session.grant(1, LUMP - 1)
    server.session.grant(1, 1)
    assert updates(server) == [(1, LUMP)]


def test_small_records_are_credited_at_half_a_window(server):
    uploaded(server, STREAM_WINDOW // 2 + 1)
    for _ in range(STREAM_WINDOW // 2 - 1):
        server.session.grant(1, 1)
    assert updates(server) == []
    server.session.grant(1, 1)
    assert updates(server) == [(1, STREAM_WINDOW // 2)]


def test_the_connection_is_credited_on_receipt(server):
    total = 0
    for stream in range(1, 2 * 20, 2):
        uploaded(server, 60_000, stream)
        total += 60_000
    credited = updates(server)
    assert {stream for stream, _ in credited} == {0}
    assert sum(increment for _, increment in credited) > total - CONNECTION_WINDOW // 2
    window = server.session._receiver._window
    assert CONNECTION_WINDOW - total + sum(increment for _, increment in credited) == window.left
    assert window.left + window.owed == CONNECTION_WINDOW


def test_padding_is_credited_at_once_and_is_no_body(server):
    padded = frame(DATA, PADDED, 1, b"\xff" + b"a" + b"\0" * 255)
    signals = server.feed(server.headers(1, POST), padded * 250)
    assert [event.payload for _, event in signals[1:]] == [b"a"] * 250
    assert sum(increment for stream, increment in updates(server) if stream == 1) > 250 * 256 - STREAM_WINDOW // 2 - 512


@pytest.mark.parametrize(("last", "credited"), [(PADDED, 1), (PADDED | END_STREAM, 0)], ids=["goes on", "ends"])
def test_a_stream_that_ends_gets_no_credit_for_its_last_padding(server, last, credited):
    body, padding = frame(DATA, 0, 1, b"a" * 16384), b"\xff" + b"a" + b"\0" * 255
    server.feed(server.headers(1, POST), body * 3, frame(DATA, PADDED, 1, padding) * 31, frame(DATA, last, 1, padding))
    assert len([one for one in server.written() if (one.kind, one.stream) == ("WINDOW_UPDATE", 1)]) == credited


def test_padding_alone_is_no_event(server):
    signals = server.feed(server.headers(1, POST), frame(DATA, PADDED, 1, b"\x04\0\0\0\0"), frame(DATA, 0, 1, b""))
    assert len(signals) == 1


def test_padding_counts_in_the_window(server):
    server.feed(server.headers(1, POST), *[server.data(1, b"x" * 16384)] * 3, server.data(1, b"x" * 16300))
    server.feed(frame(DATA, PADDED, 1, b"\x64" + b"a" + b"\0" * 100))
    assert [(w.kind, w.body) for w in server.written()] == [("RST_STREAM", codes.FLOW_CONTROL_ERROR)]


def test_more_than_the_stream_window_costs_the_stream(server):
    uploaded(server, STREAM_WINDOW + 1)
    assert [(w.stream, w.body) for w in server.written()] == [(1, codes.FLOW_CONTROL_ERROR)]


def test_more_than_the_connection_window_costs_the_connection(make_server):
    server = make_server(connection_window=65_535, stream_window=2**20)
    # a connection is credited on receipt, so that only one read can be too much for it
    server.feed(server.headers(1, POST))
    server.session._receiver._window.left = 10
    server.feed(server.data(1, b"x" * 10))
    assert server.session.closing is None
    server.feed(server.data(1, b"x"))
    assert server.written()[-1].body[0] == codes.FLOW_CONTROL_ERROR


@pytest.mark.parametrize("stream", [1, 3], ids=["live", "reset"])
def test_what_is_no_body_counts_in_the_connection_window_too(server, stream):
    server.feed(server.headers(1, POST), server.headers(3, POST), frame(RST, 0, 3, four(8)))
    server.session._receiver._window.left = 255
    server.feed(frame(DATA, PADDED, stream, b"\xff" + b"\0" * 255))
    assert server.written()[-1].body[0] == codes.FLOW_CONTROL_ERROR


def test_padding_alone_counts_in_the_stream_window(server):
    uploaded(server, STREAM_WINDOW - 10)
    server.feed(frame(DATA, PADDED, 1, b"\x0a" + b"\0" * 10))
    assert [(w.kind, w.body) for w in server.written()] == [("RST_STREAM", codes.FLOW_CONTROL_ERROR)]


@pytest.mark.parametrize("window", [100, 200_000])
def test_our_own_window_counts_once_it_is_acknowledged(bytewise, make_server, window):
    server = make_server(stream_window=window)
    uploaded(server, window)
    assert server.written() == [] or updates(server) == []
    server.feed(server.data(1, b"x"))
    assert [w.body for w in server.written() if w.kind == "RST_STREAM"] == [codes.FLOW_CONTROL_ERROR]


def test_late_data_of_a_stream_that_we_reset_is_credited_to_the_connection_alone(server):
    uploaded(server, 10)
    server.session.send(1, [HEAD, End()])  # an early answer
    assert [(w.kind, w.body) for w in server.written()][-1] == ("RST_STREAM", codes.NO_ERROR)
    late = [server.data(1, b"x" * 16384)] * 40
    assert server.feed(*late, server.data(1, b"", end=True)) == []
    assert updates(server) == [(0, increment) for increment in [524_298]]
    server.session.grant(1, 10)
    assert server.written() == []


def test_no_credit_for_a_stream_that_has_ended(server):
    server.feed(server.headers(1, POST), *[server.data(1, b"x" * 16000)] * 3, server.data(1, b"x", end=True))
    server.session.grant(1, 48_001)
    assert updates(server) == []


# ---- what we may send


def asked(server, *streams):
    server.feed(*[server.headers(stream, GET, end=True) for stream in streams])
    for stream in streams:
        server.session.send(stream, [HEAD])
    server.written()


def test_each_data_is_a_frame_and_each_send_a_write(server):
    asked(server, 1)
    server.session.send(1, [Data(b"a"), Data(b"bc")])
    server.session.send(1, [Data(b"d")])
    server.session.send(1, [Data(b"e"), End()])
    chunks = server.session.outgoing()
    assert chunks == [
        frame(DATA, 0, 1, b"a") + frame(DATA, 0, 1, b"bc"),
        frame(DATA, 0, 1, b"d"),
        frame(DATA, END_STREAM, 1, b"e"),
    ]


def test_an_end_alone_is_an_empty_frame(server):
    asked(server, 1)
    server.session.send(1, [Data(b"a")])
    server.session.send(1, [End()])
    assert server.session.outgoing() == [frame(DATA, 0, 1, b"a"), frame(DATA, END_STREAM, 1)]


@pytest.mark.parametrize("end", [False, True])
def test_data_larger_than_a_frame_is_cut(server, end):
    asked(server, 1)
    server.session.send(1, [Data(b"x" * 40_000), *([End()] if end else [])])
    written = server.written()
    assert [len(w.body) for w in written] == [16384, 16384, 7232]
    assert [w.ends for w in written] == [False, False, end]


def test_the_budget_of_unsent_output(server):
    server.feed(window_setting(2**20), frame(WINDOW, 0, 0, four(2**20)))
    asked(server, 1)
    assert server.session.allowance(1) == 65_536
    server.session.send(1, [Data(b"x" * 60_000)])
    assert server.session.allowance(1) < 5_600
    server.session.outgoing()
    assert server.session.allowance(1) == 65_536


def test_the_connection_window_is_shared(server):
    asked(server, 1, 3)
    server.session.send(1, [Data(b"x" * 60_000)])
    server.session.outgoing()
    assert [server.session.allowance(stream) for stream in (1, 3)] == [5_535, 5_535]
    assert server.session.receive(frame(WINDOW, 0, 0, four(100_000)))[-1] == Granted(0)
    assert [server.session.allowance(stream) for stream in (1, 3)] == [5_535, 65_535]


def test_a_window_of_one_byte(server):
    server.feed(window_setting(1))
    asked(server, 1)
    for byte in b"abc":
        assert server.session.allowance(1) == 1
        server.session.send(1, [Data(bytes([byte]))])
        assert server.session.allowance(1) == 0
        assert server.session.receive(frame(WINDOW, 0, 1, four(1))) == [Granted(1)]
    assert [w.body for w in server.written()] == [b"a", b"b", b"c"]


def test_a_negative_window_is_none_until_it_is_paid_back(server):
    asked(server, 1)
    server.session.send(1, [Data(b"x" * 100)])
    server.feed(window_setting(50))
    assert server.session.allowance(1) == 0
    server.session.receive(frame(WINDOW, 0, 1, four(50)))
    assert server.session.allowance(1) == 0
    server.session.receive(frame(WINDOW, 0, 1, four(1)))
    assert server.session.allowance(1) == 1


def test_a_setting_that_raises_windows_wakes_senders(server):
    server.feed(window_setting(0))
    asked(server, 1)
    assert server.session.allowance(1) == 0
    assert server.session.receive(window_setting(10)) == [Granted(0)]
    assert server.session.allowance(1) == 10


def test_a_stream_that_is_over_makes_nobody_wait(server):
    asked(server, 1)
    server.feed(frame(RST, 0, 1, four(8)))
    assert server.session.allowance(1) > 0
    server.session.send(1, [Data(b"x"), End()])
    assert server.session.outgoing() == []


def test_the_allowance_of_a_stream_before_its_head(client):
    client.feed(window_setting(7))
    stream = client.session.open()
    assert client.session.allowance(stream) == 7
    client.session.send(stream, [RequestHead(b"POST", b"/", authority=b"a"), Data(b"1234567")])
    assert client.session.allowance(stream) == 0


def test_a_window_that_opens_behind_our_end_wakes_nobody(client):
    stream = client.session.open()
    client.session.send(stream, [RequestHead(b"POST", b"/", authority=b"a")])
    assert client.session.receive(frame(WINDOW, 0, 1, four(5))) == [Granted(stream)]
    client.session.send(stream, [Data(b"x"), End()])
    assert client.session.receive(frame(WINDOW, 0, 1, four(5))) == []


def test_this_h2_has_the_attributes_that_writing_by_hand_needs():
    assert BY_HAND


def test_without_the_undocumented_attributes_h2_writes_the_data(server):
    server.session._output.by_hand = False
    asked(server, 1)
    server.session.send(1, [Data(b"a"), Data(b"x" * 20_000)])
    server.session.outgoing()
    assert server.session.allowance(1) == 65_535 - 20_001
    server.session.send(1, [Data(b"b" * 17_000)])
    server.session.send(1, [Data(b"cc")])
    server.session.send(1, [Data(b"d"), End()])
    written = [(len(w.body), w.ends) for w in server.written()]
    assert written == [(16384, False), (616, False), (2, False), (1, True)]


def test_only_a_body_of_no_announced_length_passes_the_session_by(server):
    server.feed(server.headers(1, GET, end=True), server.headers(3, POST))
    server.feed(server.headers(5, (*POST, (b"content-length", b"3"))))
    assert [server.session.incoming(stream) is not None for stream in (1, 3, 5, 7)] == [False, True, False, False]


def test_it_has_no_chunks(server):
    session = server.session
    assert (session.open_chunk, session.scan_chunks(b"5\r\nhello\r\n", parts=True)) == (None, None)
    assert (session.repeats_chunks(1, 0), session.in_full) == (False, True)


# ---- the policy by itself


@given(st.integers(0, 70_000), st.lists(st.integers(1, 20_000), max_size=50), st.data())
def test_a_peer_never_stalls_when_all_is_granted(size, sends, data):
    window = Window(size)
    held = 0
    for wanted in sends:
        nbytes = min(wanted, window.left)
        assert window.take(nbytes)
        held += nbytes
        given_back = data.draw(st.integers(0, held))
        held -= given_back
        window.give(given_back)
        assert window.left + window.owed + held == size
    window.give(held)
    assert window.left > 0 or size == 0
    assert window.left >= size // 2 or window.owed < min(size // 4, LUMP)
