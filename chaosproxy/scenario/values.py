"""Between nodes and plain Python values: a tree of nodes out of a Python structure, plain values out of a tree.

Rules: the same limits for a Python structure as for YAML; variables are filled in on the way out. Must not know: what
the values mean.
"""

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
        case Scalar():
            return node.value


class _Unset(str):
    """Stands for a value that has been complained about already, so that one mistake is reported once."""

    __slots__ = ()


UNSET = _Unset("")


class FromPython:
    """A Python structure as a tree of nodes without places."""

    def __init__(self, trouble: Trouble) -> None:
        self._trouble = trouble
        self._nodes = 0

    def node(self, value: object, depth: int = 1) -> Node:
        """Raises Unreadable when a limit is passed; lesser problems are noted."""
        self._nodes += 1
        if self._nodes > MOST_NODES:
            raise self._trouble.fatal(f"more than {MOST_NODES} values", Place())
        if depth > DEEPEST and isinstance(value, AnyMapping | list | tuple):
            raise self._trouble.fatal(f"nested deeper than {DEEPEST} levels", Place())
        match value:
            case AnyMapping():
                entries = {str(key): Entry(Place(), self.node(one, depth + 1)) for key, one in value.items()}
                return Mapping(Place(), entries)
            case list() | tuple():
                return Items(Place(), [self.node(one, depth + 1) for one in value])
            case _:
                return self._scalar(value)

    def _scalar(self, value: object) -> Scalar:
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
            self._trouble.add(problem, Place())
        return Scalar(Place(), UNSET if problem else value, "")
