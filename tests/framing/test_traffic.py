"""What says something, and what only keeps a stream alive. The texts are those of the real APIs."""

import pytest

from chaosproxy.framing.traffic import traffic

CHAT = b'{"id":"c","object":"chat.completion.chunk","choices":[{"index":0,"delta":%s,"finish_reason":%s}]%s}'


def chat(delta, finish=b"null", more=b""):
    return b"data: " + CHAT % (delta, finish, more) + b"\n\n"


@pytest.mark.parametrize(
    ("raw", "kind"),
    [
        (b": ping - 2026-11-30\r\n\r\n", "comment"),
        (b": OPENROUTER PROCESSING\n\n", "comment"),
        (b":\n\n", "comment"),
        (b"\n", "comment"),
        (b"unknown: field\n\n", "comment"),
        (b'event: ping\ndata: {"type": "ping"}\n\n', "ping_event"),
        (b'data: {"type": "ping"}\n\n', "ping_event"),
        (b"event: ping\n\n", "ping_event"),
        (b"id: 4\n\n", "other"),
        (b"retry: 4\n\n", "other"),
        (b"event: x\n\n", "other"),
        (b"data: [DONE]\n\n", "record"),
        (b'data: "delta" is what it is called\n\n', "record"),
        (b'data: ["delta"]\n\n', "record"),
        (b"data:\n\n", "record"),
        (chat(b"{}"), "empty_delta"),
        (chat(b"null"), "empty_delta"),
        (chat(b'{"content":""}'), "empty_delta"),
        (chat(b'{"role":"assistant","content":null}'), "empty_delta"),
        (chat(b'{"content":""}', more=b',"usage":null'), "empty_delta"),
        (chat(b'{"content":"Hi"}'), "record"),
        (chat(b'{"content":" "}'), "record"),
        (chat(b'{"reasoning_content":"hm"}'), "record"),
        (chat(b'{"tool_calls":[{"index":0}]}'), "record"),
        (chat(b"{}", b'"stop"'), "record"),
        (chat(b"{}", more=b',"usage":{"total_tokens":3}'), "record"),
        (chat(b"{}", more=b',"error":{"code":503}'), "record"),
        (b'data: {"choices":[],"usage":{"total_tokens":3}}\n\n', "record"),
        (b'data: {"choices":[]}\n\n', "empty_delta"),
        (b'data: {"choices":["odd"]}\n\n', "record"),
        (b'data: {"choices":[{"text":"","finish_reason":null}]}\n\n', "empty_delta"),
        (b'data: {"choices":[{"text":"a","finish_reason":null}]}\n\n', "record"),
        (b'data: {"type":"content_block_delta","delta":{"type":"text_delta","text":""}}\n\n', "empty_delta"),
        (b'data: {"type":"content_block_delta","delta":{"type":"text_delta","text":"a"}}\n\n', "record"),
        (b'data: {"type":"message_delta","delta":{"stop_reason":null},"usage":{"output_tokens":1}}\n\n', "record"),
        (b'data: {"type":"message_start","message":{"content":[]}}\n\n', "record"),
        (b'data: {"type":"response.output_text.delta","delta":""}\n\n', "empty_delta"),
        (b'data: {"type":"response.output_text.delta","delta":"a"}\n\n', "record"),
    ],
)
def test_event_streams(raw, kind):
    assert traffic("sse", raw) == kind


@pytest.mark.parametrize(
    ("raw", "kind"),
    [
        (b"\n", "comment"),
        (b" \r\n", "comment"),
        (b'{"message":{"role":"assistant","content":""},"done":false}\n', "empty_delta"),
        (b'{"message":{"role":"assistant","content":"a"},"done":false}\n', "record"),
        (b'{"message":{"role":"assistant","content":"","tool_calls":[{}]},"done":false}\n', "record"),
        (b'{"response":"","done":false}\n', "empty_delta"),
        (b'{"response":"a","done":false}\n', "record"),
        (b'{"response":"","done":true}\n', "record"),
        (b'{"message":"a record of something else"}\n', "record"),
        (b'{"status":"\\"response\\"","done":false}\n', "record"),
        (b'{"a":1}\n', "record"),
    ],
)
def test_lines(raw, kind):
    assert traffic("lines", raw) == kind


def test_grpc_messages_and_chunks():
    assert traffic("grpc", b"\0\0\0\0\0") == "record"
    assert traffic("grpc", b"\x80\0\0\0\0") == "other"
    assert traffic("chunks", b"x") == "record"
