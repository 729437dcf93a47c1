"""The line in the log about a client's connection on which nothing was asked: the journal, which is of exchanges, has none.

Only where there is something to say: a mistake, or what a fault did to it. Must not know: how it ended.
"""

import logging

from chaosproxy.wire.wire import Wire

SHOWN = 3
"""Of what was done to one connection."""

log = logging.getLogger("chaosproxy")


def unasked(number: int, wire: Wire | None, mistake: str = "") -> None:
    """The connection of that number is over."""
    done = [] if wire is None else [f"{note.fault}: {note.detail}" for note in wire.notes if note.kind == "fired"]
    if mistake or done:
        more = [f"and {len(done) - SHOWN} more"] if len(done) > SHOWN else []
        log.warning(
            "client connection %d: %s", number, "; ".join([mistake or "nothing was asked", *done[:SHOWN], *more])
        )
