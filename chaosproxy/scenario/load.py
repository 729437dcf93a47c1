"""From files, YAML text or Python structures to one scenario, or every problem at once.

Rules: each source is read by itself with all its problems, then they are joined in order; a part that is wrong is left
out, so that the checks of the rest still run. Must not know: how faults work, the command line.
"""

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path as FilePath
from typing import Any

import chaosproxy.faults  # noqa: F401 -- its import registers the faults
from chaosproxy.chain.fault import REGISTRY, FaultSpec
from chaosproxy.errors import Problem, ScenarioError
from chaosproxy.scenario import checks, document, library
from chaosproxy.scenario.environment import Environment
from chaosproxy.scenario.fault_forms import fault_adapter
from chaosproxy.scenario.leaves import found
from chaosproxy.scenario.nodes import Path
from chaosproxy.scenario.reading import Reader, unknown_name
from chaosproxy.scenario.schema import Connection, ConnectionMatch, Hop, Rule, Scenario, UpstreamOptions
from chaosproxy.scenario.source import compose, read
from chaosproxy.scenario.trouble import Trouble, Unreadable
from chaosproxy.scenario.values import UNSET, FromPython

Source = str | FilePath | Mapping[str, Any]

_YAML = re.compile(r"[\r\n]|^\s*(?:$|[{#%\[]|---|[\"']?\w+[\"']?\s*:(?:\s|$))")
"""Tells YAML text from a name or a path: more than one line, or `key: ...`, or `{...}`."""


def load(*sources: Source, env: Mapping[str, str] | None = None) -> Scenario:
    """The scenario in one or several sources, joined. ScenarioError with every problem otherwise."""
    scenario, problems = examine(*sources, env=env)
    if scenario is None:
        raise ScenarioError(problems)
    return scenario


def examine(*sources: Source, env: Mapping[str, str] | None = None) -> tuple[Scenario | None, tuple[Problem, ...]]:
    """The scenario, None if it cannot be used, and every problem, warnings included."""
    variables = os.environ if env is None else env
    parts = [_Part(source, variables) for source in sources]
    problems = [problem for part in parts for problem in part.trouble.problems]
    if any(part.trouble.refused for part in parts):
        return None, tuple(problems)
    joined, conflicts = _join(parts)
    problems += conflicts
    if conflicts:
        return None, tuple(problems)
    return _scenario(joined, problems), tuple(problems)


def _scenario(given: dict[str, Any], problems: Sequence[Problem]) -> Scenario:
    upstream = UpstreamOptions(**given.pop("upstream", {}))
    return Scenario(**given, upstream=upstream, warnings=tuple(one for one in problems if one.warning))


@dataclass
class _Part:
    """One source, read: what it says by itself."""

    source: Source
    variables: Mapping[str, str]
    trouble: Trouble = field(init=False)
    name: str = "scenario"
    given: dict[str, Any] = field(default_factory=dict)
    """Its keys outside the rules; `upstream` as a dict of what is given."""
    rules: list[Rule] = field(default_factory=list)
    connections: list[Connection] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.trouble = Trouble("")
        try:
            reader = self._open()
            given = reader.part(document.FILE, reader.value, ())
            _Walk(reader).file(given if given is not None else _usable(reader.value), self)
        except Unreadable:
            pass  # noted in `trouble`, which decides

    def _open(self) -> Reader:
        text = self._text()
        root = FromPython(self.trouble).node(self.source) if text is None else compose(text, self.trouble)
        return Reader(root, Environment(self.variables), self.trouble)

    def _text(self) -> str | None:
        if isinstance(self.source, Mapping):
            return None
        if isinstance(self.source, str) and _YAML.search(self.source):
            self.trouble = Trouble("", self.source)
            return self.source
        shown_as = str(self.source)
        self.trouble = Trouble(shown_as)
        try:
            path = library.find(self.source)
        except LookupError as error:
            raise self.trouble.nowhere(str(error)) from None
        text = read(path, self.trouble)
        self.trouble.show(text)
        self.name = path.stem
        return text


def _usable(value: object) -> dict[str, Any]:
    """What of a file with problems can still be walked."""
    keys = {*document.RULE_KEYS, "rules", "connections"} - {"match", "nth", "probability", "records", "mount"}
    given = value if isinstance(value, dict) else {}
    return {key: one for key, one in given.items() if key in keys and isinstance(one, list)}


