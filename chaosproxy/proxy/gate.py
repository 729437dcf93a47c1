"""Whether a further client is accepted: every listener asks, the scenario in force decides, and so does what there is.

Who is not accepted waits in the kernel, for as many as the backlog has room. Must not know: listeners, faults.
"""

import logging
import math
import sys
from collections.abc import Sequence

import trio

from chaosproxy.chain.connection_spec import Admission
from chaosproxy.wire.listen import BACKLOG

if sys.platform == "win32":

    def _descriptors() -> float:
        return math.inf
else:
    import resource

    def _descriptors() -> float:
        """How many this process may have."""
        limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
        return math.inf if limit == resource.RLIM_INFINITY else limit


SPARE = 16
"""Descriptors that are for nobody's connection: the listeners, the journal, a file that is read again, a resolver."""
EACH = 2
"""Descriptors that a client is expected to take: its connection, and one to the upstream."""

log = logging.getLogger("chaosproxy")


class Gate:
    """One for all listeners. Open where nobody decides otherwise."""

    def __init__(self) -> None:
        self._admissions: Sequence[Admission] = ()
        self._news = trio.Event()
        self._inside = 0
        self._said = False

    def follow(self, admissions: Sequence[Admission]) -> None:
        """Those of another scenario decide from now on."""
        for one in self._admissions:
            one.on_free = None
        for one in admissions:
            one.on_free = self._ring
        self._admissions = admissions
        self._ring()

    def _ring(self) -> None:
        self._news.set()
        self._news = trio.Event()

    @property
    def backlog(self) -> int:
        """How many that wait the kernel is to keep."""
        return min((one.backlog for one in self._admissions if one.backlog is not None), default=BACKLOG)

    async def passed(self) -> None:
        """A further client may be accepted; without letting others run, if that is so now."""
        while self._full() or any(one.full for one in self._admissions):
            await self._news.wait()

    def _full(self) -> bool:
        """There are as many as the descriptors are enough for."""
        limit = _descriptors()
        most = limit if limit == math.inf else max(1, (limit - SPARE) // EACH)
        if self._inside < most:
            return False
        if not self._said:
            self._said = True
            log.warning("%d clients are connected, as many as the descriptors allow (ulimit -n); others wait", most)
        return True

    def came(self) -> None:
        """A client has been accepted."""
        self._inside += 1

    def left(self) -> None:
        """It is gone."""
        self._inside -= 1
        self._ring()
