"""One end of a connection in a test: it records every read, and how the connection ended.

Rules: nothing is parsed, merged, repaired or retried, so that a test sees bytes. It works over any transport: a real
socket, TLS, or a `link` in virtual time. Time is Trio's.
Must not know: the proxy.
"""

from enum import StrEnum

import trio

from chaosproxy.wire import close
from chaosproxy.wire.transport import Transport, TruncatedError

READ = 65536
WITHIN = 20.0
"""Seconds that a test waits for something that should come at once: a machine may be busy, and nobody waits in vain twice."""
QUIET = 0.2
"""Seconds without anything further that count as "nothing more comes"."""


class Ending(StrEnum):
    """How a connection ended, as this side saw it; or, in a script, how it is to end."""

    FIN = "fin"
    """Without TLS a FIN, under TLS close_notify."""
    RST = "rst"
    NO_CLOSE_NOTIFY = "no_close_notify"
    OPEN = "open"
    """It has not ended. In a script: write nothing more, keep the socket until the client leaves."""


_ENDINGS = {Ending.FIN: close.fin, Ending.RST: close.rst, Ending.NO_CLOSE_NOTIFY: close.no_close_notify}


class Recorder:
    """Reads from a transport and remembers: what, when, and how it ended."""

    def __init__(self, transport: Transport) -> None:
        self.transport = transport
        self.pieces: list[tuple[float, bytes]] = []
        """`(time, bytes)` of each read, in order."""
        self.ending: Ending | None = None
        """None until an end was seen."""
        self.ended_at: float | None = None
        self._broken = False
        """A failed send has eaten the error by which a read tells a reset from a FIN."""

    @property
    def received(self) -> bytes:
        """Everything read so far."""
        return b"".join([data for _, data in self.pieces])

    async def read(self) -> bytes:
        """One read: what is there, or what comes next. b"" once the connection has ended."""
        while self.ending is None:
            try:
                data = self.transport.recv(READ)
            except TruncatedError:
                self.note(Ending.NO_CLOSE_NOTIFY)
            except ConnectionError:
                self.note(Ending.RST)
            else:
                if data:
                    self.pieces.append((trio.current_time(), data))
                    return data
                if data is None:
                    await self.transport.readable()
                else:
                    self.note(Ending.FIN)
        return b""

    async def send(self, data: bytes) -> None:
        """Write all of it. ConnectionError if the peer has reset."""
        try:
            while data:
                taken = self.transport.send(data)
                data = data[taken:]
                if data or self.transport.backlog:
                    await self.transport.writable()
        except ConnectionError:
            self._broken = True
            raise

    async def leave(self, ending: Ending) -> None:
        """End the connection from here; `OPEN` waits until the peer ends it."""
        if ending is not Ending.OPEN:
            await _ENDINGS[ending](self.transport)
            return
        while await self.read():
            pass
        self.transport.close()

    def note(self, ending: Ending) -> None:
        """The connection has ended like this, now."""
        self.ending, self.ended_at = Ending.RST if self._broken else ending, trio.current_time()
