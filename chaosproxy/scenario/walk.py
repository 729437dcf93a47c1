"""One source, part by part: the file, its rules, their hops, each fault by itself.

Rules: a part that is wrong is complained of and left out, so that what is right around it is still checked. Must not
know: how faults work, where the source came from.
"""

from dataclasses import dataclass, field
from typing import Any

from chaosproxy.chain.fault import FaultSpec
from chaosproxy.errors import UsageError
from chaosproxy.judging.check import CHECKS
from chaosproxy.presets.preset import PRESETS
from chaosproxy.scenario import catalogue, checks, document
from chaosproxy.scenario.check_forms import check_adapter
from chaosproxy.scenario.fault_forms import fault_adapter
from chaosproxy.scenario.leaves import found
from chaosproxy.scenario.nodes import Path
from chaosproxy.scenario.preset_forms import Used, is_preset, not_a_fault, preset_adapter, unknown_preset
from chaosproxy.scenario.reading import Reader, unknown_name
from chaosproxy.scenario.schema import Connection, ConnectionMatch, Expectation, Hop, Rule
from chaosproxy.scenario.values import UNSET


@dataclass(slots=True)
class Said:
    """What one source says."""

    given: dict[str, Any] = field(default_factory=dict)
    """Its keys outside the rules; `upstream` as a dict of what is given."""
    rules: list[Rule] = field(default_factory=list)
    connections: list[Connection] = field(default_factory=list)
    expect: list[Expectation] = field(default_factory=list)


def _usable(value: object) -> dict[str, Any]:
    """What of a file with problems can still be walked."""
    keys = {*document.RULE_KEYS, "rules", "connections", "expect"} - {"match", "nth", "probability", "records", "mount"}
    given = value if isinstance(value, dict) else {}
    return {key: one for key, one in given.items() if key in keys and isinstance(one, list)}


def _first(value: Any) -> Any:
    """The word itself, or the first key of a mapping."""
    return value if isinstance(value, str) else next(iter(value))


