"""Between nodes and plain Python values: a tree of nodes out of a Python structure, plain values out of a tree.

Rules: the same limits for a Python structure as for YAML; variables are filled in on the way out. Must not know: what
the values mean.
"""

import re
from collections.abc import Mapping as AnyMapping

from chaosproxy.scenario.environment import Environment
from chaosproxy.scenario.nodes import (
    DEEPEST,
    LARGEST_NUMBER,
    MOST_NODES,
    Entry,
    Items,
    Mapping,
    Node,
    Place,
    Scalar,
)
from chaosproxy.scenario.scalars import shown
from chaosproxy.scenario.trouble import Trouble


def plain(node: Node, environment: Environment, trouble: Trouble) -> object:
    """The value of `node` in dicts, lists and scalars, its variables filled in; what cannot be is noted."""
    match node:
        case Mapping():
            return {key: plain(entry.value, environment, trouble) for key, entry in node.entries.items()}
        case Items():
            return [plain(item, environment, trouble) for item in node.items]
        case Scalar(value=str() as text):
            try:
                return environment.expand(text)
            except ValueError as error:
                trouble.add(str(error), node.place)
                return UNSET
        case _:
            return node.value


class _Unset(str):
    """Stands for a value that has been complained about already, so that one mistake is reported once."""

    __slots__ = ()


UNSET = _Unset("")


class FromPython:
    """A Python structure as a tree of nodes, whose places are paths."""

    def __init__(self, trouble: Trouble) -> None:
        self._trouble = trouble
        self._nodes = 0

    def node(self, value: object, depth: int = 1, path: str = "") -> Node:
        """Raises Unreadable when a limit is passed; lesser problems are noted."""
        self._nodes += 1
        place = Place(path=path)
        if self._nodes > MOST_NODES:
            raise self._trouble.fatal(f"more than {MOST_NODES} values", place)
        if depth > DEEPEST and isinstance(value, AnyMapping | list | tuple):
            raise self._trouble.fatal(f"nested deeper than {DEEPEST} levels", place)
        match value:
            case AnyMapping():
                entries = {str(key): self._entry(one, depth + 1, _longer(path, str(key))) for key, one in value.items()}
                return Mapping(place, entries)
            case list() | tuple():
                items = [self.node(one, depth + 1, f"{path}[{number}]") for number, one in enumerate(value)]
                return Items(place, items)
            case _:
                return self._scalar(value, place)

    def _entry(self, value: object, depth: int, path: str) -> Entry:
        return Entry(Place(path=path), self.node(value, depth, path))

    def _scalar(self, value: object, place: Place) -> Scalar:
        problem = ""
        match value:
            case str():
                if any("\ud800" <= c <= "\udfff" for c in value):
                    problem = f"a surrogate is no character: {shown(value)}"
            case bool() | None:
                pass
            case int() | float():
                if not -LARGEST_NUMBER <= value <= LARGEST_NUMBER:  # NaN too
                    problem = "a number that is not finite or beyond 2^53"
            case _:
                problem = f"a scenario holds no {type(value).__name__}; only strings, numbers, true, false, null, lists and mappings"
        if problem:
            self._trouble.add(problem, place)
        return Scalar(place, UNSET if problem else value, "")


def _longer(path: str, key: str) -> str:
    """`path` and a key of what stands there; a key that is no short plain word stands in brackets, shown on one line."""
    if not re.fullmatch(r"[\w-]{1,40}", key):
        return f"{path}[{shown(key)}]"
    return f"{path}.{key}" if path else key
