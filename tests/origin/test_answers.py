"""Answers on the wire: what stands in which chunk, in which order, and not before when."""

import json
import socket
import time
from urllib.parse import quote

import httpx
import httpx_sse
import pytest

from chaosproxy.origin.serving import OriginOptions, serving
from tests.origin.conftest import WITHIN

CHAT = "/v1/chat/completions"
GEMINI = "/v1beta/models/m:streamGenerateContent"
EIGHT = ["Every", " stream", " begins", " as", " a", " promise", " and", " is"]
FAST = {"first": "0ms", "gap": "0ms"}


def chunks(url: str, method: str, target: str, body: dict | None = None) -> list[bytes]:
    """The chunks of an answer as they were framed, the last, empty one not among them."""
    host, _, port = url.removeprefix("http://").rpartition(":")
    content = json.dumps(body).encode() if body is not None else b""
    with socket.create_connection((host, int(port)), timeout=WITHIN) as client, client.makefile("rb") as answer:
        head = f"{method} {target} HTTP/1.1\r\nHost: x\r\nContent-Length: {len(content)}\r\n\r\n"
        client.sendall(head.encode() + content)
        assert answer.readline() == b"HTTP/1.1 200 OK\r\n"
        while answer.readline() != b"\r\n":
            pass
        found = []
        while size := int(answer.readline(), 16):
            found.append(answer.read(size))
            assert answer.read(2) == b"\r\n"
        return found


def data(chunk: bytes) -> dict:
    """The JSON of a chunk that is one event."""
    assert chunk.count(b"\n\n") == 1
    assert chunk.endswith(b"\n\n")
    return json.loads(chunk.rpartition(b"data: ")[2])


def test_a_chat_is_nine_events_each_a_chunk_of_its_own(shared):
    *events, done = chunks(shared.url, "POST", f"{CHAT}?first=0ms&gap=0ms", {"stream": True})
    assert done == b"data: [DONE]\n\n"
    choices = [data(event)["choices"][0] for event in events]
    assert [choice["delta"].pop("content") for choice in choices] == EIGHT
    assert [choice["delta"] for choice in choices] == [{"role": "assistant"}, *[{}] * 7]
    assert [choice["finish_reason"] for choice in choices] == [*[None] * 7, "stop"]
    assert len({data(event)["id"] for event in events}) == 1
    assert all("usage" not in data(event) for event in events)


def test_usage_comes_in_a_chunk_of_its_own_where_it_is_asked_for(shared):
    body = {"stream": True, "stream_options": {"include_usage": True}, "messages": [{"role": "user", "content": "a b"}]}
    *events, usage, done = chunks(shared.url, "POST", f"{CHAT}?first=0ms&gap=0ms", body)
    assert done == b"data: [DONE]\n\n"
    assert [data(event)["usage"] for event in events] == [None] * 8
    assert data(usage)["choices"] == []
    assert data(usage)["usage"] == {"prompt_tokens": 2, "completion_tokens": 8, "total_tokens": 10}


def test_one_token_is_first_and_last(shared):
    event, _ = chunks(shared.url, "POST", f"{CHAT}?first=0ms", {"stream": True, "max_tokens": 1})
    (choice,) = data(event)["choices"]
    assert choice["delta"] == {"role": "assistant", "content": "Every"}
    assert choice["finish_reason"] == "stop"


def test_completions(shared):
    *events, done = chunks(shared.url, "POST", "/v1/completions?first=0ms&gap=0ms", {"stream": True, "prompt": "once"})
    assert done == b"data: [DONE]\n\n"
    assert [data(event)["choices"][0]["text"] for event in events] == EIGHT


def test_responses_are_typed_and_numbered(shared):
    events = chunks(shared.url, "POST", "/v1/responses?tokens=2&first=0ms&gap=0ms", {"stream": True, "input": "hi"})
    kinds = ["created", "in_progress", "output_item.added", "content_part.added"]
    kinds += ["output_text.delta"] * 2
    kinds += ["output_text.done", "content_part.done", "output_item.done", "completed"]
    assert [data(event)["type"] for event in events] == [f"response.{kind}" for kind in kinds]
    assert [event.partition(b"\n")[0].decode() for event in events] == [f"event: response.{kind}" for kind in kinds]
    assert [data(event)["sequence_number"] for event in events] == list(range(10))
    assert data(events[-1])["response"]["usage"]["total_tokens"] == 3


