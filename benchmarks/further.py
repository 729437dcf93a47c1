"""A further proxy in a process that has had one: what opening and closing it takes, beside an empty Trio run.

Prints one JSON object, medians in milliseconds. The first of each is left out: it pays for the imports.
"""

import json
import statistics
import sys
import time
from collections.abc import Callable

import trio

import chaosproxy


def further() -> None:
    """A transparent proxy in front of somebody else."""
    with chaosproxy.serve(upstream="http://127.0.0.1:9"):
        pass


def with_origin() -> None:
    """A transparent proxy in front of an embedded origin of its own."""
    with chaosproxy.serve():
        pass


def empty() -> None:
    """A Trio run that does nothing."""
    trio.run(trio.sleep, 0)


def took(act: Callable[[], None]) -> float:
    """Milliseconds."""
    began = time.perf_counter()
    act()
    return (time.perf_counter() - began) * 1e3


def main(times: int) -> None:
    """Each in turn, so often."""
    acts = {"proxy": further, "proxy and origin": with_origin, "empty run": empty}
    for act in acts.values():
        act()
    seen = {name: [] for name in acts}
    for _ in range(times):
        for name, act in acts.items():
            seen[name].append(took(act))
    print(json.dumps({name: {"ms": statistics.median(ms), "ms_min": min(ms)} for name, ms in seen.items()}))


if __name__ == "__main__":
    main(int(sys.argv[1]))
