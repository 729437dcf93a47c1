"""Whatever a peer sends where JSON is expected, each place that reads it goes on: it is not JSON, or it is what it is,
and nothing else happens."""

import asyncio
import json
from collections import Counter

import pytest

from chaosproxy.chain.sought import Sought
from chaosproxy.chain.trigger import Trigger
from chaosproxy.check import baseline, told
from chaosproxy.client.answer import Answer
from chaosproxy.demo.words import _error_at_the_end
from chaosproxy.diagnose.leaving import number
from chaosproxy.errors import UsageError
from chaosproxy.faults.mutating import inserting, rewriting
from chaosproxy.faults.parts import without
from chaosproxy.framing.records import terminal
from chaosproxy.framing.saying import says
from chaosproxy.framing.traffic import traffic
from chaosproxy.journal.reader import NoRecordError, record_of
from chaosproxy.judging.chain import AbortChain
from chaosproxy.model import json_values
from chaosproxy.origin.app import Origin
from chaosproxy.origin.engine import Engine
from chaosproxy.origin.question import Knobs
from chaosproxy.origin.runtime import Runtime
from chaosproxy.proxy.account import _read
from chaosproxy.report.line import shown as printable
from chaosproxy.testing.peers import Origin as Server
from chaosproxy.testing.peers import RawClient
from chaosproxy.testing.proxied import linked
from tests.security.hostile_json import HOSTILE, NOT_JSON
from tests.security.pumping import seconds

SHOWN = "files"
MUST = "no JSON or what it is; nothing raises"
ASKED = (("stream", True),)


def test_what_is_json_is_told_from_what_is_not():
    for name, text in HOSTILE.items():
        read = json_values.parse(text)
        if name in NOT_JSON:
            assert read is json_values.NOT_JSON, name
        assert not (json_values.holds(read, ASKED) and name in NOT_JSON)


def event(text: bytes) -> bytes:
    return b"data: " + text.replace(b"\n", b" ").replace(b"\r", b" ") + b"\n\n"


READERS = {
    "a place by `json`": lambda text: Sought(Trigger(json=ASKED), "sse").means(event(text)),
    "the end of an answer": lambda text: terminal("sse", event(text + b'"done"')),
    "keep-alives": lambda text: traffic("sse", event(text + b'"delta"')),
    "what says something": lambda text: says("lines", text + b"\n"),
    "strip": lambda text: without("usage", "sse", event(text)),
    "mutate, members": lambda text: rewriting((("b.c", 1), ("text", "x")), ("stream", "b.a.a"), "sse")(event(text)),
    "mutate, text": lambda text: inserting(b"x", "text", "sse")(event(text)),
    "mutate, known text": lambda text: inserting(b"x", None, "sse")(event(text)),
    "demo": lambda text: _error_at_the_end(
        Answer("h2", 200, ((b"content-type", b"text/event-stream"),), text=event(text))
    ),
    "abort_chain": lambda text: AbortChain(within=1.0, links=(("a", "running"),))._judged(_read(200, text)[0]),
    "diagnose": lambda text: number(text, "running"),
}
"""Each with a text of a peer's."""


def test_the_readers_of_bodies_go_on(shown):
    slowest = 0.0
    for text in HOSTILE.values():
        for read in READERS.values():
            slowest = max(slowest, seconds(lambda read=read, text=text: read(text)))
    shown(
        SHOWN,
        "JSON in bodies, wherever one is read: " + ", ".join(READERS),
        tried=len(HOSTILE) * len(READERS),
        must=MUST,
        happens="nothing raises",
        figure=f"the slowest takes {1000 * slowest:.0f} ms",
    )


def test_a_change_leaves_a_document_a_document():
    """Of what is nested nearly too deep as of everything else: it is changed, or it is as it was."""
    for depth in range(900, 1000):
        text = b'{"b":' + b"[" * depth + b"]" * depth + b',"text":"a"}'
        for change in (
            rewriting((("c", 1),), (), "lines"),
            rewriting((), ("text",), "lines"),
            inserting(b"x", "text", "lines"),
        ):
            new = change(text + b"\n")
            assert new.startswith(b'{"b":[')
            assert new.count(b"[") == new.count(b"]") == depth
            assert new == text + b"\n" or new.rstrip()[-5:] in {
                b',"c":1}'[-5:],
                b"]]]]}"[-5:],
                b'"xa"}',
                b'"ax"}'[-5:],
            }, new[-20:]


