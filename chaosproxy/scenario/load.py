"""From files, YAML text or Python structures to one scenario, or every problem at once.

Rules: each source is read by itself with all its problems, then they are joined in order. Must not know: faults, the
command line.
"""

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path as FilePath
from typing import Any

from chaosproxy.errors import Problem, ScenarioError
from chaosproxy.scenario import library
from chaosproxy.scenario.environment import Environment
from chaosproxy.scenario.nodes import Path, Scalar, place_of, steps
from chaosproxy.scenario.reading import Reader
from chaosproxy.scenario.scalars import shown
from chaosproxy.scenario.schema import Rule, Scenario, UpstreamOptions
from chaosproxy.scenario.source import compose, read
from chaosproxy.scenario.trouble import Trouble, Unreadable, nearest
from chaosproxy.scenario.values import FromPython
from chaosproxy.scenario.walk import Said, Walk

Source = str | FilePath | Mapping[str, Any]

_YAML = re.compile(r"[\r\n]|^\s*(?:$|[{#\[]|---|[\"']?\w+[\"']?\s*:(?:\s|$))")
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
    joined = None if any(part.trouble.refused for part in parts) else _join(parts)
    problems = tuple(problem for part in parts for problem in part.trouble.problems)
    if joined is None or any(part.trouble.refused for part in parts):
        return None, problems
    return _scenario(joined, problems), problems


def _scenario(given: dict[str, Any], problems: Sequence[Problem]) -> Scenario:
    upstream = UpstreamOptions(**given.pop("upstream", {}))
    return Scenario(**given, upstream=upstream, warnings=tuple(one for one in problems if one.warning))


@dataclass
class _Part:
    """One source, read: what it says by itself."""

    source: Source
    variables: Mapping[str, str]
    trouble: Trouble = field(init=False)
    reader: Reader = field(init=False)
    name: str = "scenario"
    said: Said = field(default_factory=Said)

    def __post_init__(self) -> None:
        self.trouble = Trouble("")
        try:
            self.reader = self._open()
            self.said = Walk(self.reader).file()
        except Unreadable:
            pass  # noted in `trouble`, which decides

    def told(self, path: Path, value: object) -> str:
        """The value at `path`, for a message: as it is written, where it asks the environment."""
        node, _ = list(steps(self.reader.root, path))[-1]
        written = node.value if isinstance(node, Scalar) else None
        return shown(written) if isinstance(written, str) and "${" in written else repr(value)

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


def _join(parts: Sequence[_Part]) -> dict[str, Any]:
    """All sources as one; where one contradicts an earlier one it complains."""
    joined: dict[str, Any] = {"upstream": {}}
    origin: dict[tuple[str, ...], _Part] = {}
    for part in parts:
        upstream: dict[str, Any] = part.said.given.pop("upstream", {})
        given: dict[tuple[str, ...], Any] = {
            (key,): value for key, value in part.said.given.items() if key not in {"name", "about"}
        }
        given |= {("upstream", key): value for key, value in upstream.items()}
        for path, value in given.items():
            place = joined["upstream"] if len(path) > 1 else joined
            before = place.setdefault(path[-1], value)
            first = origin.setdefault(path, part)
            if before != value:
                where, there, here = first.trouble.file or first.name, first.told(path, before), part.told(path, value)
                part.reader.complain(
                    f"{path[-1]}: two different values, {there} in {where} and {here} here; leave one out", path
                )
    joined["name"] = "+".join(part.said.given.get("name", part.name) for part in parts) if parts else "transparent"
    if len(parts) == 1:
        joined["about"] = parts[0].said.given.get("about", "")
    joined["rules"] = tuple(rule for part in parts for rule in part.said.rules)
    joined["connections"] = tuple(connection for part in parts for connection in part.said.connections)
    joined["expect"] = tuple(expectation for part in parts for expectation in part.said.expect)
    _check_expectations(parts)
    _check_reached(parts)
    return joined


def _check_reached(parts: Sequence[_Part]) -> None:
    """Warn of rules behind one that takes every exchange: machines in a row are hops of one rule."""
    taker = ""
    for part in parts:
        for number, rule in enumerate(part.said.rules):
            path = ("rules", number)
            if taker:
                message = f"never reached: {taker} takes every exchange; machines in a row are `hops` of one rule"
                part.reader.complain(message, path, warning=True)
            elif replace(rule, hops=(), records=None) == Rule():
                file, line = part.trouble.file, place_of(part.reader.root, path).line
                taker = f"the rule at {file}:{line}" if file else "a rule in front of it"


def _check_expectations(parts: Sequence[_Part]) -> None:
    """Complain of those about a fault that no part has; a file of expectations alone may be about any."""
    rules = [rule for part in parts for rule in part.said.rules]
    faults = [(fault.name, hop.name or "") for rule in rules for hop in rule.hops for fault in hop.faults]
    faults += [(fault.name, "") for part in parts for one in part.said.connections for fault in one.faults]
    names = {word for fault in faults for word in fault if word}
    for part in parts if faults else ():
        for number, expectation in enumerate(part.said.expect):
            missed = expectation.check.misses(faults)
            if missed is not None:
                message, asked = missed
                path = ("expect", number, expectation.check.name)
                part.reader.complain(f"{message};{nearest(asked, names)} there are: {', '.join(sorted(names))}", path)
