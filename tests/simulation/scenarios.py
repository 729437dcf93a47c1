"""Scenarios as they come: every fault, any parameters, up to three machines, rules, faults of connections.

A fault's parameters are drawn by their types, so that a fault that is added is drawn too; what the language refuses is
drawn once more. Must not know: what the faults do.
"""

import types
from collections.abc import Callable
from dataclasses import MISSING, fields, is_dataclass
from enum import Enum
from random import Random
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import chaosproxy.faults  # noqa: F401 - its import makes them known
from chaosproxy.chain.endings import Ending
from chaosproxy.chain.fault import REGISTRY, Condition, FaultSpec
from chaosproxy.chain.trigger import Trigger
from chaosproxy.embedded.setup import read
from chaosproxy.errors import ScenarioError
from chaosproxy.model.headers import Headers
from chaosproxy.model.units import Unit
from chaosproxy.scenario.shapes import key_of
from tests.simulation.evidence import EXPECT

Mapping = dict[str, Any]

FAULTS: dict[str, type[FaultSpec]] = {
    name: spec for name, spec in sorted(REGISTRY.items()) if spec.__module__.startswith("chaosproxy.faults.")
}
"""Not those that tests have made."""
IN_HOPS = [name for name, spec in FAULTS.items() if spec.in_hops]
ACTING = frozenset(FAULTS) - {"grpc_status", "tls"}
"""Those that find something to do here: no world speaks gRPC, or TLS."""
MOMENTS = ["request", "request_end", "headers", "body", "end", "after_end"]
ENDINGS: list[Any] = [
    "abort", "clean", "fin", "rst", "fin_mid_chunk", "no_close_notify", "silence",
    {"stream": "CANCEL"}, {"goaway": "NO_ERROR", "last": "current"}, {"goaway": "ENHANCE_YOUR_CALM"}, {"status": 503},
]  # fmt: skip
CONDITIONS = [{"status": 200}, {"content_type": "text/event-stream"}, {"protocol": "h2"}]
DURATIONS = ["0s", "1ms", "30ms", "50ms", "100ms", "250ms", "500ms", "700ms", "1s", "2500ms"]
"""Those that matter among the pauses of these streams."""
KNOWN: dict[str, list[Any]] = {
    "status": [200, 204, 304, 429, 503],
    "remove": ["content-length", "etag"],
    "duplicate": ["x-twice"],
    "for": [*DURATIONS, "3s", "forever"],
    "comments": ["300ms", "1s"],
    "ping_events": ["300ms", "1s"],
    "empty_deltas": ["300ms", "1s"],
    "replace": [{"data: ": "data:"}, {"[0-9]+": "\\0\\0"}, {"\n\n": "\n"}],
    "json": [{"n": 9}, {"choices.0.delta.content": "é"}],
    "delete": ["n", ["choices.0.delta", "usage"]],
    "into": ["choices.0.delta.content"],
    "hex": ["ef bb bf", "0a0a"],
}
"""Parameters whose types do not say what would be worth a try."""


def place(random: Random) -> Any:
    """An `at`."""
    pick, number = random.choice, random.randint
    found = pick(
        [
            pick(MOMENTS),
            {"event": number(1, 8)},
            {"bytes": number(1, 120)},
            {"chunk": number(1, 6)},
            {"time": pick(DURATIONS)},
            {"idle": pick(["100ms", "500ms", "1s"])},
            {"match": pick(["3", "x+", "usage"])},
            {"json": pick([{"n": 3}, {"choices.0.delta.content": "w*"}])},
            {"terminal": pick(["before", "inside", "after"])},
        ]
    )
    if isinstance(found, dict) and random.random() < 0.2:
        found = {**found, "every": pick(DURATIONS[5:]) if {"time", "idle"} & found.keys() else number(1, 9)}
        if random.random() < 0.5:
            found["times"] = number(1, 3)
    return found


UNITS: dict[str, Callable[[Random], Any]] = {
    "duration": lambda random: random.choice(DURATIONS),
    "size": lambda random: random.choice([0, 1, 7, 18, 40, 300]),
    "rate": lambda random: f"{random.choice([100, 700, 5000])}B/s",
    "frequency": lambda random: random.choice(["1/1s", "2/500ms", "3/2s"]),
}
PLAIN: dict[Any, Callable[[Random], Any]] = {
    bool: lambda random: random.random() < 0.5,
    int: lambda random: random.randint(1, 8),
    float: lambda random: random.choice([0.3, 1.0]),
    str: lambda random: random.choice(["x-one", "slow down"]),
    bytes: lambda _: "slow down",
    object: lambda random: random.choice([{"n": 3}, "x", [1]]),
    Ending: lambda random: random.choice(ENDINGS),
    Trigger: place,
    Condition: lambda random: random.choice(CONDITIONS),
}