async def test_a_rule_by_json_takes_none_of_them(autojump_clock, shown):
    served = Server([b"HTTP/1.1 204 No Content\r\n\r\n"])
    scenario = {"version": 1, "rules": [{"match": {"json": {"stream": True}}, "faults": [{"respond": 418}]}]}
    outcomes = Counter()
    async with linked(scenario, served.serve) as proxied:
        for name, text in HOSTILE.items():
            async with RawClient(proxied.connect()) as client:
                await client.send(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % len(text))
                await client.send(text)
                await client.read_until(b"\r\n\r\n")
            record = await proxied.last(sum(outcomes.values()) + 1)
            assert record.response.status in {204, 418}
            assert (record.rule is None) == (record.response.status == 204)
            assert record.rule is None or name not in NOT_JSON, name
            outcomes[record.response.status] += 1
    shown(
        SHOWN,
        "JSON of requests, matched by a rule",
        tried=len(HOSTILE),
        must="what is no JSON matches nothing and passes",
        happens="they pass" if set(outcomes) <= {204, 418} else str(outcomes),
    )


PATHS = (
    "/v1/chat/completions",
    "/v1/completions",
    "/v1/responses",
    "/v1/messages",
    "/api/chat",
    "/v1beta/models/m:generateContent",
)


async def posted(application, path: str, content: bytes) -> tuple[int, bytes]:
    """A request to the application, without a server."""
    sent, said = [], iter([{"type": "http.request", "body": content, "more_body": False}])

    async def receive():
        for message in said:
            return message
        return await asyncio.Event().wait()  # for ever

    async def send(message):
        sent.append(message)

    scope = {"type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": "POST", "path": path, "raw_path": path.encode(), "root_path": "", "scheme": "http", "query_string": b"", "headers": [], "client": ("a", 1), "server": ("b", 2)}  # fmt: skip
    await application(scope, receive, send)
    return sent[0]["status"], b"".join(message["body"] for message in sent[1:])


def test_the_origin_answers_or_refuses(shown):
    statuses = set()

    async def all_of_them():
        application = Origin(Runtime(Engine(4, 1024)), frozenset(), Knobs(first=0.0, gap=0.0)).application()
        for path in PATHS:
            for name, text in HOSTILE.items():
                status, body = await posted(application, path, text)
                assert status in {200, 400}, name
                if status == 400 or not body.startswith((b"data:", b"event:")):
                    json.loads(body.splitlines()[-1])
                statuses.add(status)

    asyncio.run(all_of_them())
    shown(
        SHOWN,
        "JSON of requests to the embedded origin",
        tried=len(HOSTILE) * len(PATHS),
        must="an answer, or 400",
        happens=" or ".join(map(str, sorted(statuses))),
    )


def test_what_a_client_under_test_prints_is_read(shown):
    for text in HOSTILE.values():
        for out in (
            text,
            b'{"text": "a", "error": %b}' % text,
            b'{"finish": %b}' % text,
            b'{"outcome": %b, "n": %b}' % (text, text),
        ):
            said = told.read(b"before\n" + out, text, 0)
            for one in (said.text, said.error, said.finish or ""):
                assert "\n" not in printable(one)
                json.dumps(one).encode()
    shown(SHOWN, "JSON that a client under test prints", tried=4 * len(HOSTILE), must=MUST, happens="nothing raises")


@pytest.mark.parametrize("more", [b"", b'{"version": 1, "known": ', b'{"version": '])
def test_a_baseline_that_is_none_says_so(more, tmp_path):
    file, reasons = tmp_path / "known.json", set()
    for text in HOSTILE.values():
        file.write_bytes(more + text + (b"}" if more else b""))
        try:
            known = baseline.read(file)
        except UsageError as error:
            reasons.add(str(error))
        else:
            assert all(isinstance(one, str) for pair in known.items() for one in pair)
    assert all("is no baseline" in reason or "larger than" in reason for reason in reasons)


def test_a_line_of_a_journal_that_is_none_says_so():
    for name, text in HOSTILE.items():
        with pytest.raises(NoRecordError):
            record_of(text)
        with pytest.raises(NoRecordError):
            record_of(b'{"id": 1, "client": %b}' % text)
        assert name
