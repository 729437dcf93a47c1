"""Failures inside a 200, and pages in place of streams: what is on the wire, and who notices."""

import json

import pytest

from chaosproxy.testing.peers import Ending, Origin, Pause, RawClient
from chaosproxy.testing.proxied import linked
from tests.incidents.readers import careful, error_of, events, shown, strict, text_of
from tests.virtual.shipped import GET, LAST, SSE, chunk, stream, told

CHAT = [
    SSE,
    *[
        step
        for word in "abcdefgh"
        for step in (chunk(b'data: {"choices":[{"delta":{"content":"%s"}}]}\n\n' % word.encode()), Pause(1))
    ],
    chunk(b"data: [DONE]\n\n"),
    LAST,
]
NDJSON = b"HTTP/1.1 200 OK\r\nContent-Type: application/x-ndjson\r\nTransfer-Encoding: chunked\r\n\r\n"


async def test_the_nested_shape(autojump_clock):
    seen = await told("error-openai", CHAT)
    last = json.loads(events(seen.payload)[-1])
    assert last["error"]["message"] == "The server had an error while processing your request"
    assert (text_of(seen), seen.whole) == ("abcde", True)
    assert error_of(seen, flat=False) == error_of(seen, flat=True) == last["error"]["message"]


async def test_the_flat_shape(autojump_clock):
    seen = await told("error-openai-flat", CHAT)
    assert b"event: error\n" in seen.payload
    last = json.loads(events(seen.payload)[-1])
    assert (last["code"], "error" in last) == ("server_error", False)
    assert (text_of(seen), seen.whole) == ("abcde", True)
    assert error_of(seen, flat=False) is None, "to who knows one shape, it is data"
    assert error_of(seen, flat=True) == last["message"]


async def test_overloaded_before_any_content(autojump_clock):
    served = Origin(stream(3, 0.02))
    async with linked("overloaded-at-once", served.serve) as proxied:
        bodies = []
        for _ in range(3):
            async with RawClient(proxied.connect()) as client:
                await client.send(GET)
                await client.read_until(LAST)
                assert client.head.startswith(b"HTTP/1.1 200 "), "whoever retries by status does not"
                bodies.append(client.body)
    assert [b"overloaded_error" in body for body in bodies] == [True, True, False]
    assert [body.count(b"data: ") for body in bodies] == [1, 1, 4]


async def test_overloaded_behind_some_content(autojump_clock):
    seen = await told("error-anthropic", stream(8, 1))
    assert json.loads(events(seen.payload)[-1])["error"]["type"] == "overloaded_error"
    assert (seen.count, seen.whole, seen.pieces[-1][0]) == (6, True, 4)
    assert (strict(seen).outcome, careful(seen).outcome) == ("whole", "broken")


async def test_a_line_that_is_an_error(autojump_clock):
    lines = [chunk(b'{"message":{"content":"%d"},"done":false}\n' % number) for number in range(8)]
    seen = await told("error-ollama", [NDJSON, *lines, chunk(b'{"done":true}\n'), LAST])
    found = [json.loads(line) for line in seen.payload.splitlines()]
    assert ([list(line) for line in found[:5]], list(found[5])) == ([["message", "done"]] * 5, ["error"])
    assert (len(found), seen.whole) == (6, True)


async def test_an_exception_that_ends_the_answer_cleanly(autojump_clock):
    seen = await told("hidden-failure", CHAT)
    assert (seen.status, text_of(seen), seen.whole, error_of(seen, flat=True)) == (200, "abc", True, None)
    assert (strict(seen).outcome, careful(seen).outcome) == ("whole", "broken")


async def test_an_exception_that_closes_the_connection(autojump_clock):
    seen = await told("missing-last-chunk", CHAT)
    assert (seen.status, text_of(seen), seen.ending, error_of(seen, flat=True)) == (200, "abc", Ending.FIN, None)
    assert (strict(seen).outcome, careful(seen).outcome) == ("broken", "broken")


async def page(scenario: str, status: int) -> None:
    seen = await told(scenario, CHAT, within=60)
    assert seen.status == status
    assert b"\r\ncontent-type: text/html" in seen.raw.lower()
    assert seen.body.startswith(b"<html>")
    assert seen.origin.requests == []
    assert shown(seen, looks=False).startswith("<html>")
    assert shown(seen, looks=True) == ""


async def test_a_page_in_place_of_a_stream(autojump_clock):
    await page("html-page", 503)


async def test_a_page_in_place_of_a_login(autojump_clock, monkeypatch):
    monkeypatch.setenv("CHAOS_STATUS", "401")
    await page("html-page", 401)


async def test_a_page_with_status_200(autojump_clock, monkeypatch):
    monkeypatch.setenv("CHAOS_STATUS", "200")
    await page("html-page", 200)


async def test_two_failures_and_no_token(autojump_clock):
    seen = await told("failed-at-once", CHAT)
    assert [line for line in seen.payload.splitlines() if line.startswith(b"event: ")] == [
        b"event: error",
        b"event: response.failed",
    ]
    found = [json.loads(event) for event in events(seen.payload)]
    assert (found[1]["response"]["status"], found[1]["response"]["error"]["message"]) == ("failed", "The model failed")
    assert (seen.status, seen.whole, error_of(seen, flat=True)) == (200, True, "The model failed")
    assert "".join(str(one.get("delta", "")) for one in found) == "", "an empty turn, to who ignores unknown types"


async def test_an_event_without_choices(autojump_clock):
    seen = await told("error-without-choices", CHAT)
    (event,) = map(json.loads, events(seen.payload))
    assert (event["error_type"], "choices" in event) == ("validation", False)
    assert (seen.status, seen.whole, b"[DONE]" in seen.payload) == (200, True, False)
    assert error_of(seen, flat=False).startswith("Input validation error")
    with pytest.raises(KeyError, match="choices"):
        event["choices"][0]
