"""What is fuzzed: each target takes any bytes, and raises where something is wrong that must not be.

Must not know: who draws the bytes.
"""

import importlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

REGRESS = Path(__file__).parents[1] / "regress"
"""What has broken something once: `TARGET-NAME.bin`."""


@dataclass(frozen=True)
class Target:
    """`run` raises for bytes that break it; `seeds` are some that do not, to begin with; `tokens` is what they are made of."""

    about: str
    must: str
    run: Callable[[bytes], None]
    seeds: Callable[[], Iterable[bytes]]
    tokens: tuple[bytes, ...] = ()


WHERE = {
    "h1-server": "h1",
    "h1-client": "h1",
    "chunked": "chunked",
    "h2-server": "h2",
    "h2-client": "h2",
    "pair": "pair",
    "splitters": "splitters",
    "loader": "loader",
    "journal": "journal",
    "client": "client",
    "told": "client",
    "origin": "origin",
    "chain": "chain",
}
"""The module that each is in: a fuzzer loads only the one that it runs."""


def target(name: str) -> Target:
    """The one of that name."""
    return importlib.import_module(f"tests.fuzz.{WHERE[name]}").TARGETS[name]


def crashers() -> dict[str, tuple[str, bytes]]:
    """By the file's name: whose it is, and what it holds."""
    found = {}
    for file in sorted(REGRESS.glob("*.bin")):
        name = max((one for one in WHERE if file.name.startswith(f"{one}-")), key=len)
        found[file.name] = (name, file.read_bytes())
    return found
