"""What a scenario says in words never becomes a second line, field, chunk or message, whatever a variable of the
environment puts into it: it is refused when it is read, or it stays what it was meant to be.

Made of the registry and of the examples on the faults' pages: the next fault is covered by itself.
"""

import contextlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import fields
from typing import get_type_hints

import pytest
import trio
import yaml

import chaosproxy.faults
from chaosproxy.chain.fault import REGISTRY
from chaosproxy.judging.check import CHECKS
from chaosproxy.presets.preset import PRESETS
from chaosproxy.scenario.load import examine
from chaosproxy.scenario.reference import form
from chaosproxy.scenario.shapes import key_of
from chaosproxy.testing.h2_peers import h2_client
from chaosproxy.testing.peers import Origin, RawClient
from chaosproxy.testing.proxied import linked
from docs.generate import FAULTS
from tests.security.wire import WrongError, one_message, sound_fields

GRAMMAR = {"broken_end", "chunk_syntax", "framing", "garbage"}
"""Faults that are there to break the grammar of HTTP. (`inject: bytes` breaks that of a body, not of the message.)"""
HOSTILE = {
    "a line feed": "a\nx-smuggled: 1",
    "an answer": "a\r\nx-smuggled: 1\r\n\r\nHTTP/1.1 200 OK\r\nx-smuggled: 1\r\nContent-Length: 0\r\n\r\n",
    "a NUL": "a\0x-smuggled: 1",
}
VARIABLE = "${HOSTILE}"
SHAPES = {
    "text": (VARIABLE, [VARIABLE]),
    "any value": (VARIABLE, {"x-a": VARIABLE}, {VARIABLE: "a"}),
    "header fields": ({"x-a": VARIABLE}, {VARIABLE: "a"}),
    "a mapping": ({"x-a": VARIABLE}, {VARIABLE: "a"}, {"event": VARIABLE}, {"id": VARIABLE}, {"data": VARIABLE}),
    "an ending": (
        {"status": 503, "body": VARIABLE},
        {"status": 503, "headers": {"x-a": VARIABLE}},
        {"status": 503, "headers": {VARIABLE: "a"}},
    ),
}
"""How words are written in a field, by the form that its reference has."""
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


def forms(spec) -> dict[str, str]:
    """How each of its fields is written, as its reference has it."""
    hints = get_type_hints(spec, include_extras=True)
    return {key_of(one.name): form(hints[one.name]) for one in fields(spec) if one.init}


def shapes(of: str) -> Iterator[object]:
    for word, written in SHAPES.items():
        if word in of:
            yield from written


def of_fault(name: str) -> Iterator[dict]:
    """Scenarios in which a fault has the word somewhere: in each text of its examples, and in each field that takes words."""
    spec = REGISTRY[name]
    places = {"at": {"event": 2}} if spec.needs_at or spec.has_at else {}
    for number, (where, value) in enumerate(given(name)):
        base = value if isinstance(value, dict) else {(spec.main or "mode").rstrip("_"): value}
        variants = list(replaced(value, VARIABLE))
        if not number:
            for key, written in forms(spec).items():
                for new in shapes(written):
                    variants += [{**base, key: new}, {**places, key: new}]
        for variant in variants:
            faults = [{name: variant}]
            yield {
                "version": 1,
                **({"connections": [{"faults": faults}]} if where == "connections" else {"faults": faults}),
            }


def of_scenario(word: str = VARIABLE) -> Iterator[dict]:
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
        for key, written in forms(check).items():
            urls = (f"/{word}", f"http://x/{word}", f"http://{word}/") if written == "text" else ()
            for new in (*shapes(written), *urls):
                yield {"version": 1, "expect": [{name: {key: new}}]}
                yield {"version": 1, "expect": [{name: {"within": "1s", key: new}}]}
    for name, preset in sorted(PRESETS.items()):
        for key, written in forms(preset).items():
            for new in shapes(written):
                yield {"version": 1, "hops": [{"preset": name, key: new}]}


