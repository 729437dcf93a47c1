"""The tree a scenario is read into: every value with its place, from YAML text or from Python alike.

Rules: built within the limits below, so that whoever walks it may recurse; nodes may be shared (aliases). Must not
know: YAML's syntax, what the values mean.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

DEEPEST = 64
MOST_NODES = 20_000
LARGEST_NUMBER = 2**53
"""Beyond it a JSON reader no longer sees the number that was written."""

Path = tuple[str | int, ...]


@dataclass(slots=True)
class Place:
    """Counted from 1; 0 where there is no text."""

    line: int = 0
    column: int = 0
    path: str = ""
    """Where there is no text: the keys and numbers that lead there."""


@dataclass(slots=True)
class Scalar:
    place: Place
    value: object
    """str, int, float, bool or None, as YAML 1.2 resolves it."""
    text: str
    size: int = 1
    height: int = 1


@dataclass(slots=True)
class Items:
    place: Place
    items: list["Node"] = field(default_factory=list)
    size: int = 1
    height: int = 1


@dataclass(slots=True)
class Entry:
    place: Place
    """The key's."""
    value: "Node"


@dataclass(slots=True)
class Mapping:
    place: Place
    entries: dict[str, Entry] = field(default_factory=dict)
    size: int = 1
    height: int = 1


Node = Scalar | Items | Mapping


def steps(node: Node, path: Sequence[str | int]) -> Iterator[tuple[Node, Place]]:
    """The nodes along `path` as far as it leads, each with the place of the key that leads to it (or its own)."""
    yield node, node.place
    for step in path:
        if isinstance(node, Mapping) and isinstance(step, str) and step in node.entries:
            entry = node.entries[step]
            node = entry.value
            yield node, entry.place
        elif isinstance(node, Items) and isinstance(step, int) and step < len(node.items):
            node = node.items[step]
            yield node, node.place
        else:
            return


def place_of(node: Node, path: Sequence[str | int], *, key: bool = False) -> Place:
    """Where the value at `path` stands, or with `key` the key that leads to it; the nearest that exists."""
    last, key_place = list(steps(node, path))[-1]
    return key_place if key else last.place
