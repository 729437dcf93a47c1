"""A preset is a hop with parameters, a rule, a scenario by its name; what is wrong with it has its place."""

from dataclasses import dataclass
from typing import ClassVar

import jsonschema
import pytest

from chaosproxy.errors import ScenarioError
from chaosproxy.faults import Buffer, Headers, Latency, Timeout
from chaosproxy.model.units import Duration, Size, show_duration, show_size
from chaosproxy.presets.preset import PRESETS, Plain, Preset, Switch, given, preset, those
from chaosproxy.scenario.describe import schema
from chaosproxy.scenario.dump import dump
from chaosproxy.scenario.load import examine, load
from chaosproxy.scenario.schema import Hop


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine(Preset):
    """Of no vendor."""

    name: ClassVar[str] = "x-machine-1"
    about: ClassVar[str] = "Waits and gathers."
    measured: ClassVar[str] = "nothing."

    size: Size = 4096
    """How much it gathers. Default 4KiB."""
    idle_timeout: Duration | None = None
    """How long it waits; nobody says."""
    noted: Switch = "on"
    """Whether it says so."""
    types: tuple[str, ...] = ()
    """Of which types."""

    def faults(self) -> list[Plain]:
        conditions = given(content_type=list(self.types) or None)
        return those(
            [
                None if self.idle_timeout is None else {"timeout": {"idle": show_duration(self.idle_timeout)}},
                {"buffer": given(bytes=show_size(self.size), if_=conditions or None)},
                {"headers": {"set": {"Via": "x"}}} if self.noted == "on" else None,
            ]
        )

    def problems(self) -> list[tuple[str, str]]:
        return [("size", "a buffer of nothing holds nothing")] if self.size == 0 else []


@pytest.fixture(autouse=True)
def machine(monkeypatch):
    monkeypatch.setitem(PRESETS, Machine.name, Machine)


def hop(text):
    (found,) = load(f"version: 1\nhops: [{text}]").rules[0].hops
    return found


def problems(text):
    scenario, found = examine(f"version: 1\n{text}\n")
    assert scenario is None
    return [(one.line, one.column, one.message) for one in found]


VIA = Headers(set=((b"Via", b"x"),))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{preset: x-machine-1}", Hop("x-machine-1", (Buffer(bytes=4096), VIA))),
        ("{preset: x-machine-1, name: edge, noted: off}", Hop("edge", (Buffer(bytes=4096),))),
        ("{preset: x-machine-1, noted: off, size: 8k}", Hop("x-machine-1", (Buffer(bytes=8192),))),
        (
            "{preset: x-machine-1, noted: off, idle_timeout: 2s}",
            Hop("x-machine-1", (Timeout(idle=2.0), Buffer(bytes=4096))),
        ),
        (
            "{preset: x-machine-1, noted: off, faults: [latency: 20ms]}",
            Hop("x-machine-1", (Buffer(bytes=4096), Latency(delay=0.02))),
        ),
    ],
)
def test_a_hop_is_what_its_preset_is_made_of(text, expected):
    assert hop(text) == expected


def test_a_rule_may_be_one_preset_and_a_chain_several():
    alone = load("version: 1\npreset: x-machine-1")
    assert alone.rules[0].hops == (hop("{preset: x-machine-1}"),)
    rules = load("version: 1\nrules: [{nth: 1, preset: x-machine-1}, {faults: []}]").rules
    assert rules[0].hops == alone.rules[0].hops
    chain = load("version: 1\nhops: [{preset: nginx-1.22}, {preset: x-machine-1}, {faults: []}]").rules[0]
    assert [one.name for one in chain.hops] == ["nginx-1.22", "x-machine-1", None]


def test_it_may_come_from_the_environment_and_from_python():
    text = "version: 1\nhops: [{preset: '${WHICH}', size: '${SIZE:-1k}', noted: off}]"
    assert load(text, env={"WHICH": "x-machine-1"}).rules[0].hops[0].faults == (Buffer(bytes=1024),)
    structure = {"version": 1, "hops": [{"preset": "x-machine-1", "size": 1024, "noted": "off"}]}
    assert load(structure) == load(text, env={"WHICH": "x-machine-1"})


