"""`play` as these tests use it: each script runs with places at rest and with every place awake, watched by guards. And
the profile of all properties."""

import contextlib
import gc
import signal

import pytest
from hypothesis import HealthCheck, settings

from chaosproxy.testing.play import play as run

collect_ignore = ["sample"]
"""A project of its own: `test_wheel.py`."""

# A property is about what comes out; how long the drawing takes says more about the machine. Whatever else the
# surroundings have chosen (under CI: the same examples each time) stays.
settings.register_profile(
    "chaosproxy",
    settings(),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile("chaosproxy")


def pytest_configure():
    """What ends a program ends those that the tests start too, also where whoever runs the tests ignores it: as a shell has
    what it runs in the background ignore SIGINT, and `nohup` SIGHUP."""
    for name in ("SIGINT", "SIGQUIT", "SIGHUP", "SIGTERM"):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is signal.SIG_IGN:
            with contextlib.suppress(ValueError):  # not in the main thread
                signal.signal(number, signal.default_int_handler if name == "SIGINT" else signal.SIG_DFL)


@pytest.hookimpl(trylast=True)
def pytest_collection_finish():
    """What thousands of tests stand on stays to the end: no collection of garbage that a test asks for looks through it
    again, which takes longer than most tests."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")  # it keeps nothing, so a property may use it
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
