"""How a preset is written: `preset: NAME` in a hop, with its parameters beside it, and further faults behind it.

Rules: everything comes from the preset's own fields; built once per preset, and only for those that are used. Must not
know: any particular preset, files.
"""

import functools
from dataclasses import dataclass
from typing import Any

from pydantic import TypeAdapter

import chaosproxy.presets  # noqa: F401 -- its import registers the presets
from chaosproxy.presets.preset import PRESETS, Plain, Preset, family_of
from chaosproxy.scenario import leaves
from chaosproxy.scenario.leaves import found
from chaosproxy.scenario.shapes import built, keys_of, list_of, one, table, then
from chaosproxy.scenario.trouble import nearest


@dataclass(frozen=True, slots=True)
class Used:
    """A preset as a hop uses it."""

    preset: Preset
    name: str | None
    """The hop's, where it has one of its own."""
    faults: list[object]
    """What stands behind the machine, nearer the client, as it is written."""

    def made(self, *, first: bool, last: bool) -> list[object]:
        """What it is made of, as the `first` of the hops, nearest the server, or the `last`, nearest the client."""
        faults = self.preset.faults() if first else self.preset.behind()
        return list(faults) if last else [fault for fault in map(_between, faults) if fault is not None]


def _between(fault: Plain) -> Plain | None:
    """What a machine does whose client is another machine: they speak HTTP/1.1, whatever the client at the end does."""
    ((name, parameters),) = fault.items()
    condition = parameters.get("if") if isinstance(parameters, dict) else None
    if not isinstance(parameters, dict) or not isinstance(condition, dict) or "protocol" not in condition:
        return fault
    if condition["protocol"] != "http/1.1":
        return None
    further = {key: value for key, value in condition.items() if key != "protocol"}
    rest = {key: value for key, value in parameters.items() if key != "if"}
    return {name: {**rest, "if": further} if further else rest}


def preset_type(spec: type[Preset]) -> Any:
    """The pydantic type of a hop that is this preset."""
    shapes, required = keys_of(spec)
    own = {"preset": one(leaves.choice((spec.name,))), "name": one(leaves.LINE)}
    further = {"faults": list_of(one(leaves.RAW))}
    return then(table(spec.name, {**own, **shapes, **further}, {"preset", *required}), functools.partial(_used, spec))


def _used(spec: type[Preset], given: dict[str, Any]) -> Used:
    del given["preset"]
    name, faults = given.pop("name", None), given.pop("faults", [])
    preset = built(spec, given)
    assert isinstance(preset, Preset)
    return Used(preset, name, faults)


_ADAPTERS: dict[type[Preset], TypeAdapter[Any]] = {}


def preset_adapter(spec: type[Preset]) -> TypeAdapter[Any]:
    """What validates it; built once."""
    if spec not in _ADAPTERS:
        _ADAPTERS[spec] = TypeAdapter(preset_type(spec))
    return _ADAPTERS[spec]


def unknown_preset(name: object) -> str:
    """The complaint about what is no preset's name; of a vendor, or a machine without its version, those there are."""
    if not isinstance(name, str):
        return (
            f"preset: found {found(name)}; expected the name of a preset (`chaosproxy scenarios presets` lists them), "
            "and its parameters beside it: {preset: NAME, parameter: value}"
        )
    kin = [one for one, spec in PRESETS.items() if name == family_of(spec) or one.startswith(f"{name}-")]
    kin = kin or [one for one in PRESETS if name in one.split("-")]
    if kin:
        return f"unknown preset {found(name)}; there are {', '.join(sorted(kin))}, which differ"
    return f"unknown preset {found(name)};{nearest(name, PRESETS)} `chaosproxy scenarios presets` lists them"


def is_preset(value: object) -> bool:
    """Whether it is a preset's bare name, or a mapping with one in front of its parameters."""
    return isinstance(name := next(iter(value), None) if isinstance(value, dict) else value, str) and name in PRESETS


def not_a_fault(name: object) -> str:
    """The complaint about a preset where faults stand; `name` is what it is called there."""
    known = name if is_preset(name) and isinstance(name, str) else "NAME"
    return f"a preset is a hop, and no fault: it stands under `hops:`, as - preset: {known}"
