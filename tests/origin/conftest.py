"""An origin in a thread for tests of every kind, and how to wait for it."""

import time
from collections.abc import Callable, Iterator

import httpx
import pytest

from chaosproxy.origin.serving import ServedOrigin, serving

WITHIN = 20.0
"""Seconds to wait for what must happen; reached only when something is wrong."""


@pytest.fixture(scope="session")
def shared() -> Iterator[ServedOrigin]:
    """For tests that do not look at its counters."""
    with serving() as served:
        yield served


@pytest.fixture(scope="session")
def http(shared: ServedOrigin) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=shared.url, timeout=WITHIN, trust_env=False) as client:
        yield client


@pytest.fixture
def until() -> Callable[..., dict[str, int]]:
    """`until(origin, running=1)`: wait until the origin's counters are these, or more where it says `_at_least`.
    Another thread rings no bell."""

    def wait(origin: ServedOrigin, **expected: int) -> dict[str, int]:
        deadline = time.monotonic() + WITHIN
        while not reached(stats := origin.stats(), expected):
            assert time.monotonic() < deadline, f"{stats} and not {expected}"
            time.sleep(0.002)
        return stats

    return wait


def reached(stats: dict[str, int], expected: dict[str, int]) -> bool:
    return all(
        stats[name.removesuffix("_at_least")] >= value if name.endswith("_at_least") else stats[name] == value
        for name, value in expected.items()
    )
