"""How a mistake of ours, or of a fault, is reported: in one line, and for whoever logs at DEBUG with where it happened.

Must not know: what the mistake has ended.
"""

import logging

log = logging.getLogger("chaosproxy")


def report(what: str, error: Exception) -> None:
    """`what` has failed with `error`."""
    log.error("%s: %s", what, error, exc_info=error if log.isEnabledFor(logging.DEBUG) else None)
