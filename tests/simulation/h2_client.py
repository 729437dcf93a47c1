"""An HTTP/2 client of a simulation: it says what the world says, and h2 judges what it is told.

Must not know: the proxy.
"""

import trio
from h2 import events
from h2.errors import ErrorCodes

from chaosproxy.testing.recorder import Ending, Recorder
from chaosproxy.wire.transport import Transport
from tests.simulation.h2_talk import Talk
from tests.simulation.seen import GONE, Got, Seen
from tests.simulation.world import PATIENCE, QUIET, Ask, Client


class _Client(Talk):
    """One connection that requests leave on."""

    def __init__(self, peer: Recorder, client: Client, seen: Seen) -> None:
        super().__init__(peer, seen, client=True, nap=client.nap, window=client.window)
        self.client = client
        self.streams: dict[int, Got] = {}

    def seen_event(self, event: events.Event) -> None:
        match event:
            case events.InformationalResponseReceived():
                self.streams[event.stream_id].interims.append(int(dict(event.headers)[b":status"]))
            case events.ResponseReceived():
                got = self.streams[event.stream_id]
                for name, value in event.headers:
                    got.headers.setdefault(bytes(name), []).append(bytes(value))
                got.status = int(got.headers[b":status"][0])
            case events.DataReceived():
                self.streams[event.stream_id].body += event.data
                self.core.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
            case events.StreamEnded():
                self.streams[event.stream_id].ended = True
            case events.StreamReset():
                got = self.streams[event.stream_id]
                if not got.ended:
                    got.broken = f"stream:{event.error_code}"
            case _:
                pass

    def over(self, stream: int) -> bool:
        """Nothing more comes."""
        got = self.streams[stream]
        dead = self.goaway is not None and stream > self.goaway
        return got.ended or got.broken is not None or dead or self.peer.ending is not None or self.stopped.is_set()

    async def _may_open(self) -> bool:
        """Wait until the other side takes one stream more; False: it will take none."""
        while self.goaway is None and not self.stopped.is_set():
            if self.core.open_outbound_streams < self.core.remote_settings.max_concurrent_streams:
                return True
            await self.news.park()
        return False

    async def _ask(self, ask: Ask, got: Got) -> None:
        await trio.sleep(ask.pause)
        if not await self._may_open():
            return
        stream = self.core.get_next_available_stream_id()
        self.streams[stream] = got
        try:
            self.core.send_headers(stream, _asking(ask), end_stream=not ask.body)
            self.core.ping(b"anybody?")
            got.asked = True
            await self.flush()
            for pause, piece in ask.pieces:
                await trio.sleep(pause)
                sent = await self.data(stream, piece)
                got.sent += piece[:sent]
                if sent < len(piece):
                    break
            else:
                if ask.body and self.is_open(stream):
                    self.core.end_stream(stream)
                    self.news.unpark_all()
                    await self.flush()
                got.sent_all = True
        except GONE:
            pass  # the reader sees how it ended
        while not self.over(stream):
            await self.news.park()

    async def run(self, nursery: trio.Nursery) -> None:
        """Every request, every answer, and then a moment of nothing."""
        for ask in self.client.asks:
            self.seen.got[ask.number] = Got(ask.number, "h2")
        await self.start()
        nursery.start_soon(self.read)
        async with trio.open_nursery() as asking:
            for ask in self.client.asks:
                if self.client.together:
                    asking.start_soon(self._ask, ask, self.seen.got[ask.number])
                else:
                    await self._ask(ask, self.seen.got[ask.number])
        await trio.sleep(QUIET)

    async def reset_all(self) -> None:
        """Leave each stream by itself."""
        self.forgives = True
        for stream in self.streams:
            if not self.over(stream) and self.core.streams.get(stream) is not None:
                self.core.reset_stream(stream, ErrorCodes.CANCEL)
        await self.flush()
        await trio.sleep(QUIET)


def _asking(ask: Ask) -> list[tuple[bytes, bytes]]:
    fields = [(b":method", ask.method), (b":scheme", b"http"), (b":path", ask.path), (b":authority", b"x")]
    if ask.framing == "length":
        fields.append((b"content-length", b"%d" % len(ask.body)))
    if ask.body:
        fields.append((b"content-type", b"application/json"))
    if ask.gzip:
        fields.append((b"accept-encoding", b"gzip, deflate"))
    if ask.broken:
        fields.append((b"Upper", b"case"))
    return fields


async def talk(transport: Transport, client: Client, seen: Seen) -> None:
    """One client's connection, from its beginning to its leaving."""
    peer = seen.recorder("client", Recorder(transport))
    talking = _Client(peer, client, seen)
    try:
        async with trio.open_nursery() as outer:
            with trio.move_on_after(PATIENCE if client.leaves is None else client.leaves) as scope:
                async with trio.open_nursery() as nursery:
                    await talking.run(outer)
                    nursery.cancel_scope.cancel()
            for got in [seen.got[ask.number] for ask in client.asks]:
                got.left = scope.cancelled_caught and not got.ended and got.broken is None
                got.waited = got.left and client.leaves is None
            if client.how == "reset":
                with trio.move_on_after(PATIENCE):  # nobody may be reading it
                    await talking.reset_all()
            if client.how == "rst":
                await talking.leave(Ending.RST)
            elif client.how == "fin":
                await talking.leave(Ending.FIN)
            outer.cancel_scope.cancel()
    except* GONE:
        pass  # it was ended while it said its last
    finally:
        transport.close()
