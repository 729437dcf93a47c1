"""A gRPC server for the cases about gRPC: whatever is asked, it says the case's words, a message each, and status OK.

A message is a `google.protobuf.StringValue`; one without text is the last word. It speaks HTTP/1.1, with the status in the
trailers of a chunked body: of that the proxy makes the HTTP/2 that a gRPC client reads, and where the faults act is all as
it would be behind a server that speaks HTTP/2. Must not know: cases, faults.
"""

import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

import trio

_HEAD = (
    b"HTTP/1.1 200 OK\r\ncontent-type: application/grpc\r\ntransfer-encoding: chunked\r\n"
    b"trailer: grpc-status\r\nconnection: close\r\n\r\n"
)
_END = b"0\r\ngrpc-status: 0\r\n\r\n"
_READ = 65536


@dataclass(slots=True)
class GrpcOrigin:
    """`words`: the texts of its messages, each shorter than 128 bytes; `first`, `gap`: seconds in front of the first one and
    of each further one."""

    words: list[str]
    first: float
    gap: float
    url: str = field(default="", init=False)
    """Where it accepts, once it does: `http://127.0.0.1:PORT`."""
    _said: int = field(default=0, init=False)

    def stats(self) -> dict[str, int]:
        """The tokens that it has said in all, as `/stats` of the embedded origin has them."""
        return {"tokens": self._said}

    async def serve(self, stream: trio.SocketStream) -> None:
        """One request. A client that leaves ends it."""
        if not await _asked(stream):
            return
        async with trio.open_nursery() as nursery:
            nursery.start_soon(_until_left, stream, nursery.cancel_scope)
            with contextlib.suppress(trio.BrokenResourceError):  # the same, met by a write of ours
                await self._answer(stream)

    async def _answer(self, stream: trio.SocketStream) -> None:
        await stream.send_all(_HEAD)
        for number, word in enumerate([*self.words, ""]):
            if word:
                await trio.sleep(self.gap if number else self.first)
            await stream.send_all(_chunk(message(word)))
            self._said += 1
        await stream.send_all(_END)
        await stream.send_eof()


def message(text: str) -> bytes:
    """With its prefix. A field that has its default value, no text, is not written."""
    content = text.encode()
    body = b"\x0a" + bytes([len(content)]) + content if content else b""
    return b"\x00" + len(body).to_bytes(4, "big") + body


@contextlib.asynccontextmanager
async def grpc_origin(words: list[str], first: float, gap: float) -> AsyncIterator[GrpcOrigin]:
    """One that accepts on a free port of 127.0.0.1 while the block runs."""
    origin = GrpcOrigin(words, first, gap)
    (listener,) = await trio.open_tcp_listeners(0, host="127.0.0.1")
    async with trio.open_nursery() as nursery:
        nursery.start_soon(trio.serve_listeners, origin.serve, [listener])
        origin.url = f"http://127.0.0.1:{listener.socket.getsockname()[1]}"
        yield origin
        nursery.cancel_scope.cancel()


def _chunk(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)


async def _asked(stream: trio.SocketStream) -> bool:
    """The head of a request has come; False: the connection has ended before."""
    head = b""
    with contextlib.suppress(trio.BrokenResourceError):
        while data := await stream.receive_some(_READ):
            head += data
            if b"\r\n\r\n" in head:
                return True
    return False


async def _until_left(stream: trio.SocketStream, answering: trio.CancelScope) -> None:
    """What else comes is the question, which is always the same one."""
    with contextlib.suppress(trio.BrokenResourceError):
        while await stream.receive_some(_READ):
            pass
    answering.cancel()
