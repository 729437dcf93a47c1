"""What is in memory stays there. Must not know: what that is."""

import contextlib


def write_no_core() -> None:
    """Should the process crash, no file is made of what is in it, of keys for instance; where the system has such files."""
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource  # noqa: PLC0415 - Windows has none

        _, most = resource.getrlimit(resource.RLIMIT_CORE)
        resource.setrlimit(resource.RLIMIT_CORE, (0, most))