def distinct(scenarios: Iterator[dict]) -> dict[str, dict]:
    """By their texts; JSON is YAML."""
    return {json.dumps(one): one for one in scenarios}


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


def accepted(scenarios: dict[str, dict], value: str) -> dict[str, dict]:
    """Those that are read with this value in their variable; each that is refused has its places."""
    read = {}
    for text, scenario in scenarios.items():
        found, problems = (
            examine(with_values(scenario, value)) if "\0" in value else examine(text, env={"HOSTILE": value})
        )
        assert found is not None or all(one.line > 0 or one.path or "\0" in value for one in problems)
        if found is not None:
            read[text] = scenario
    return read


async def exercise(scenario: dict, kind: str, *, over_h2: bool) -> bool:
    """Ask once; whether every fault acted. WrongError if either side is sent more, or something else, than one message."""
    served, heads, received = Origin(script(kind)), [], b""
    path = {"sse": "/v1/chat/completions", "lines": "/api/chat", "grpc": "/a.B/C"}[kind]
    async with linked(scenario, served.serve) as proxied:
        if over_h2:
            async with h2_client(proxied.connect()) as client:
                with trio.move_on_after(100), contextlib.suppress(ConnectionError, EOFError):  # it may be ended
                    await client.request(1, path)
                    await client.until(lambda: client.streams[1].over, within=200)
            heads = client.streams[1].heads
        else:
            async with RawClient(proxied.connect()) as client:
                await client.send(b"GET %b HTTP/1.1\r\nHost: x\r\nAccept-Encoding: gzip\r\n\r\n" % path.encode())
                await client.read_all(within=100)
            received = client.received
        acted = not any(record.not_fired for record in proxied.exchanges)
    for head in heads:
        sound_fields(head)
    if received:
        one_message(received, "answer")
    for peer, seen in zip(served.peers, served.requests, strict=False):
        one_message(seen.head + seen.body, "request")
        assert peer.received.startswith(seen.head)
    return acted


async def broken(scenarios: dict[str, dict], name: str) -> list[str]:
    """What is wrong with any of them."""
    found = []
    for scenario in scenarios.values():
        given = with_values(scenario, HOSTILE[name])
        try:
            acted = name == "a NUL" or await exercise(given, "sse", over_h2=False)
            await exercise(given, "sse", over_h2=True)
            for kind in () if acted else ("lines", "grpc"):
                await exercise(given, kind, over_h2=False)
        except WrongError as error:
            found.append(f"{scenario}: {error}")
    return found


@pytest.mark.parametrize("base", ["a line feed", "a NUL"])
async def test_only_what_is_there_to_break_the_grammar_does(base, autojump_clock, shown):
    """Where a line feed is refused it is refused among other things too: more is tried where it is not."""
    tried, read, breaking, wrong = 0, 0, set(), []
    for fault in [*SHIPPED, ""]:
        scenarios = distinct(of_fault(fault) if fault else of_scenario())
        tried += len(scenarios)
        left = accepted(scenarios, HOSTILE[base])
        name = base if base == "a NUL" else "an answer"
        taken = accepted(left, HOSTILE[name])
        read += len(taken)
        found = await broken(taken, name)
        if found:
            breaking.add(fault)
            wrong += found if fault not in GRAMMAR else []
    assert wrong == []
    shown(
        "files",
        f"words of a scenario that hold {base}{' and what may follow it' if base != 'a NUL' else ''}, from the environment, in each field that takes words: faults, presets, checks, hosts, mounts",
        tried=tried,
        must=f"refused with its place, or no more than a word; only {', '.join(sorted(GRAMMAR))} may break HTTP",
        happens="refused, or a word" + (f"; {', '.join(sorted(breaking))} break HTTP" if breaking else ""),
        figure=f"{read} are read, and asked over HTTP/1.1 and HTTP/2",
    )
