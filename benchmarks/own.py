"""Injected against asked time in the proxy's own clock, from its journal: what is left of the lateness without sockets and
other processes.

Rules: a piece's own lateness counts from the moment at which the first of its batch was read; an ending's from the
request, as the reader's does. A delivery's moment is that of the ring of the clock that let it go. What cannot be paired
(held back when the reader left) is left out.
"""

import json
import time
from pathlib import Path

from benchmarks.wire import quantile

_PATIENCE = 5.0


class Journal:
    """Reads what has been added since it was made."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._from = path.stat().st_size if path.exists() else 0

    def exchanges(self, prefix: str, number: int) -> list[dict]:
        """Those whose path begins with `prefix`: at least `number`, unless they do not come."""
        give_up = time.monotonic() + _PATIENCE
        while True:
            lines = self._path.read_bytes()[self._from :].splitlines(keepends=True) if self._path.exists() else []
            found = [json.loads(line) for line in lines if line.endswith(b"\n")]
            found = [one for one in found if one["request"]["path"].startswith(f"{prefix}/")]
            if len(found) >= number or time.monotonic() > give_up:
                return found
            time.sleep(0.01)


def lateness(exchanges: list[dict], asked_ms: float, batch: int) -> dict[str, float]:
    """Quantiles of how late the proxy knew itself to be, in milliseconds; nothing where it delayed nothing."""
    late: list[float] = []
    for one in exchanges:
        if batch:
            arrived, delivered = ([seconds for seconds, _ in one[key]] for key in ("arrivals", "deliveries"))
            # Of each batch the last is delayed; zip leaves out what was still held.
            pairs = zip(arrived[::batch], delivered[batch - 1 :: batch], strict=False)
            late += [(after - before) * 1e3 - asked_ms for before, after in pairs]
        else:
            began = one["times"]["request_end"]
            late += [(fired["t"] - began) * 1e3 - asked_ms for fired in one["faults"]]
    if not late:
        return {}
    late.sort()
    return {
        "own_p50_ms": quantile(late, 0.5),
        "own_p99_ms": quantile(late, 0.99),
        "own_first_ms": late[0],
    }