def test_messages_are_typed(shared):
    events = chunks(shared.url, "POST", "/v1/messages?tokens=2&first=0ms&gap=0ms", {"stream": True})
    kinds = ["message_start", "content_block_start", "content_block_delta", "content_block_delta"]
    kinds += ["content_block_stop", "message_delta", "message_stop"]
    assert [data(event)["type"] for event in events] == kinds
    assert [event.partition(b"\n")[0].decode() for event in events] == [f"event: {kind}" for kind in kinds]


def test_ollama_streams_lines_unless_it_is_told_not_to(shared, http):
    lines = chunks(shared.url, "POST", "/api/chat?first=0ms&gap=0ms", {})
    assert all(line.endswith(b"}\n") for line in lines)
    *parts, last = [json.loads(line) for line in lines]
    assert [part["message"]["content"] for part in parts] == EIGHT
    assert {part["done"] for part in parts} == {False}
    assert (last["done"], last["done_reason"], last["eval_count"]) == (True, "stop", 8)
    assert http.post("/api/chat", params=FAST, json={}).headers["content-type"] == "application/x-ndjson"
    whole = http.post("/api/chat", params=FAST, json={"stream": False})
    assert whole.headers["content-type"] == "application/json"
    assert whole.json()["message"]["content"] == "".join(EIGHT)


def test_gemini_says_in_the_last_chunk_that_it_is_the_last_and_calls_the_model_as_the_path_does(shared, http):
    events = chunks(shared.url, "POST", f"{GEMINI}?alt=sse&first=0ms&gap=0ms", {})
    candidates = [data(event)["candidates"][0] for event in events]
    assert [candidate["content"]["parts"][0]["text"] for candidate in candidates] == EIGHT
    assert [candidate.get("finishReason") for candidate in candidates] == [*[None] * 7, "STOP"]
    assert data(events[-1])["usageMetadata"]["candidatesTokenCount"] == 8
    assert {data(event)["modelVersion"] for event in events} == {"m"}
    asked = {"contents": [{"role": "user", "parts": [{"text": "two words"}]}]}
    whole = http.post("/v1/models/m:generateContent", params=FAST, json=asked).json()
    assert whole["candidates"][0]["content"]["parts"][0]["text"] == "".join(EIGHT)
    assert whole["usageMetadata"]["totalTokenCount"] == 10


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize(
    ("path", "field"),
    [
        (CHAT, "length"),
        ("/v1/messages", "max_tokens"),
        ("/v1/responses", "max_output_tokens"),
        ("/api/chat", "length"),
        (GEMINI, "MAX_TOKENS"),
    ],
)
def test_a_text_that_the_limit_cuts_says_so(http, path, field, stream):
    limits = {"max_tokens": 2, "max_output_tokens": 2, "options": {"num_predict": 2}}
    limits["generationConfig"] = {"maxOutputTokens": 2}
    answer = http.post(path, params={**FAST, "text": "one two three"}, json={"stream": stream, **limits})
    assert f'eason":"{field}"' in answer.text  # finish_reason, stopReason
    assert "three" not in answer.text


def test_text_is_utf_8_and_not_escaped(http):
    answer = http.post(CHAT, params={**FAST, "text": "Grüße 世界 🙂"}, content=b'{"stream":true,"model":"\\ud800"}')
    assert '"content":"Grüße"' in answer.text
    assert '"content":" 🙂"' in answer.text


@pytest.mark.parametrize("path", [CHAT, "/v1/messages", "/v1/responses", "/api/chat", GEMINI])
def test_the_head_leaves_at_once_and_nothing_before_the_first_token(shared, path):
    host, port = shared.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=WITHIN) as client:
        client.sendall(
            f"POST {path}?first=forever HTTP/1.1\r\nHost: x\r\nContent-Length: 15\r\n\r\n".encode() + b'{"stream":true}'
        )
        head = b""
        while b"\r\n\r\n" not in head:
            head += client.recv(65536)
        assert head.startswith(b"HTTP/1.1 200 OK\r\n")
        assert head.endswith(b"\r\n\r\n")
        assert b"transfer-encoding: chunked" in head.lower()
        client.settimeout(0.2)
        with pytest.raises(TimeoutError):
            client.recv(1)