class _Walk:
    """Reads the parts of one file, rule by rule, hop by hop, fault by fault."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    def file(self, given: dict[str, Any], part: _Part) -> None:
        short = {key: given.pop(key) for key in document.RULE_KEYS if key in given}
        rules: list[Any] = given.pop("rules", [])
        if "expect" in given:
            self._reader.complain("expectations are not supported by this version", ("expect",), key=True)
        if short and rules:
            self._reader.complain(
                f"`{next(iter(short))}` at top level makes the file one rule; it cannot stand beside `rules`",
                (next(iter(short)),),
                key=True,
            )
        elif short:
            if not short.keys() & {"hops", "faults"}:
                self._reader.complain(
                    "a rule in the short form needs `faults` or `hops`", (next(iter(short)),), key=True
                )
            part.rules.append(self._rule(short, ()))
        for number, rule in enumerate(rules):
            path: Path = ("rules", number)
            read_rule = self._reader.part(document.RULE, rule, path)
            part.rules.append(self._rule(_usable(rule) if read_rule is None else read_rule, path))
        for number, connection in enumerate(given.pop("connections", [])):
            part.connections.append(self._connection(connection, ("connections", number)))
        part.given = {key: value for key, value in given.items() if key not in {"version", "expect"}}

    def _rule(self, given: dict[str, Any], path: Path) -> Rule:
        if "faults" in given and "hops" in given:
            self._reader.complain(
                "`faults` is one unnamed hop; it cannot stand beside `hops`", (*path, "faults"), key=True
            )
        hops: list[tuple[Hop, Path]] = []
        if "faults" in given:
            faults, paths = self._faults(given.pop("faults"), (*path, "faults"))
            hops.append((Hop(None, faults), (*path, "faults")))
            placed = [paths]
        else:
            placed = []
            for number, hop in enumerate(given.get("hops", [])):
                made, paths = self._hop(hop, (*path, "hops", number))
                hops.append((made, (*path, "hops", number)))
                placed.append(paths)
        given.pop("hops", None)
        rule = Rule(**given, hops=tuple(hop for hop, _ in hops))
        checks.rule(rule, placed, self._reader)
        return rule

    def _hop(self, value: object, path: Path) -> tuple[Hop, list[Path]]:
        if isinstance(value, dict) and "preset" in value:
            message = f"unknown preset {found(value['preset'])}; no preset is shipped with this version"
            self._reader.complain(message, (*path, "preset"))
            return Hop(), []
        given = self._reader.part(document.HOP, value, path)
        usable = _usable(value) if given is None else given
        faults, paths = self._faults(usable.get("faults", []), (*path, "faults"))
        return Hop(usable.get("name"), faults), paths

    def _connection(self, value: object, path: Path) -> Connection:
        given = self._reader.part(document.CONNECTION, value, path)
        usable = _usable(value) if given is None else given
        faults, paths = self._faults(usable.get("faults", []), (*path, "faults"))
        checks.connection(faults, paths, self._reader)
        return Connection(usable.get("match", ConnectionMatch()), faults)

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
        if not isinstance(value, dict) or len(value) != 1:
            what = f"a mapping with {len(value)} keys" if isinstance(value, dict) else found(value)
            hint = ""
            if isinstance(value, dict) and value.keys() & REGISTRY.keys():
                hint = "; are the parameters indented below the name?"
            elif isinstance(value, str) and value in REGISTRY:
                hint = f"; write {value}: ..."
            self._reader.complain(f"found {what}; a fault is a mapping with one key, its name{hint}", path)
            return None
        name, parameters = next(iter(value.items()))
        if name not in REGISTRY:
            self._reader.complain(unknown_name("fault", name, sorted(REGISTRY)), (*path, name), key=True)
            return None
        fault: FaultSpec | None = self._reader.part(fault_adapter(REGISTRY[name]), parameters, (*path, name))
        return fault


def _join(parts: Sequence[_Part]) -> tuple[dict[str, Any], list[Problem]]:
    """All sources as one, and where they contradict each other."""
    conflicts: list[Problem] = []
    joined: dict[str, Any] = {"upstream": {}}
    for part in parts:
        upstream = part.given.pop("upstream", {})
        for place, values in ((joined, part.given), (joined["upstream"], upstream)):
            for key, value in values.items():
                if key in {"name", "about"}:
                    continue
                if place.setdefault(key, value) != value:
                    file = part.trouble.file
                    conflicts.append(
                        Problem(f"{key}: two different values, {place[key]!r} before and {value!r} here", file)
                    )
    joined["name"] = "+".join(part.given.get("name", part.name) for part in parts) or "transparent"
    if len(parts) == 1:
        joined["about"] = parts[0].given.get("about", "")
    joined["rules"] = tuple(rule for part in parts for rule in part.rules)
    joined["connections"] = tuple(connection for part in parts for connection in part.connections)
    return joined, conflicts