@pytest.mark.parametrize(
    ("text", "place", "said"),
    [
        ("hops: [{preset: x-machine-2}]", (2, 17), "unknown preset 'x-machine-2'; did you mean 'x-machine-1'?"),
        ("hops: [{preset: x-machine}]", (2, 17), "unknown preset 'x-machine'; there are x-machine-1, which differ"),
        ("hops: [{preset: [a]}]", (2, 17), "found a list; expected the name of a preset"),
        ("preset: x-machine-2", (2, 9), "unknown preset 'x-machine-2'"),
        ("hops: [{preset: x-machine-1, sise: 4k}]", (2, 30), "unknown key 'sise'; did you mean 'size'?"),
        ("hops: [{preset: x-machine-1, size: 4s}]", (2, 36), "size: found '4s'; expected a size"),
        ("hops: [{preset: x-machine-1, noted: true}]", (2, 37), "expected one of on, off"),
        ("hops: [{preset: x-machine-1, size: 0}]", (2, 36), "a buffer of nothing holds nothing"),
        ("hops: [{preset: x-machine-1, faults: [cut: rst]}]", (2, 44), "expected a mapping"),
        ("hops: [{preset: x-machine-1, faults: [cutt: rst]}]", (2, 39), "did you mean 'cut'?"),
        # What it is made of is wrong only as a whole: that is said where its name stands.
        (
            "hops: [{faults: [{timeout: {idle: 1s}}]}, {preset: x-machine-1, idle_timeout: 2s}, {faults: [cut: 1]}]",
            (2, 99),
            "expected a mapping",
        ),
    ],
)
def test_a_mistake_has_its_place(text, place, said):
    [(line, column, message)] = [one for one in problems(text) if "outer hop" not in one[2]]
    assert (line, column) == place
    assert said in message


def test_a_preset_that_waits_longer_than_one_nearer_the_upstream_is_warned_of():
    text = (
        "version: 1\nhops:\n  - {preset: x-machine-1, idle_timeout: 1s}\n  - {preset: x-machine-1, idle_timeout: 2s}\n"
    )
    scenario, (warning,) = examine(text)
    assert scenario is not None
    assert (warning.line, warning.warning) == (4, True)
    assert "this outer hop waits 2s, longer than the 1s of an inner hop (line 3)" in warning.message


def test_between_two_machines_http_1_is_spoken():
    two = load("version: 1\nhops: [{preset: nginx-1.31}, {preset: nginx-1.31}]").rules[0].hops
    inner, outer = (
        next(one for one in hop.faults if one.name == "hold_head" and one.until == "first_byte") for hop in two
    )
    assert (inner.if_.protocol, outer.if_.protocol) == (None, "http/1.1")
    assert inner.if_.without_headers == outer.if_.without_headers
    over_h2 = load("version: 1\nhops: [{preset: envoy-1.40}, {faults: []}]").rules[0].hops[0]
    assert not any(one.if_ is not None and one.if_.protocol == "h2" for one in over_h2.faults)


def test_what_a_preset_came_to_can_be_written_down():
    scenario = load("version: 1\nname: a\nhops: [{preset: nginx-1.22}, {preset: x-machine-1, types: [a/b, c/d]}]")
    assert load(dump(scenario)) == scenario


@pytest.mark.parametrize("name", sorted(PRESETS))
def test_each_loads_by_its_name_and_is_its_hop(name):
    scenario, found = examine(name)
    assert found == ()
    assert scenario.name == name
    assert scenario.about == PRESETS[name].about
    assert scenario.rules[0].hops == (hop(f"{{preset: {name}}}"),)
    assert scenario.rules[0].hops[0].faults
    assert load(dump(scenario)) == scenario


def test_the_schema_knows_presets_and_their_parameters():
    validator = jsonschema.Draft202012Validator(schema())
    for good in (
        {"version": 1, "preset": "nginx-1.22"},
        {"version": 1, "hops": [{"preset": "x-machine-1", "size": "4k", "name": "a", "faults": [{"latency": "1s"}]}]},
        {"version": 1, "rules": [{"hops": [{"preset": "nginx-1.22", "proxy_buffering": "off"}, {"faults": []}]}]},
    ):
        assert examine(good)[1] == ()
        validator.validate(good)
    for bad in (
        {"version": 1, "preset": "nginx"},
        {"version": 1, "preset": "nginx-1.22", "faults": []},
        {"version": 1, "hops": [{"preset": "x-machine-1", "sise": "4k"}]},
        {"version": 1, "hops": [{"preset": "x-machine-1", "noted": "yes"}]},
        {"version": 1, "hops": [{"preset": "x-machine-1", "faults": [{"latncy": "1s"}]}]},
    ):
        assert examine(bad)[0] is None
        assert not validator.is_valid(bad)


def test_a_parameter_cannot_take_a_key_of_the_hop():
    @dataclass(frozen=True, slots=True, kw_only=True)
    class Wrong(Preset):
        name: ClassVar[str] = "x-wrong"
        faults: int = 5

    with pytest.raises(TypeError, match="`faults` is a key of the hop"):
        preset(Wrong)
    assert "x-wrong" not in PRESETS


def test_an_error_of_a_preset_alone_names_it():
    with pytest.raises(ScenarioError, match=r"no shipped scenario is called 'nginx-1\.23'; did you mean 'nginx-"):
        load("nginx-1.23")
