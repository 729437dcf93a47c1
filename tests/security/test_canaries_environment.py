"""What a scenario takes from the environment may be a secret: no message of the loader has it, no `repr`, no command line
that a failed test shows."""

from dataclasses import fields

import pytest
import yaml

import chaosproxy
from chaosproxy.chain.fault import REGISTRY
from chaosproxy.errors import ScenarioError
from chaosproxy.judging.check import CHECKS
from chaosproxy.presets.preset import PRESETS
from chaosproxy.scenario.load import examine, load
from chaosproxy.testing.peers import Origin, RawClient
from chaosproxy.testing.proxied import linked
from tests.security.canaries import Canaries, summary, told

RULE = {"nth", "probability", "records", "mount", "match", "hops", "faults"}
FORMS = (lambda word: word, lambda word: [{"x-a": word}])
KEYED = """
version: 1
name: keyed
faults:
  - headers: {way: request, set: {Authorization: "Bearer ${A_KEY}"}}
  - headers: {set: {Set-Cookie: "a=${A_KEY}", Location: "/x?token=${A_KEY}"}}
  - inject: {event: "${A_KEY}", at: {event: 1}}
  - auth: {token: "${A_KEY}"}
expect:
  - header: {name: set-cookie}
  - fired: inject
"""


def ours(registry):
    """Without those of other tests."""
    return {name: kind for name, kind in registry.items() if kind.__module__.startswith("chaosproxy.")}


def everywhere(word, forms):
    """Scenarios with a word in each place where one may stand, and in many where none may; a name is there to be shown."""
    for form in forms:
        value = form(word)
        for name, spec in ours(REGISTRY).items():
            own = {one.name.rstrip("_"): value for one in fields(spec)}
            yield {"version": 1, "faults": [{name: value}, {name: own}]}
            yield {"version": 1, "connections": [{"faults": [{name: own}]}]}
        checks = [
            {name: {one.name.rstrip("_"): value for one in fields(check)}} for name, check in ours(CHECKS).items()
        ]
        yield {"version": 1, "expect": [*checks, *({name: value} for name in ours(CHECKS))]}
        presets = [
            {"preset": name, **{one.name: value for one in fields(kind)}} for name, kind in ours(PRESETS).items()
        ]
        yield {"version": 1, "hops": presets}
        for key in RULE:
            yield {"version": 1, "rules": [{key: value}]}
        for key in ("version", "about", "seed", "upstream", "rules", "connections", "expect"):
            yield {"version": 1, key: value}
        for key in ("protocol", "max_connections", "balance", "host", "accept_encoding"):
            yield {"version": 1, "upstream": {key: value}}


def test_messages_of_the_loader(shown):
    """As a mapping has them, and two of them joined."""
    secret = Canaries()
    word = secret("a variable")
    variables = {"A_KEY": word, "A_LINE": f"{word}\r\n", "ANOTHER": f"{word}2"}
    said, tried = [], 0
    for asked, forms in (("Bearer ${A_KEY}", FORMS), ("${A_LINE}", FORMS[:1])):
        for scenario in everywhere(asked, forms):
            loaded, problems = examine(scenario, env=variables)
            tried += 1
            said += [*map(str, problems), *map(repr, problems), repr(loaded)]
    hosts = [{"version": 1, "upstream": {"host": asked}} for asked in ("${A_KEY}", "${ANOTHER}")]
    said += map(str, examine(*hosts, env=variables)[1])
    assert "'${A_KEY}' in scenario and '${ANOTHER}' here" in said[-1]
    assert len(said) > tried, "most of them are wrong"
    assert any("${A_KEY}" in one for one in said), "what is written is shown"
    leaks = secret.found({"messages": "\n".join(said)})
    shown(
        "secrets",
        "variables of the environment in wrong places of a scenario",
        tried=tried,
        must="messages show `${NAME}`, as it is written",
        happens=f"values {summary(leaks)}",
    )
    assert leaks == []


async def test_a_scenario_in_force(monkeypatch, autojump_clock, shown):
    secret = Canaries()
    word = secret("a variable")
    monkeypatch.setenv("A_KEY", word)
    answer = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 9\r\n\r\ndata: 1\n\n"
    origin = Origin([answer])
    async with linked(KEYED, origin.serve) as proxied, RawClient(proxied.connect()) as client:
        for key in (word, "another"):
            await client.send(f"GET / HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {key}\r\n\r\n".encode())
            await client.read_all(1)
        records = await proxied.finished(2)
        verdicts = proxied.proxy.planner.judge(records).each
    assert f"data: {word}".encode() in client.received
    assert f"Authorization: Bearer {word}".encode() in origin.requests[0].head
    assert [record.response.status for record in records] == [200, 401]
    outputs = told(records, verdicts) | {"the scenario": repr(load(KEYED)), "the proxy": repr(proxied.proxy)}
    leaks = secret.found(outputs)
    shown(
        "secrets",
        "a variable that a scenario sends, asks for and injects",
        tried=len(outputs),
        must="it is on the wire, and in nothing that is told",
        happens=summary(leaks),
    )
    assert leaks == []


@pytest.mark.parametrize("given", ["text", "mapping", "file"])
def test_the_command_that_runs_it_again(monkeypatch, tmp_path, given):
    """Of what was given first, and of what was put in force later."""
    monkeypatch.setenv("A_KEY", "CANARY-1-X")
    file = tmp_path / "keyed.yaml"
    file.write_text(KEYED)
    scenario = {"text": KEYED, "mapping": yaml.safe_load(KEYED), "file": file}[given]
    with chaosproxy.serve(scenario, upstream="http://127.0.0.1:1") as proxy:
        first = proxy.command()
        proxy.use("reset")
        proxy.use(scenario)
        monkeypatch.delenv("A_KEY")
        assert proxy.command() == first
    assert "CANARY" not in first
    assert str(file) in first if given == "file" else "${A_KEY}" in first


def test_reprs_of_public_objects(monkeypatch, shown):
    """Everything that a program gets hold of."""
    secret = Canaries()
    word = secret("a variable")
    monkeypatch.setenv("A_KEY", word)
    answer = {"version": 1, "faults": [{"respond": {"headers": {"set-cookie": "${A_KEY}"}, "body": "${A_KEY}"}}]}
    with chaosproxy.serve(KEYED, upstream="http://127.0.0.1:1") as proxy:
        with pytest.raises(ScenarioError) as wrong:
            proxy.use("version: 1\nseed: ${A_KEY}\n")
        proxy.use(answer)
        served = [
            proxy,
            proxy._inside,
            proxy.exchanges,
            proxy.verdict(),
            *proxy.verdict().each,
            chaosproxy.serve(answer),
        ]
        with pytest.raises(TimeoutError) as late:
            proxy.wait(timeout=0.01)
    opened = chaosproxy.open_proxy(KEYED)
    objects = [*served, opened, wrong.value, late.value, *wrong.value.problems]
    leaks = secret.found({f"{type(one).__name__}": f"{one!r}{one!s}" for one in objects})
    shown(
        "secrets",
        "`repr` and `str` of proxies, verdicts, scenarios and errors",
        tried=len(objects),
        must="none has a variable's value",
        happens=summary(leaks),
    )
    assert leaks == []
