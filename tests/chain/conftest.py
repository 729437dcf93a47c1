"""`play` as these tests use it: each script runs with places at rest and with every place awake, watched by guards."""

from random import Random

import pytest

from chaosproxy.chain.chain import Chain
from chaosproxy.chain.fault import Context
from chaosproxy.chain.placed import Placed
from chaosproxy.testing.play import GET
from chaosproxy.testing.play import play as run


@pytest.fixture
def play():
    def both(faults, script, **options):
        lazy = run(faults, script, lazy=True, **options)
        awake = run(faults, script, lazy=False, **options)
        assert lazy.out == awake.out
        assert lazy.notes == awake.notes
        assert lazy.request == awake.request
        assert (lazy.cancelled_at, lazy.admitted) == (awake.cancelled_at, awake.admitted)
        return lazy

    return both


@pytest.fixture
def chain_of():
    def make(specs, **options):
        context = Context(Random(0), GET)
        return Chain([Placed(0, None, spec, context) for spec in specs], began=0.0, **options)

    return make
