"""Limits and silences in every format that is streamed: who says something meanwhile, who is deceived by it, who is not.

Formats are those of OpenAI's chat and responses, Anthropic's messages, Ollama's lines, plain events, plain JSON lines.
"""

from dataclasses import dataclass
from random import Random

import pytest

from chaosproxy.chain.fault import Context
from chaosproxy.chain.trigger import Trigger
from chaosproxy.faults import Stall, Timeout
from chaosproxy.faults.stall import Meanwhile
from chaosproxy.framing.splitter import RecordKind
from chaosproxy.framing.traffic import KEEP_ALIVES, KeepAlive, traffic
from chaosproxy.model.messages import End, RequestHead, ResponseHead
from chaosproxy.model.vocabulary import Framing


@dataclass(frozen=True)
class Format:
    path: str
    content_type: str
    kind: RecordKind
    token: bytes
    """A record that says something."""
    last: bytes
    silent: KeepAlive | None = None
    """What nobody says in it."""

    @property
    def head(self) -> ResponseHead:
        return ResponseHead(200, ((b"content-type", self.content_type.encode()),), framing=Framing.CHUNKED)

    @property
    def context(self) -> Context:
        return Context(Random(0), RequestHead(b"POST", self.path.encode(), final=True))


SSE, NDJSON = "text/event-stream; charset=utf-8", "application/x-ndjson"
DONE = b"data: [DONE]\n\n"
FORMATS = {
    "chat": Format(
        "/v1/chat/completions", SSE, "sse", b'data: {"choices":[{"index":0,"delta":{"content":"Hi"}}]}\n\n', DONE
    ),
    "completions": Format("/v1/completions", SSE, "sse", b'data: {"choices":[{"index":0,"text":"Hi"}]}\n\n', DONE),
    "responses": Format(
        "/v1/responses",
        SSE,
        "sse",
        b'event: response.output_text.delta\ndata: {"type":"response.output_text.delta","delta":"Hi"}\n\n',
        b'event: response.completed\ndata: {"type":"response.completed","response":{}}\n\n',
    ),
    "messages": Format(
        "/v1/messages",
        SSE,
        "sse",
        b'event: content_block_delta\ndata: {"type":"content_block_delta","delta":{"type":"text_delta","text":"Hi"}}\n\n',
        b'event: message_stop\ndata: {"type":"message_stop"}\n\n',
    ),
    "ollama chat": Format(
        "/api/chat",
        NDJSON,
        "lines",
        b'{"message":{"role":"assistant","content":"Hi"},"done":false}\n',
        b'{"message":{"role":"assistant","content":""},"done":true}\n',
        silent="ping_events",
    ),
    "ollama generate": Format(
        "/api/generate",
        NDJSON,
        "lines",
        b'{"response":"Hi","done":false}\n',
        b'{"response":"","done":true}\n',
        "ping_events",
    ),
    "plain events": Format("/sse", "text/event-stream", "sse", b"id: 1\ndata: Hi\n\n", b"data: bye\n\n"),
    "plain lines": Format("/export", "application/jsonl", "lines", b'{"n":1}\n', b'{"n":2}\n', "ping_events"),
}
every_format = pytest.mark.parametrize("name", FORMATS)
every_keep_alive = pytest.mark.parametrize("what", KEEP_ALIVES)


def played(play, name, faults, script):
    form = FORMATS[name]
    return play(faults, script, head=form.head, context=form.context, request=form.context.request)


def stalled(name, what):
    """The stream stops for a minute behind its second token, and says so every five seconds."""
    form = FORMATS[name]
    stall = Stall(for_=60.0, at=Trigger(event=2), meanwhile=Meanwhile(**{what: 5.0}))
    return stall, [(1.0, form.token), (2.0, form.token), (3.0, form.last), (3.0, End())]


@every_format
@every_keep_alive
def test_what_is_said_meanwhile_is_read_as_what_it_is_and_the_content_stays(play, name, what):
    stall, script = stalled(name, what)
    form, seen = FORMATS[name], played(play, name, [stall], script)
    between = [(time, data) for time, data in seen.body if 2.0 < time < 62.0]
    if what == form.silent:
        assert between == []
        assert f"silent: no {what} can be said here" in seen.fired[0][2]
    else:
        assert [time for time, _ in between] == [7.0 + 5 * number for number in range(11)]
        assert {traffic(form.kind, data) for _, data in between} == {KEEP_ALIVES[what]}
    content = [data for _, data in seen.body if (_, data) not in between]
    assert b"".join(content) == form.token * 2 + form.last
    assert seen.end == (62.0, End())


@every_format
@every_keep_alive
def test_a_timer_of_bytes_is_deceived_and_one_of_content_is_not(play, name, what):
    stall, script = stalled(name, what)
    silent = what == FORMATS[name].silent
    by_bytes = played(play, name, [[stall], [Timeout(idle=8.0)]], script)
    assert (by_bytes.cancel_cause == "timeout:idle") is silent
    by_content = played(play, name, [[stall], [Timeout(idle=8.0, ignore=(what,))]], script)
    assert (by_content.cancel_cause, by_content.cancelled_at) == ("timeout:idle", 10.0)
    others = tuple(other for other in KEEP_ALIVES if other != what)
    deceived = played(play, name, [[stall], [Timeout(idle=8.0, ignore=others)]], script)
    assert (deceived.cancel_cause == "timeout:idle") is silent


@every_format
@pytest.mark.parametrize(
    ("first", "second", "cause", "at"),
    [
        (20.0, 3.0, "", None),  # the first token may take long, then each comes in time
        (9.0, 3.0, "timeout:first_event", 9.0),
        (20.0, 1.5, "timeout:idle", 11.5),
    ],
)
def test_two_phases_the_first_token_and_then_each(play, name, first, second, cause, at):
    """A comment or an empty line keeps the bytes coming until the first token, which takes ten seconds."""
    form = FORMATS[name]
    beat = b": wait\n\n" if form.kind == "sse" else b"\n"
    early = [(number / 2, beat) for number in range(1, 20)]
    script = [*early, *((number, form.token) for number in (10.0, 12.0, 14.0)), (14.0, form.last), (14.0, End())]
    phases = [[Timeout(first_event=first)], [Timeout(idle=second)]]
    for hops in (phases, phases[::-1], [[*phases[0], *phases[1]]]):
        seen = played(play, name, hops, script)
        assert (seen.cancel_cause, seen.cancelled_at) == (cause, at)
        assert seen.data.count(form.token) == (3 if not cause else {9.0: 0, 11.5: 1}[at])


@every_format
def test_both_phases_in_one_fault_that_looks_through_keep_alives(play, name):
    form = FORMATS[name]
    beat = b": wait\n\n" if form.kind == "sse" else b"\n"
    limits = Timeout(first_event=20.0, idle=5.0, ignore=("comments", "ping_events", "empty_deltas"))
    script = [(1.0, form.token), *((1.0 + number, beat) for number in range(1, 20)), (21.0, End())]
    seen = played(play, name, [limits], script)
    assert (seen.cancel_cause, seen.cancelled_at) == ("timeout:idle", 6.0)
    late = [*((float(number), beat) for number in range(1, 4)), (4.0, form.token), (8.0, form.last), (8.0, End())]
    assert played(play, name, [limits], late).cancel_cause == ""
