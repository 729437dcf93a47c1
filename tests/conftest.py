"""`play` as these tests use it: each script runs with places at rest and with every place awake, watched by guards."""

import pytest

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
