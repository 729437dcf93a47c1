"""The bytes of the loads mean what they should: HTTP/2 as h2 reads it, stamps wherever a read is cut."""

import itertools
import zlib

import h2.config
import h2.connection
import h2.events
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.frames import Frames, h2_opening
from benchmarks.wire import EVENT, LAST_CHUNK, Count, Stamps, Unzipped, event, event_chunk, h1_head


def cut(stream, cuts):
    places = [0, *sorted(at for at in cuts if at < len(stream)), len(stream)]
    return [stream[a:b] for a, b in itertools.pairwise(places)]


@given(st.lists(st.integers(0, 2**63), max_size=5), st.sets(st.integers(0, 300), max_size=10))
def test_every_stamp_is_found_once_wherever_the_reads_are_cut(times, cuts):
    stamps = Stamps()
    stream = b"".join(map(event_chunk, times))
    assert [stamp for piece in cut(stream, cuts) for stamp in stamps.feed(piece)] == times


def test_a_stamp_that_a_proxy_has_cut_in_two_is_left_out():
    whole = event(0x1234)
    for at in range(1, EVENT):
        chunks = b"%x\r\n%b\r\n%x\r\n%b\r\n" % (at, whole[:at], EVENT - at, whole[at:])
        assert Stamps().feed(chunks) in ([], [0x1234])


@given(st.integers(0, 20), st.sets(st.integers(0, 1200), max_size=10))
def test_every_event_is_counted_once_wherever_the_reads_are_cut(number, cuts):
    count = Count()
    for piece in cut(event_chunk(7) * number, cuts):
        count.feed(piece)
    assert count.seen == number


@given(st.sets(st.integers(0, 1200), max_size=10))
def test_a_compressed_body_is_read_wherever_the_reads_are_cut(cuts):
    zipped = zlib.compressobj(wbits=31)
    parts = [zipped.compress(event(at)) + zipped.flush(zlib.Z_SYNC_FLUSH) for at in range(5)] + [zipped.flush()]
    body = b"".join(b"%x\r\n" % len(part) + part + b"\r\n" for part in parts)
    unzipped = Unzipped()
    read = b"".join(unzipped.feed(piece) for piece in cut(h1_head("text/event-stream") + body + LAST_CHUNK, cuts))
    assert read == b"".join(map(event, range(5)))


def test_an_event_has_the_length_that_its_chunk_announces():
    size, _, rest = event_chunk(12345).partition(b"\r\n")
    assert int(size, 16) == EVENT
    assert rest[EVENT:] == b"\r\n"
    assert rest[:EVENT].endswith(b"\n\n")


def server():
    connection = h2.connection.H2Connection(h2.config.H2Configuration(client_side=False, header_encoding="utf-8"))
    connection.initiate_connection()
    return connection


def test_the_opening_is_requests_with_endless_windows():
    connection = server()
    events = connection.receive_data(h2_opening("/events/20/3", 3))
    requests = [event for event in events if isinstance(event, h2.events.RequestReceived)]
    assert [event.stream_id for event in requests] == [1, 3, 5]
    assert dict(requests[0].headers) == {
        ":method": "GET",
        ":scheme": "http",
        ":path": "/events/20/3",
        ":authority": "localhost",
    }
    assert sum(isinstance(event, h2.events.StreamEnded) for event in events) == 3
    assert connection.outbound_flow_control_window == 2**31 - 1
    connection.send_headers(1, [(":status", "200")])
    assert connection.local_flow_control_window(1) == 2**31 - 1


@given(st.sets(st.integers(0, 120), max_size=10))
def test_settings_and_pings_are_answered_wherever_the_reads_are_cut(cuts):
    connection = server()
    connection.receive_data(h2_opening("/", 1))
    connection.send_headers(1, [(":status", "200")])
    connection.ping(b"12345678")
    connection.send_data(1, b"x" * 40)
    connection.ping(b"abcdefgh")
    frames = Frames()
    answers = b"".join(frames.feed(piece) for piece in cut(connection.data_to_send(), cuts))
    events = connection.receive_data(answers)
    assert sum(isinstance(event, h2.events.SettingsAcknowledged) for event in events) == 1
    pings = [event.ping_data for event in events if isinstance(event, h2.events.PingAckReceived)]
    assert pings == [b"12345678", b"abcdefgh"]