def test_tokens_do_not_come_before_their_time(http):
    begin = time.monotonic()
    with http.stream("POST", CHAT, params={"first": "100ms", "gap": "30ms"}, json={"stream": True}) as answer:
        arrivals = [time.monotonic() - begin for line in answer.iter_lines() if line]
    assert len(arrivals) == 9
    late = [arrival - (0.1 + 0.03 * k) for k, arrival in enumerate(arrivals)]
    assert min(late) >= 0


@pytest.mark.parametrize(
    ("path", "last_words"),
    [
        (CHAT, [b"[DONE]"]),
        ("/v1/completions", [b"[DONE]"]),
        ("/v1/responses", [b"output_text.done", b"response.completed"]),
        ("/v1/messages", [b"content_block_stop", b"message_delta", b"message_stop"]),
        ("/api/chat", [b'"done":true']),
    ],
)
def test_the_last_words_come_a_gap_behind_the_last_token(http, path, last_words):
    knobs = {"tokens": "1", "first": "0ms", "gap": "200ms"}
    came: dict[bytes, float] = {}
    begin = time.monotonic()
    with http.stream("POST", path, params=knobs, json={"stream": True}) as answer:
        for line in answer.iter_lines():
            came |= {word: time.monotonic() - begin for word in last_words if word in line.encode()}
    assert list(came) == last_words
    assert min(came.values()) >= 0.2


def test_speed_divides_both():
    with serving(OriginOptions(speed=10_000)) as fast, httpx.Client(base_url=fast.url, trust_env=False) as http:
        answer = http.post(CHAT, params={"first": "2m", "gap": "1m"}, json={"stream": True}, timeout=WITHIN)
    assert answer.text.endswith("data: [DONE]\n\n")


def test_an_answer_in_one_piece_has_its_length(http):
    answer = http.post(CHAT, params=FAST, json={"messages": [{"role": "user", "content": [{"text": "a b c"}]}]})
    assert answer.headers["content-length"] == str(len(answer.content))
    assert answer.json()["usage"] == {"prompt_tokens": 3, "completion_tokens": 8, "total_tokens": 11}
    assert answer.json()["choices"][0]["message"] == {"role": "assistant", "content": "".join(EIGHT), "refusal": None}


def test_a_connection_is_used_again(shared):
    host, port = shared.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=WITHIN) as client, client.makefile("rb") as answer:
        for _ in range(2):
            client.sendall(b"GET /sse?first=0ms&tokens=1 HTTP/1.1\r\nHost: x\r\n\r\n")
            assert answer.readline() == b"HTTP/1.1 200 OK\r\n"
            while answer.readline() != b"0\r\n":
                pass
            assert answer.readline() == b"\r\n"


def events(http: httpx.Client, last: str | None = None, **query: str) -> list[httpx_sse.ServerSentEvent]:
    headers = {} if last is None else {"Last-Event-ID": last}
    with httpx_sse.connect_sse(http, "GET", "/sse", params={**FAST, **query}, headers=headers) as source:
        return list(source.iter_sse())


def test_an_event_stream_has_no_blanks_around_a_token_and_other_separators_are_text(shared):
    text = quote("one\u2028two\n three")
    events = chunks(shared.url, "GET", f"/sse?first=0ms&gap=0ms&text={text}")
    assert [event.rpartition(b"data: ")[2].decode() for event in events] == ["one\n\n", "\u2028two\n\n", "three\n\n"]


def test_an_event_stream_can_be_resumed(http):
    assert [(one.id, one.data) for one in events(http, tokens="3")] == [
        ("1", "Every"),
        ("2", "stream"),
        ("3", "begins"),
    ]
    assert [one.retry for one in events(http, tokens="2")] == [1000, None]
    assert [(one.id, one.data) for one in events(http, tokens="4", last="2")] == [("3", "begins"), ("4", "as")]
    assert http.get("/sse", params={"tokens": "3"}, headers={"Last-Event-ID": "3"}).status_code == 204


@pytest.mark.parametrize("last", ["9", "-1", "abc", "9" * 5000])
def test_an_event_that_there_never_was(http, last):
    answer = http.get("/sse", params=FAST, headers={"Last-Event-ID": last})
    assert answer.status_code == 400
    assert "is none of the 8 events" in answer.json()["error"]


def test_every_event_of_a_stream_is_a_chunk(shared):
    assert chunks(shared.url, "GET", "/sse?first=0ms&gap=0ms&tokens=2") == [
        b"retry: 1000\nid: 1\ndata: Every\n\n",
        b"id: 2\ndata: stream\n\n",
    ]
