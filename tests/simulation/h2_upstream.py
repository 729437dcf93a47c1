"""An HTTP/2 upstream of a simulation: it says what the world says, and h2 judges what it is told.

Must not know: the proxy.
"""

import trio
from h2 import events
from h2.errors import ErrorCodes
from hyperframe.frame import GoAwayFrame

from chaosproxy.testing.recorder import Ending, Recorder
from chaosproxy.wire.transport import Transport
from tests.simulation.h2_talk import Talk
from tests.simulation.seen import GONE, Seen, Served
from tests.simulation.world import TYPES, Answer, World

ON_NO_STREAM = b"\0\0\x02" + bytes(6) + b"hi"


class _Upstream(Talk):
    """One connection that requests arrive on."""

    def __init__(self, peer: Recorder, world: World, seen: Seen, nursery: trio.Nursery) -> None:
        super().__init__(peer, seen, client=False)
        self.world, self.nursery = world, nursery
        self.asked: dict[int, tuple[Served, trio.CancelScope]] = {}

    def seen_event(self, event: events.Event) -> None:
        match event:
            case events.RequestReceived():
                fields = event.headers
                path = next(value for name, value in fields if name == b":path")
                method = next(value for name, value in fields if name == b":method")
                served = Served(int(path.rpartition(b"/")[2]), method, [(bytes(n), bytes(v)) for n, v in fields])
                self.seen.served.append(served)
                scope = trio.CancelScope()
                self.asked[event.stream_id] = served, scope
                self.nursery.start_soon(self._answer, event.stream_id, served, scope)
            case events.DataReceived():
                self.asked[event.stream_id][0].body += event.data
                self.core.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
            case events.StreamEnded():
                self.asked[event.stream_id][0].complete.set()
            case events.StreamReset():
                served, scope = self.asked[event.stream_id]
                if not served.over:
                    served.told = f"stream:{event.error_code}"
                scope.cancel()
            case _:
                pass

    async def _answer(self, stream: int, served: Served, scope: trio.CancelScope) -> None:
        try:
            with scope:
                await self._answer_to(stream, served, self.world.answers[served.number])
        except GONE:
            served.told = "rst"
        finally:
            served.over = True

    async def _answer_to(self, stream: int, served: Served, answer: Answer) -> None:
        if not answer.early:
            await served.complete.wait()
        await trio.sleep(answer.lead)
        if not self.is_open(stream):
            return
        for status in answer.interims:
            self.core.send_headers(stream, [(b":status", b"%d" % status)])
            await self.flush()
            if not self.is_open(stream):
                return
        bodiless = served.method == b"HEAD" or answer.framing == "none"
        last = bodiless or (answer.whole and not answer.pieces and not answer.trailers)
        if last:
            served.over = True
        self.core.send_headers(stream, _fields(answer), end_stream=last)
        await self.flush()
        if not bodiless:
            for pause, piece in answer.pieces:
                await trio.sleep(pause)
                if await self.data(stream, piece) < len(piece):
                    return
        served.answered = answer.whole
        if not last:
            await trio.sleep(answer.last_pause)
            await self._end(stream, served, answer)

    async def _end(self, stream: int, served: Served, answer: Answer) -> None:
        if not self.is_open(stream):
            return
        match answer.ending:
            case "clean" | "stray":
                served.over = True
                if answer.trailers:
                    self.core.send_headers(stream, [(b"x-trailer", b"t")], end_stream=True)
                else:
                    self.core.end_stream(stream)
                await self.flush()
            case "reset":
                served.over = True
                self.core.reset_stream(stream, ErrorCodes.REFUSED_STREAM if answer.close else ErrorCodes.INTERNAL_ERROR)
                await self.flush()
            case "goaway":
                await self.raw(GoAwayFrame(0, stream if answer.close else 0, 0).serialize())
                await trio.sleep_forever()
            case "garbage":
                await self.raw(ON_NO_STREAM if answer.close else b"\xff" * 30)
                await trio.sleep_forever()
            case "fin" | "rst":
                await self.leave(Ending.RST if answer.ending == "rst" else Ending.FIN)
            case _:
                await trio.sleep_forever()


def _fields(answer: Answer) -> list[tuple[bytes, bytes]]:
    fields = [
        (b":status", b"%d" % answer.status),
        (b"x-answer", b"%d" % answer.number),
        (b"x-twice", b"1"),
        (b"etag", b"x"),
        (b"content-type", TYPES[answer.kind]),
    ]
    if answer.framing == "length":
        fields.append((b"content-length", b"%d" % (len(answer.body) + len(answer.missing))))
    return fields


async def serve(transport: Transport, world: World, seen: Seen) -> None:
    """One connection to the upstream."""
    peer = seen.recorder("upstream", Recorder(transport))
    try:
        async with trio.open_nursery() as nursery:
            upstream = _Upstream(peer, world, seen, nursery)
            await upstream.start()
            await upstream.read()
            if upstream.leaving:
                await upstream.left.wait()
            for served, _ in upstream.asked.values():
                if not served.over:
                    served.told = str(peer.ending)
            nursery.cancel_scope.cancel()
    except* GONE:
        pass  # gone before anything was said
    finally:
        transport.close()
