"""One origin and one process of each peer for all tests of the benchmark."""

import pytest

from benchmarks import cpu, peers


@pytest.fixture(scope="package")
def pool():
    usable, _ = cpu.processors()
    with peers.running(usable, usable) as pool:
        yield pool