def value(random: Random, kind: Any) -> Any:
    """Something of this type, as it is written."""
    origin, arguments = get_origin(kind), get_args(kind)
    if kind in PLAIN:
        return PLAIN[kind](random)
    if kind == Headers:
        return {"x-set": "1"}
    if origin is Annotated:
        unit = next((mark for mark in arguments[1:] if isinstance(mark, Unit)), None)
        return value(random, arguments[0]) if unit is None else UNITS[unit.kind](random)
    if origin in (Union, types.UnionType):
        return value(random, random.choice([one for one in arguments if one is not type(None)]))
    if origin is Literal:
        return random.choice(arguments)
    if origin is tuple:
        if get_origin(arguments[0]) is tuple:
            return {"x-set": "1"}
        return [value(random, arguments[0]) for _ in range(random.randint(1, 2))]
    if isinstance(kind, type) and issubclass(kind, Enum):
        return random.choice([one.value for one in kind])
    assert is_dataclass(kind), kind
    return parameters(random, kind)


def parameters(random: Random, kind: Any) -> Mapping:
    """What has to be given, and some of the rest."""
    hints, found = get_type_hints(kind, include_extras=True), {}
    for field in fields(kind):
        key = key_of(field.name)
        required = field.default is MISSING and field.default_factory is MISSING
        wanted = required or random.random() < {"at": 0.7, "way": 0.3, "if": 0.1}.get(key, 0.35)
        if field.init and wanted:
            found[key] = random.choice(KNOWN[key]) if key in KNOWN else value(random, hints[field.name])
    return found


def bearable(random: Random, name: str) -> Mapping:
    """The parameters of a fault. The witness's h2 takes more than 64 CONTINUATION frames for an attack, as `frames` may
    make them."""
    while True:
        found = parameters(random, FAULTS[name])
        if name != "frames" or found.get("block") != 1:
            return found


def accepted(document: Mapping) -> bool:
    """The language takes it."""
    try:
        read({"version": 1, **document})
    except ScenarioError:
        return False
    return True


def fault(random: Random, wanted: str = "") -> Mapping:
    """One fault under `hops`, any or the one that is wanted. Those with which little comes through are rarer."""
    while True:
        name = wanted or random.choice(IN_HOPS)
        if not wanted and name in ("respond", "blackhole", "abort_upstream") and random.random() < 0.5:
            continue
        found = {name: bearable(random, name)}
        if accepted({"faults": [found]}):
            return found


def below(random: Random, wanted: str = "") -> Mapping:
    """One fault under `connections`, any or the one that is wanted."""
    while True:
        name = wanted or random.choice(
            [name for name, spec in FAULTS.items() if spec.on_connections or spec.on_sessions]
        )
        match = maybe(random, protocol=random.choice(["h2", "http/1.1"]), number=random.choice([1, "2-"]))
        if FAULTS[name].on_sessions:
            match = {}  # where it can act at all
        match["side"] = random.choice(["client", "upstream"])
        entry = {"match": match, "faults": [{name: bearable(random, name)}]}
        if accepted({"connections": [entry]}):
            return entry


def maybe(random: Random, **options: Any) -> Mapping:
    """Each of these, or not."""
    return {name: given for name, given in options.items() if random.random() < 0.25}


def rule(random: Random, wanted: str = "") -> Mapping:
    """Up to three machines for some of the exchanges, the first with the fault that is wanted, if one is."""
    hops = [
        {"faults": [fault(random) for _ in range(random.choice([1, 1, 2, 3]))]}
        for _ in range(random.choice([1, 1, 2, 3]))
    ]
    if wanted:
        hops[0]["faults"][0] = fault(random, wanted)
    match = random.choice(
        [
            {"method": "POST"},
            {"path": "/a/*"},
            {"headers": {"accept-encoding": "*gzip*"}},
            {"json": {"stream": "true"}},
            {"protocol": "h2"},
        ]
    )
    nth = random.choice([1, "2-", "every 2"])
    return {"hops": hops, **maybe(random, match=match, nth=nth, probability=0.5, mount="/m", records="sse")}


def scenario(random: Random, turn: int) -> Mapping | None:
    """None: a transparent proxy. Each fault has its turn, so that none is left to chance."""
    if random.random() < 0.05:
        return None
    options = maybe(random, max_connections=random.randint(1, 2), balance="connection", accept_encoding="keep")
    while True:
        wanted = list(FAULTS)[turn % len(FAULTS)]
        under = not FAULTS[wanted].in_hops
        rules = [rule(random, "" if under else wanted)]
        document: Mapping = {"version": 1, "rules": rules + [rule(random)] * (random.random() < 0.3)}
        if options:
            document["upstream"] = options
        if under or random.random() < 0.1:
            document["connections"] = [below(random, wanted if under else "")]
        if accepted(document):
            return {**document, "expect": EXPECT} if turn % 3 == 0 else document
