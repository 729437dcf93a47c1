"""An answer on its way: the head at once, a chunk for every event, and an eye on the client, who may leave.

The two outer links of the abort chain are here: `disconnect` is the watch for the client's leaving, which stops the
handler; `engine` is what a stopping handler says to the engine (in `Generation.leave`). Must not know: what is sent.
"""

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from starlette.types import Receive, Scope, Send

from chaosproxy.origin.runtime import Generation
from chaosproxy.origin.shape import dump

Pieces = Callable[[int], Iterable[bytes]]
LastWords = Callable[[], Iterable[bytes]]


@dataclass(frozen=True, slots=True)
class Streamed:
    """An answer in pieces: those of token k are sent when it is made, the last words when one more would have been."""

    media_type: str
    tokens: int
    pieces: Pieces
    closing: LastWords = tuple

    async def send(self, send: Send, generation: Generation) -> None:
        await send(_head((b"content-type", self.media_type.encode()), (b"cache-control", b"no-cache")))
        for index in range(self.tokens):
            if not await generation.made(index + 1):
                return
            for piece in self.pieces(index):
                await send(_body(piece, more=True))
        closing = tuple(self.closing())
        if closing and not await generation.ended():
            return
        for piece in closing:
            await send(_body(piece, more=True))
        await send(_body(b"", more=False))


@dataclass(frozen=True, slots=True)
class Whole:
    """An answer in one piece, sent when its last token is made."""

    tokens: int
    content: Callable[[], object]

    async def send(self, send: Send, generation: Generation) -> None:
        if not await generation.made(self.tokens):
            return
        content = dump(self.content())
        length = str(len(content)).encode()
        await send(_head((b"content-type", b"application/json"), (b"content-length", length)))
        await send(_body(content, more=False))


@dataclass(frozen=True, slots=True)
class Answer:
    """An ASGI application that serves one generation, and stops when its client leaves, if it `looks`."""

    generation: Generation
    content: Streamed | Whole
    looks: bool

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve it."""
        tasks = [asyncio.create_task(self.content.send(send, self.generation))]
        if self.looks:
            tasks.append(asyncio.create_task(_client_leaves(receive)))
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)
            self.generation.leave()
        for task in done:
            task.result()


async def _client_leaves(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def _head(*headers: tuple[bytes, bytes]) -> dict[str, object]:
    return {"type": "http.response.start", "status": 200, "headers": list(headers)}


def _body(content: bytes, *, more: bool) -> dict[str, object]:
    return {"type": "http.response.body", "body": content, "more_body": more}
