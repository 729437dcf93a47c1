"""How a mistake of ours, or of a fault, is reported: in one line, and for whoever logs at DEBUG with where it happened.

Must not know: what the mistake has ended.
"""

import gc
import logging

log = logging.getLogger("chaosproxy")


def report(what: str, error: Exception) -> None:
    """`what` has failed with `error`."""
    said = str(error) or type(error).__name__
    log.error("%s: %s", what, said, exc_info=error if log.isEnabledFor(logging.DEBUG) else None)
    if isinstance(error, MemoryError) or isinstance(error.__cause__, MemoryError):
        gc.collect()  # what the exchange held waits for a collection, which may be long in coming
