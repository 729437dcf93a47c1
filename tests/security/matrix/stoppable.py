"""A peer's end of a connection that can be stopped, as SIGSTOP stops a process: the kernel takes what comes, as much as
it has room for, and nothing is read or said.

Must not know: who speaks on it.
"""

import math

import trio

from chaosproxy.wire.transport import Transport


class Stoppable:
    """A `Transport` over another one."""

    holds = False
    tls = False
    alpn: str | None = None

    def __init__(self, below: Transport, says: float = math.inf) -> None:
        """`says`: so many bytes, and then it has stopped saying anything until `go_on`."""
        self.below = below
        self._says = says
        self._reads = True
        self._gate = trio.Event()

    def stop(self) -> None:
        """Read and say nothing."""
        self._says, self._reads = 0, False

    def stop_reading(self) -> None:
        """Read nothing."""
        self._reads = False

    def go_on(self) -> None:
        """As if nothing had been."""
        self._says, self._reads = math.inf, True
        self._gate.set()
        self._gate = trio.Event()

    @property
    def backlog(self) -> int:
        return self.below.backlog

    @property
    def descriptor(self) -> int | None:
        return self.below.descriptor

    def recv(self, nbytes: int) -> bytes | None:
        return self.below.recv(nbytes) if self._reads else None

    def send(self, data: bytes) -> int:
        if not self._says:
            return 0
        taken = self.below.send(data if self._says == math.inf else data[: int(self._says)])
        self._says -= taken
        return taken

    async def readable(self) -> None:
        while not self._reads:
            await self._gate.wait()
        await self.below.readable()

    async def writable(self) -> None:
        while not self._says:
            await self._gate.wait()
        await self.below.writable()

    async def emptied(self) -> None:
        await self.below.emptied()

    def interrupt(self) -> None:
        self.below.interrupt()

    def fin(self) -> None:
        self.below.fin()

    def cut(self) -> None:
        self.below.cut()

    def rst(self) -> None:
        self.below.rst()
        self.go_on()  # whoever waits hears that it is closed

    def unacknowledged(self) -> int:
        return self.below.unacknowledged()

    def close(self) -> None:
        self.below.close()
        self.go_on()
