"""What a scenario says in words never becomes a second line, field, chunk or message, whatever a variable of the
environment puts into it: it is refused when it is read, or it stays what it was meant to be.

Made of the registry and of the examples on the faults' pages: the next fault is covered by itself.
"""

import contextlib
import copy
import re
from collections.abc import Iterator, Mapping

import pytest
import trio
import yaml

import chaosproxy.faults
from chaosproxy.chain.fault import REGISTRY
from chaosproxy.judging.check import CHECKS
from chaosproxy.presets.preset import PRESETS
from chaosproxy.scenario.load import examine
from chaosproxy.scenario.reference import parameters
from chaosproxy.testing.h2_peers import h2_client
from chaosproxy.testing.peers import Origin, RawClient
from chaosproxy.testing.proxied import linked
from docs.generate import FAULTS
from tests.security.wire import WrongError, one_message, sound_fields

GRAMMAR = {"chunk_syntax", "framing", "garbage"}
"""Faults that are there to break the grammar of HTTP. (`inject: bytes` breaks that of a body, not of the message.)"""
HOSTILE = {
    "a field": "a\r\nx-smuggled: 1",
    "a line feed": "a\nx-smuggled: 1",
    "an answer": "a\r\n\r\nHTTP/1.1 200 OK\r\nx-smuggled: 1\r\nContent-Length: 0\r\n\r\n",
    "a last chunk": "0\r\n\r\nHTTP/1.1 200 OK\r\nx-smuggled: 1\r\n\r\n",
    "a NUL": "a\0x-smuggled: 1",
}
VARIABLE = "${HOSTILE}"
WORDS = ("text", "any value", "header fields", "a mapping", "an ending", "a condition")
SHIPPED = sorted(name for name, spec in REGISTRY.items() if spec.__module__.startswith(chaosproxy.faults.__name__))

CHUNKED = b"HTTP/1.1 200 OK\r\nContent-Type: %b\r\nTransfer-Encoding: chunked\r\n\r\n"
BODIES = {
    "sse": (b"text/event-stream", [b'data: {"choices":[{"delta":{"content":"a"}}]}\n\n'] * 3 + [b"data: [DONE]\n\n"]),
    "lines": (b"application/x-ndjson", [b'{"response":"a"}\n'] * 3),
    "grpc": (b"application/grpc", [b"\0\0\0\0\x01a"] * 3),
}


def script(kind: str) -> list[bytes]:
    content_type, pieces = BODIES[kind]
    return [CHUNKED % content_type, *(b"%x\r\n%b\r\n" % (len(piece), piece) for piece in pieces), b"0\r\n\r\n"]


def given(name: str) -> Iterator[tuple[str, object]]:
    """What stands at a fault on its page, and under what."""

    def found(value, where):
        if isinstance(value, dict):
            for key, one in value.items():
                if key == name:
                    yield where, one
                yield from found(one, key if key == "connections" else where)
        elif isinstance(value, list):
            for one in value:
                if one == name:
                    yield where, {}
                yield from found(one, where)

    for text in re.findall(r"```yaml\n(.*?)```", (FAULTS / f"{name}.md").read_text(encoding="utf-8"), re.DOTALL):
        yield from found(yaml.safe_load(text), "faults")


def replaced(value, word: str) -> Iterator[object]:
    """The structure with one of its texts, or one of its keys, in turn replaced."""
    if isinstance(value, str):
        yield word
    elif isinstance(value, dict):
        for key, one in value.items():
            for new in replaced(one, word):
                yield {**value, key: new}
            if isinstance(one, str):
                yield {word if other == key else other: it for other, it in value.items()}
    elif isinstance(value, list):
        for at, one in enumerate(value):
            for new in replaced(one, word):
                yield [*value[:at], new, *value[at + 1 :]]


def of_fault(name: str, word: str) -> Iterator[dict]:
    """Scenarios in which a fault has the word somewhere."""
    spec = REGISTRY[name]
    places = {"at": {"event": 2}} if spec.needs_at or spec.has_at else {}
    for where, value in given(name):
        base = value if isinstance(value, dict) else {(spec.main or "mode").rstrip("_"): value}
        variants = list(replaced(value, word))
        for parameter in parameters(spec):
            if any(one in parameter.form for one in WORDS):
                for new in (
                    word,
                    [word],
                    {"x-a": word},
                    {word: "a"},
                    {"status": 503, "body": word},
                    {"status": 503, "headers": {"x-a": word}},
                ):
                    variants += [{**base, parameter.key: new}, {parameter.key: new}, {**places, parameter.key: new}]
        for variant in variants:
            yield {
                "version": 1,
                **(
                    {"connections": [{"faults": [{name: variant}]}]}
                    if where == "connections"
                    else {"faults": [{name: variant}]}
                ),
            }


