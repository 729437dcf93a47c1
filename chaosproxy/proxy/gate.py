"""Whether a further client is accepted: every listener asks, the scenario in force decides.

Who is not accepted waits in the kernel, for as many as the backlog has room. Must not know: listeners, faults.
"""

from collections.abc import Sequence

import trio

from chaosproxy.chain.connection_spec import Admission
from chaosproxy.wire.listen import BACKLOG


class Gate:
    """One for all listeners. Open where nobody decides otherwise."""

    def __init__(self) -> None:
        self._admissions: Sequence[Admission] = ()
        self._news = trio.Event()

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
        while any(one.full for one in self._admissions):
            await self._news.wait()
