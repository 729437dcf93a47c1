"""Records of gRPC bodies: by the wire format, and against what grpcio itself puts on a connection."""

import itertools
import socket
import struct
import threading

import grpc as grpcio
import h2.config
import h2.connection
import h2.events
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chaosproxy.framing.grpc import GrpcSplitter, is_trailers, message


def frame(flag, text):
    return struct.pack(">BI", flag, len(text)) + text


def ends_of(payloads):
    splitter, ends, offset = GrpcSplitter(), [], 0
    for payload in payloads:
        ends += [offset + end for end in splitter.feed(payload)]
        offset += len(payload)
    assert not splitter.pending
    return ends


frames = st.lists(st.tuples(st.sampled_from([0, 0, 1, 0x80]), st.binary(max_size=12)), max_size=8)


@given(frames, st.binary(max_size=3), st.sets(st.integers(1, 120), max_size=8))
def test_messages_are_found_for_any_chunking(parts, rest, cuts):
    texts = [frame(flag, text) for flag, text in parts]
    body = b"".join(texts) + rest
    expected, offset = [], 0
    for text, (flag, _) in zip(texts, parts, strict=True):
        offset += len(text)
        if flag < 0x80:
            expected.append(offset)
    places = [0, *sorted(cut for cut in cuts if cut < len(body)), len(body)]
    assert ends_of([body[a:b] for a, b in itertools.pairwise(places)]) == expected
    assert ends_of([body]) == expected
    assert ends_of([body[at : at + 1] for at in range(len(body))]) == expected


@given(st.binary(max_size=200), st.integers(1, 7))
def test_any_bytes_are_taken_and_little_is_kept(body, step):
    splitter = GrpcSplitter()
    for at in range(0, len(body), step):
        splitter.feed(body[at : at + step])
        assert len(splitter._prefix) < 5
    assert len(ends_of([body[at : at + step] for at in range(0, len(body), step)])) == len(ends_of([body]))


def test_trailers_of_grpc_web_count_only_where_asked_for():
    body = frame(0, b"abc") + frame(0x80, b"grpc-status: 0\r\n")
    assert GrpcSplitter().feed(body) == (8,)
    assert GrpcSplitter(every_frame=True).feed(body) == (8, len(body))


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        (frame(0, b"abc"), b"abc"),
        (frame(1, b"zipped"), b"zipped"),
        (frame(0, b""), b""),
        (frame(0, b"abc")[:-1], None),
        (frame(0x80, b"grpc-status: 0"), None),
        (b"\0\0\0", None),
        (b"", None),
    ],
)
def test_what_a_record_holds(raw, text):
    assert message(raw) == text


def test_trailers_are_told_from_messages():
    assert is_trailers(frame(0x80, b""))
    assert not is_trailers(frame(1, b""))
    assert not is_trailers(b"")


def body_of_a_grpcio_call(messages):
    """The DATA that a real grpcio client sends for a stream of `messages`, read by a bare h2 server."""
    listener = socket.create_server(("127.0.0.1", 0))
    pieces = []

    def serve():
        connection, _ = listener.accept()
        state = h2.connection.H2Connection(h2.config.H2Configuration(client_side=False))
        state.initiate_connection()
        connection.sendall(state.data_to_send())
        ended = False
        while not ended:
            for event in state.receive_data(connection.recv(65536)):
                if isinstance(event, h2.events.DataReceived):
                    pieces.append(event.data)
                if isinstance(event, h2.events.StreamEnded):
                    state.send_headers(event.stream_id, [(":status", "200"), ("content-type", "application/grpc")])
                    state.send_headers(event.stream_id, [("grpc-status", "0")], end_stream=True)
                    ended = True
            connection.sendall(state.data_to_send())
        while connection.recv(65536):
            pass
        connection.close()

    thread = threading.Thread(target=serve)
    thread.start()
    with listener, grpcio.insecure_channel(f"127.0.0.1:{listener.getsockname()[1]}") as channel:
        call = channel.stream_stream("/test.Echo/Talk")
        assert list(call(iter(messages), timeout=10)) == []
    thread.join(10)
    return pieces


def test_the_messages_of_a_real_grpcio_client():
    messages = [b"one", b"", b"x" * 40_000, b"\0\0\0\0\1"]
    pieces = body_of_a_grpcio_call(messages)
    body = b"".join(pieces)
    ends = ends_of([piece for piece in pieces if piece])
    assert [message(body[a:b]) for a, b in zip([0, *ends], ends, strict=False)] == messages


def test_the_highest_bit_alone_says_trailers():
    assert [is_trailers(bytes([flag])) for flag in (0, 1, 0x7F, 0x80, 0xFF)] == [False, False, False, True, True]
    assert not is_trailers(b"")
