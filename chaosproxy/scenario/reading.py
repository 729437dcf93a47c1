"""One part of a file through pydantic: the value, or what is wrong with it, each at its place.

Rules: paths are followed in the tree of nodes; what pydantic puts between (tags of alternatives) is passed over.
Must not know: what the parts are.
"""

from collections.abc import Sequence
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from chaosproxy.scenario.environment import Environment
from chaosproxy.scenario.leaves import found
from chaosproxy.scenario.nodes import Node, Path, place_of
from chaosproxy.scenario.scalars import shown
from chaosproxy.scenario.shapes import Unknown
from chaosproxy.scenario.trouble import Trouble, nearest, nearest_name
from chaosproxy.scenario.values import UNSET, plain

T = TypeVar("T")

LONGEST_KEY = 80
"""Characters of a key that a message says whole."""

_EXAMPLES = {"version": "1", "at": "{event: 3}, or another place"}
"""How a key of the language itself that is missing may be written."""


class Reader:
    """Reads the parts of one source: its tree, its plain values, and where to complain."""

    def __init__(self, root: Node, environment: Environment, trouble: Trouble) -> None:
        self.root = root
        self.trouble = trouble
        self.value = plain(root, environment, trouble)

    def part(self, adapter: TypeAdapter[T], value: object, path: Path) -> T | None:
        """What `value`, standing at `path`, means; None after complaints."""
        try:
            return adapter.validate_python(value)
        except ValidationError as error:
            misspelt: set[tuple[str | int, ...]] = set()
            # Unknown keys first: what a misspelt key was meant to be is not missing as well.
            for one in sorted(error.errors(include_url=False), key=lambda one: one["type"] != "extra_forbidden"):
                if self.trouble.full:
                    self.trouble.add("", place_of(self.root, path))  # only counted, and cheaply
                    continue
                if one["type"] == "extra_forbidden":
                    misspelt.add((*one["loc"][:-1], nearest_name(str(one["loc"][-1]), one["input"].allowed)))
                if one["input"] is not UNSET and one["loc"] not in misspelt:
                    self._complain(one, path)
            return None

    def complain(self, message: str, path: Path, *, key: bool = False, warning: bool = False) -> None:
        """Note a problem of the value at `path`, or of the key that leads to it."""
        self.trouble.add(message, place_of(self.root, path, key=key), warning=warning)

    def at_line(self, path: Path) -> str:
        """` (line N)`, where the value at `path` stands; nothing of a structure without lines."""
        line = place_of(self.root, path).line
        return f" (line {line})" if line else ""

    def _complain(self, error: Any, base: Path) -> None:
        context = error.get("ctx", {})
        path = (*base, *_keys(error["loc"]), *context.get("path", ()))
        name = path[-1] if path else ""
        called = str(name) if len(str(name)) <= LONGEST_KEY else shown(str(name))
        match error["type"]:
            case "extra_forbidden":
                self.complain(unknown_key(str(name), error["input"]), path, key=True)
            case "missing":
                example = f"; write {name}: {_EXAMPLES[name]}" if name in _EXAMPLES else ""
                self.complain(f"`{name}` is required{example}", path[:-1], key=True)
            case "mismatch":
                label = f"{called}: " if isinstance(name, str) and name else ""
                self.complain(f"{label}{context['message']}", path)
            case kind:
                expected = {"list_type": "a list, with `- ` before each item", "dict_type": "a mapping"}.get(
                    kind, error["msg"]
                )
                self.complain(f"{called}: found {found(error['input'])}; expected {expected}", path)


def unknown_key(name: str, marker: object) -> str:
    """The complaint about a key that is none."""
    allowed = marker.allowed if isinstance(marker, Unknown) else ()
    if name == "<<":
        return "merge keys (<<) are not part of YAML 1.2; use an alias for a whole value"
    return f"unknown key {shown(name)};{nearest(name, allowed)} allowed: {', '.join(allowed)}"


def unknown_name(kind: str, name: str, known: Sequence[str]) -> str:
    """The complaint about a name that is not among those known."""
    return f"unknown {kind} {shown(name)};{nearest(name, known)} known: {', '.join(known)}"


def _keys(location: Sequence[str | int]) -> Path:
    """The keys and numbers of a pydantic path, without the tags of alternatives."""
    return tuple(step for step in location if not (isinstance(step, str) and step[:1] == "<" and step[-1:] == ">"))
