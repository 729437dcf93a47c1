"""What records carry, and which of them end an answer."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chaosproxy.framing.records import payload, terminal
from chaosproxy.framing.traffic import traffic

KINDS = ["sse", "lines", "grpc", "chunks"]


@pytest.mark.parametrize(
    ("kind", "raw", "carried"),
    [
        ("sse", b": c\n\nevent: x\ndata: a\ndata: b\n\n", b"a\nb"),
        ("sse", b": c\n\n", None),
        ("lines", b'\n{"a":1}\r\n', b'{"a":1}'),
        ("lines", b"\r\n", None),
        ("grpc", b"\0\0\0\0\1a", b"a"),
        ("grpc", b"\x80\0\0\0\1a", None),
        ("chunks", b"abc", b"abc"),
        ("chunks", b"", None),
    ],
)
def test_what_a_record_carries(kind, raw, carried):
    assert payload(kind, raw) == carried


@pytest.mark.parametrize(
    ("kind", "raw"),
    [
        ("sse", b"data: [DONE]\n\n"),
        ("sse", b"data:[DONE]\r\n\r\n"),
        ("sse", b'event: message_stop\ndata: {"type":"message_stop"}\n\n'),
        ("sse", b'data: {"type":"message_stop"}\n\n'),
        ("sse", b"event: message_stop\ndata: not json\n\n"),
        ("sse", b'event: response.completed\ndata: {"type":"response.completed"}\n\n'),
        ("sse", b'data: {"type": "response.failed"}\n\n'),
        ("sse", b'data: {"type": "response.incomplete"}\n\n'),
        ("lines", b'{"model":"m","done":true}\n'),
        ("lines", b'{"done" : true}'),
        ("lines", b"[DONE]\n"),
        ("chunks", b'{"done": true}'),
        ("grpc", b"\x80\0\0\0\x10grpc-status: 0\r\n"),
    ],
)
def test_a_terminal_record(kind, raw):
    assert terminal(kind, raw)


@pytest.mark.parametrize(
    ("kind", "raw"),
    [
        ("sse", b'data: {"choices":[{"delta":{},"finish_reason":"stop"}]}\n\n'),
        ("sse", b'data: {"type":"message_delta","delta":{"stop_reason":"end_turn"}}\n\n'),
        ("sse", b'data: {"text":"[DONE] message_stop \\"done\\":true"}\n\n'),
        ("sse", b'data: {"type":["message_stop"]}\n\n'),
        ("sse", b'data: {"inner":{"done":true}}\n\n'),
        ("sse", b"data: message_stop\n\n"),
        ("sse", b'data: ["message_stop"]\n\n'),
        ("sse", b"event: message_stop\n\n"),
        ("sse", b": [DONE]\n\n"),
        ("lines", b'{"done":false}\n'),
        ("lines", b'{"done":1}\n'),
        ("lines", b'{"done":"true"}\n'),
        ("lines", b"\n"),
        ("grpc", b"\0\0\0\0\6[DONE]"),
        ("grpc", b""),
        ("chunks", b""),
    ],
)
def test_a_record_that_ends_nothing(kind, raw):
    assert not terminal(kind, raw)


@pytest.mark.parametrize(
    "hostile",
    [
        b"[" * 1_000_000 + b'"message_stop"',
        b'{"done":' * 100_000 + b"true",
        b'{"done":true,"n":' + b"9" * 5000 + b"}",
        b'{"done":true,"n":NaN}',
        b'{"done":true,"done":true}',
        b'{"done":true,"s":"\\ud800"}',
        '{"done":true}'.encode("utf-16"),
        b'{"done":true,"s":"\xed\xa0\x80"}',
        b'{"done":true} x "delta"',
    ],
)
def test_what_is_not_plainly_json_ends_nothing(hostile):
    assert not terminal("lines", hostile)
    assert traffic("lines", hostile) == "record"


@given(st.sampled_from(KINDS), st.binary(max_size=40))
def test_any_bytes_are_taken(kind, raw):
    carried = payload(kind, raw)
    assert carried is None or len(carried) <= len(raw)
    assert terminal(kind, raw) in {True, False}
    assert traffic(kind, raw) in {"record", "comment", "ping_event", "empty_delta", "other"}
