"""The scenarios as they are shipped, whatever the environment of the test run says."""

from tests.virtual.shipped import no_knobs

__all__ = ["no_knobs"]
