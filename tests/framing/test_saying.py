"""Which records say something, in the shapes of the providers."""

import pytest

from chaosproxy.framing.saying import says


def sse(data, event=b""):
    return (b"event: %b\n" % event if event else b"") + b"data: %b\n\n" % data


SAY = {
    "plain text": sse(b"hello"),
    "a document of no known shape": sse(b'{"a": 1}'),
    "a list": sse(b"[1]"),
    "a message of no known shape": sse(b'{"message":""}'),
    "done, of no known shape": sse(b'{"done":false,"x":1}'),
    "chat": sse(b'{"choices":[{"delta":{"content":"a"}}]}'),
    "chat, a tool": sse(b'{"choices":[{"delta":{"tool_calls":[{"index":0}]}}]}'),
    "chat, reasoning": sse(b'{"choices":[{"delta":{"reasoning_content":"a"}}]}'),
    "completions": sse(b'{"choices":[{"text":"a"}]}'),
    "responses": sse(b'{"type":"response.output_text.delta","delta":"a"}'),
    "anthropic": sse(
        b'{"type":"content_block_delta","delta":{"type":"text_delta","text":"a"}}', b"content_block_delta"
    ),
}
SAY_NOTHING = {
    "a comment": b": keep-alive\n\n",
    "only an id": b"id: 1\n\n",
    "done": sse(b"[DONE]"),
    "chat, the role": sse(b'{"choices":[{"delta":{"role":"assistant","content":""}}]}'),
    "chat, the reason": sse(b'{"choices":[{"delta":{},"finish_reason":"stop"}]}'),
    "chat, usage": sse(b'{"choices":[],"usage":{"total_tokens":3}}'),
    "chat, no choice at all": sse(b'{"choices":[1]}'),
    "responses, created": sse(b'{"type":"response.created","response":{"id":"r"}}'),
    "responses, empty": sse(b'{"type":"response.output_text.delta","delta":""}'),
    "anthropic, ping": sse(b'{"type":"ping"}', b"ping"),
    "anthropic, start": sse(b'{"type":"message_start","message":{"id":"m"}}', b"message_start"),
    "anthropic, block": sse(b'{"type":"content_block_start","content_block":{"type":"text","text":""}}'),
    "anthropic, end": sse(b'{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":3}}'),
}


@pytest.mark.parametrize("raw", SAY.values(), ids=SAY)
def test_what_says_something(raw):
    assert says("sse", raw)


@pytest.mark.parametrize("raw", SAY_NOTHING.values(), ids=SAY_NOTHING)
def test_what_says_nothing(raw):
    assert not says("sse", raw)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (b'{"message":{"role":"assistant","content":"a"},"done":false}\n', True),
        (b'{"response":"a","done":false}\n', True),
        (b'{"message":{"role":"assistant","content":""},"done":true}\n', False),
        (b"\n", False),
        (b"anything\n", True),
    ],
)
def test_lines(line, said):
    assert says("lines", line) is said


def test_any_message_of_grpc_and_any_chunk():
    assert says("grpc", b"\x00\x00\x00\x00\x01a")
    assert not says("grpc", b"\x80\x00\x00\x00\x01a"), "trailers"
    assert says("chunks", b"a")