def of_scenario(word: str) -> Iterator[dict]:
    """And those that have it elsewhere."""
    yield {"version": 1, "upstream": {"host": word}}
    yield {"version": 1, "upstream": {"host": f"x:{word}"}}
    respond = {"faults": [{"respond": 200}]}
    for key in ("name", "about"):
        yield {"version": 1, key: word, **respond}
    yield {"version": 1, "mount": f"/{word}", **respond}
    yield {"version": 1, "hops": [{"name": word, "faults": [{"respond": 200}]}]}
    for match in (
        {"method": word},
        {"path": f"/{word}"},
        {"query": {word: word}},
        {"headers": {word: word}},
        {"json": {"a": word}},
    ):
        yield {"version": 1, "match": match, **respond}
    for check in ({"header": {"name": word, "value": word}}, {"fired": word}, {"ended": {"by": word}}):
        yield {"version": 1, "expect": [check]}
    for name, check in sorted(CHECKS.items()):
        for parameter in parameters(check):
            if any(one in parameter.form for one in WORDS):
                for new in (word, f"/{word}", f"http://x/{word}", f"http://{word}/", [word], {"a": word}, {word: "a"}):
                    yield {"version": 1, "expect": [{name: {parameter.key: new}}]}
                    yield {"version": 1, "expect": [{name: {"within": "1s", parameter.key: new}}]}
    for name, preset in sorted(PRESETS.items()):
        for parameter in parameters(preset):
            if any(one in parameter.form for one in WORDS):
                yield {"version": 1, "hops": [{"preset": name, parameter.key: word}]}


def distinct(scenarios: Iterator[dict]) -> dict[str, dict]:
    return {yaml.safe_dump(one, width=1000): one for one in scenarios}


def with_values(scenario, value: str):
    """As the loader is given it where the word can be in no environment."""
    match scenario:
        case str():
            return scenario.replace(VARIABLE, value)
        case Mapping():
            return {with_values(key, value): with_values(one, value) for key, one in scenario.items()}
        case list():
            return [with_values(one, value) for one in scenario]
        case _:
            return scenario


def accepted(scenarios: dict[str, dict], value: str) -> Iterator[dict]:
    """Those that are read, as YAML with a variable; each refused one has its places."""
    for text, scenario in scenarios.items():
        plain = with_values(scenario, value)
        if "\0" in value:
            read, problems = examine(plain)
        else:
            read, problems = examine(text, env={"HOSTILE": value})
            assert (read is None) >= (examine(plain)[0] is None), "a variable is data as what it holds is"
            assert read is not None or all(one.line > 0 for one in problems if not one.warning)
        if read is not None:
            yield plain


async def exercise(scenario: dict, kind: str, *, over_h2: bool) -> None:
    """Ask once. WrongError if either side is sent more, or something else, than one message."""
    served = Origin(script(kind))
    path = {"sse": "/v1/chat/completions", "lines": "/api/chat", "grpc": "/a.B/C"}[kind]
    async with linked(scenario, served.serve) as proxied:
        if over_h2:
            async with h2_client(proxied.connect()) as client:
                with trio.move_on_after(100), contextlib.suppress(ConnectionError, EOFError):  # it may be ended
                    await client.request(1, path)
                    await client.until(lambda: client.streams[1].over, within=200)
            for head in client.streams[1].heads:
                sound_fields(head)
        else:
            async with RawClient(proxied.connect()) as client:
                await client.send(b"GET %b HTTP/1.1\r\nHost: x\r\nAccept-Encoding: gzip\r\n\r\n" % path.encode())
                await client.read_all(within=100)
            if client.received:
                one_message(client.received, "answer")
    for peer, seen in zip(served.peers, served.requests, strict=False):
        one_message(seen.head + seen.body, "request")
        assert peer.received.startswith(seen.head)


async def broken(scenarios: dict[str, dict], value: str) -> tuple[int, list[str]]:
    """How many are read, and what is wrong with any."""
    count, found = 0, []
    for scenario in accepted(scenarios, value):
        count += 1
        for kind, over_h2 in (("sse", False), ("lines", False), ("grpc", False), ("sse", True)):
            try:
                await exercise(copy.deepcopy(scenario), kind, over_h2=over_h2)
            except WrongError as error:
                found.append(f"{scenario} {kind}: {error}")
    return count, found


@pytest.mark.parametrize("name", HOSTILE)
async def test_only_what_is_there_to_break_the_grammar_does(name, autojump_clock, shown):
    value, tried, read, breaking, wrong = HOSTILE[name], 0, 0, set(), []
    for fault in SHIPPED:
        scenarios = distinct(of_fault(fault, VARIABLE))
        tried += len(scenarios)
        count, found = await broken(scenarios, value)
        read += count
        if found:
            breaking.add(fault)
            wrong += found if fault not in GRAMMAR else []
    scenarios = distinct(of_scenario(VARIABLE))
    tried += len(scenarios)
    count, found = await broken(scenarios, value)
    assert wrong + found == []
    shown(
        "files",
        f"a scenario's words that hold {name}, in each field of each fault that takes words, in presets and elsewhere",
        tried=tried,
        must=f"refused with its place, or no more than a word; only {', '.join(sorted(GRAMMAR))} may break HTTP",
        happens="refused, or a word" + (f"; {', '.join(sorted(breaking))} break HTTP" if breaking else ""),
        figure=f"{read + count} are read",
    )
