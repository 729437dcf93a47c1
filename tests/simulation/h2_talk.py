"""One HTTP/2 connection of a simulation, either role: what both have in common. It reads by h2, which forgives nothing.

Rules: frames are given to h2 one by one; a GOAWAY is kept from it, since it takes that for the end of everything.
Must not know: the proxy.
"""

import trio
from h2 import events
from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.exceptions import ProtocolError
from h2.settings import SettingCodes

from chaosproxy.testing.recorder import Ending, Recorder
from tests.simulation.seen import GONE, Seen

PREFACE = 24
WINDOW = 65_535
"""What RFC 9113 section 6.9.2 gives every stream."""
GOAWAY = 7


class Talk:
    """One connection, either role."""

    def __init__(self, peer: Recorder, seen: Seen, *, client: bool, nap: float = 0.0, window: int = WINDOW) -> None:
        self.peer, self.seen = peer, seen
        self.nap, self._window = nap, window
        self.core = H2Connection(
            H2Configuration(
                client_side=client,
                header_encoding=None,
                validate_outbound_headers=False,
                normalize_outbound_headers=False,
            )
        )
        self.news = trio.lowlevel.ParkingLot()
        self.forgives = False
        """A stream was reset from here: what crosses that on its way does not please h2."""
        self.goaway: int | None = None
        """The last stream that still counts."""
        self._buffer = b""
        self._preface = not client
        self._sending = trio.Lock()
        self._reads = False
        self._reading, self.stopped = trio.CancelScope(), trio.Event()
        self.leaving, self.left = False, trio.Event()

    async def start(self) -> None:
        self.core.initiate_connection()
        if self._window != WINDOW:
            self.core.update_settings({SettingCodes.INITIAL_WINDOW_SIZE: self._window})
        await self.flush()

    async def flush(self) -> None:
        """Write what h2 has to say."""
        async with self._sending:
            if data := self.core.data_to_send():
                await self.peer.send(data)

    async def read(self) -> None:
        """Until the connection ends, or is left."""
        self._reads = True
        try:
            with self._reading:
                while data := await self.peer.read():
                    await trio.sleep(self.nap)
                    for frame in self._frames(data):
                        for event in self.core.receive_data(frame):
                            self.seen_event(event)
                    self.news.unpark_all()
                    await self.flush()
        except ProtocolError as error:
            if self.forgives:
                return
            self.seen.wrong.append(f"HTTP/2 broken: {type(error).__name__}: {error}")
        except GONE:
            self.peer.note(Ending.RST)
        self.stopped.set()
        self.news.unpark_all()

    def _frames(self, data: bytes) -> list[bytes]:
        self._buffer += data
        found = []
        if self._preface:
            if len(self._buffer) < PREFACE:
                return []
            found.append(self._buffer[:PREFACE])
            self._buffer, self._preface = self._buffer[PREFACE:], False
        while len(self._buffer) >= 9 and len(self._buffer) >= (size := 9 + int.from_bytes(self._buffer[:3], "big")):
            frame, self._buffer = self._buffer[:size], self._buffer[size:]
            if frame[3] == GOAWAY:
                self.goaway = int.from_bytes(frame[9:13], "big") & 0x7FFFFFFF
            else:
                found.append(frame)
        return found

    def seen_event(self, event: events.Event) -> None:
        """One event of h2."""
        raise NotImplementedError

    async def data(self, stream: int, payload: bytes) -> int:
        """As much as the other side takes, in frames as large as allowed, until the stream is closed; how much went."""
        sent = 0
        while sent < len(payload):
            await self.flush()
            while not (room := self._room(stream)):
                await self.news.park()
            if room < 0:
                break
            part = payload[sent : sent + room]
            self.core.send_data(stream, part)
            sent += len(part)
        await self.flush()
        return sent

    def _room(self, stream: int) -> int:
        """-1: nothing more can be sent."""
        if self.peer.ending is not None or self.stopped.is_set():
            return -1
        held = self.core.streams.get(stream)
        if held is None or held.closed:
            return -1
        return max(0, min(self.core.local_flow_control_window(stream), self.core.max_outbound_frame_size))

    def is_open(self, stream: int) -> bool:
        """Something may be sent on it."""
        return self._room(stream) >= 0

    async def raw(self, data: bytes) -> None:
        """What h2 would not write."""
        async with self._sending:
            await self.peer.send(data)

    async def leave(self, ending: Ending) -> None:
        """End the connection; nothing is read any more."""
        self.leaving = True
        self._reading.cancel()
        if self._reads:
            await self.stopped.wait()
        await self.peer.leave(ending)
        self.left.set()