class Walk:
    """Reads the parts of one file, rule by rule, hop by hop, fault by fault."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    def file(self) -> Said:
        """The whole file."""
        read = self._reader.part(document.FILE, self._reader.value, ())
        given = _usable(self._reader.value) if read is None else read
        said = Said()
        short = {key: given.pop(key) for key in document.RULE_KEYS if key in given}
        rules: list[Any] | None = given.pop("rules", None)
        if short and rules is not None:
            self._reader.complain(
                f"`{next(iter(short))}` at top level makes the file one rule; it cannot stand beside `rules`",
                (next(iter(short)),),
                key=True,
            )
        elif short:
            if not short.keys() & {"hops", "faults", "preset"}:
                self._reader.complain(
                    "a rule in the short form needs `faults`, `hops` or `preset`", (next(iter(short)),), key=True
                )
            said.rules.append(self._rule(short, ()))
        for number, rule in enumerate(rules or []):
            path: Path = ("rules", number)
            read_rule = self._reader.part(document.RULE, rule, path)
            said.rules.append(self._rule(_usable(rule) if read_rule is None else read_rule, path))
        for number, connection in enumerate(given.pop("connections", [])):
            said.connections.append(self._connection(connection, ("connections", number)))
        for number, expectation in enumerate(given.pop("expect", [])):
            found_one = self._expectation(expectation, ("expect", number))
            if found_one is not None:
                said.expect.append(found_one)
        said.given = {key: value for key, value in given.items() if key != "version"}
        return said

    def _rule(self, given: dict[str, Any], path: Path) -> Rule:
        self._one_form(given, path)
        written = given.pop("hops", [])
        hops = [
            self._hop(hop, (*path, "hops", number), first=not number, last=number == len(written) - 1)
            for number, hop in enumerate(written)
        ]
        if "faults" in given:
            faults, paths = self._faults(given.pop("faults"), (*path, "faults"))
            hops = [(Hop(None, faults), paths)]
        if "preset" in given:
            hops = [self._preset({"preset": given.pop("preset")}, path, first=True, last=True)]
        rule = Rule(**given, hops=tuple(hop for hop, _ in hops))
        checks.check_rule(rule, [paths for _, paths in hops], self._reader)
        return rule

    def _one_form(self, given: dict[str, Any], path: Path) -> None:
        """A rule says in one way what it is made of."""
        said = [key for key in ("hops", "preset", "faults") if key in given]
        what = {"faults": "`faults` is one unnamed hop", "preset": "`preset` is one hop"}
        for key in said[1:]:
            self._reader.complain(f"{what[key]}; it cannot stand beside `{said[0]}`", (*path, key), key=True)

    def _hop(self, value: object, path: Path, *, first: bool, last: bool) -> tuple[Hop, list[Path]]:
        if isinstance(value, dict) and "preset" in value:
            return self._preset(value, path, first=first, last=last)
        if is_preset(value):
            said = f"a hop that is a preset says so: write preset: {_first(value)}, and its parameters beside it"
            self._reader.complain(said, path)
            return Hop(), []
        given = self._reader.part(document.HOP, value, path)
        usable = _usable(value) if given is None else given
        faults, paths = self._faults(usable.get("faults", []), (*path, "faults"))
        return Hop(usable.get("name"), faults), paths

    def _preset(self, value: dict[str, Any], path: Path, *, first: bool, last: bool) -> tuple[Hop, list[Path]]:
        """A hop that is a preset: its faults stand where its name does."""
        spec = PRESETS.get(value["preset"]) if isinstance(value["preset"], str) else None
        if spec is None:
            if value["preset"] is not UNSET:
                self._reader.complain(unknown_preset(value["preset"]), (*path, "preset"))
            return Hop(), []
        used: Used | None = self._reader.part(preset_adapter(spec), value, path)
        if used is None:
            return Hop(spec.name), []
        problems = used.preset.problems()
        for key, message in problems:
            self._reader.complain(message, (*path, key))
        made = [] if problems else used.made(first=first, last=last)
        faults, paths = self._faults(made, (*path, "preset"))
        further, further_paths = self._faults(used.faults, (*path, "faults"))
        return Hop(used.name or spec.name, (*faults, *further)), [*paths, *further_paths]

    def _connection(self, value: object, path: Path) -> Connection:
        given = self._reader.part(document.CONNECTION, value, path)
        usable = _usable(value) if given is None else given
        faults, paths = self._faults(usable.get("faults", []), (*path, "faults"))
        match = usable.get("match", ConnectionMatch())
        checks.check_connection(faults, paths, self._reader)
        checks.check_side(match, faults, paths, self._reader)
        return Connection(match, faults)

    def _expectation(self, value: object, path: Path) -> Expectation | None:
        """A mapping with one key, or a bare word, which has no parameters."""
        if value is UNSET:
            return None
        if isinstance(value, str):
            name, bare = value, True
            parameters: object = {}
        elif isinstance(value, dict) and len(value) == 1:
            ((name, parameters),), bare = value.items(), False
        else:
            what = f"a mapping with {len(value)} keys" if isinstance(value, dict) else found(value)
            self._reader.complain(f"found {what}; an expectation is a word, or a mapping with one key, its name", path)
            return None
        where = path if bare else (*path, name)
        if name not in CHECKS:
            self._reader.complain(unknown_name("expectation", name, sorted(CHECKS)), where, key=not bare)
            return None
        expectation: Expectation | None = self._reader.part(check_adapter(CHECKS[name]), parameters, where)
        if expectation is not None:
            for keys, message in expectation.check.problems():
                self._reader.complain(message, (*where, *keys), key=not keys and not bare)
        return expectation

    def _faults(self, values: list[object], path: Path) -> tuple[tuple[FaultSpec, ...], list[Path]]:
        faults, paths = [], []
        for number, value in enumerate(values):
            fault = self._fault(value, (*path, number))
            if fault is not None:
                faults.append(fault)
                paths.append((*path, number, fault.name))
        return tuple(faults), paths

    def _fault(self, value: object, path: Path) -> FaultSpec | None:
        if value is UNSET:
            return None
        if isinstance(value, dict) and "preset" in value:
            self._reader.complain(not_a_fault(value["preset"]), (*path, "preset"), key=True)
            return None
        if is_preset(value) and (name := _first(value)) not in catalogue.names():
            self._reader.complain(not_a_fault(name), path)
            return None
        if not isinstance(value, dict) or len(value) != 1:
            what = f"a mapping with {len(value)} keys" if isinstance(value, dict) else found(value)
            hint = ""
            if isinstance(value, dict) and not value.keys().isdisjoint(catalogue.names()):
                hint = "; are the parameters indented below the name?"
            elif isinstance(value, str) and value in catalogue.names():
                hint = f"; write {value}: ..."
            self._reader.complain(f"found {what}; a fault is a mapping with one key, its name{hint}", path)
            return None
        name, parameters = next(iter(value.items()))
        try:
            spec = catalogue.spec_of(name)
        except UsageError as error:
            self._reader.complain(str(error), (*path, name), key=True)
            return None
        if spec is None:
            self._reader.complain(unknown_name("fault", name, catalogue.names()), (*path, name), key=True)
            return None
        fault: FaultSpec | None = self._reader.part(fault_adapter(spec), parameters, (*path, name))
        return fault
